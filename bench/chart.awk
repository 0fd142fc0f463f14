# Draws the rows of bench/run (the input of table.awk) that compare times with a peer as an SVG bar chart.
# One pair of bars a row, each pair scaled to its longer bar, the measured value beside each bar. Text takes its colour
# from the reader's colour scheme.
function show(value)
{
    return value < 0.01 ? sprintf("%.2f ms", value * 1000) : value < 1 ? sprintf("%.0f ms", value * 1000) : sprintf("%.2f s", value)
}

function escape(text)
{
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    return text
}

function bar(y, value, longest, class, label,    w)
{
    w = value / longest * BAR
    w = w < 2 ? 2 : w
    printf "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"11\" rx=\"2\"/>\n", class, LEFT, y, w
    printf "<text class=\"v\" x=\"%.1f\" y=\"%d\">%s</text>\n", LEFT + w + 6, y + 9, escape(label)
}

BEGIN {
    FS = "\t"
    LEFT = 270
    BAR = 330
    TOP = 44
}

$5 == "s" && $3 ~ /llvm|c\+\+filt|mmap/ {
    name[n] = $1
    ours[n] = $2
    peer[n] = $3
    theirs[n++] = $4
}

END {
    high = TOP + n * 38 + 4
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 %d\" width=\"800\" height=\"%d\" role=\"img\">\n", high, high
    print "<title>Time of machsym and of its peers, shorter is better</title>"
    print "<style>\ntext { font: 12px system-ui, sans-serif; fill: #24292f }\n.v { font-size: 11px; fill: #57606a }"
    print ".h { font-size: 14px; font-weight: 600 }\n.r { font-weight: 600; text-anchor: end }"
    print ".us { fill: #0a7d4f }\n.peer { fill: #9aa4af }"
    print "@media (prefers-color-scheme: dark) {\ntext { fill: #e6edf3 }\n.v { fill: #9da7b3 }"
    print ".us { fill: #3fb984 }\n.peer { fill: #5b6673 }\n}\n</style>"
    printf "<text class=\"h\" x=\"12\" y=\"22\">Whole processes, files in the page cache, median: shorter is better</text>\n"
    for (i = 0; i < n; i++) {
        y = TOP + i * 38
        longest = ours[i] > theirs[i] ? ours[i] : theirs[i]
        printf "<text x=\"12\" y=\"%d\">%s</text>\n", y + 15, escape(name[i])
        bar(y, ours[i], longest, "us", "machsym " show(ours[i]))
        bar(y + 13, theirs[i], longest, "peer", peer[i] " " show(theirs[i]))
        ratio = theirs[i] / ours[i]
        printf "<text class=\"r\" x=\"790\" y=\"%d\">%s</text>\n", y + 15, sprintf(ratio < 10 ? "%.1f\303\227" : "%.0f\303\227", ratio)
    }
    print "</svg>"
}
