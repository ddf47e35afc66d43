#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The real include/linux/bounded_iter.h and lib/bounded_iter.c in user space, over
# the few kernel headers in kunit/user/include.
#	run-user.sh model	compare with the reference in all small worlds
#	run-user.sh fuzz	compare on what libFuzzer thinks of (SECONDS=60)
#	run-user.sh mutants	break the code and see a test fail: lib, or the
#				suites that MUTANTS names
#	run-user.sh bench	what a bound costs on this machine
# QUICK=1 is what `make check` does: minutes, and nothing that depends on the machine.

# shellcheck source=kunit/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"

HERE=$REPO/kunit/user
INCLUDE=(-I"$HERE/include" -I"$REPO/include")
WARNINGS=(-Wall -Wextra -Werror)
PASSED=0
FAILED=0
# How many events the worlds of a quick run have: 30 s.
QUICK_EVENTS=7
FUZZ_SECONDS=${FUZZ_SECONDS:-60}

# Runs one test: its title, then the command, in which errexit does not work.
try() {
	local title=$1

	shift
	if "$@"; then
		echo "ok user: $title"
		PASSED=$((PASSED + 1))
	else
		echo "FAIL user: $title"
		FAILED=$((FAILED + 1))
	fi
}

# Compiles the program $1, with further options for the compiler $2 after it.
compile() {
	"$2" -O2 "${WARNINGS[@]}" "${INCLUDE[@]}" "${@:3}" -o "$OUT/$1" "$HERE/$1.c" "$REPO/lib/bounded_iter.c"
}

# --- model ---------------------------------------------------------------

run_model() {
	step "compare with the reference in all small worlds"
	compile model gcc -DPREEMPT_RT=1 && "$OUT/model" 1 &&
		compile model gcc -DPREEMPT_RT=1 -DBH=1 && "$OUT/model" 4 &&
		compile model gcc && "$OUT/model" "${@}"
}

# --- fuzz ----------------------------------------------------------------

# What the fuzzer finds stays in the build folder, to begin with the next time.
run_fuzz() {
	step "fuzz for $FUZZ_SECONDS s"
	mkdir -p -- "$OUT/corpus"
	compile fuzz clang -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all &&
		"$OUT/fuzz" -max_total_time="$FUZZ_SECONDS" -max_len=128 -print_final_stats=1 -verbosity=0 \
			-artifact_prefix="$OUT/" "$OUT/corpus" "$HERE/corpus"
}

# --- mutants -------------------------------------------------------------

# In a copy of the tree: what is broken there is nobody else's.
prepare_mutant_tree() {
	local configs file

	HARNESS_TREE=mutants "$REPO/kunit/make-tree.sh" >"$OUT/tree" || die "there is no tree for the mutants, see above"
	TREE=$(cat -- "$OUT/tree")
	export TREE BASE
	export KERNEL_OBJECTS=$BUILD/um-mutants$SUFFIX
	mkdir -p -- "$KERNEL_OBJECTS"
	read_series
	configs=(--kunitconfig="$REPO/kunit/uml.config" --kunitconfig="$HERE/mutants.config")
	while IFS= read -r file; do
		configs+=(--kunitconfig="$TREE/$file")
	done < <(suite_configs)
	python3 "$TREE/tools/testing/kunit/kunit.py" config --arch=um --build_dir="$KERNEL_OBJECTS" \
		"${configs[@]}" >"$OUT/mutants.config.log" 2>&1 ||
		die "the kernel for the mutants cannot be configured" "see $OUT/mutants.config.log"
}

run_mutants() {
	step "mutants: $1"
	if [[ $1 == lib ]]; then
		"$HERE/mutants.py" lib "$OUT/mutants" | tee "$OUT/mutants-$1.log"
	else
		[[ -n ${KERNEL_OBJECTS:-} ]] || prepare_mutant_tree
		"$HERE/mutants.py" "$1" "$HERE/run-suite.sh" "$1" | tee "$OUT/mutants-$1.log"
	fi
}

# --- bench ---------------------------------------------------------------

# Instructions of a walk over a list of 32, its way back not counted.
instructions() {
	local name=$1 function=$2

	valgrind -q --tool=callgrind --callgrind-out-file="$OUT/callgrind.out" --toggle-collect="$function" \
		"$OUT/bench" once "$name" 2>/dev/null &&
		awk '$1 == "totals:" { n = $2 / 1000 } END { print n; exit !n }' "$OUT/callgrind.out"
}

count_instructions() {
	local name function

	while read -r function name; do
		printf '%s\t' "$name"
		instructions "$name" "$function" || return 1
	done <<-END
		no_bound no bound
		count_cap count cap
		open_coded open-coded
		rcu_shape as rcu_do_batch
		bounded_32 bounded_iter
	END
}

write_bench() {
	{
		echo "| clock | list | shape | batch | time against no bound | ns per item |"
		echo "|---|---|---|---|---|---|"
		awk -F'\t' '{ printf "| %s | %s | %s | %s | %.3f | %.2f |\n", $1, $2, $3, $4 ? $4 : "-", $5, $6 }' "$OUT/bench.tsv"
		echo
		echo "| batch | ns beyond a budget of 100 us, 1000000 cold items |"
		echo "|---|---|"
		awk -F'\t' '{ printf "| %s | %s |\n", $1, $2 }' "$OUT/overshoot.tsv"
		echo
		echo "| shape | instructions for a list of 32 | more than no bound, per item |"
		echo "|---|---|---|"
		awk -F'\t' 'NR == 1 { none = $2 } { printf "| %s | %.0f | %.2f |\n", $1, $2, ($2 - none) / 32 }' "$OUT/instructions.tsv"
	} | tee "$OUT/bench.md"
}

run_bench() {
	local rounds=${1:-41}

	step "what a bound costs, $rounds rounds"
	compile bench gcc && "$OUT/bench" check || return 1
	"$OUT/bench" "$rounds" >"$OUT/bench.tsv" &&
		"$OUT/bench" overshoot "$rounds" >"$OUT/overshoot.tsv" &&
		count_instructions >"$OUT/instructions.tsv" &&
		write_bench &&
		gnuplot -e "bench='$OUT/bench.tsv'; overshoot='$OUT/overshoot.tsv'; out='$OUT/bench.png'" "$HERE/plot.gp"
}

main() {
	local name

	begin
	prepare "$1"
	OUT=$BUILD/user
	mkdir -p -- "$OUT"
	case $1 in
	model) if [[ -n ${QUICK:-} ]]; then try model run_model "$QUICK_EVENTS"; else try model run_model -t 120; fi ;;
	fuzz) try fuzz run_fuzz ;;
	mutants)
		for name in ${MUTANTS:-lib vmscan fs_writeback vmstat neighbour ext4_extents_status}; do try "mutants of $name" run_mutants "$name"; done
		;;
	bench) try bench run_bench "${QUICK:+3}" ;;
	esac
	step "done"
	echo "user $1: $PASSED passed, $FAILED failed, 0 skipped"
	report_counts "$PASSED" "$FAILED" 0
	((FAILED == 0))
}

main "$@"
