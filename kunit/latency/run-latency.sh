#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Boots each contender on each workload in qemu and shows who keeps preemption
# off for how long. Time is virtual: an instruction takes 1 << shift ns.
#	QUICK=1		the small cells only
#	KERNEL=, WORKLOAD=	only contenders, cells whose names begin like one of
#				the given words
#	ACCEL=kvm	real time on real CPUs, with cyclictest beside each workload
#	ACCEL=tcg	the same without KVM: to try it, the times mean nothing

# shellcheck source=kunit/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=kunit/latency/report.sh
. "$REPO/kunit/latency/report.sh"

HERE=$REPO/kunit/latency
# What find-holds.sh, which has the same guest, sets to its own.
JOB=latency
OUTPUT=latency
CELLS=$HERE/cells
CONFIGS=("$HERE/kernel.config")
ACCEL=${ACCEL:-icount}
# Seconds of real time after which a guest hangs.
TIMEOUT=1800
# In the order in which the least has to be compiled for the next one.
CONTENDERS=(unbounded count-cap open-coded bounded_iter endless)

# The lines whose first word begins like one of the words of $1, or all.
selected() {
	awk -v only="$1" '
		BEGIN { n = split(only, words, " ") }
		{ hit = n == 0; for (i = 1; i <= n; i++) hit = hit || index($1, words[i]) == 1 }
		hit'
}

cells() {
	awk -v quick="${QUICK:-}" '!/^#/ && NF && $(quick ? 4 : 5) != "-"' "$CELLS" | selected "${WORKLOAD:-}"
}

# What is to be booted: <kernel> <mode> and the line of the cell.
boots() {
	cells | awk -v quick="${QUICK:-}" '
		{
			n = split(quick ? $4 : $5, modes, ",")
			m = split($6 == "all" ? "unbounded,count-cap,open-coded,bounded_iter" : $6, kernels, ",")
			for (i = 1; i <= n; i++) for (k = 1; k <= m; k++) print kernels[k], modes[i], $0
		}' | selected "${KERNEL:-}"
}

contenders() {
	printf '%s\n' "${CONTENDERS[@]}" | grep -Fxf <(boots | cut -d' ' -f1)
}

# Is patch $1 of ours for this base?
applies() {
	rm -rf -- "$OUT/trial"
	mkdir -- "$OUT/trial"
	copy_patched_files "$1" "$OUT/trial"
	plain_git -C "$OUT/trial" apply --check "$REPO/$1" 2>/dev/null
}

# The patch that makes contender $1, if it takes one. One of unbounded and count-cap is
# the base itself: which one depends on whether that has the cap.
contender_patch() {
	local patch=kunit/latency/$1.patch

	[[ -f $REPO/$patch ]] || return 0
	case $1 in
	unbounded | count-cap) ! applies "$patch" || echo "$patch" ;;
	*) echo "$patch" ;;
	esac
}

# Where neither is the base, the cap is another one than those patches know.
check_cap() {
	local patches

	[[ -d $BASE ]] || lay_tree <<<"# the base"
	patches=$(contender_patch unbounded; contender_patch count-cap)
	[[ $(wc -w <<<"$patches") == 1 ]] ||
		die "cannot tell whether isolate_lru_folios() of Linux $(kernel_version "$BASE") has a cap on skipped folios" \
			"one of kunit/latency/unbounded.patch and count-cap.patch must apply; here: ${patches:-none}"
}

# Brings the contender's sources into the tree: those of the series, those of a
# patch of ours, both, or none.
make_tree() {
	{
		case $1 in
		bounded_iter | endless) cat -- "$REPO/series" ;;
		*) echo "# the base" ;;
		esac
		contender_patch "$1"
	} | lay_tree
}

# Makes the tree by the series file on stdin.
lay_tree() {
	cat >"$OUT/series"
	HARNESS_TREE=latency SERIES_FILE=$OUT/series HARNESS_PREPARED=1 "$REPO/kunit/make-tree.sh" >"$OUT/tree"
}

