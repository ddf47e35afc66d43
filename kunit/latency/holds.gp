# SPDX-License-Identifier: GPL-2.0
# The longest holds, without and with the series. Reads bars.tsv (<name> <ns> <ns>):
# gnuplot -e "bars='...'; out='...'" holds.gp
set terminal pngcairo noenhanced size 1000,760 font "sans,9"
set output out
set datafile separator tab
stats bars using 2 nooutput
n = STATS_records
set title "longest stretches with interrupts (irq) or preemption off, us"
set logscale x
set xrange [100:*]
set yrange [n - 0.4:-0.6]
set grid x
set key bottom right
set style fill solid 0.85
set arrow from 1000, graph 0 to 1000, graph 1 nohead dt 2 lc rgb "#555555"
us(column) = column > 0 ? column / 1000.0 : NaN
plot bars using (us($2)):0:(100):(us($2)):($0 - 0.38):($0):ytic(1) with boxxyerror lc rgb "#c0392b" title "unbounded", \
	bars using (us($3)):0:(100):(us($3)):($0):($0 + 0.38) with boxxyerror lc rgb "#27ae60" title "bounded_iter"
