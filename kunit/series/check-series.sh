#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every gate for every patch of the series, and those for the whole: applies the
# mails that make-series.sh writes to the untouched base, one by one, and judges
# each in the tree as it is then. Ends with a table, patch by gate. QUICK=1 builds
# after the first and the last patch only.
#
# To add a gate, write a function, run it by `gate` and name it in GATES. Its exit
# status is 0, SKIP, NOTHING, or says that it failed; what it prints is the reason.

# shellcheck source=kunit/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=kunit/gates-lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../gates-lib.sh"
# shellcheck source=kunit/series/repo.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/repo.sh"

# There is nothing of the kind in this patch: no documentation, say.
NOTHING=78
# The columns of the table.
GATES=(am checkpatch text kernel-doc sphinx codespell recipients gcc gcc-suites clang uml)
# Trailers that a patch may have; a review is given by others, on the list.
TRAILERS='Link|Closes|Reported-by|Fixes|Signed-off-by'

declare -A RESULT
REASONS=()
PASSED=0
FAILED=0
SKIPPED=0

# Runs gate $2 on patch number $1 (or "series"): then the command.
gate() {
	local patch=$1 name=$2 log=$OUT/logs/$1-$2 status=0

	shift 2
	"$@" >"$log" 2>&1 || status=$?
	case $status in
	0)
		RESULT[$patch,$name]=passed
		PASSED=$((PASSED + 1))
		;;
	"$SKIP")
		RESULT[$patch,$name]=skipped
		SKIPPED=$((SKIPPED + 1))
		REASONS+=("skipped $patch $name: $(tail -n 1 -- "$log")")
		;;
	"$NOTHING") RESULT[$patch,$name]=- ;;
	*)
		((status < 128)) || exit "$status"
		RESULT[$patch,$name]=FAILED
		FAILED=$((FAILED + 1))
		REASONS+=("FAILED $patch $name (whole log: $log):" "$(tail -n 15 -- "$log" | sed 's/^/     /')")
		;;
	esac
}

skip() {
	echo "$1"
	return "$SKIP"
}

# --- the mail --------------------------------------------------------------

# Checks what git am makes of the mail against the commit that it was made of.
check_am() {
	sgit am -q "$MAIL" || { sgit am --abort; return 1; }
	[[ $(sgit rev-parse 'HEAD^{tree}') == "$(sgit rev-parse "$COMMIT^{tree}")" ]] ||
		{ echo "the tree is another one than that of commit $COMMIT"; return 1; }
}

mail_text() {
	sgit log -1 --format=%B HEAD
}

# A finding that stays needs its reason in the text of the patch, by its type.
# Commits that are mentioned need the kernel's history to be found.
check_style() {
	local findings type left=

	findings=$(cd -- "$SERIES_TREE" && GIT_CEILING_DIRECTORIES=$BUILD perl scripts/checkpatch.pl --strict --show-types \
		--terse --no-summary --ignore UNKNOWN_COMMIT_ID "$MAIL" 2>&1) || true
	[[ -n $findings ]] || return 0
	while IFS= read -r line; do
		type=$(sed -nE 's/^.*: (ERROR|WARNING|CHECK):([A-Z_]+): .*/\2/p' <<<"$line")
		[[ -n $type ]] && mail_text | grep -qwF -- "$type" || left+=$line$'\n'
	done <<<"$findings"
	[[ -z $left ]] || { printf '%s' "$left"; return 1; }
	echo "$findings"
}

