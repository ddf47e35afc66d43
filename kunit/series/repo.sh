# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The git repository of the series, for make-series.sh and check-series.sh.
# Sourced after lib.sh, never run.
#
# It lies beside its work tree, $SERIES_TREE: kbuild would put a commit's id into
# the kernel's version, and build everything again after each. Branches: v1, v2...
# are the versions of the series; v1-base is what v1 applies to.

# Who posts, when git does not know: for the checks only, which say so.
# shellcheck disable=SC2034 # used by make-series.sh
STAND_IN="Nobody <nobody@localhost>"

set_series_paths() {
	SERIES_GIT=$BUILD/series-git$SUFFIX
	SERIES_TREE=$BUILD/linux-series$SUFFIX
	# shellcheck disable=SC2034 # used by the scripts that source this
	SERIES_OUT=$BUILD/series$SUFFIX
}

# No gc: it goes on in the background, under our lock.
sgit() {
	GIT_DIR=$SERIES_GIT GIT_WORK_TREE=$SERIES_TREE plain_git -C "$SERIES_TREE" -c gc.auto=0 "$@"
}

# The repository of the user's that KDIR is, never written to.
kdir_git() {
	GIT_OPTIONAL_LOCKS=0 plain_git -c safe.directory='*' -C "$KDIR" "$@"
}

# "name <mail>" from the git configuration of whoever runs this: git must not
# guess it from the host's name.
find_poster() {
	POSTER=$(git -C "$REPO" -c user.useConfigOnly=true var GIT_AUTHOR_IDENT 2>/dev/null) || return 1
	POSTER=${POSTER% * *}
}

