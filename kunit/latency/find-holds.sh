#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Who keeps interrupts or preemption off longest? Boots the kernel without and with
# the series in the guest of `make latency`, on its workloads and on others, traces
# all holds whoever they are, and ranks them.
#	QUICK=1		small workloads
#	KERNEL=, WORKLOAD=	as for run-latency.sh

# shellcheck source=kunit/latency/run-latency.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/run-latency.sh"

# shellcheck disable=SC2034 # read by the functions of run-latency.sh
JOB=find-holds OUTPUT=latency-holds CELLS=$HERE/holds.cells
CONFIGS+=("$HERE/holds.config")
# Only virtual time makes two runs comparable.
# shellcheck disable=SC2034 # the same
ACCEL=icount
# The rows of a table, the pairs of bars of the plot.
ROWS=25
BARS=16

# The lines of the run $1, of kernel $2 in mode $3 on cell $4, that begin with "# $5",
# with tabs between the words: kernel, mode, cell, words.
lines() {
	awk -v OFS='\t' -v key="$2$(printf '\t')$3$(printf '\t')$4" -v type="$5" '
		{ sub(/\r$/, "") }
		$1 == "#" && $2 == type { line = key; for (i = 3; i <= NF; i++) line = line OFS $i; print line }' "$1"
}

# What the run $1 of kernel $2 on cell $3 in mode $4 said, added to found.tsv, value.tsv
# and cut.tsv.
sort_lines() {
	local type

	for type in found value cut; do
		lines "$1" "$2" "$4" "$3" "$type" >>"$OUT/$type.tsv"
	done
}

collect_holds() {
	rm -f -- "$OUT"/{found,value,cut}.tsv
	touch -- "$OUT"/{found,value,cut}.tsv
	each_run sort_lines
}

