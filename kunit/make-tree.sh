#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Makes the patched kernel tree below the build folder and prints its path.
#
# Only files whose content changes are written, and these get the present time:
# then kbuild compiles again what it has to and nothing else.

# shellcheck source=kunit/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

# Build products of a tree that was built in place: kbuild refuses such a tree
# for a build elsewhere. `make mrproper` in the copy finds the rest of them.
PRODUCTS=('*.o' '*.a' '*.ko' '*.cmd' '*.mod' '*.mod.c' modules.order
	/.config /.config.old /vmlinux '/vmlinux.*' /linux /.git /.kunit
	/include/config '/include/generated' '/arch/*/include/generated')

# Files of ours in the tree's top folder: which base the tree is a copy of, which
# files are the series', which ones we ever wrote into it apart from the first copy,
# and which files of the base are build products.
BASE_MARK=.overlay-base
SERIES_MARK=.overlay-series
FILES_MARK=.overlay-files
PRODUCTS_MARK=.overlay-products
TEMPORARY=.overlay-new

CHANGED=$(mktemp)
trap 'rm -f -- "$CHANGED" "$CHANGED.log"' EXIT

base_identity() {
	if [[ -n ${KDIR:-} ]]; then echo "$KDIR"; else cat -- "$BASE/.unpacked-from"; fi
}

# Our version of every file the series touches. An error here leaves the tree
# as it was.
stage_series() {
	local i

	rm -rf -- "$STAGE"
	mkdir -- "$STAGE"
	for i in "${!PATCHES[@]}"; do
		add_new_files "${NEW_FILES[i]}" "$STAGE"
		apply_patch "${PATCHES[i]}" "$STAGE"
	done
	mkdir -p -- "$TREE"
	staged_files >"$TREE/$SERIES_MARK"
}

# What the series has of this base: all that is staged, and what it deletes.
staged_files() {
	local patch

	{
		find "$STAGE" -type f -printf '%P\n'
		for patch in "${PATCHES[@]}"; do patched_files "$patch"; done
	} | sort -u
}

run_rsync() {
	local options=(-rlpO --exclude='/.overlay-*' --exclude='/.checkpatch-*' --exclude=/.unpacked-from) product

	if [[ -n ${KDIR:-} ]]; then
		for product in "${PRODUCTS[@]}"; do options+=(--exclude="$product"); done
		options+=(--exclude-from="$TREE/$PRODUCTS_MARK")
	fi
	rsync "${options[@]}" "$@" "$BASE/" "$TREE/" ||
		die "cannot copy $BASE to $TREE" "see the messages above: is the disk full, or a file unreadable?"
}

# The files of the base that the tree does not have.
files_not_copied() {
	run_rsync -tni | sed -n 's/^>f+++++++++ //p'
}

# kbuild demands a source tree without build products. What mrproper removes from
# the copy is not copied again.
remove_products() {
	[[ -n ${KDIR:-} ]] || return 0
	[[ -e $KDIR/.config || -e $KDIR/include/config || -e $KDIR/include/generated ]] || return 0
	step "KDIR was built in place: make mrproper in the copy"
	make -s -C "$TREE" ARCH=um mrproper >&2
	make -s -C "$TREE" mrproper >&2
	files_not_copied | sort >"$CHANGED"
	comm -23 "$TREE/$FILES_MARK" "$CHANGED" >"$TREE/$TEMPORARY"
	mv -- "$TREE/$TEMPORARY" "$TREE/$FILES_MARK"
	sed 's|^|/|' "$CHANGED" >>"$TREE/$PRODUCTS_MARK"
}

# A first copy, or one that makes all that was built from the tree worthless.
copy_base() {
	step "copy $BASE to $TREE"
	rm -rf -- "${TREE:?}/$BASE_MARK"
	[[ -n ${HARNESS_TREE:-} ]] || rm -rf -- "$BUILD/um$SUFFIX" "$BUILD/um-debug$SUFFIX" "$BUILD/gates$SUFFIX"-*
	mkdir -p -- "$TREE"
	: >"$TREE/$PRODUCTS_MARK"
	run_rsync -t --delete
	: >"$TREE/$FILES_MARK"
	remove_products
	base_identity >"$TREE/$BASE_MARK"
}

# What differs between the base and the tree, judged by size and time, apart
# from the files we wrote. An empty folder left behind does no harm.
list_changed() {
	run_rsync -tni --delete --exclude-from=<(sed 's|^|/|' "$TREE/$FILES_MARK") >"$CHANGED.log"
	sed -n -e '/\/$/d' -e 's/^[>c][fLDS][^ ]* //p' -e 's/^\*deleting *//p' "$CHANGED.log" >"$CHANGED"
}

# Adds the names on stdin to the files we wrote.
remember_files() {
	sort -u - "$TREE/$FILES_MARK" >"$TREE/$TEMPORARY"
	mv -- "$TREE/$TEMPORARY" "$TREE/$FILES_MARK"
}

# Brings the files that we once wrote but are not the series' now to the base's
# state. A changed one gets the present time, not the base's: that can be older
# than an object made of the former content.
restore_files() {
	local file

	while IFS= read -r file; do
		if [[ -e $BASE/$file ]]; then echo "$file"; else rm -f -- "$TREE/$file"; fi
	done < <(overlay_files | comm -13 - "$TREE/$FILES_MARK") >"$CHANGED"
	[[ ! -s $CHANGED ]] || run_rsync --checksum --files-from="$CHANGED"
}

# Brings an existing copy up to date.
update_tree() {
	list_changed
	if (($(wc -l <"$CHANGED") > 3000)); then
		copy_base
	else
		remember_files <"$CHANGED"
		restore_files
		! grep -q '^>f+++++++++' "$CHANGED.log" || remove_products
	fi
}

install_overlay() {
	local file

	overlay_files | remember_files
	while IFS= read -r file; do
		if [[ ! -e $STAGE/$file ]]; then
			rm -f -- "$TREE/$file"
		elif ! cmp -s -- "$STAGE/$file" "$TREE/$file"; then
			mkdir -p -- "$TREE/$(dirname -- "$file")"
			cp -- "$STAGE/$file" "$TREE/$TEMPORARY"
			mv -- "$TREE/$TEMPORARY" "$TREE/$file"
		fi
	done < <(overlay_files)
}

main() {
	begin
	trap 'rm -rf -- "$CHANGED" "$CHANGED.log" "$STAGE" "$BUILD/unpack"' EXIT
	read_series
	prepare tree
	[[ -n ${KDIR:-} ]] || unpack_source "$SOURCE_PACKAGE"
	stage_series
	step "patched tree: Linux $(kernel_version "$BASE") with ${#PATCHES[@]} patches in $TREE"
	if [[ $(cat -- "$TREE/$BASE_MARK" 2>/dev/null) == "$(base_identity)" ]]; then
		update_tree
	else
		copy_base
	fi
	install_overlay
	echo "$TREE"
}

main
