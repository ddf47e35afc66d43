# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What the boots of `make latency` came to: figures, tables, plot and verdicts.
# Sourced by run-latency.sh.

# The loops under test: a hold is theirs if one of them took or released the lock.
RECLAIM='isolate_lru_folios|shrink_(inactive|active)_list|shrink_lruvec|shrink_node'
WRITEBACK='move_expired_inodes|queue_io|(__)?writeback_(sb_)?inodes(_wb)?|wb_(writeback|workfn|relax_list_lock|do_writeback)|inode_to_wb_and_lock_list'

# The callers of local_clock() that are the loops' bounds.
CLOCK='bounded_iter_expired_slowpath|bounded_iter_clock'

# A run is a failure unless all its steps are there and none failed.
run_failed() {
	! grep -q '^1\.\.' "$1" || grep -Eq '^not ok|Kernel panic|BUG:|WARNING:' "$1"
}

# The figures of the run $1, of kernel $2 on cell $3 in mode $4, one per line:
# <kernel> <cell> <mode> <name> <value>.
figures() {
	local ours

	case $3 in *reclaim* | needle*) ours=$RECLAIM ;; *) ours=$WRITEBACK ;; esac
	awk -v OFS='\t' -v key="$2$(printf '\t')$3$(printf '\t')$4" -v mode="$4" \
		-v ours="^($ours)([.].*)?\$" -v readers="^($ours|$CLOCK)([.].*|\\\\+.*)?\$" '
		{ sub(/\r$/, ""); is_ours = $3 ~ ours || $4 ~ ours }
		/^# value / { print key, $3, $4 }
		/^# hold / && is_ours { over += $6; total += $8; if ($7 > longest) longest = $7 }
		/^# hold / && !is_ours { if ($7 > other) { other = $7; who = $3 "-" $4 } }
		/^# calls / && is_ours { calls += $5; total += $6 }
		/^# clock / && $3 ~ readers { reads += $4 }
		/^# cut / && $3 ~ ours { cuts += $4 }
		END {
			if (mode == "holds") {
				print key, "longest_ns", longest + 0
				print key, "holds_ns", total + 0
				print key, "holds_over_1100us", over + 0
				print key, "others_longest_ns", other + 0
				print key, "others_longest", who
			}
			if (mode == "calls") { print key, "calls", calls + 0; print key, "calls_ns", total + 0 }
			if (mode == "clock") { print key, "clock_reads", reads + 0; print key, "cut_short", cuts + 0 }
		}' "$1"
}

# Calls $1 with the log of each run that came to its end, its kernel, cell and mode.
each_run() {
	local kernel mode cell run

	while read -r kernel mode cell _; do
		run=$OUT/runs/$kernel.$cell.$mode.log
		if run_failed "$run"; then
			echo "FAIL $JOB: $kernel, $cell, $mode (log: $run)" >&2
			grep -E '^not ok|Kernel panic|BUG:|WARNING:' "$run" >&2 || echo "     the guest did not come to its end" >&2
			FAILED=$((FAILED + 1))
			continue
		fi
		PASSED=$((PASSED + 1))
		"$1" "$run" "$kernel" "$cell" "$mode"
	done < <(boots)
}

