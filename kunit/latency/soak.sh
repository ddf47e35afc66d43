#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Boots kernels that check everything, with the series, in a guest of 4 CPUs that
# reclaims, writes back, fails requests, takes CPUs away and kills tasks all at once
# (see soak.c), in real time and one after the other: with KASAN, then with KCSAN.
# Ends with what they did and what they complained about.
#	MINUTES=60	for both together
#	ACCEL=kvm	where it is

# shellcheck source=kunit/latency/run-latency.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/run-latency.sh"

# shellcheck disable=SC2034 # read by the functions of run-latency.sh
JOB=soak CPUS=4
# Four CPUs at a time are not for virtual time.
[[ $ACCEL == kvm ]] || ACCEL=tcg
FLAVOURS=(kasan kcsan)
MINUTES=${MINUTES:-60}
# A race that KCSAN reports is ours if one of these is in its title. There are others
# in this kernel, which are listed.
LOOPS='bounded_iter|isolate_lru_folios|shrink_(inactive|active)_list|move_expired_inodes|queue_io|writeback_(sb_)?inodes|pagetypeinfo|__es_shrink'

# A kernel of its own for $1, in a folder of its own.
build_flavour() {
	OUT=$BUILD/soak$SUFFIX/$1
	CONFIGS=("$HERE/kernel.config" "$HERE/soak.config" "$HERE/soak-$1.config")
	rm -rf -- "$OUT/runs" "$OUT/root"
	mkdir -p -- "$OUT/runs" "$OUT/root"
	build_kernel bounded_iter ||
		die "the kernel with ${1^^} was not built:" "$(tail -n 5 -- "$OUT/build.log")" "whole log: $OUT/build.log"
	grep -qx "CONFIG_${1^^}=y" "$OUT/objects/.config" || die "this kernel cannot have CONFIG_${1^^}"
	build_guest
	make_disk
}

figure() {
	awk -v name="$1" '{ sub(/\r$/, "") } $1 == "#" && $2 == "value" && $3 == name { n = $4 } END { print n + 0 }' "$LOG"
}

# The kernel's complaints, but for races elsewhere.
splats() {
	grep -aE "$SPLATS" "$LOG" | grep -vE 'BUG: KCSAN: ' || true
	races | grep -E "$LOOPS" || true
}

races() {
	sed -nE 's/\r$//; s/.*BUG: KCSAN: /KCSAN: /p' "$LOG" | sort | uniq -c | sort -rn
}

# The times that walks were cut short, and the longest of them, by the caller.
longest() {
	sed -nE 's/\r$//; s/^# longest ([^ ]+) ([0-9]+) ([0-9]+)$/\1 \2 \3/p' "$LOG" |
		awk '{ sub(/\+0x.*/, "", $1); printf "| %s | %d | %.0f |\n", $1, $2, $3 / 1000 }'
}

write_figures() {
	local name number

	printf '\n%s kernel, %d s:\n\n| | |\n|---|---|\n' "${1^^}" "$2"
	while read -r name number; do
		printf '| %s | %d |\n' "${name//_/ }" "$number"
	done < <(sed -nE 's/\r$//; s/^# value ([a-z_]+) ([0-9]+)$/\1 \2/p' "$LOG")
	printf '| splats | %d |\n' "$(splats | wc -l)"
	printf '\n| walks cut short in | times | longest, us |\n|---|---|---|\n%s\n' "$(longest)"
	[[ -z $(races) ]] || printf '\nraces in the whole kernel:\n\n%s\n' "$(races | sed 's/^/    /')"
}

judge_soak() {
	local name

	verdict "$1: the kernel checks itself" "grep -aEiq '(kasan: KernelAddressSanitizer initialized|kcsan: enabled early)' '$LOG'"
	verdict "$1: the guest came to its end" "grep -q '^1\.\.' '$LOG' && ! grep -q '^not ok' '$LOG'"
	for name in reclaim cgroup sync churn faults read hotplug; do
		verdict "$1: $name: $(figure "rounds_$name") rounds" "(($(figure "rounds_$name") > 0))"
	done
	verdict "$1: $(figure killed) tasks were killed" "(($(figure killed) > 0))"
	verdict "$1: $(figure io_errors) calls of fsync() failed" "(($(figure io_errors) > 0))"
	verdict "$1: of $(figure checked) files read back, $(figure mismatches) were not there" \
		"(($(figure checked) > 0 && $(figure mismatches) == 0))"
	verdict "$1: $(figure files_kept) files of ten are on the disk, e2fsck says $(figure fsck)" \
		"(($(figure files_kept) == 10 && $(figure fsck) == 0))"
	verdict "$1: walks were cut short in isolate_lru_folios() and move_expired_inodes()" \
		"longest | grep -Eq 'isolate_lru_folios|shrink_' && longest | grep -Eq 'move_expired_inodes|queue_io|writeback'"
	verdict "$1: $(splats | wc -l) splats" "[[ -z \$(splats) ]]"
	splats | head -n 20
}

soak_flavour() {
	local seconds=$((MINUTES * 60 / ${#FLAVOURS[@]}))

	build_flavour "$1"
	step "soak the kernel with ${1^^} for $seconds s"
	TIMEOUT=$((seconds * 2 + 600))
	LOG=$OUT/runs/bounded_iter.soak.time.log
	boot bounded_iter time soak 1024 0 WORKLOAD=soak SECONDS="$seconds" loglevel=7 kernelcore=500M
	judge_soak "$1"
	write_figures "$1" "$seconds" >>"$BUILD/soak$SUFFIX/soak.md"
}

soak() {
	local flavour

	PASSED=0
	FAILED=0
	[[ $MINUTES =~ ^[1-9][0-9]*$ ]] || die "MINUTES=$MINUTES is no number of minutes" "give for example MINUTES=60"
	check_accel
	begin
	prepare "$JOB"
	mkdir -p -- "$BUILD/soak$SUFFIX"
	printf '# make soak MINUTES=%s\n' "$MINUTES" >"$BUILD/soak$SUFFIX/soak.md"
	for flavour in "${FLAVOURS[@]}"; do
		soak_flavour "$flavour"
	done
	cat -- "$BUILD/soak$SUFFIX/soak.md"
	step "done: $BUILD/soak$SUFFIX/soak.md; what the guests said: $BUILD/soak$SUFFIX/*/runs/*.log"
	echo "soak: $PASSED passed, $FAILED failed, 0 skipped"
	report_counts "$PASSED" "$FAILED" 0
	((FAILED == 0))
}

soak
