# Draws rows of bench/run (the input of table.awk) as an SVG bar chart: those that compare times with another
# program and whose name matches `keep`, under the line `caption`. Rows of one name share a group. A group has
# its own scale, from zero to its longest bar, and the measured value stands beside each bar. The figure at the
# right is how many times faster than the group's fastest peer we are. The chart brings its own background, so
# that it is legible on light and dark pages, and follows the reader's colour scheme.
function show(value)
{
    if (value < 1)
        return sprintf(value < 0.01 ? "%.2f ms" : "%.0f ms", value * 1000)
    return sprintf("%.2f s", value)
}

function escape(text)
{
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    return text
}

function bar(value, longest, class, label,    wide)
{
    wide = value / longest * BAR
    body = body sprintf("<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"11\" rx=\"2\"/>\n",
                        class, LEFT, y, wide)
    body = body sprintf("<text class=\"v\" x=\"%.1f\" y=\"%d\">%s</text>\n",
                        LEFT + wide + 6, y + 9, escape(label))
    y += 13
}

function group(g,    i, longest, fastest, ratio, middle)
{
    longest = ours[g]
    fastest = theirs[g, 0]
    for (i = 0; i < peers[g]; i++) {
        longest = theirs[g, i] > longest ? theirs[g, i] : longest
        fastest = theirs[g, i] < fastest ? theirs[g, i] : fastest
    }
    middle = y + (peers[g] + 1) * 6.5 + 3
    ratio = fastest / ours[g]
    body = body sprintf("<text x=\"12\" y=\"%d\">%s</text>\n", middle, escape(name[g]))
    body = body sprintf("<text class=\"r\" x=\"790\" y=\"%d\">%s\303\227</text>\n", middle,
                        sprintf(ratio < 10 ? "%.1f" : "%.0f", ratio))
    bar(ours[g], longest, "us", "machsym " show(ours[g]))
    for (i = 0; i < peers[g]; i++)
        bar(theirs[g, i], longest, "peer", peer[g, i] " " show(theirs[g, i]))
    y += 14
}

BEGIN {
    FS = "\t"
    LEFT = 355
    BAR = 245
    y = 62
    count = 0
}

$5 == "s" && $2 + 0 > 0 && $4 + 0 > 0 && $3 ~ /llvm|filt|addr2line|libbacktrace|rustc/ && $1 ~ keep {
    if (!count || name[count - 1] != $1) {
        name[count] = $1
        ours[count] = $2
        peers[count++] = 0
    }
    peer[count - 1, peers[count - 1]] = $3
    theirs[count - 1, peers[count - 1]++] = $4
}

END {
    for (g = 0; g < count; g++)
        group(g)
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 800 %d\"", y
    printf " width=\"800\" height=\"%d\">\n", y
    print "<title>Time of machsym and of its peers, shorter is better</title>"
    print "<style>\ntext { font: 12px system-ui, sans-serif; fill: #24292f }"
    print ".v { font-size: 11px; fill: #57606a }"
    print ".h { font-size: 14px; font-weight: 600 }\n.r { font-weight: 600; text-anchor: end }"
    print ".us { fill: #0a7d4f }\n.peer { fill: #9aa4af }\n.page { fill: #ffffff; stroke: #d0d7de }"
    print "@media (prefers-color-scheme: dark) {\ntext { fill: #e6edf3 }\n.v { fill: #9da7b3 }"
    print ".us { fill: #3fb984 }\n.peer { fill: #5b6673 }"
    print ".page { fill: #0d1117; stroke: #30363d }\n}\n</style>"
    printf "<rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"799\" height=\"%d\" rx=\"6\"/>\n", y - 1
    print "<text class=\"h\" x=\"12\" y=\"22\">Whole processes, files in page cache: shorter is better</text>"
    printf "<text class=\"v\" x=\"12\" y=\"40\">%s; each group has its own scale</text>\n", escape(caption)
    printf "%s</svg>\n", body
}