# The tables a person reads. What tracing would disturb comes from the runs without.
tabulate() {
	awk -F'\t' '
		{ v[$1, $2, $3, $4] = $5 }
		!(($1, $2) in seen) { seen[$1, $2]; kernel[++n] = $1; cell[n] = $2 }
		function get(mode, name, k) {
			k = k ? k : kernel[i]
			return (k, cell[i], mode, name) in v ? v[k, cell[i], mode, name] : "-"
		}
		# What tracing does not disturb much, from the run without if there is one.
		function count(name) { return get("time", name) != "-" ? get("time", name) : get("holds", name) }
		function over(value, divisor, digits) { return value == "-" ? "-" : sprintf("%." digits "f", value / divisor) }
		function ratio(a, b, factor, digits) { return a == "-" || b == "-" || !b ? "-" : over(a * factor, b, digits) }
		function least(a, b) { return a == "-" || (b != "-" && b < a) ? b : a }
		function row(    j, line) { line = "|"; for (j = 1; j <= columns; j++) line = line " " field[j] " |"; print line }
		function header(text,    j) { columns = split(text, field, "; "); row(); for (j = 1; j <= columns; j++) field[j] = "---"; row() }
		function holds() {
			split(cell[i] ";" kernel[i] ";" over(get("holds", "longest_ns"), 1000, 0) ";" get("holds", "holds_over_1100us") ";" \
				over(get("time", "job_ns"), 1e6, 1) ";" ratio(get("time", "items"), get("time", "job_ns"), 1e9 / 1000, 0) ";" \
				ratio(get("clock", "clock_reads"), get("clock", "items"), 1000, 1) ";" get("clock", "cut_short") ";" count("skipped") ";" count("reclaimed") ";" \
				count("reclaimed_ineligible") ";" count("oom_kills") ";" (count("cyclictest_us") != "-" ? count("cyclictest_us") : over(count("latency_ns"), 1000, 0)) ";" \
				least(get("holds", "files_kept"), get("time", "files_kept")), field, ";")
			row()
		}
		END {
			header("cell; kernel; longest hold, us; holds above 1.1 ms; whole job, ms; thousand items/s; clock reads per 1000 items; walks cut short; skipped; reclaimed; of them ineligible; OOM kills; RT latency, us; files kept")
			for (i = 1; i <= n; i++) if (cell[i] !~ /^cost/) holds()
			print ""
			header("cell; kernel; calls; instructions per call; instructions per item; whole job, ms; clock reads")
			for (i = 1; i <= n; i++) if (cell[i] ~ /^cost/) {
				split(cell[i] ";" kernel[i] ";" get("calls", "calls") ";" ratio(get("calls", "calls_ns"), get("calls", "calls"), 1, 1) ";" \
					least(ratio(get("calls", "calls_ns"), get("calls", "items"), 1, 1), ratio(get("holds", "holds_ns"), get("holds", "items"), 1, 1)) ";" \
					over(get("time", "job_ns"), 1e6, 1) ";" get("clock", "clock_reads"), field, ";")
				row()
			}
		}' "$OUT/results.tsv"
}

# What asks the helper for each item, in the object code of function $2 in $1: the
# branch to the block that calls the slow path, and what it depends on.
inline_path() {
	objdump -dr --no-show-raw-insn "$1" | awk -v name="<$2>:" '
		$2 == name { here = 1 }
		/^$/ { here = 0 }
		!here || !/:\t/ { if (here && /bounded_iter_expired_slowpath/) call = at; next }
		{ at = $1; sub(/:/, "", at); sub(/^ *[0-9a-f]+:\t/, ""); text[++n] = $0; where[n] = at; line[at] = n }
		END {
			for (i = 2; i <= n; i++) {
				if (text[i] !~ /^j/) continue
				split(text[i], word, " ")
				distance = line[call] - line[word[2]]
				if (distance < 0 || distance > 8) continue
				print text[i - 1]; print text[i]
				exit
			}
		}'
}

# What the bounds add to the code: bytes, and what runs for each folio.
tabulate_code() {
	local file kernel tree

	[[ -d $OUT/code/unbounded && -d $OUT/code/bounded_iter ]] || return 0
	tree=$(cat -- "$OUT/tree")
	printf '\n| object | kernel | bytes more than unbounded |\n|---|---|---|\n'
	for file in vmscan.o fs-writeback.o; do
		for kernel in count-cap open-coded bounded_iter; do
			[[ ! -f $OUT/code/$kernel/$file ]] ||
				printf '| %s | %s | %d |\n' "$file" "$kernel" "$("$tree/scripts/bloat-o-meter" "$OUT/code/unbounded/$file" "$OUT/code/$kernel/$file" |
					sed -n 's/^Total: Before=\([0-9]*\), After=\([0-9]*\),.*/\2 - \1/p' | bc)"
		done
	done
	printf '\nThe helper for each folio in isolate_lru_folios():\n\n'
	inline_path "$OUT/code/bounded_iter/vmscan.o" isolate_lru_folios | sed 's/^/    /'
}