# What reviewers look for in the text itself.
check_text() {
	local text added bad=0

	text=$(mail_text)
	added=$(sgit diff HEAD~ HEAD -- '*.c' ':!*_kunit.c' ':!*-test.c' | grep '^+' || true)
	complain() {
		echo "$1"
		bad=1
	}
	(($(head -n 1 <<<"$text" | wc -m) <= 76)) || complain "the subject is longer than 75 characters"
	! grep -vE '^[A-Z][a-z-]+: ' <<<"$text" | grep -qE '.{76}' || complain "a line of the text is longer than 75 characters"
	! sgit interpret-trailers --parse <<<"$text" | grep -vE "^($TRAILERS): " ||
		complain "a trailer that is not ours to give (see TRAILERS in $0)"
	[[ $(sgit interpret-trailers --parse <<<"$text" | tail -n 1) == "Signed-off-by: $(sgit log -1 --format='%an <%ae>')" ]] ||
		complain "it does not end with the author's Signed-off-by"
	! grep -E '^(Link|Closes): ' <<<"$text" | grep -v ' https://lore.kernel.org/all/[^/]*@[^/]*/$' ||
		complain "a report is not named by its public message id"
	if grep -q 'bounded_iter_expired(' <<<"$added" && ! sgit diff --name-only HEAD~ HEAD | grep -qx lib/bounded_iter.c; then
		grep -q 'PREEMPT_RT' <<<"$text" || complain "it does not say what happens on PREEMPT_RT"
		grep -q 'dead.*clock\|clock.*still' <<<"${text//$'\n'/ }" || complain "it does not say what happens without a good clock"
		grep -qE '[0-9] (us|ms|s|ns)\b' <<<"${text//$'\n'/ }" || complain "it has no figure of a measurement"
		grep -qE '\b(costs?|instructions?)\b' <<<"$text" || complain "it does not say what it costs"
	fi
	if grep -qE '^\+.*\b(raw_)?spin_unlock(_irq|_irqrestore)?\(|^\+.*\bcond_resched_lock' <<<"$added"; then
		grep -qE '(lock was|lock is|is|was) (dropped|retaken)' <<<"${text//$'\n'/ }" ||
			complain "it does not say what is looked at anew after the lock was dropped"
	fi
	return "$bad"
}

# What kernel-doc says of file $1 as it is in commit $2, without line numbers. (From
# v6.16 on, where it is Python, no colon follows them.)
kernel_doc() {
	mkdir -p -- "$OUT/doc/$(dirname -- "$1")"
	sgit show "$2:$1" >"$OUT/doc/$1" 2>/dev/null || return 0
	(cd -- "$OUT/doc" && "$SERIES_TREE/scripts/kernel-doc" -Wall -none "$1" 2>&1 | sed -E 's/:[0-9]+:? /: /' | sort)
}

touched() {
	sgit diff --name-only --diff-filter=d HEAD~ HEAD -- "$@"
}

check_kernel_doc() {
	local file files new status=0

	files=$(touched '*.c' '*.h')
	[[ -n $files ]] || return "$NOTHING"
	while IFS= read -r file; do
		new=$(comm -13 <(kernel_doc "$file" HEAD~) <(kernel_doc "$file" HEAD))
		[[ -z $new ]] || { echo "$new"; status=1; }
		sgit cat-file -e "HEAD~:$file" 2>/dev/null || (cd -- "$SERIES_TREE" && scripts/kernel-doc -Wall -Werror -none "$file") || status=1
	done <<<"$files"
	return "$status"
}

# The pages of the series that this patch adds, or whose code's comments it changes.
our_pages() {
	local page files

	files=$(touched)
	while IFS= read -r page; do
		! grep -qxFf <(echo "$page"; sed -n 's/^\.\. kernel-doc:: *//p' "$SERIES_TREE/$page") <<<"$files" || echo "$page"
	done < <(sgit diff --name-only --diff-filter=A "$BASE_COMMIT" HEAD -- 'Documentation/*.rst')
}

# Builds these pages alone, with the kernel's configuration of Sphinx. Newer ones
# have no kerneldoc_bin, and Sphinx warns of what it does not know.
check_sphinx() {
	local pages page docs=$OUT/sphinx found options=(-D kerneldoc_srctree="$SERIES_TREE")

	pages=$(our_pages)
	[[ -n $pages ]] || return "$NOTHING"
	command -v sphinx-build >/dev/null || { skip "sphinx-build is not installed"; return; }
	! grep -q '^kerneldoc_bin' "$SERIES_TREE/Documentation/conf.py" || options+=(-D kerneldoc_bin="$SERIES_TREE/scripts/kernel-doc")
	rm -rf -- "$docs"
	mkdir -p -- "$docs/source"
	printf '.. toctree::\n\n' >"$docs/source/index.rst"
	while IFS= read -r page; do
		grep -qE "^ +$(basename "$page" .rst)\$" "$SERIES_TREE/$(dirname "$page")/index.rst" || { echo "$page is in no index.rst"; return 1; }
		cp -- "$SERIES_TREE/$page" "$docs/source/"
		echo "   $(basename "$page" .rst)" >>"$docs/source/index.rst"
	done <<<"$pages"
	(cd -- "$SERIES_TREE" && BUILDDIR=$docs/html srctree=$SERIES_TREE sphinx-build -q -E -b html \
		-c "$SERIES_TREE/Documentation" -d "$docs/doctrees" -D version=6 -D release=6 \
		"${options[@]}" "$docs/source" "$docs/html" 2>&1) >"$docs/log" ||
		{ cat -- "$docs/log"; return 1; }
	found=$(grep -E 'WARNING|ERROR|warning:|error:' "$docs/log" | grep -v 'dot(1) not found' || true)
	[[ -z $found ]] || { echo "$found"; return 1; }
	while IFS= read -r page; do [[ -s $docs/html/$(basename "$page" .rst).html ]] || return 1; done <<<"$pages"
}