use_poster() {
	export GIT_AUTHOR_NAME=${POSTER% <*} GIT_COMMITTER_NAME=${POSTER% <*}
	GIT_AUTHOR_EMAIL=${POSTER##*<}
	export GIT_AUTHOR_EMAIL=${GIT_AUTHOR_EMAIL%>}
	export GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
}

is_kdir_repository() {
	[[ -n ${KDIR:-} ]] && [[ $(kdir_git rev-parse --show-cdup 2>/dev/null && echo top) == $'\ntop' ]]
}

# The commit that the user's tree has checked out; its objects are read there.
take_commit_of_kdir() {
	local objects shallow

	BASE_COMMIT=$(kdir_git rev-parse --verify 'HEAD^{commit}') ||
		die "KDIR=$KDIR is a git repository without a commit" "check one out"
	objects=$(kdir_git rev-parse --path-format=absolute --git-path objects)
	shallow=$(kdir_git rev-parse --path-format=absolute --git-path shallow)
	printf '%s\n' "$objects" >"$SERIES_GIT/objects/info/alternates"
	if [[ -f $shallow ]]; then cp -- "$shallow" "$SERIES_GIT/shallow"; else rm -f -- "$SERIES_GIT/shallow"; fi
	sgit reset -q "$BASE_COMMIT" -- || die "cannot read the commits of KDIR=$KDIR" "see git's message above"
	sgit ls-files -z --deleted | sgit checkout-index -q -z --stdin
	sgit diff-index --quiet "$BASE_COMMIT" -- ||
		die "KDIR=$KDIR has changes that are not committed:" \
			"$(sgit diff-index --name-only "$BASE_COMMIT" -- | head -n 5 | paste -sd' ')" \
			"a series applies to a commit: commit them or put them away"
}

# The files of a base that is no repository as a commit, kept while they last.
commit_base() {
	local tree version

	version=$(kernel_version "$SERIES_TREE")
	sgit rev-parse -q --verify refs/heads/base >/dev/null ||
		step "commit the base to $SERIES_GIT (0.6 GB, once)"
	sgit -c core.compression=1 add -A -f -- . ':!/.overlay-*' ':!/.checkpatch-*' ':!/.unpacked-from'
	tree=$(sgit write-tree)
	BASE_COMMIT=$(sgit rev-parse -q --verify refs/heads/base) || true
	if [[ $(sgit rev-parse -q --verify 'refs/heads/base^{tree}' || true) != "$tree" ]]; then
		BASE_COMMIT=$(sgit commit-tree -m "Linux $version" "$tree")
		sgit update-ref refs/heads/base "$BASE_COMMIT"
	fi
	sgit update-ref --no-deref HEAD "$BASE_COMMIT"
}

# Leaves the untouched base in the work tree and as the commit BASE_COMMIT.
prepare_repository() {
	echo "# no patch: the base" >"$BUILD/series-none"
	SERIES_FILE=$BUILD/series-none HARNESS_TREE=series HARNESS_PREPARED=1 "$REPO/kunit/make-tree.sh" >/dev/null
	rm -f -- "$BUILD/series-none"
	[[ -d $SERIES_GIT ]] || GIT_DIR=$SERIES_GIT plain_git init -q
	rm -rf -- "$SERIES_GIT/index.lock" "$SERIES_GIT/rebase-apply"
	sgit config core.bare false
	sgit config core.logAllRefUpdates true
	if is_kdir_repository; then take_commit_of_kdir; else commit_base; fi
}

# In the sections of MAINTAINERS that patch $1 adds without a maintainer, it is
# whoever posts. Nothing else differs from the tree that is tested.
add_maintainer() {
	local title

	while IFS= read -r title; do
		awk -v title="$title" -v line="M:	$POSTER" '
			before == title && !/^M:/ { print line }
			{ print; before = $0 }' "$SERIES_TREE/MAINTAINERS" >"$BUILD/series-maintainers"
		cat -- "$BUILD/series-maintainers" >"$SERIES_TREE/MAINTAINERS"
		rm -f -- "$BUILD/series-maintainers"
		sgit add MAINTAINERS
	done < <(awk '/^diff --git/ { on = / b\/MAINTAINERS$/ } on && /^\+[A-Z][A-Z0-9 ,()\/-]*$/' "$1" | cut -c2-)
}

# When the patch $1 and its new files were last changed here, or now: the same
# series is the same commits.
patch_date() {
	plain_git -C "$REPO" -c safe.directory='*' log -1 --format=%cI -- "$@" 2>/dev/null | grep . || date -Iseconds
}

# The mail that has the text: what mainline needs another patch for may need another
# text as well.
text_of() {
	local alternative

	alternative=$REPO/$(alternative_of "$1")
	if [[ -n ${IS_MAINLINE[${1%/*}]:-} ]] && grep -q '^Subject: ' "$alternative" 2>/dev/null; then
		echo "$alternative"
	else
		echo "$REPO/$1"
	fi
}

# Commits patch $1 with its new files $2. Text between its --- and the diff
# becomes a note, which format-patch puts there again.
commit_patch() {
	local patch=$1 files message=$BUILD/series-message date

	read -ra files <<<"$2"
	add_new_files "$2" "$SERIES_TREE"
	apply_patch "$patch" "$SERIES_TREE"
	add_maintainer "$REPO/$patch"
	sgit add -u
	((${#files[@]} == 0)) || sgit add -f -- "${files[@]}"
	sgit mailinfo -b "$message.body" "$message.rest" <"$(text_of "$patch")" >"$message.head"
	{
		sed -n 's/^Subject: //p' "$message.head"
		echo
		cat -- "$message.body"
	} >"$message"
	date=$(patch_date "$patch" "${files[@]}")
	GIT_AUTHOR_DATE=$date GIT_COMMITTER_DATE=$date sgit commit -q --signoff -F "$message"
	sed -e '1d' -e '/^diff --git /,$d' "$message.rest" >"$message.notes"
	! grep -q '[^[:space:]]' "$message.notes" || sgit notes add -f -F "$message.notes" HEAD 2>/dev/null
	rm -f -- "$message"*
}

# The whole series on the base, as commits; the work tree is then at its end.
commit_series() {
	local i

	step "commit the ${#PATCHES[@]} patches of the series to $SERIES_GIT"
	for i in "${!PATCHES[@]}"; do
		commit_patch "${PATCHES[i]}" "${NEW_FILES[i]}"
	done
}