# A figure: <kernel> <cell> <mode> <name>.
result() {
	awk -F'\t' -v key="$1 $2 $3 $4" '$1 " " $2 " " $3 " " $4 == key { print $5 }' "$OUT/results.tsv"
}

verdict() {
	if eval "$2"; then
		echo "ok $JOB: $1"
		PASSED=$((PASSED + 1))
	else
		echo "FAIL $JOB: $1"
		FAILED=$((FAILED + 1))
	fi
}

# What the series promises, for each cell in which it ran: the bound, no OOM kill,
# nothing reclaimed in vain, no look at the clock in a short call, and all of A's
# files on the disk. Virtual time makes the bounds exact ones; in real time there
# are none. A trace that saw no hold, or no read by a kernel that does read, is none.
judge() {
	local kernel mode cell shift bar value

	while read -r kernel mode cell _ shift _; do
		[[ $kernel == bounded_iter && -n $(result "$kernel" "$cell" "$mode" items) ]] || continue
		case $cell in
		*sync* | umount* | writeback*) bar=1200000 ;;
		*) bar=$((shift == 0 ? 1050000 : 1250000)) ;;
		esac
		value=$(result "$kernel" "$cell" "$mode" longest_ns)
		[[ -z $value || $ACCEL != icount ]] ||
			verdict "$cell: longest hold $((value / 1000)) us, at most $((bar / 1000))" "((value > 0 && value <= bar))"
		verdict "$cell, $mode: no OOM kill" "(($(result "$kernel" "$cell" "$mode" oom_kills) == 0))"
		value=$(result "$kernel" "$cell" "$mode" reclaimed_ineligible)
		[[ -z $value ]] || verdict "$cell, $mode: $value ineligible folios reclaimed" "((value == 0))"
		value=$(result "$kernel" "$cell" "$mode" clock_reads)
		[[ -z $value || $cell != cost-reclaim ]] ||
			verdict "$cell: $value clock reads in calls of at most 32 folios" "((value == 0))"
		[[ -z $value || -z $(result open-coded "$cell" "$mode" clock_reads) ]] ||
			verdict "$cell: clock reads are seen, in the open-coded kernel" \
				"(($(result open-coded "$cell" "$mode" clock_reads) > 0))"
		value=$(result "$kernel" "$cell" "$mode" cut_short)
		case $value:$cell in
		:*) ;;
		*:cost-*) verdict "$cell: $value walks cut short where there is nothing to cut" "((value == 0))" ;;
		*) verdict "$cell: $value walks cut short, seen by the tracepoint" "((value > 0))" ;;
		esac
		value=$(result "$kernel" "$cell" "$mode" files_kept)
		[[ -z $value ]] || verdict "$cell, $mode: $value of 10 files kept" "((value == 10))"
	done < <(boots)
	[[ ! -d $OUT/code/bounded_iter ]] ||
		value=$(inline_path "$OUT/code/bounded_iter/vmscan.o" isolate_lru_folios | wc -l)
	[[ -z $value ]] || verdict "inline path: $value instructions per folio" "((value > 0 && value <= 3))"
}

# The same for programs.
write_json() {
	awk -F'\t' 'BEGIN { print "[" }
		{
			printf "%s", (NR > 1 ? ",\n" : "")
			printf "{\"kernel\": \"%s\", \"cell\": \"%s\", \"mode\": \"%s\", \"name\": \"%s\", ", $1, $2, $3, $4
			printf "\"value\": %s}", ($5 ~ /^-?[0-9]+$/ ? $5 : "\"" $5 "\"")
		}
		END { print "\n]" }' "$OUT/results.tsv" >"$OUT/results.json"
}

draw() {
	gnuplot -e "results='$OUT/results.tsv'; out='$OUT/results.png'" "$HERE/plot.gp" ||
		die "gnuplot could not draw $OUT/results.tsv"
}

report() {
	each_run figures >"$OUT/results.tsv"
	{ tabulate; tabulate_code; } | tee "$OUT/results.md"
	write_json
	judge
	[[ -n ${QUICK:-}${KERNEL:-}${WORKLOAD:-} ]] || draw
}
