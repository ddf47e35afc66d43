#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Boots each contender on each workload in qemu and shows who keeps preemption
# off for how long. Time is virtual: an instruction takes 1 << shift ns.
#	QUICK=1		the small cells only
#	KERNEL=, WORKLOAD=	only contenders, cells whose names begin like one of
#				the given words

# shellcheck source=kunit/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../lib.sh"

HERE=$REPO/kunit/latency
# Seconds of real time after which a guest hangs.
TIMEOUT=1800
# The loops under test: a hold is theirs if one of them took or released the lock.
RECLAIM='isolate_lru_folios|shrink_(inactive|active)_list|shrink_lruvec|shrink_node'
WRITEBACK='move_expired_inodes|queue_io|(__)?writeback_(sb_)?inodes(_wb)?|wb_(writeback|workfn|relax_list_lock|do_writeback)|inode_to_wb_and_lock_list'

# The contenders, as series of their own on the same base.
contenders() {
	printf '%s\n' unbounded count-cap open-coded bounded_iter | selected "${KERNEL:-}"
}

# The lines whose first word begins like one of the words of $1, or all.
selected() {
	awk -v only="$1" '
		BEGIN { n = split(only, words, " ") }
		{ hit = n == 0; for (i = 1; i <= n; i++) hit = hit || index($1, words[i]) == 1 }
		hit'
}

cells() {
	awk -v quick="${QUICK:-}" '!/^#/ && NF && (!quick || $4 == "q")' "$HERE/cells" |
		selected "${WORKLOAD:-}"
}

# Brings the contender's sources into the tree: those of the series, those of a
# patch of ours, or none.
make_tree() {
	local series=$OUT/series

	case $1 in
	bounded_iter) series=$REPO/series ;;
	unbounded) echo "# the base" >"$series" ;;
	*) echo "kunit/latency/$1.patch" >"$series" ;;
	esac
	HARNESS_TREE=latency SERIES_FILE=$series HARNESS_PREPARED=1 "$REPO/kunit/make-tree.sh" >"$OUT/tree"
}

# One folder of objects for all: the next contender compiles what differs.
build_kernel() {
	local name=$1 tree make

	make_tree "$name"
	tree=$(cat -- "$OUT/tree")
	make=(make -s -C "$tree" O="$OUT/objects" ARCH=x86_64 -j"$(nproc)")
	step "build the $name kernel"
	mkdir -p -- "$OUT/objects"
	if ! cmp -s -- "$HERE/kernel.config" "$OUT/objects/fragment.used"; then
		"${make[@]}" KCONFIG_ALLCONFIG="$HERE/kernel.config" allnoconfig >"$OUT/build.log" 2>&1 || return 1
		cp -- "$HERE/kernel.config" "$OUT/objects/fragment.used"
	fi
	"${make[@]}" olddefconfig bzImage >"$OUT/build.log" 2>&1 || return 1
	cp -- "$OUT/objects/arch/x86/boot/bzImage" "$OUT/$name.bzImage"
}

build_kernels() {
	local name

	for name in $(contenders); do
		build_kernel "$name" ||
			die "the $name kernel was not built:" "$(tail -n 5 -- "$OUT/build.log")" "whole log: $OUT/build.log"
	done
}