# One folder of objects for all: the next contender compiles what differs. The
# version string is input to the kernel's random numbers, so it is always the
# same one.
build_kernel() {
	local name=$1 tree make

	make_tree "$name"
	tree=$(cat -- "$OUT/tree")
	make=(make -s -C "$tree" O="$OUT/objects" ARCH=x86_64 -j"$(nproc)" KBUILD_BUILD_VERSION=1
		KBUILD_BUILD_TIMESTAMP='Mon Jan  1 00:00:00 UTC 2024' KBUILD_BUILD_USER=user KBUILD_BUILD_HOST=host)
	step "build the $name kernel"
	mkdir -p -- "$OUT/objects"
	cat -- "${CONFIGS[@]}" >"$OUT/fragment.config"
	if ! cmp -s -- "$OUT/fragment.config" "$OUT/objects/fragment.used"; then
		"${make[@]}" KCONFIG_ALLCONFIG="$OUT/fragment.config" allnoconfig >"$OUT/build.log" 2>&1 || return 1
		cp -- "$OUT/fragment.config" "$OUT/objects/fragment.used"
	fi
	"${make[@]}" olddefconfig bzImage >"$OUT/build.log" 2>&1 || return 1
	cp -- "$OUT/objects/arch/x86/boot/bzImage" "$OUT/$name.bzImage"
	mkdir -p -- "$OUT/code/$name"
	cp -- "$OUT/objects/mm/vmscan.o" "$OUT/objects/fs/fs-writeback.o" "$OUT/code/$name"
}

build_kernels() {
	local name

	check_cap
	for name in $(contenders); do
		build_kernel "$name" ||
			die "the $name kernel was not built:" "$(tail -n 5 -- "$OUT/build.log")" "whole log: $OUT/build.log"
	done
}

# cyclictest and the libraries it is linked to.
add_cyclictest() {
	local file

	while read -r file; do
		install -D -- "$file" "$OUT/root$file"
	done < <(echo /usr/bin/cyclictest; ldd /usr/bin/cyclictest | grep -o '/[^ ]*')
}

