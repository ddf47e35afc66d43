#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes every patch of the series anew against the base kernel: its mail header
# and text stay, its line numbers and context become the present ones.

# shellcheck source=kunit/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

# The kernel's own setting, so that hunks are named after functions.
ATTRIBUTES=$'*.[ch] diff=cpp'

# A base that needs another patch is not one to make this one anew against.
alternative_of() {
	echo none
}

# All before the diff: header, text, and a diffstat if there is one.
mail_part() {
	sed -e '/^diff --git /,$d' -e '/^--- a\//,$d' "$1"
}

# The diff between the folders a and b; git's exit status 1 says that there is one.
# With two lines of context more patches fit both 6.12 and mainline than with three.
diff_part() {
	plain_git -C "$STAGE" -c core.attributesFile="$STAGE/attributes" \
		diff --no-index --no-prefix --no-renames --no-color --no-ext-diff --abbrev=12 -U2 a b || [[ $? == 1 ]]
}

# Folder a gets only the files of this patch, before it; folder b, after it.
refresh() {
	local patch=$1 file files

	files=$(patched_files "$patch" 2>&1) || die "$patch is no valid patch: $files"
	rm -rf -- "$STAGE/a" "$STAGE/b"
	mkdir -- "$STAGE/a" "$STAGE/b"
	while IFS= read -r file; do
		[[ -f $STAGE/all/$file ]] || continue
		install -D -m 644 -- "$STAGE/all/$file" "$STAGE/b/$file"
	done <<<"$files"
	apply_patch "$patch" "$STAGE/b"
	while IFS= read -r file; do
		[[ -f $STAGE/all/$file || -f $BASE/$file ]] || continue
		if [[ -f $STAGE/all/$file ]]; then
			install -D -m 644 -- "$STAGE/all/$file" "$STAGE/a/$file"
		else
			install -D -m 644 -- "$BASE/$file" "$STAGE/a/$file"
		fi
	done <<<"$files"
	find "$STAGE/b" -type f -exec chmod 644 {} +
	{
		mail_part "$REPO/$patch"
		diff_part
	} >"$STAGE/new.patch"
	if ! cmp -s -- "$STAGE/new.patch" "$REPO/$patch"; then
		cat -- "$STAGE/new.patch" >"$REPO/$patch"
		echo "refreshed $patch"
	fi
	cp -r -- "$STAGE/b/." "$STAGE/all/"
}

main() {
	local i

	begin
	trap 'rm -rf -- "$STAGE"' EXIT
	read_series
	prepare refresh
	rm -rf -- "$STAGE"
	mkdir -p -- "$STAGE/all"
	printf '%s\n' "$ATTRIBUTES" >"$STAGE/attributes"
	for i in "${!PATCHES[@]}"; do
		add_new_files "${NEW_FILES[i]}" "$STAGE/all"
		refresh "${PATCHES[i]}"
	done
	step "done: ${#PATCHES[@]} patches"
}

main