build_guest() {
	gcc -O2 -static -Wall -Wextra -Werror -o "$OUT/root/init" "$HERE/guest.c" -lpthread ||
		die "the guest's init was not built, see above"
	(cd -- "$OUT/root" && echo init | cpio -o -H newc -R 0:0 --reproducible --quiet) | gzip -n >"$OUT/initrd.gz"
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

# Boots $1 on cell $2 with memory $3, shift $4 and the guest options after it.
# The disk is memory to the guest and a file to us: no IO that takes real time.
boot() {
	local kernel=$1 cell=$2 memory=$3 shift=$4 run=$OUT/runs/$1.$2 status=0

	cp --sparse=always -- "$OUT/disk.img" "$run.img"
	timeout "$TIMEOUT" qemu-system-x86_64 -accel tcg -icount "shift=$shift,sleep=off" \
		-machine q35,max-ram-below-4g=512M,nvdimm=on -cpu max -smp 1 \
		-m "$memory,slots=2,maxmem=64G" -seed 1 -rtc base=2024-01-01,clock=vm \
		-object "memory-backend-file,id=disk,share=on,mem-path=${run//,/,,}.img,size=1152M" \
		-device nvdimm,memdev=disk,addr=0x800000000 \
		-nodefaults -display none -serial stdio -no-reboot \
		-kernel "$OUT/$kernel.bzImage" -initrd "$OUT/initrd.gz" \
		-append "console=ttyS0 quiet nokaslr tsc=reliable panic=-1 memmap=1152M!32G kernelcore=400M ${*:5}" \
		</dev/null >"$run.log" 2>&1 || status=$?
	if ((status == 124)); then echo "not ok - the guest hung and was killed after $TIMEOUT s" >>"$run.log"; fi
	look_at_disk "$run" "$cell"
	rm -f -- "$run.img"
}

# After power-off: how many of A's ten files have their data?
look_at_disk() {
	local run=$1 kept=0 i

	[[ $2 != reclaim* ]] || return 0
	for i in 0 1 2 3 4 5 6 7 8 9; do
		[[ $(debugfs -R "cat /f$i" "$run.img?offset=$((2048 * 512))" 2>/dev/null) != precious ]] || kept=$((kept + 1))
	done
	printf '# value files_kept %d\n' "$kept" >>"$run.log"
}

# A run is a failure unless all its steps are there and none failed.
run_failed() {
	! grep -q '^1\.\.' "$1" || grep -Eq '^not ok|Kernel panic|BUG:|WARNING:' "$1"
}

available_mb() {
	awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo
}

check_memory() {
	local need

	need=$(cells | awk '$2 > most { most = $2 } END { print most + 500 }')
	(($(available_mb) >= need)) ||
		die "the largest guest needs $need MB of memory, $(available_mb) MB are available" \
			"free some, or run the small ones only: make latency QUICK=1"
}

# As many boots at a time as there are CPUs and memory for.
boot_all() {
	local total done=0 kernel cell memory shift options most

	total=$(($(contenders | wc -l) * $(cells | wc -l)))
	most=$(available_mb)
	while read -r cell memory shift _ options; do
		for kernel in $(contenders); do
			while (($(jobs -rp | wc -l) >= $(nproc) ||
				($(jobs -rp | wc -l) > 0 && most < 2 * memory + 500))); do wait -n || true; done
			done=$((done + 1))
			step "boot $done of $total: $kernel, $cell"
			# shellcheck disable=SC2086 # several options
			boot "$kernel" "$cell" "$memory" "$shift" MODE=holds $options 9>&- &
		done
	done < <(cells)
	wait
}

# One line of results for each figure: <contender> <cell> <name> <value>.
collect() {
	local kernel cell run

	while read -r cell _; do
		for kernel in $(contenders); do
			run=$OUT/runs/$kernel.$cell.log
			if run_failed "$run"; then
				echo "FAIL latency: $kernel, $cell (log: $run)" >&2
				grep -E '^not ok|Kernel panic|BUG:|WARNING:' "$run" >&2 || echo "     the guest did not come to its end" >&2
				FAILED=$((FAILED + 1))
				continue
			fi
			PASSED=$((PASSED + 1))
			awk -v OFS='\t' -v kernel="$kernel" -v cell="$cell" \
				-v ours="^($(case $cell in reclaim*) echo "$RECLAIM" ;; *) echo "$WRITEBACK" ;; esac))([.].*)?\$" '
				{ sub(/\r$/, "") }
				/^# value / { print kernel, cell, $3, $4 }
				/^# hold / && ($3 ~ ours || $4 ~ ours) { n += $5; over += $6; if ($7 > longest) longest = $7 }
				/^# hold / && !($3 ~ ours || $4 ~ ours) { if ($7 > other) { other = $7; who = $3 "-" $4 } }
				END {
					print kernel, cell, "longest_ns", longest + 0
					print kernel, cell, "holds_over_1100us", over + 0
					print kernel, cell, "others_longest_ns", other + 0
					print kernel, cell, "others_longest", who
				}' "$run"
		done
	done < <(cells)
}

# The table a person reads.
tabulate() {
	awk -F'\t' '
		{ v[$1, $2, $3] = $4 }
		!(($1, $2) in seen) { seen[$1, $2]; order[++n] = $1 SUBSEP $2 }
		function get(name) { return (key SUBSEP name) in v ? v[key, name] : "-" }
		function us(name) { return get(name) == "-" ? "-" : sprintf("%.0f", get(name) / 1000) }
		END {
			print "| cell | kernel | longest hold, us | above 1.1 ms | job, ms | skipped | reclaimed | OOM kills | RT latency, us | files kept |"
			print "|---|---|---|---|---|---|---|---|---|---|"
			for (i = 1; i <= n; i++) {
				key = order[i]
				split(key, part, SUBSEP)
				print "| " part[2] " | " part[1] " | " us("longest_ns") " | " get("holds_over_1100us") " | " sprintf("%.0f", get("job_ns") / 1e6) \
					" | " get("skipped") " | " get("reclaimed") " | " get("oom_kills") " | " us("latency_ns") " | " get("files_kept") " |"
			}
		}' "$OUT/results.tsv"
}

# What the series promises, for each cell in which it ran: the bound, no OOM kill,
# and all of A's files on the disk. Virtual time makes the bounds exact ones.
judge() {
	local cell shift bar longest

	while read -r cell _ shift _; do
		[[ -n $(result "$cell" longest_ns) ]] || continue
		case $cell in
		reclaim*) bar=$((shift == 0 ? 1050000 : 1250000)) ;;
		*) bar=1200000 ;;
		esac
		longest=$(result "$cell" longest_ns)
		verdict "$cell: longest hold $((longest / 1000)) us, at most $((bar / 1000))" "((longest <= bar))"
		verdict "$cell: no OOM kill" "(($(result "$cell" oom_kills) == 0))"
		[[ -z $(result "$cell" files_kept) ]] ||
			verdict "$cell: files kept" "(($(result "$cell" files_kept) == 10))"
	done < <(cells)
}