# One line for each kernel, kind, start and end, over all workloads:
#	<kernel> <kind> <start> <end> <longest ns> <over 0.25 ms> <over 1 ms> <workload
#	of the longest> <callers> <what is walked>
# Preemption is off as well where a lock turns interrupts off. If that is all that is
# seen of a pair it is of kind irq, and of kind irq only.
rank() {
	awk -F'\t' -v OFS='\t' -v walks="$HERE/walks" '
		BEGIN { while ((getline line < walks) > 0) if (line !~ /^(#|$)/) {
			pattern[++n] = line; sub(/\t.*/, "", pattern[n]); sub(/^[^\t]*\t+/, "", line); text[n] = line } }
		function walked(what,    i) { for (i = 1; i <= n; i++) if (what ~ pattern[i]) return text[i]; return "" }
		{
			key = $1 OFS $2 OFS $4 OFS $5
			over[key] += $7; over_1ms[key] += $8
			if ($9 > longest[key]) { longest[key] = $9; cell[key] = $3; callers[key] = $10 }
		}
		END {
			for (key in longest) {
				split(key, field, OFS)
				irq = longest[field[1] OFS "irq" OFS field[3] OFS field[4]]
				if (field[2] == "preempt" && irq > 0.9 * longest[key]) continue
				print key, longest[key], over[key], over_1ms[key], cell[key], callers[key],
					walked(field[3] " " field[4] " " callers[key])
			}
		}' "$OUT/found.tsv" | LC_ALL=C sort -t"$(printf '\t')" -k1,1 -k5,5nr -k2,4 >"$OUT/holds.tsv"
}

# The holds of kernel $1 by their length, as a table, and what became of them in $2.
table() {
	awk -F'\t' -v kernel="$1" -v other="$2" -v rows="$ROWS" '
		NR == FNR { if ($1 == other) after[$2, $3, $4] = $5; next }
		FNR == 1 {
			printf "| | kind | from | to | longest, us | above 0.25 ms | above 1 ms | in %s, us | workload | walks | callers |\n", other
			print "|---|---|---|---|---|---|---|---|---|---|---|"
		}
		$1 == kernel && $6 > 0 && ++n <= rows {
			there = ($2, $3, $4) in after ? sprintf("%.0f", after[$2, $3, $4] / 1000) : "-"
			gsub(/</, " < ", $9)
			printf "| %d | %s | %s | %s | %.0f | %d | %d | %s | %s | %s | %s |\n", n, $2, $3, $4, $5 / 1000, $6, $7, there, $8, $10, $9
		}' "$OUT/holds.tsv" "$OUT/holds.tsv"
}

# All holds of a kernel: how many, and how long the longest.
sums() {
	printf '| kernel | kind | longest, us | above 0.25 ms | above 1 ms |\n|---|---|---|---|---|\n'
	awk -F'\t' '
		{ key = $1 " | " $2; over[key] += $7; over_1ms[key] += $8; if ($9 > longest[key]) longest[key] = $9 }
		END { for (key in longest) printf "| %s | %.0f | %d | %d |\n", key, longest[key] / 1000, over[key], over_1ms[key] }' \
		"$OUT/found.tsv" | sort -r
}

# What the workloads did, by the kernel's own counts.
work() {
	printf '| workload | kernel | kind | events traced | did |\n|---|---|---|---|---|\n'
	awk -F'\t' '
		!(($1, $2, $3) in seen) { seen[$1, $2, $3]; order[++n] = $3 " | " $1 " | " $2 }
		{ key = $3 " | " $1 " | " $2 }
		$4 == "enabled" { events[key] = $5 }
		$4 ~ /^(work_|items$)/ { name = $4; sub(/^work_/, "", name); did[key] = did[key] (did[key] ? ", " : "") name " " $5 }
		END { for (i = 1; i <= n; i++) print "| " order[i] " | " events[order[i]] " | " did[order[i]] " |" }' "$OUT/value.tsv"
}

# The walks that a bound ended, by the caller of the helper.
cuts() {
	if ! grep -q "^bounded_iter.*cuts_traced$(printf '\t')1\$" "$OUT/value.tsv"; then
		echo "Walks cut short were not counted: no kernel that ran has the tracepoint bounded_iter_expired."
		return
	fi
	printf '| walks cut short, by caller | workload | kind traced | times |\n|---|---|---|---|\n'
	awk -F'\t' '{ printf "| %s | %s | %s | %d |\n", $4, $3, $2, $5 }' "$OUT/cut.tsv" | sort
}

write_table() {
	cat <<-EOF_HEAD
		Who keeps interrupts or preemption off, found by \`make find-holds${QUICK:+ QUICK=1}\`.
		What preemption is off for has in it the interrupts that came and their softirqs: where
		it is long without a list, RCU's callbacks may have run in it.

		All workloads together:

	EOF_HEAD
	sums
	printf '\nWithout the series, the longest first:\n\n'
	table unbounded bounded_iter
	printf '\nWith the series, the longest first: what to convert next. A walk that is cut short\n'
	printf 'has lasted for 1 ms and a batch, so it counts as above 1 ms.\n\n'
	table bounded_iter unbounded
	echo
	cuts
	printf '\nWhat the workloads did:\n\n'
	work
}

# The longest hold of kernel $1 traced as $2 on cell $3 that is of the functions $4, or
# 0; with where it is.
longest_of() {
	awk -F'\t' -v kernel="$1" -v kind="$2" -v cell="$3" -v ours="^($4)([.].*)?\$" '
		$1 == kernel && $2 == kind && $3 == cell && ($4 ~ ours || $5 ~ ours) && $9 > longest { longest = $9 }
		END { print longest + 0 }' "$OUT/found.tsv"
}

# The lengths that the series promises: for the reclaimer whatever the workload, for
# the flusher where somebody waits for the CPU. A finder that does not see what the
# series removed would not see what it did not remove.
judge_run() {
	local kernel=$1 kind=$2 cell=$3 workload=$4 ours=$RECLAIM bar=1050000 least=0 value

	case $workload in
	WORKLOAD=reclaim) least=1 ;;
	WORKLOAD=writeback | WORKLOAD=sync | WORKLOAD=syncfs | WORKLOAD=umount)
		[[ $kind == preempt ]] || return 0
		ours=$WRITEBACK bar=1200000 least=1
		;;
	esac
	value=$(longest_of "$kernel" "$kind" "$cell" "$ours")
	if [[ $kernel == bounded_iter ]]; then
		verdict "$cell, $kind: longest hold of the loops under test $((value / 1000)) us, at most $((bar / 1000))" \
			"((value >= least && value <= bar))"
	elif ((least)); then
		verdict "$cell, $kind: the unbounded hold is found, $((value / 1000)) us" "((value > bar))"
	fi
}

judge_holds() {
	local kernel kind cell workload

	while read -r kernel kind cell _ _ _ _ _ workload _; do
		judge_run "$kernel" "$kind" "$cell" "$workload"
	done < <(boots)
	judge_found
	judge_work
	judge_cuts
}

# A workload may have no hold of note, all of them together have some.
judge_found() {
	local kernel kind found

	while read -r kernel kind; do
		found=$(awk -F'\t' -v kernel="$kernel" -v kind="$kind" '$1 == kernel && $2 == kind' "$OUT/found.tsv" | wc -l)
		verdict "$kernel, $kind: $found kinds of holds are found" "((found > 0))"
	done < <(boots | cut -d' ' -f1,2 | sort -u)
}

# Each run must say what it did.
judge_work() {
	local kernel kind cell

	while read -r kernel kind cell _; do
		verdict "$kernel, $cell, $kind: it did its work" \
			"awk -F'\t' '\$1 == \"$kernel\" && \$2 == \"$kind\" && \$3 == \"$cell\" && \$4 ~ /^(work_|items\$)/ && \$5 > 0 { n++ } END { exit !n }' '$OUT/value.tsv'"
	done < <(boots)
}

# Where the kernel has the tracepoint it must have seen the walks that were cut short.
judge_cuts() {
	local kernel kind cell

	while IFS=$'\t' read -r kernel kind cell _; do
		case $cell in reclaim* | *sync* | writeback* | umount*) ;; *) continue ;; esac
		verdict "$cell, $kind: walks cut short are seen" "grep -q '^$kernel	$kind	$cell	' '$OUT/cut.tsv'"
	done < <(grep "^bounded_iter.*cuts_traced$(printf '\t')1\$" "$OUT/value.tsv")
}

# The longest of both kernels.
draw_holds() {
	awk -F'\t' -v OFS='\t' '
		{ key = ($3 == $4 ? $3 : $3 (length($3) + length($4) > 34 ? "\\n" : " ") "- " $4) " (" $2 ")"; v[$1, key] = $5; if ($5 > most[key]) most[key] = $5 }
		END { for (key in most) print most[key], key, v["unbounded", key] + 0, v["bounded_iter", key] + 0 }' "$OUT/holds.tsv" |
		sort -k1,1nr | cut -f2- | awk -v bars="$BARS" 'NR <= bars' >"$OUT/bars.tsv"
	gnuplot -e "bars='$OUT/bars.tsv'; out='$OUT/holds.png'" "$HERE/holds.gp" ||
		die "gnuplot could not draw $OUT/bars.tsv"
}

find_holds() {
	run_guests
	collect_holds
	rank
	write_table | tee "$OUT/holds.md"
	judge_holds
	draw_holds
	step "done: $OUT/holds.md, holds.tsv, holds.png"
	echo "find-holds: $PASSED passed, $FAILED failed, 0 skipped"
	report_counts "$PASSED" "$FAILED" 0
	((FAILED == 0))
}

[[ ${BASH_SOURCE[0]} != "$0" ]] || find_holds
