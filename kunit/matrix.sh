#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs the suites on other kernels than `make kunit` does, or compiles the touched
# files for them: the rows of kunit/matrix, or those that ROW names. Ends with a
# table. "matrix.sh check" does the rows that are part of make check.

# shellcheck source=kunit/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=kunit/gates-lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/gates-lib.sh"

MATRIX=$REPO/kunit/matrix
PASSED=0
FAILED=0
SKIPPED=0

# The rows to do: all, those of make check if $1 says so, or those in ROW.
rows() {
	awk -v check="$1" -v names=" ${ROW:-} " '
		/^#/ || !NF { next }
		names ~ /[^ ]/ ? index(names, " " $1 " ") : !check || $2 == "*"' "$MATRIX"
}

# --- run -------------------------------------------------------------------

# What the options need that this machine does not have.
missing_tool() {
	local option

	for option in "$@"; do
		case $option in
		--cross_compile=*) command -v "${option#*=}gcc" >/dev/null || echo "needs ${option#*=}gcc" ;;
		--arch=arm64) command -v qemu-system-aarch64 >/dev/null || echo "needs qemu-system-aarch64" ;;
		--arch=s390) command -v qemu-system-s390x >/dev/null || echo "needs qemu-system-s390x" ;;
		--arch=*) command -v "qemu-system-${option#*=}" >/dev/null || echo "needs qemu-system-${option#*=}" ;;
		*LLVM=1) command -v ld.lld >/dev/null || echo "needs lld" ;;
		esac
	done
}

# The suites on the kernel of row $1, with the options of kunit.py after it.
do_run() {
	local name=$1 missing

	shift
	missing=$(missing_tool "$@")
	[[ -z $missing ]] || { echo "$missing" | paste -sd,; return "$SKIP"; }
	(cd -- "$REPO" && env -u HARNESS_COUNTS -u ARGS kunit/run-kunit.sh "$name" "$@") >"$OUT/$name.log" 2>&1 ||
		{ grep -E '^(FAIL|skip)|^kunit ' "$OUT/$name.log" | tail -n 3 | paste -sd' '; return 1; }
	sed -n 's/^kunit .*cases: //p' "$OUT/$name.log"
}

# --- objects ---------------------------------------------------------------

# Compiles the touched files of the source $1 in $2 for ARCH $3, configured by what
# follows: the log is $2/gcc.log.
compile_row() {
	local source=$1 out=$2 objects make

	make=(make -s -C "$source" O="$out" ARCH="$3" -j"$(nproc)")
	mkdir -p -- "$out"
	{ cat -- "$REPO/kunit/gates.config"; printf '%s\n' "${@:4}"; } >"$out/fragment.config"
	"${make[@]}" KCONFIG_ALLCONFIG="$out/fragment.config" allnoconfig >"$out/config.log" 2>&1 || return 1
	mapfile -t objects < <(touched_objects "$source" plain)
	(cd -- "$out" && rm -f -- "${objects[@]}")
	"${make[@]}" W=1 -k "${objects[@]}" >"$out/gcc.log" 2>&1
}

# The options of row $1 that its kernel does not have.
not_configured() {
	local option

	for option in "${@:2}"; do
		case $option in
		*=n) ! grep -q "^${option%=n}=" "$OUT/$1-series/.config" || echo "$option" ;;
		*) grep -qxF "$option" "$OUT/$1-series/.config" || echo "$option" ;;
		esac
	done
}

# The symbols of the objects below $1 that are named after it, without their files'.
symbols() {
	(cd -- "$1" && nm --no-demangle -- "${@:2}" | grep -v ':$')
}

# Without KUnit: neither a symbol of it, nor a function that only a stub needs.
no_kunit_left() {
	! symbols "$1" lib/bounded_iter.o mm/vmscan.o fs/fs-writeback.o | grep -Ei 'kunit| [TD] bounded_iter_(clock|need_resched)'
}

# A division of 64 bits is a function on 32-bit machines that the kernel lacks.
no_division_of_64_bits() {
	! symbols "$1" lib/bounded_iter.o mm/vmscan.o fs/fs-writeback.o mm/vmstat.o | grep -E '__u?(div|mod)di3'
}

# Where spinlocks can be preempted nothing is bounded and nothing is left of it,
# while bottom halves are off nowhere for longer.
helper_is_gone() {
	! symbols "$1" mm/vmscan.o fs/fs-writeback.o mm/vmstat.o fs/ext4/extents_status.o | grep bounded_iter &&
		symbols "$1" net/core/neighbour.o | grep bounded_iter_expired_slowpath >/dev/null
}

do_objects() {
	local name=$1 arch=$2 options=("${@:3:$#-3}") claim=${!#} new missing

	compile_row "$SOURCE_BASE" "$OUT/$name-base" "$arch" "${options[@]}" || { echo "the base does not compile"; return "$SKIP"; }
	compile_row "$TREE" "$OUT/$name-series" "$arch" "${options[@]}" || { grep -E 'error' "$OUT/$name-series/gcc.log" | head -n 3; return 1; }
	missing=$(not_configured "$name" "${options[@]}")
	[[ -z $missing ]] || { echo "this kernel cannot have ${missing//$'\n'/, }"; return "$SKIP"; }
	new=$(comm -13 <(warnings "$OUT/$name-base/gcc.log" "$SOURCE_BASE") <(warnings "$OUT/$name-series/gcc.log" "$TREE"))
	[[ -z $new ]] || { echo "$new" | head -n 3; return 1; }
	"$claim" "$OUT/$name-series" || { echo "not so: $claim"; return 1; }
	echo "compiles, no new warning; $claim"
}

# --- table -----------------------------------------------------------------

# Runs a row: its name, then the command, whose output is the remark in the table.
row() {
	local name=$1 status=0 remark result

	step "$name"
	remark=$("${@:2}" 2>&1) || status=$?
	case $status in
	0) result=passed PASSED=$((PASSED + 1)) ;;
	"$SKIP") result=skipped SKIPPED=$((SKIPPED + 1)) ;;
	*)
		((status < 128)) || exit "$status"
		result=FAILED FAILED=$((FAILED + 1))
		;;
	esac
	printf '| %s | %s | %s |\n' "$name" "$result" "${remark//$'\n'/; }" | tee -a "$OUT/matrix.md"
}

main() {
	local line words

	begin
	read_series
	prepare "${1:-matrix}"
	OUT=$BUILD/matrix$SUFFIX
	mkdir -p -- "$OUT"
	"$REPO/kunit/make-tree.sh" >/dev/null
	SOURCE_BASE=$(base_to_build)
	[[ -n $(rows "${1:-}") ]] || die "there is no row ${ROW:-}" "see kunit/matrix: $(awk '!/^#/ { print $1 }' "$MATRIX" | paste -sd' ')"
	printf '| row | result | |\n|---|---|---|\n' | tee "$OUT/matrix.md"
	while IFS= read -r line; do
		mapfile -d '' words < <(xargs printf '%s\0' <<<"$line")
		row "${words[0]}" "do_${words[2]}" "${words[0]}" "${words[@]:3}"
	done < <(rows "${1:-}")
	step "done: $OUT/matrix.md"
	echo "matrix: $PASSED passed, $FAILED failed, $SKIPPED skipped"
	report_counts "$PASSED" "$FAILED" "$SKIPPED"
	((FAILED == 0))
}

main "$@"
