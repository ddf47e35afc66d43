# SPDX-License-Identifier: GPL-2.0
# What a batch costs against what it overshoots, for the batches of bounded_iter.
# gnuplot -e "bench='...'; overshoot='...'; out='...'" plot.gp
set terminal pngcairo noenhanced size 700,480 font "sans,10"
set output out
set grid
set logscale x
set key top right
set title "bounded_iter: overhead against overshoot, for batches of 8, 32, 128 and 1024"
set xlabel "ns beyond the budget, cold items"
set ylabel "time against no bound, %"
clocks = "rdtsc clock_gettime"
lists = "hot cold"
data(clock, list) = sprintf("< awk -F'\\t' 'FNR == NR { over[$1] = $2; next } $1 == \"%s\" && $2 ~ /1000.*%s/ && $3 == \"bounded_iter\" { print over[$4], ($5 - 1) * 100, $4 }' %s %s", clock, list, overshoot, bench)
plot for [c=1:2] for [l=1:2] data(word(clocks, c), word(lists, l)) \
	using 1:2:3 with linespoints lw 2 pt 5+l lc c title word(lists, l)." list, ".word(clocks, c), \
	for [c=1:1] data(word(clocks, c), "hot") using 1:2:3 with labels offset 1.5,0.7 notitle
