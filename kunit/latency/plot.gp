# SPDX-License-Identifier: GPL-2.0
# The longest hold against the length of the list, for each contender; and those
# of the flusher. Reads results.tsv: gnuplot -e "results='...'; out='...'" plot.gp
set terminal pngcairo noenhanced size 1100,480 font "sans,10"
set output out
set datafile separator tab
contenders = "unbounded count-cap open-coded bounded_iter"
colours = "#c0392b #e08e0b #2980b9 #27ae60"
set multiplot layout 1,2
set logscale xy
set grid
set key top left
set title "reclaim: longest stretch with interrupts off"
set xlabel "folios of ineligible zones on the LRU list"
set ylabel "longest hold, us"
set yrange [500:*]
set xrange [2e5:6e6]
set format x "%.1s%c"
plot for [i=1:4] sprintf("< awk -F'\\t' -v kernel=%s '$1 == kernel && $3 == \"holds\" && $2 ~ /^reclaim-[0-9.]+M$/ { v[$2, $4] = $5; c[$2] } END { for (k in c) print v[k, \"folios\"] \"\\t\" v[k, \"longest_ns\"] / 1000 }' %s | sort -n", word(contenders, i), results) \
	using 1:2 with linespoints lw 2 pt 3+i ps 1.5 lc rgb word(colours, i) title word(contenders, i)
unset logscale x
set xrange [*:*]
set title "writeback: longest hold of list_lock"
set xlabel ""
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.8
set xtics rotate by -25
plot for [i=1:4] sprintf("< awk -F'\\t' -v kernel=%s '$1 == kernel && $4 == \"longest_ns\" && $2 ~ /^(writeback|sync|umount)/ { print $2 \"\\t\" $5 / 1000 }' %s", word(contenders, i), results) \
	using 2:xtic(1) lc rgb word(colours, i) title word(contenders, i)
unset multiplot
