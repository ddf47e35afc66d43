#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Where the next bounded loop could be: runs scripts/coccinelle/locks/bounded_iter.cocci
# on the base kernel, without the series.
#	find-loops.sh		report, or what MODE names (report, org), on the folders
#				and files in DIRS
#	find-loops.sh check	what kunit/find-loops.expected names is found in the base
#				and not in the patched tree, and so with the test file
# A file without both a lock and a list is not looked at: this is what PATTERN_* are for.

# shellcheck source=kunit/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

COCCI=$REPO/scripts/coccinelle/locks/bounded_iter.cocci
TEST=$REPO/kunit/find-loops-test.c
EXPECTED=$REPO/kunit/find-loops.expected
PATTERN_LOCK='(spin|write)_(try)?lock|local_irq_(disable|save)|xas?_lock|read_lock_irq'
PATTERN_LIST='list_for_each|list_walk|list_empty|list_(first|last|next|prev)|lru_to_folio|-> ?(next|prev)'
PATTERN_LIST+='|rb_(first|last|next|prev)|rbtree_post|skb_(queue|dequeue|peek)|for_each_(process|thread)|each_thread'
PATTERN_LIST+='|(hash|sk|sk_nulls|radix_tree|idr|xas?)_for_each'
# Seconds for a file; those that take longer are named at the end.
TIMEOUT=120
PASSED=0
FAILED=0

# The files below the names in $2... of the tree $1 in which there can be a finding.
candidates() {
	(cd -- "$1" && grep -rlE --include='*.[ch]' -e "$PATTERN_LOCK" -- "${@:2}" | sort -u |
		xargs -r -d '\n' grep -lE -e "$PATTERN_LIST" --) || true
}

# Runs the semantic patch in mode $1 on each of the files on stdin: their findings in
# $OUT/found, what went wrong in $OUT/errors.
search() {
	sed 's/$/\n/' >"$OUT/files"
	: >"$OUT/found"
	[[ -s $OUT/files ]] || return 0
	# What its processes find it puts into a folder where it is started.
	(cd -- "$OUT" && spatch -D "$1" --no-includes --include-headers --no-show-diff --very-quiet --jobs "$(nproc)" \
		--chunksize 1 --timeout "$TIMEOUT" --file-groups "$OUT/files" --cocci-file "$COCCI") >"$OUT/found" 2>"$OUT/errors" ||
		die "spatch failed:" "$(tail -n 5 -- "$OUT/errors")" "its messages are in $OUT/errors"
}

# <kind> <file>:<line> <function> <lock>, sorted, from the reports on the files of the
# tree $1.
table() {
	sed -nE "s|^$1/||; s/^([^:]+:[0-9]+):[-0-9]+: WARNING: (\w+) walk in (\w+)\(\) under (.*)/\2\t\1\t\3\t\4/p" "$OUT/found" |
		sort -t $'\t' -k1,1 -k2,2V -u
}

count_kinds() {
	awk -F'\t' '{ n[$1]++ } END { for (kind in n) print n[kind], kind }' | sort -k2 | paste -sd, | sed 's/,/, /g'
}

# One line a finding, and what they add up to.
print_report() {
	table "$BASE" >"$OUT/table"
	awk -F'\t' '{ printf "%s: %s(): %s: %s\n", $2, $3, $4, $1 }' "$OUT/table"
	echo "find-loops: $(wc -l <"$OUT/table") walks in $(cut -f2 "$OUT/table" | cut -d: -f1 | sort -u | wc -l) files: $(count_kinds <"$OUT/table")"
}

print_org() {
	sed "s|$BASE/||g" "$OUT/found" | sed -nE 's/^(\* TODO .*\]\[)(\w+) (walk in .*)/\2\t\1\2 \3/p' | sort | cut -f2
}

print_summary() {
	local missed

	missed=$(sed -nE "s|^EXN: (.*) in $BASE/(.*)|\2: \1|p" "$OUT/errors")
	echo "looked at $(grep -c . "$OUT/files") files of ${DIRS[*]} that have both a lock and a list"
	[[ -z $missed ]] || printf 'not finished:\n%s\n' "$missed"
}