# The times of the files are input as well: another size of what the kernel unpacks.
build_guest() {
	gcc -O2 -static -Wall -Wextra -Werror -o "$OUT/root/init" "$HERE"/*.c -lpthread ||
		die "the guest's init was not built, see above"
	[[ $ACCEL == icount ]] || add_cyclictest
	find "$OUT/root" -exec touch -h -d @1700000000 {} +
	(cd -- "$OUT/root" && find . -mindepth 1 | sort | cpio -o -H newc -R 0:0 --reproducible --quiet) |
		gzip -n >"$OUT/initrd.gz"
}

# Two partitions of a disk, A of 64 MiB and B. Without a journal, for a full one
# would write the inodes early. Nothing in it differs from run to run.
make_disk() {
	local disk=$OUT/disk.img mkfs

	rm -f -- "$disk"
	truncate -s 1152M -- "$disk"
	printf 'label: dos\nlabel-id: 0x62697465\nstart=2048,size=131072\nstart=133120,size=2093056\n' | sfdisk -q "$disk"
	mkfs=(env E2FSPROGS_FAKE_TIME=1700000000 mkfs.ext4 -q -F -O ^has_journal -b 4096)
	"${mkfs[@]}" -E "offset=$((2048 * 512)),nodiscard,hash_seed=$UUID" -U "$UUID" "$disk" 64m
	"${mkfs[@]}" -E "offset=$((133120 * 512)),nodiscard,hash_seed=$UUID" -U "$UUID" -N 250000 "$disk" 1000m
}
UUID=62697465-0000-4000-8000-000000000000

# What the machine of the guest is made of, in virtual or in real time.
accelerator() {
	case $ACCEL in
	kvm) echo "-accel kvm -cpu host -smp ${CPUS:-$(nproc)}" ;;
	tcg) echo "-accel tcg -cpu max -smp ${CPUS:-2}" ;;
	*) echo "-accel tcg -cpu max -smp 1 -icount shift=$1,sleep=off" ;;
	esac
}

# Boots kernel $1 in mode $2 on cell $3 with memory $4, shift $5 and the guest
# options after it. The disk is memory to the guest and a file to us: no IO that
# takes real time.
boot() {
	local kernel=$1 run=$OUT/runs/$1.$3.$2 status=0 machine options=(MODE="$2" "${@:6}")

	read -ra machine < <(accelerator "$5")
	[[ $ACCEL == icount ]] || options+=(CYCLICTEST=1)
	cp --sparse=always -- "$OUT/disk.img" "$run.img"
	timeout "$TIMEOUT" qemu-system-x86_64 "${machine[@]}" -machine q35,max-ram-below-4g=512M,nvdimm=on \
		-m "$4,slots=2,maxmem=64G" -seed 1 -rtc base=2024-01-01,clock=vm \
		-object "memory-backend-file,id=disk,share=on,mem-path=${run//,/,,}.img,size=1152M" \
		-device nvdimm,memdev=disk,addr=0x800000000 \
		-nodefaults -display none -serial stdio -no-reboot \
		-kernel "$OUT/$kernel.bzImage" -initrd "$OUT/initrd.gz" \
		-append "console=ttyS0 quiet nokaslr tsc=reliable panic=-1 memmap=1152M!32G kernelcore=400M ${options[*]}" \
		</dev/null >"$run.log" 2>&1 || status=$?
	if ((status == 124)); then echo "not ok - the guest hung and was killed after $TIMEOUT s" >>"$run.log"; fi
	case $3 in *sync* | umount* | writeback* | soak*) look_at_disk "$run" ;; esac
	rm -f -- "$run.img"
}

# After power-off: is A a sound file system, and how many of its ten files have
# their data?
look_at_disk() {
	local run=$1 kept=0 i

	dd if="$run.img" of="$run.a.img" bs=1M skip=1 count=64 conv=sparse status=none
	e2fsck -fp "$run.a.img" >"$run.e2fsck" 2>&1 || true
	printf '# value fsck %d\n' "$(e2fsck -fn "$run.a.img" >>"$run.e2fsck" 2>&1 || echo "$?")" >>"$run.log"
	for i in 0 1 2 3 4 5 6 7 8 9; do
		[[ $(debugfs -R "cat /f$i" "$run.a.img" 2>/dev/null) != precious ]] || kept=$((kept + 1))
	done
	printf '# value files_kept %d\n' "$kept" >>"$run.log"
	rm -f -- "$run.a.img"
}

available_mb() {
	awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo
}

check_memory() {
	local need

	need=$(cells | awk '$2 > most { most = $2 } END { print most + 500 }')
	(($(available_mb) >= need)) ||
		die "the largest guest needs $need MB of memory, $(available_mb) MB are available" \
			"free some, or run the small ones only: make $JOB QUICK=1"
}

# What is left if the rest takes as long, by memory: it is what a boot fills.
left() {
	local seconds=$(($(date +%s) - $1)) done=$2 all=$3

	((done > 0)) || return 0
	printf ', about %d min left' $(((seconds * (all - done) / done + 59) / 60))
}

# As many boots at a time as there are CPUs and memory for.
boot_all() {
	local kernel mode cell memory shift options total number=0 begun work=0 all most

	total=$(boots | wc -l)
	all=$(boots | awk '{ all += $4 } END { print all }')
	most=$(available_mb)
	begun=$(date +%s)
	while read -r kernel mode cell memory shift _ _ _ options; do
		while (($(jobs -rp | wc -l) >= $(nproc) ||
			($(jobs -rp | wc -l) > 0 && most < 2 * memory + 500))); do wait -n || true; done
		number=$((number + 1))
		step "boot $number of $total: $kernel, $cell, $mode$(left "$begun" "$work" "$all")"
		work=$((work + memory))
		# shellcheck disable=SC2086 # several options
		boot "$kernel" "$mode" "$cell" "$memory" "$shift" $options 9>&- &
	done < <(boots)
	wait
}

check_accel() {
	case $ACCEL in
	icount | tcg) ;;
	kvm) [[ -c /dev/kvm && -w /dev/kvm ]] ||
		die "ACCEL=kvm: there is no /dev/kvm here, or it may not be used" "leave ACCEL= out: virtual time needs no KVM" ;;
	*) die "ACCEL=$ACCEL is not known" "give kvm for real time, or leave it out for virtual time" ;;
	esac
}

# All up to and with the boots, to which $OUT/runs has the logs then.
run_guests() {
	PASSED=0
	FAILED=0
	check_accel
	begin
	prepare "$JOB"
	OUT=$BUILD/$OUTPUT$SUFFIX
	rm -rf -- "$OUT/runs" "$OUT/root"
	mkdir -p -- "$OUT/runs" "$OUT/root"
	[[ -n $(boots) ]] ||
		die "there is nothing to boot for KERNEL='${KERNEL:-}' WORKLOAD='${WORKLOAD:-}'" \
			"kernels: ${CONTENDERS[*]}; workloads: see ${CELLS#"$REPO"/}"
	check_memory
	build_kernels
	build_guest
	make_disk
	boot_all
}

main() {
	run_guests
	report
	step "done: $OUT/results.md, results.json${QUICK:+ (QUICK: no plot)}"
	echo "latency: $PASSED passed, $FAILED failed, 0 skipped"
	report_counts "$PASSED" "$FAILED" 0
	((FAILED == 0))
}

[[ ${BASH_SOURCE[0]} != "$0" ]] || main
