# Joins the rows of separate runs of bench/run, which have the same rows in the same order: medians of both values,
# and the lowest and the highest ratio of a run as two more fields. Input: rows.1.tsv rows.2.tsv ...
function median(list,    v, n, i, j, t)
{
    n = split(list, v, " ")
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) {
            t = v[j]
            v[j] = v[j - 1]
            v[j - 1] = t
        }
    return v[int((n + 1) / 2)]
}

BEGIN {
    FS = OFS = "\t"
}

{
    name[FNR] = $1
    peer[FNR] = $3
    unit[FNR] = $5
    goal[FNR] = $6
    ours[FNR] = ours[FNR] " " $2
    theirs[FNR] = theirs[FNR] " " $4
    most = FNR > most ? FNR : most
    if ($2 + 0 <= 0 || $4 + 0 <= 0)
        next
    ratio = $6 ~ /^<=/ ? $2 / $4 : $4 / $2
    if (!(FNR in low) || ratio < low[FNR])
        low[FNR] = ratio
    if (!(FNR in high) || ratio > high[FNR])
        high[FNR] = ratio
}

END {
    for (i = 1; i <= most; i++)
        print name[i], median(ours[i]), peer[i], median(theirs[i]), unit[i], goal[i], low[i], high[i]
}
