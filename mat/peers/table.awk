# Formats the lines of run.sh as Markdown: PROGRAM M N K TRANSB GFLOP/s and, for mat, whose programs
# begin with "mat-", the peak GFLOP/s measured after it. -v order lists the programs.
{
	shape = $2 "×" $3 "×" $4 ($5 ? ", Bᵀ" : "")
	if (!(shape in rows)) { shapes[++count] = shape; rows[shape] = $2 }
	rates[$1, shape] = rates[$1, shape] " " $6
	limits[$1, shape] = limits[$1, shape] " " $7
}

# the best and the median of the values in a string
function best(s,   x, n, i, b) {
	n = split(s, x, " ")
	for (i = 1; i <= n; i++) if (x[i] + 0 > b + 0) b = x[i]
	return b + 0
}
function median(s,   x, n, i, j, t) {
	n = split(s, x, " ")
	for (i = 2; i <= n; i++) for (j = i; j > 1 && x[j] + 0 < x[j-1] + 0; j--) { t = x[j]; x[j] = x[j-1]; x[j-1] = t }
	return n % 2 ? x[(n+1)/2] : (x[n/2] + x[n/2+1]) / 2
}
function of(s, isMedian) { return isMedian ? median(s) : best(s) }

function ours(p) { return p ~ /^mat-/ }
function show(rate) { return sprintf(rate < 20 ? "%.1f" : "%.0f", rate) }

END {
	programs = split(order, program, " ")
	head = "| m×n×k |"; line = "| --- |"
	for (i = 1; i <= programs; i++) {
		head = head " " program[i] " |" (ours(program[i]) ? " % |" : "")
		line = line " ---: |" (ours(program[i]) ? " ---: |" : "")
	}
	print head " ratio |"; print line " ---: |"
	for (s = 1; s <= count; s++) {
		row = "| " shapes[s] " |"; bestPeer = 0
		for (i = 1; i <= programs; i++) {
			p = program[i]; rate = best(rates[p, shapes[s]])
			row = row " " show(rate) " |"
			if (ours(p)) row = row sprintf(" %.0f |", 100 * rate / best(limits[p, shapes[s]]))
			else if (rate > bestPeer) bestPeer = rate
		}
		ratio = bestPeer ? sprintf("%.2f", best(rates[program[1], shapes[s]]) / bestPeer) : ""
		print row " " (ratio >= 1 ? "**" ratio "**" : ratio) " |"
	}

	print "\n| geometric means |" substr(head, length("| m×n×k |") + 1)
	print line
	for (few = 0; few <= 1; few++) for (isMedian = 0; isMedian <= 1; isMedian++) {
		row = "| " (few ? "1 row, " : "4 rows and more, ") (isMedian ? "medians" : "best") " |"
		for (i = 1; i <= programs; i++) {
			p = program[i]; sum = sumLimits = n = 0
			for (s = 1; s <= count; s++) if ((rows[shapes[s]] < 4) == few) {
				sum += log(of(rates[p, shapes[s]], isMedian)); n++
				if (ours(p)) sumLimits += log(of(limits[p, shapes[s]], isMedian))
			}
			row = row " " show(exp(sum / n)) " |" (ours(p) ? sprintf(" %.0f |", 100 * exp((sum - sumLimits) / n)) : "")
		}
		print row
	}
}