# A figure of the series' kernel.
result() {
	awk -F'\t' -v cell="$1" -v name="$2" '$1 == "bounded_iter" && $2 == cell && $3 == name { print $4 }' "$OUT/results.tsv"
}

verdict() {
	if eval "$2"; then
		echo "ok latency: $1"
		PASSED=$((PASSED + 1))
	else
		echo "FAIL latency: $1"
		FAILED=$((FAILED + 1))
	fi
}

# The same for programs.
write_json() {
	awk -F'\t' 'BEGIN { print "[" }
		{
			printf "%s", (NR > 1 ? ",\n" : "")
			printf "{\"kernel\": \"%s\", \"cell\": \"%s\", \"name\": \"%s\", ", $1, $2, $3
			printf "\"value\": %s}", ($4 ~ /^[0-9]+$/ ? $4 : "\"" $4 "\"")
		}
		END { print "\n]" }' "$OUT/results.tsv" >"$OUT/results.json"
}

draw() {
	gnuplot -e "results='$OUT/results.tsv'; out='$OUT/results.png'" "$HERE/plot.gp" ||
		die "gnuplot could not draw $OUT/results.tsv"
}

main() {
	PASSED=0
	FAILED=0
	begin
	prepare latency
	OUT=$BUILD/latency$SUFFIX
	rm -rf -- "$OUT/runs" "$OUT/root"
	mkdir -p -- "$OUT/runs" "$OUT/root"
	[[ -n $(contenders) ]] || die "there is no contender KERNEL=${KERNEL:-}" "see contenders in kunit/latency/run-latency.sh"
	[[ -n $(cells) ]] || die "there is no workload WORKLOAD=${WORKLOAD:-}" "see kunit/latency/cells"
	check_memory
	build_kernels
	build_guest
	make_disk
	boot_all
	collect >"$OUT/results.tsv"
	tabulate | tee "$OUT/results.md"
	write_json
	judge
	[[ -n ${QUICK:-}${KERNEL:-}${WORKLOAD:-} ]] || draw
	step "done: $OUT/results.md, results.json${QUICK:+ (QUICK: no plot)}"
	echo "latency: $PASSED passed, $FAILED failed, 0 skipped"
	report_counts "$PASSED" "$FAILED" 0
	((FAILED == 0))
}

main
