# Draws work_precision.csv of study_work_precision: error against force evaluations, one picture per problem.
#
#   gnuplot -e "input='work_precision.csv'; output='work_precision.png'" tests/study/work_precision.gp

if (!exists("input")) input = "work_precision.csv"
if (!exists("output")) output = "work_precision.png"

set terminal pngcairo size 1300,1000 font "sans,11"
set output output
set datafile separator ","
set logscale xy
set format x "10^{%T}"
set format y "10^{%T}"
set xlabel "force evaluations"
set xrange [1e2:1e6]
set grid
unset key
set multiplot layout 2,2

methods = "'Moreau-Jean' 'half-explicit' 'GGL' 'HEM4' 'Moreau-Jean variable order' 'Moreau-Jean order 1' \
'half-explicit variable order' 'event-driven' 'RK4 localised' 'RKF5 localised'"
kinds = "fixed fixed fixed fixed controlled controlled controlled events localised localised"
colours = "#1f77b4 #2ca02c #9467bd #8c564b #1f77b4 #17becf #2ca02c #d62728 #ff7f0e #bcbd22"
style(m) = word(kinds, m) eq "fixed" ? 7 : word(kinds, m) eq "controlled" ? 6 : word(kinds, m) eq "events" ? 9 : 5
dash(m) = word(kinds, m) eq "controlled" ? 2 : 1
label(m) = word(kinds, m) eq "fixed" ? word(methods, m)." (fixed step)" : \
           word(kinds, m) eq "controlled" ? word(methods, m)." (controlled step)" : word(methods, m)
problems = "ball oscillator slider-crank"
titles = "'Ball (impacts accumulate at t = 3)' 'Impacting oscillator' 'Slider-crank without friction up to 0.05 s'"

do for [p = 1:3] {
    problem = word(problems, p)
    set title word(titles, p)
    set ylabel p < 3 ? "L1 error of the position" : "L1 error of the angles"
    plot for [m = 1:words(methods)] input using ((strcol(1) eq problem && strcol(3) eq word(methods, m)) ? $6 : NaN):7 \
        with linespoints dashtype dash(m) pointtype style(m) \
        linecolor rgb word(colours, m) linewidth 1.5
}

# The key has a field of its own.
unset title
unset xlabel
unset ylabel
unset border
unset tics
unset grid
set key center center font ",12" spacing 1.5
set yrange [1:10]
plot for [m = 1:words(methods)] NaN with linespoints dashtype dash(m) \
    pointtype style(m) linecolor rgb word(colours, m) linewidth 1.5 title label(m)
unset multiplot
