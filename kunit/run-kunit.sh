#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds a kernel with the series' KUnit suites, runs them and judges the result.
#	run-kunit.sh			User Mode Linux
#	run-kunit.sh debug		... with kunit/debug.config
#	run-kunit.sh <name> <option>...	another kernel, by options of kunit.py run
# ARGS from the environment is passed on to kunit.py run as well, UML_CONFIG takes the
# place of kunit/uml.config.

# shellcheck source=kunit/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

# Seconds for all suites; a guest that hangs is killed after them.
TIMEOUT=300

CONFIG=${1:-plain}
ROW_OPTIONS=("${@:2}")
FAILURES=0
SKIPS=0
KUNIT_PY_STATUS=0

fail() {
	echo "FAIL kunit $CONFIG: $1"
	FAILURES=$((FAILURES + 1))
}

# Splits ARGS like a shell, quotes and backslashes, but runs and expands nothing.
read_args() {
	local words

	KUNIT_ARGS=()
	words=$(mktemp)
	xargs -r printf '%s\0' <<<"${ARGS:-}" >"$words" || die "cannot split ARGS: ${ARGS:-}" "is a quote left open in it?"
	mapfile -d '' KUNIT_ARGS <"$words"
	rm -f -- "$words"
}

set_options() {
	local file

	OUT=$BUILD/um${HARNESS_TREE:+-$HARNESS_TREE}$SUFFIX
	[[ $CONFIG == plain ]] || OUT=$BUILD/um-$CONFIG$SUFFIX
	((${#ROW_OPTIONS[@]} == 0)) || OUT=$BUILD/matrix-$CONFIG$SUFFIX
	LOG=$OUT/test.log
	mkdir -p -- "$OUT"
	OPTIONS=("${ROW_OPTIONS[@]}" --build_dir="$OUT")
	[[ " ${OPTIONS[*]}" == *' --arch='* ]] ||
		OPTIONS+=(--arch=um --kunitconfig="${UML_CONFIG:-$REPO/kunit/uml.config}")
	while IFS= read -r file; do
		OPTIONS+=(--kunitconfig="$TREE/$file")
	done < <(suite_configs)
	[[ " ${OPTIONS[*]}" == *" --kunitconfig=$TREE/"* ]] || die "no suite of the series has a .kunitconfig file beside it" "add one, and name it in $SERIES_FILE"
}

# The lock is not for what may outlive us, such as a guest.
kunit_py() {
	python3 "$TREE/tools/testing/kunit/kunit.py" "$@" 9>&-
}

# Leaves in $OUT.config the options of $CONFIG.config that this kernel has; the
# others are skipped, visibly. kunit.py names those that it missed.
add_config() {
	local fragment=$BUILD/um-$CONFIG$SUFFIX.config log=$BUILD/um-$CONFIG$SUFFIX.config-log option missing round

	[[ -f $REPO/kunit/$CONFIG.config ]] || return 0
	cp -- "$REPO/kunit/$CONFIG.config" "$fragment"
	OPTIONS+=(--kunitconfig="$fragment")
	for round in 1 2 3 4; do
		if kunit_py config "${OPTIONS[@]}" >"$log" 2>&1; then return; fi
		missing=$(sed -n 's/^Missing: //p' "$log" | tr -d ' ' | tr , '\n' | grep -xFf - "$fragment") || break
		for option in $missing; do
			echo "skip kunit $CONFIG: this kernel cannot select $option (round $round)"
			SKIPS=$((SKIPS + 1))
			sed -i "/^$option\$/d" "$fragment"
		done
	done
	cat -- "$log"
	fail "the kernel cannot be configured, see above"
}

run_suites() {
	rm -f -- "$LOG"
	step "build and run the suites ($CONFIG kernel in $OUT)"
	kunit_py run "${OPTIONS[@]}" --jobs="$(nproc)" --timeout="$TIMEOUT" \
		--kernel_args=panic_on_warn=1 "${KUNIT_ARGS[@]}" || KUNIT_PY_STATUS=$?
	if ((KUNIT_PY_STATUS == 2)); then
		fail "kunit.py refuses the arguments, see above: ARGS=${ARGS:-}"
	elif ((KUNIT_PY_STATUS != 0)) && [[ ! -f $LOG ]]; then
		fail "the kernel was not built or not started, see above"
		echo "     (if an earlier job was killed while it compiled: make clean)"
	fi
}

# All suites that the kernel was going to run have ended.
plan_is_done() {
	awk '/^1[.][.]/ { plan = substr($0, 4) + 0 } /^(not )?ok / { done++ } END { exit !(plan > 0 && done == plan) }' "$LOG"
}

# The guest ends with a shutdown, unless it crashed or was killed. It may be gone before
# its console can say so: on s390, and with PREEMPT_RT, where a thread writes to it.
is_shut_down() {
	grep -Eq 'reboot: (System halted|Restarting system|Power down)' "$LOG" ||
		{ [[ " ${ROW_OPTIONS[*]}" =~ (--arch=s390|CONFIG_PREEMPT_RT=y) ]] && plan_is_done; }
}

check_log() {
	if grep -Eq "$SPLATS" "$LOG"; then
		fail "the kernel complained (whole log: $LOG):"
		grep -En -A 12 "$SPLATS" "$LOG" | head -n 60
	elif ! is_shut_down; then
		fail "the guest did not come to its end: it hung and was killed after the timeout, or died (log: $LOG)"
		tail -n 5 -- "$LOG"
	fi
}

# What the sources declare, as "<suite> <case>".
expected_cases() {
	local file sources=()

	while IFS= read -r file; do
		sources+=("$REPO/$file")
	done < <(new_files | grep '\.c$')
	awk -f "$REPO/kunit/expected.awk" "${sources[@]}" | sort
}

# A case that the kernel did not run has not passed: it is counted as failed.
check_missing() {
	local name

	expected_cases >"$RESULTS.expected"
	[[ -s $RESULTS.expected ]] || fail "no suite is declared in the series' sources"
	while IFS= read -r name; do
		fail "${name/ /.} did not run"
	done < <(awk '$1 == "case" { print $2, $3 }' "$RESULTS" | sort | comm -23 "$RESULTS.expected" -)
}

# A suite can fail with all its cases passed, e.g. in its exit function.
check_suites() {
	local suite

	while IFS= read -r suite; do
		grep -q "^case $suite .* failed\$" "$RESULTS" || fail "suite $suite failed outside of its cases"
	done < <(awk '$1 == "suite" && $4 == "failed" { print $2 }' "$RESULTS")
}

count() {
	grep -c "^$1 .* $2\$" "$RESULTS" || true
}

is_filtered() {
	grep -Eq 'ommand line:.*kunit\.filter' "$LOG"
}

judge() {
	RESULTS=$OUT/results
	: >"$RESULTS"
	if [[ -f $LOG ]]; then
		awk -f "$REPO/kunit/ktap.awk" "$LOG" >"$RESULTS"
		check_log
		check_suites
		if ! is_filtered; then
			check_missing
		elif [[ ! -s $RESULTS ]]; then
			fail "no case ran; does the filter match any?"
		fi
	fi
	PASSED=$(count case passed)
	SKIPPED=$(($(count case skipped) + SKIPS))
	FAILURES=$((FAILURES + $(count case failed)))
	((FAILURES > 0 || KUNIT_PY_STATUS == 0)) || fail "kunit.py failed, see above"
}

main() {
	read_args
	begin
	read_series
	prepare kunit
	set_options
	add_config
	((FAILURES > 0)) || run_suites
	if [[ " ${KUNIT_ARGS[*]} " == *\ --list_tests* ]]; then
		return "$KUNIT_PY_STATUS"
	fi
	judge
	step "done"
	echo "kunit $CONFIG: suites: $(count suite '[a-z]*'), cases: $(count case '[a-z]*'): $PASSED passed, $FAILURES failed, $SKIPPED skipped"
	report_counts "$PASSED" "$FAILURES" "$SKIPPED"
	((FAILURES == 0))
}

main
