# Prints the rows of bench/run as one aligned table.
# Input, tab-separated: name, ours, peer's name, peer's value, unit (s, /s, KB, B), goal ('>=N' for peer/ours,
# '<=N' for ours/peer, - for none).
# A row without a value of ours (-) shows what the machine can do.
function show(value, unit)
{
    if (unit == "/s")
        return sprintf("%.0f/s", value)
    if (unit == "s" && value < 0.00001)
        return sprintf("%.0f ns", value * 1e9)
    if (unit == "s")
        return value < 1 ? sprintf(value < 0.01 ? "%.2f ms" : "%.0f ms", value * 1000) : \
                           sprintf("%.2f s", value)
    if (unit == "B")
        value /= 1024
    return value < 10240 ? sprintf("%.0f KB", value) : sprintf("%.0f MB", value / 1024)
}

function put(a, b, c, d, e, f, g)
{
    cell[NR, 1] = a
    cell[NR, 2] = b
    cell[NR, 3] = c
    cell[NR, 4] = d
    cell[NR, 5] = e
    cell[NR, 6] = f
    cell[NR, 7] = g
    for (i = 1; i <= 7; i++)
        if (length(cell[NR, i]) > width[i])
            width[i] = length(cell[NR, i])
}

BEGIN {
    FS = "\t"
    put("row", "machsym", "peer", "peer's", "ratio", "goal", "met")
}

{
    if ($2 == "-") {
        put($1, "", $3, show($4, $5), "", "", "")
        next
    }
    limit = substr($6, 3) + 0
    at_most = $6 ~ /^<=/
    ratio = at_most ? $2 / $4 : $4 / $2
    met = $6 == "-" ? "" : (at_most ? ratio <= limit : ratio >= limit) ? "yes" : "NO"
    goal = $6 == "-" ? "" : $6
    put($1, show($2, $5), $3, show($4, $5), sprintf(ratio < 10 ? "%.2f" : "%.1f", ratio), goal, met)
}

END {
    for (r = 0; r <= NR; r++) {
        line = ""
        for (i = 1; i <= 7; i++)
            line = line sprintf(i == 1 || i == 3 || i > 5 ? "%-*s  " : "%*s  ", width[i], cell[r, i])
        sub(/ +$/, "", line)
        print line
    }
}