check_spelling() {
	local found

	command -v codespell >/dev/null || { skip "codespell is not installed"; return; }
	found=$(own_lines "$MAIL" | sed '/^\(From\|To\|Cc\|    \|[A-Z][a-z-]*-by:\)/d' | "${SPELLING[@]}" -) || true
	[[ -z $found ]] || { echo "$found"; return 1; }
}

# Everybody whom get_maintainer.pl names for this patch gets the cover as well. It
# names a person once, by the first of their addresses that it meets: for the cover
# that may be another one.
check_recipients() {
	local address header all status=0

	header=$(sed '/^$/q' "$COVER")
	all=$(cd -- "$SERIES_TREE" && perl scripts/get_maintainer.pl --no-git --no-git-fallback --no-rolestats "$MAIL")
	[[ -n $all ]] || { echo "get_maintainer.pl names nobody"; return 1; }
	while IFS= read -r address; do
		[[ $address == "$POSTER" ]] || grep -qF -e "$(grep -o '[^ <>]*@[^ <>]*' <<<"$address")" -e "${address% <*} <" <<<"$header" ||
			{ echo "$address is not in the cover's To or Cc"; status=1; }
	done <<<"$all"
	return "$status"
}

# --- the tree after the patch --------------------------------------------------

# Compiles what changed of the touched files for x86-64 by compiler $1, with or
# without suites ($2); the log for state $3 is $OUT/<compiler>-<kind>/<state>.log.
# As the states follow one another, what is not compiled again has not changed.
compile_state() {
	local out=$OUT/$1-$2 objects sparse=(C=1)

	[[ $1 == gcc ]] && command -v sparse >/dev/null || sparse=()
	mkdir -p -- "$out"
	mapfile -t objects < <(touched_objects "$SERIES_TREE" "$2")
	[[ $3 == base ]] && (cd -- "$out" && rm -f -- ./*.log "${objects[@]}")
	rm -f -- "$out/fragment.used"
	configure "$SERIES_TREE" "$out" "$2" "$1" >"$out/config.log" 2>&1 || { cat -- "$out/config.log"; return 1; }
	((${#objects[@]})) || return 0
	make -s -C "$SERIES_TREE" O="$out" ARCH=x86_64 CC="$1" W=1 "${sparse[@]}" -j"$(nproc)" -k "${objects[@]}" >"$out/$3.log" 2>&1 ||
		{ grep -vE '^make|not remade' "$out/$3.log" | head -n 15; return 1; }
}

check_build() {
	local compiler=$1 kind=$2 state=$3 new log=$OUT/$1-$2

	command -v "$compiler" >/dev/null || { skip "$compiler is not installed"; return; }
	[[ -e $log/base.compiles ]] || { skip "the base does not compile with it, see $log/base.log"; return; }
	compile_state "$@" || return 1
	new=$(comm -13 <(warnings "$log/base.log" "$SERIES_TREE") <(warnings "$log/$state.log" "$SERIES_TREE"))
	[[ -z $new ]] || { echo "$new"; return 1; }
	[[ $compiler != gcc ]] || command -v sparse >/dev/null || skip "compiled without a warning, but sparse is not installed"
}

# What the suites need of the kernel apart from themselves, from the first patch on:
# another option for each suite would build everything again.
write_uml_config() {
	local file

	{
		cat -- "$REPO/kunit/uml.config"
		while IFS= read -r file; do cat -- "$TREE/$file"; done < <(suite_configs)
	} | grep -v '_KUNIT_TEST=' >"$OUT/uml.config"
}

# Builds a whole UML kernel, and runs the suites that the file $1, the series up to
# here, has.
check_uml() {
	if grep -q '\.kunitconfig' "$1"; then
		env -u HARNESS_COUNTS -u ARGS SERIES_FILE="$1" UML_CONFIG="$OUT/uml.config" HARNESS_TREE=series "$REPO/kunit/run-kunit.sh" 2>&1
	else
		python3 "$SERIES_TREE/tools/testing/kunit/kunit.py" build --arch=um --build_dir="$BUILD/um-series$SUFFIX" \
			--kunitconfig="$OUT/uml.config" --jobs="$(nproc)" 9>&- 2>&1 || return
		skip "it builds, but there is no suite yet"
	fi
}

# The steps of the series whose numbers are given, as a file of its own.
write_steps() {
	local i

	for i in "$@"; do echo "${PATCHES[i]} ${NEW_FILES[i]}"; done
}

build_gates() {
	local i=$1 number=$2 name

	if [[ -n ${QUICK:-} ]] && ((i > 0 && i < ${#PATCHES[@]} - 1)); then
		for name in gcc gcc-suites clang uml; do gate "$number" "$name" skip "QUICK=1 builds after the first and the last patch"; done
		return
	fi
	gate "$number" gcc check_build gcc plain "$number"
	gate "$number" gcc-suites check_build gcc suites "$number"
	gate "$number" clang check_build clang suites "$number"
	mapfile -t STEPS < <(seq 0 "$i")
	write_steps "${STEPS[@]}" >"$OUT/steps"
	gate "$number" uml check_uml "$OUT/steps"
}

compile_base() {
	local compiler kind

	step "compile the touched files of the base"
	while read -r compiler kind; do
		rm -f -- "$OUT/$compiler-$kind/base.compiles"
		! command -v "$compiler" >/dev/null || ! compile_state "$compiler" "$kind" base ||
			touch -- "$OUT/$compiler-$kind/base.compiles"
	done <<-END
		gcc plain
		gcc suites
		clang suites
	END
}

check_patch() {
	local i=$1 number

	number=$((i + 1))
	MAIL=${MAILS[i]}
	COMMIT=$(sgit rev-parse "check~$((${#PATCHES[@]} - number))")
	step "$number/${#PATCHES[@]} ${PATCHES[i]}"
	gate "$number" am check_am
	if [[ ${RESULT[$number,am]} == FAILED ]]; then
		sgit checkout -q --detach "$COMMIT"
	fi
	gate "$number" checkpatch check_style
	gate "$number" text check_text
	gate "$number" kernel-doc check_kernel_doc
	gate "$number" sphinx check_sphinx
	gate "$number" codespell check_spelling
	gate "$number" recipients check_recipients
	build_gates "$i" "$number"
}

# --- the whole -----------------------------------------------------------------

# The tree that make kunit, make latency and so on build and run is this one, but
# for the maintainer, who is whoever posts.
check_same_tree() {
	local others

	others=$(diff -rq --no-dereference -x '.overlay-*' -x '.checkpatch-*' -x .unpacked-from "$TREE" "$SERIES_TREE" | grep -v '/MAINTAINERS differ$') || true
	[[ -z $others ]] || { head -n 20 <<<"$others"; return 1; }
	diff <(grep -vxF "M:	$POSTER" "$TREE/MAINTAINERS") <(grep -vxF "M:	$POSTER" "$SERIES_TREE/MAINTAINERS")
}

# What is in build/series is what was checked.
check_posting() {
	local mails=("$SERIES_OUT"/*0001-*.patch)

	[[ $POSTER != "$STAND_IN" ]] || { skip "git does not know who you are"; return; }
	[[ -e ${mails[0]} ]] || { skip "there is none, run make series"; return; }
	diff <(commits_of "$SERIES_OUT") <(commits_of "$CHECKED") || { echo "$SERIES_OUT is of another state: run make series"; return 1; }
}

commits_of() {
	find "$1" -name '*.patch' ! -name '*cover-letter.patch' -exec head -qn 1 {} + | cut -d' ' -f2 | sort
}

# Prose within 75 columns, without placeholders; each figure stands in README or
# in a patch, where it was measured.
check_cover() {
	local text=$REPO/cover-letter number status=0

	! grep -nE '^[^@].{75}' "$text" | grep -v https: || { echo "lines longer than 75 characters"; status=1; }
	! grep -nE '\*\*\* |TODO' "$COVER" || status=1
	! grep -v '^@' "$text" | "${SPELLING[@]}" - | grep . || status=1
	while IFS= read -r number; do
		(cd -- "$REPO" && grep -qwF -- "$number" README.md "${PATCHES[@]}") || { echo "where is $number from?"; status=1; }
	done < <(grep -v '^@' "$text" | grep -oE '\b[0-9]+(\.[0-9]+)?\b' | grep -E '...|\.' | sort -u)
	return "$status"
}

# Which paragraph of the file series each patch is in.
paragraphs() {
	awk '/^[ \t]*#/ { next } /^[ \t]*$/ { gap = 1; next } { if (gap || !n) n++; gap = 0; print n }' "$SERIES_FILE"
}

# Leaves the patches of paragraph $1 out: the others have to apply as they are.
check_dropped() {
	local dropped=$1 i tree index=$OUT/index log kept=()

	GIT_INDEX_FILE=$index sgit read-tree "$BASE_COMMIT" || return 1
	for i in "${!PATCHES[@]}"; do
		[[ ${PARAGRAPH[i]} != "$dropped" ]] || continue
		kept+=("$i")
		log=$(GIT_INDEX_FILE=$index sgit apply --cached "${MAILS[i]}" 2>&1) || { echo "${PATCHES[i]} does not apply without it: $log"; return 1; }
	done
	[[ -z ${QUICK:-} ]] || return 0
	tree=$(GIT_INDEX_FILE=$index sgit write-tree) || return 1
	sgit checkout -q --detach "$(sgit commit-tree -p "$BASE_COMMIT" -m "without paragraph $dropped" "$tree")" || return 1
	check_build gcc suites "without-$dropped" || return 1
	write_steps "${kept[@]}" >"$OUT/steps"
	check_uml "$OUT/steps"
}

check_whole() {
	local number name

	step "the series as a whole"
	gate series same-tree check_same_tree
	[[ -n ${HARNESS_COUNTS:-} ]] || gate series posting check_posting
	gate series cover check_cover
	mapfile -t PARAGRAPH < <(paragraphs)
	for number in $(printf '%s\n' "${PARAGRAPH[@]}" | sort -nu | tail -n +2); do
		name="without-$(first_of_paragraph "$number")"
		step "$name"
		gate series "$name" check_dropped "$number"
		WHOLE+=("$name")
	done
}

first_of_paragraph() {
	local i

	for i in "${!PATCHES[@]}"; do
		[[ ${PARAGRAPH[i]} != "$1" ]] || { basename "${PATCHES[i]}" .patch; return; }
	done
}

print_tables() {
	local i name width=0

	for i in "${!PATCHES[@]}"; do ((${#PATCHES[i]} <= width)) || width=${#PATCHES[i]}; done
	echo
	printf "%-$((width + 5))s" patch
	printf '%-11s' "${GATES[@]}"
	echo
	for i in "${!PATCHES[@]}"; do
		printf "%2d %-$((width + 2))s" $((i + 1)) "${PATCHES[i]}"
		for name in "${GATES[@]}"; do printf '%-11s' "${RESULT[$((i + 1)),$name]:-not run}"; done
		echo
	done
	echo
	for name in "${WHOLE[@]}"; do printf '%-32s%s\n' "$name" "${RESULT[series,$name]:-not run}"; done
	echo
	((${#REASONS[@]} == 0)) || printf '%s\n' "${REASONS[@]}"
}

main() {
	local i

	begin
	set_series_paths
	read_series
	OUT=$BUILD/series-gates$SUFFIX
	CHECKED=$SERIES_OUT-check
	WHOLE=(same-tree cover)
	[[ -n ${HARNESS_COUNTS:-} ]] || WHOLE+=(posting)
	prepare series-check
	rm -rf -- "$OUT/logs" "$OUT/doc"
	mkdir -p -- "$OUT/logs"
	"$REPO/kunit/make-tree.sh" >/dev/null
	"$REPO/kunit/series/make-series.sh" check >/dev/null
	POSTER=$(cat -- "$BUILD/series-poster")
	use_poster
	MAILS=("$CHECKED"/0*.patch)
	COVER=${MAILS[0]}
	MAILS=("${MAILS[@]:1}")
	((${#MAILS[@]} == ${#PATCHES[@]})) || die "${#PATCHES[@]} patches have become ${#MAILS[@]} mails in $CHECKED"
	BASE_COMMIT=$(sgit rev-parse check-base)
	sgit checkout -q --detach check-base
	write_uml_config
	compile_base
	for i in "${!PATCHES[@]}"; do check_patch "$i"; done
	check_whole
	if [[ $POSTER == "$STAND_IN" ]]; then
		gate series identity skip "git does not know who you are: signed off by $STAND_IN for these checks only"
		WHOLE+=(identity)
	fi
	step "done"
	print_tables
	echo "series: $PASSED passed, $FAILED failed, $SKIPPED skipped"
	report_counts "$PASSED" "$FAILED" "$SKIPPED"
	((FAILED == 0))
}

main