find_loops() {
	local mode=${MODE:-report} name

	[[ $mode == report || $mode == org ]] || die "MODE=$mode is no mode" "give MODE=report or MODE=org"
	read -ra DIRS <<<"${DIRS:-mm fs net/core block}"
	for name in "${DIRS[@]}"; do
		[[ -e $BASE/$name ]] || die "DIRS: there is no $name in $BASE" "name folders or files of the kernel tree"
	done
	step "look for loops in ${DIRS[*]} of Linux $(kernel_version "$BASE")"
	candidates "$BASE" "${DIRS[@]}" | sed "s|^|$BASE/|" | search "$mode"
	step "done"
	"print_$mode"
	print_summary >&2
}

# --- check ---------------------------------------------------------------

result() {
	if [[ $1 == ok ]]; then PASSED=$((PASSED + 1)); else FAILED=$((FAILED + 1)); fi
	echo "$1 find-loops: $2"
}

# <line>: <kind>, <lock>
expected_in_test_file() {
	awk '/expect: / { sub(/.*expect: /, ""); sub(/ \*\/$/, ""); print FNR + 1 ": " $0 }' "$TEST"
}

found_in_test_file() {
	search report <<<"$TEST"
	table "${TEST%/*}" | awk -F'\t' '{ sub(/.*:/, "", $2); sub(/:[0-9]+$/, "", $4); print $2 ": " $1 ", " $4 }' | sort -n
}

# The test file says above each loop what is to be reported of it.
check_test_file() {
	local difference

	found_in_test_file >"$OUT/test"
	if difference=$(diff <(expected_in_test_file) "$OUT/test"); then
		result ok "the test file, $(wc -l <"$OUT/test") findings"
	else
		printf '%s\n' "expected (<) and found (>), by line of $TEST:" "$difference"
		result FAIL "the test file"
	fi
}

# What is found in the tree $1 in the files that the list names: <file> <function> <kind>.
found_in() {
	cut -f1 <<<"$WANTED" | sort -u | sed "s|^|$1/|" | search report
	! grep '^EXN' "$OUT/errors" >&2 || die "a file of $EXPECTED could not be looked at, see above"
	table "$1" | awk -F'\t' '{ sub(/:.*/, "", $2); print $2 "\t" $3 "\t" $1 }' | sort -u
}

# Says yes if the command does, or if it does not where $1 is "not".
check_that() {
	local title=$2 status=0

	"${@:3}" >/dev/null || status=$?
	[[ $1 != not ]] || status=$((!status))
	if ((status == 0)); then result ok "$title"; else result FAIL "$title: wrong"; fi
}

check_series() {
	local before after file function kind

	WANTED=$(sed -E '/^(#|$)/d; s/[ \t]+/\t/g' "$EXPECTED")
	before=$(found_in "$BASE")
	after=$(found_in "$TREE")
	while IFS=$'\t' read -r file function kind; do
		check_that so "$file: $function() is $kind in the base" grep -xF "$file"$'\t'"$function"$'\t'"$kind" <<<"$before"
		check_that so "$file: $function() is there with the series" grep -E "^[a-z].*\b$function\(" "$TREE/$file"
		check_that not "$file: $function() is not found with the series" grep -F "$file"$'\t'"$function"$'\t' <<<"$after"
	done <<<"$WANTED"
}

check() {
	"$REPO/kunit/make-tree.sh" >/dev/null
	step "find-loops: the test file and what the series converted"
	check_test_file
	check_series
	echo "find-loops: $PASSED passed, $FAILED failed, 0 skipped"
	report_counts "$PASSED" "$FAILED" 0
	((FAILED == 0))
}

main() {
	begin
	prepare find-loops
	OUT=$BUILD/find-loops
	mkdir -p -- "$OUT"
	: >"$OUT/errors"
	if [[ ${1:-} == check ]]; then
		check
	else
		[[ -n ${KDIR:-} ]] || "$REPO/kunit/make-tree.sh" >/dev/null
		find_loops
	fi
}

main "$@"
