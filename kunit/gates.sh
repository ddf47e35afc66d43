#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The static gates: each prints "ok", "FAIL" or "skip" and is counted. To add
# one, write a function and run it by `gate` in main.

# shellcheck source=kunit/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=kunit/gates-lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/gates-lib.sh"

PASSED=0
FAILED=0
SKIPPED=0

# Runs a gate: its title, then the command.
gate() {
	local title=$1 output status=0

	shift
	output=$("$@" 2>&1) || status=$?
	case $status in
	0)
		echo "ok gate: $title"
		PASSED=$((PASSED + 1))
		;;
	"$SKIP")
		echo "skip gate: $title${output:+: $output}"
		SKIPPED=$((SKIPPED + 1))
		;;
	*)
		((status < 128)) || exit "$status"
		echo "     ${output//$'\n'/$'\n'     }"
		echo "FAIL gate: $title"
		FAILED=$((FAILED + 1))
		;;
	esac
}

# Our files in the repository apart from the kernel's: scripts and the like.
own_files() {
	(cd -- "$REPO" && find Makefile series cover-letter README* .gitignore .ci kunit scripts Documentation/*.md -path kunit/user/corpus -prune -o -type f -print 2>/dev/null) || true
}

scripts() {
	(cd -- "$REPO" && grep -rlE '^#!/bin/bash|^# shellcheck shell=' kunit .ci)
}

# --- style ---------------------------------------------------------------

# Signed-off-by lines are added when the patches are sent. Whether a commit that
# is mentioned exists needs the kernel's history.
checkpatch() {
	cd -- "$TREE" &&
		perl scripts/checkpatch.pl --strict --show-types --no-signoff --ignore UNKNOWN_COMMIT_ID --quiet "$@"
}

kernel_doc() {
	cd -- "$TREE" && scripts/kernel-doc -Wall -Werror -none "$1"
}

check_shell() {
	cd -- "$REPO" && scripts | xargs -d '\n' shellcheck -x
}

# Prints each finding with the file, as the tools read from stdin.
on_own_lines() {
	local file found status=0

	cd -- "$REPO"
	while IFS= read -r file; do
		found=$(own_lines "$file" | "$@") || true
		[[ -z $found ]] || { echo "$file: ${found//$'\n'/$'\n'$file: }"; status=1; }
	done < <(own_files; new_files; printf '%s\n' "${PATCHES[@]}")
	return "$status"
}

check_spelling() {
	on_own_lines "${SPELLING[@]}" -
}

find_bad_whitespace() {
	awk '/[ \t\r]$/ && !/^[-+]?-- $/ { print "line " NR ": blanks at the end" } / \t/ { print "line " NR ": blank before a tab" }'
}

check_whitespace() {
	local file status=0

	on_own_lines find_bad_whitespace || status=1
	while IFS= read -r file; do
		[[ -z $(tail -c1 -- "$REPO/$file") ]] || { echo "$file: no newline at the end"; status=1; }
	done < <(own_files; new_files; printf '%s\n' "${PATCHES[@]}")
	return "$status"
}

# --- compiler ------------------------------------------------------------

# Compiles the touched files of the source $1 in $2, with or without the suites:
# logs in $2/gcc.log and, from sparse, $2/sparse.log.
compile() {
	local objects make=(make -s -C "$1" O="$2" ARCH=x86_64 W=1 -j"$(nproc)")

	mapfile -t objects < <(touched_objects "$1" "$3")
	mkdir -p -- "$2"
	configure "$@" >"$2/config.log" 2>&1 || return 1
	(cd -- "$2" && rm -f -- gcc.log sparse.log "${objects[@]}")
	"${make[@]}" -k "${objects[@]}" >"$2/gcc.log" 2>&1 || return 1
	"${make[@]}" -k C=2 "${objects[@]}" >"$2/sparse.log" 2>&1 || return 1
}

# Compiles what the gates compare: the base, and the series as it is used and
# with its suites. Leaves a file "compiles" where it went well.
compile_all() {
	OUT=$BUILD/gates$SUFFIX
	step "compile the touched files without the series, with it, and with its suites"
	SOURCE_BASE=$(base_to_build)
	rm -f -- "$OUT"-*/compiles
	! compile "$SOURCE_BASE" "$OUT-base" plain || touch -- "$OUT-base/compiles"
	! compile "$TREE" "$OUT-plain" plain || touch -- "$OUT-plain/compiles"
	! compile "$TREE" "$OUT-suites" suites || touch -- "$OUT-suites/compiles"
}

check_compiles() {
	[[ -e $OUT-$1/compiles ]] || { tail -n 40 -- "$OUT-$1"/*.log; return 1; }
}

# Fails on any warning in the log $2 (gcc or sparse) of the kernel $1 which the
# base does not have.
compare_warnings() {
	local new

	[[ -e $OUT-$1/compiles ]] || { echo "it does not compile"; return 1; }
	[[ -e $OUT-base/compiles ]] || { echo "the base does not compile (logs: $OUT-base)"; return "$SKIP"; }
	new=$(comm -13 <(warnings "$OUT-base/$2.log" "$SOURCE_BASE") <(warnings "$OUT-$1/$2.log" "$TREE"))
	[[ -z $new ]] || { echo "$new"; return 1; }
}

main() {
	local file

	begin
	read_series
	prepare check
	step "static gates"
	for file in $(new_files_like 'c|h'); do
		gate "checkpatch --strict $file" checkpatch -f "$file"
	done
	for file in "${PATCHES[@]}"; do
		gate "checkpatch --strict $file" checkpatch "$REPO/$file"
	done
	for file in $(new_files_like 'c|h' | grep -v '/tests/'); do
		gate "kernel-doc $file" kernel_doc "$file"
	done
	gate "spelling (codespell)" check_spelling
	gate "whitespace" check_whitespace
	gate "scripts (shellcheck)" check_shell
	compile_all
	gate "the touched files compile for x86-64" check_compiles plain
	gate "they compile with the suites" check_compiles suites
	gate "no new gcc W=1 warning" compare_warnings plain gcc
	gate "no new gcc W=1 warning with the suites" compare_warnings suites gcc
	gate "no new sparse warning" compare_warnings plain sparse
	gate "no new sparse warning with the suites" compare_warnings suites sparse
	echo "gates: $PASSED passed, $FAILED failed, $SKIPPED skipped"
	report_counts "$PASSED" "$FAILED" "$SKIPPED"
	((FAILED == 0))
}

main
