# Prints the rows of bench/run as one aligned table, with -v html=1 as rows of a table in HTML.
# Input, tab-separated: name, ours, peer's name, peer's value, unit (s, /s, KB, B), goal ('>=N' for peer/ours,
# '<=N' for ours/peer, '<N' and '>N' for our value in its unit, - for none). Goals are shown with -v goals=1.
# Two more fields are the lowest and the highest ratio of separate runs. Ratios are rounded against us.
# A row without a value of ours (-) shows what the machine can do; a peer's value of - is one that is not
# installed, and of ? one that has no answers.
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

# A ratio, rounded down; up where less is better.
function rounded(ratio, at_most,    step)
{
    step = ratio < 10 ? 100 : 10
    return sprintf(ratio < 10 ? "%.2f" : "%.1f", int(ratio * step + (at_most ? 0.9999 : 0)) / step)
}

function put(a, b, c, d, e, f, g, h)
{
    cell[NR, 1] = a
    cell[NR, 2] = b
    cell[NR, 3] = c
    cell[NR, 4] = d
    cell[NR, 5] = e
    cell[NR, 6] = goals ? f : ""
    cell[NR, 7] = goals ? g : ""
    cell[NR, 8] = h
    for (i = 1; i <= 8; i++)
        if (length(cell[NR, i]) > width[i])
            width[i] = length(cell[NR, i])
}

# A goal of our own value: "under 250 ns".
function put_alone(a, b, unit, goal, c, d, e, h,    limit, met)
{
    limit = substr(goal, 2) + 0
    met = goal ~ /^</ ? b < limit : b > limit
    put(a, show(b, unit), c, d, e, (goal ~ /^</ ? "under " : "over ") show(limit, unit), met ? "yes" : "NO", h)
}

BEGIN {
    FS = "\t"
    put("row", "machsym", "peer", "peer's", "ratio", "goal", "met", "of runs")
}

{
    ratio = ""
    if ($2 == "-") {
        put($1, "", $3, show($4, $5), "", "", "", "")
        next
    }
    at_most = $6 ~ /^<=/
    if ($2 + 0 > 0 && $4 + 0 > 0)
        ratio = at_most ? $2 / $4 : $4 / $2
    theirs = $4 == "-" ? "not installed" : $4 == "?" ? "no answers" : $4 == "" ? "" : show($4, $5)
    shown = ratio == "" ? "" : rounded(ratio, at_most)
    spread = $7 == "" ? "" : rounded($7, at_most) " to " rounded($8, at_most)
    if ($6 ~ /^[<>][0-9]/)
        put_alone($1, $2, $5, $6, $3, theirs, shown, spread)
    else if ($6 == "-" || ratio == "")
        put($1, show($2, $5), $3, theirs, shown, "", "", spread)
    else {
        limit = substr($6, 3) + 0
        met = at_most ? ratio <= limit : ratio >= limit
        put($1, show($2, $5), $3, theirs, shown, $6, met ? "yes" : "NO", spread)
    }
}

function is_text(column)
{
    return column == 1 || column == 3 || column > 5
}

function line_of(r,    line, i)
{
    for (i = 1; i <= 8; i++)
        line = line sprintf(is_text(i) ? "%-*s  " : "%*s  ", width[i], cell[r, i])
    sub(/ +$/, "", line)
    return line
}

# Columns that are empty in all rows are left out.
function html_of(r,    line, i, text, kind)
{
    kind = r == 0 ? "th" : "td"
    for (i = 1; i <= 8; i++) {
        text = cell[r, i]
        gsub(/&/, "\\&amp;", text)
        gsub(/</, "\\&lt;", text)
        if (width[i] > 0)
            line = line sprintf("<%s class=\"%s%s\">%s</%s>", kind, is_text(i) ? "text" : "number",
                                i == 1 && text ~ /^ / ? " part" : "", text, kind)
    }
    return "<tr>" line "</tr>"
}

END {
    for (r = 0; r <= NR; r++)
        print html ? html_of(r) : line_of(r)
}
