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
OPTIONS=()

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

# --- modules ---------------------------------------------------------------

# An initramfs in $1/initrd.gz whose init loads the modules that follow, in this order.
make_initrd() {
	local out=$1 root=$1/root

	shift
	rm -rf -- "$root"
	mkdir -p -- "$root"
	cp -- /bin/busybox "$@" "$root"
	cat >"$root/init" <<-EOF_INIT
		#!/busybox sh
		for module in ${*##*/}; do
			/busybox insmod "/\$module" || echo "cannot load \$module"
		done
		/busybox reboot -f
	EOF_INIT
	chmod +x -- "$root/init"
	(cd -- "$root" && find . | cpio -o -H newc -R 0:0 --quiet | gzip) >"$out/initrd.gz"
}

build_modules() {
	local make=(make -s -C "$TREE" O="$1" ARCH=x86_64 -j"$(nproc)")

	mkdir -p -- "$1"
	"${make[@]}" KCONFIG_ALLCONFIG="$REPO/kunit/modules.config" allnoconfig && "${make[@]}" bzImage modules
}

# KUnit and the suites of lib/ as modules of an x86-64 kernel.
do_modules() {
	local out=$OUT/$1 log=$OUT/$1.log modules expected

	build_modules "$out" >"$log" 2>&1 || { grep -i error "$log" | head -n 3; return 1; }
	mapfile -t modules < <(find "$out/lib" -name 'kunit.ko'; find "$out/lib/tests" -name 'bounded_iter*.ko' | sort)
	make_initrd "$out" "${modules[@]}"
	timeout 300 qemu-system-x86_64 -m 512 -nodefaults -nographic -serial stdio -no-reboot -kernel "$out/arch/x86/boot/bzImage" \
		-initrd "$out/initrd.gz" -append "console=ttyS0 panic_on_warn=1 panic=-1" </dev/null >"$log" 2>&1 9>&- || true
	! grep -E "$SPLATS|^cannot load" "$log" || return 1
	expected=$(awk -f "$REPO/kunit/expected.awk" "$REPO"/lib/tests/*.c | sort)
	awk -f "$REPO/kunit/ktap.awk" "$log" | sed -n 's/^case \(.*\) passed$/\1/p' | sort >"$out/passed"
	[[ $expected == "$(cat -- "$out/passed")" ]] ||
		{ echo "these did not pass (log: $log):"; comm -23 <(echo "$expected") "$out/passed"; return 1; }
	echo "${#modules[@]} modules, cases: $(wc -l <"$out/passed") passed, 0 failed"
}

# --- objects ---------------------------------------------------------------

# Compiles of the source $1 in $2 for ARCH $3 the objects that follow, configured by
# OPTIONS as well: the log is $2/gcc.log.
compile_objects() {
	local source=$1 out=$2 objects=("${@:4}") make

	make=(make -s -C "$source" O="$out" ARCH="$3" -j"$(nproc)")
	mkdir -p -- "$out"
	{ cat -- "$REPO/kunit/gates.config"; printf '%s\n' "${OPTIONS[@]}"; } >"$out/fragment.config"
	"${make[@]}" KCONFIG_ALLCONFIG="$out/fragment.config" allnoconfig >"$out/config.log" 2>&1 || return 1
	(cd -- "$out" && rm -f -- "${objects[@]}")
	"${make[@]}" W=1 -k "${objects[@]}" >"$out/gcc.log" 2>&1
}

# Compiles for row $1 and ARCH $4 the objects from $5 on, of the source $2 as far as it
# has them and of the patched one in $3, which must find no more to warn of.
compare_objects() {
	local out=$OUT/$1 objects=("${@:5}") before=() object new

	for object in "${objects[@]}"; do
		[[ ! -f $2/${object%.o}.c ]] || before+=("$object")
	done
	compile_objects "$2" "$out-base" "$4" "${before[@]}" || { echo "the base does not compile"; return "$SKIP"; }
	compile_objects "$3" "$out-series" "$4" "${objects[@]}" || { grep -i error "$out-series/gcc.log" | head -n 3; return 1; }
	new=$(comm -13 <(warnings "$out-base/gcc.log" "$2") <(warnings "$out-series/gcc.log" "$3"))
	[[ -z $new ]] || { echo "$new" | head -n 3; return 1; }
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
	local name=$1 claim=${!#} objects missing

	OPTIONS=("${@:3:$#-3}")
	mapfile -t objects < <(touched_objects "$TREE" plain)
	compare_objects "$name" "$SOURCE_BASE" "$TREE" "$2" "${objects[@]}" || return
	missing=$(not_configured "$name" "${OPTIONS[@]}")
	[[ -z $missing ]] || { echo "this kernel cannot have ${missing//$'\n'/, }"; return "$SKIP"; }
	"$claim" "$OUT/$name-series" || { echo "not so: $claim"; return 1; }
	echo "compiles, no new warning; $claim"
}

# --- an older kernel -------------------------------------------------------

# Lays the helper, and what applies of the conversions as it is, over a copy of $1 in
# $2. It prints the files that those touch. The KUnit header that is not there yet
# comes from the base: without KUnit it defines nothing but empty macros.
carry() {
	local patch

	rm -rf -- "$2"
	cp -al -- "$1" "$2"
	(cd -- "$REPO" && cp --parents -- include/linux/bounded_iter.h lib/bounded_iter.c "$2")
	[[ -f $2/include/kunit/static_stub.h ]] || cp -- "$BASE/include/kunit/static_stub.h" "$2/include/kunit/"
	sed -i '$a obj-y += bounded_iter.o' "$2/lib/Makefile"
	echo lib/bounded_iter.c
	for patch in "${PATCHES[@]}"; do
		if [[ $patch != *-kunit.patch && $patch != lib/* ]] && plain_git -C "$2" apply "$REPO/$patch" 2>/dev/null; then
			patched_files "$patch" | grep '\.c$'
		fi
	done
}

# The helper and the conversions that apply to the kernel of Debian's package $2,
# compiled as in the other rows.
do_older() {
	local tree=$BUILD/$1-tree files

	[[ -f /usr/src/$2.tar.xz ]] || { echo "needs Debian's $2"; return "$SKIP"; }
	unpack_source "$2"
	carry "$BUILD/$2" "$tree" >"$OUT/$1.files"
	mapfile -t files < <(sed 's/c$/o/' "$OUT/$1.files")
	OPTIONS=()
	compare_objects "$1" "$BUILD/$2" "$tree" x86_64 "${files[@]}" || return
	echo "Linux $(kernel_version "$BUILD/$2"): ${files[*]} compile, no new warning; the other patches do not apply"
}

# --- table -----------------------------------------------------------------

# Runs a row: its name, then the command, whose output is the remark in the table.
row() {
	local name=$1 status=0 remark result

	step "$name"
	remark=$("${@:2}") || status=$?
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
