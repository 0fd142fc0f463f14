# shellcheck shell=bash
# The page of bench/run, from rows.tsv, chart.svg and left-out in $dir.

# Standard input as text of HTML.
as_html()
{
    sed 's/&/\&amp;/g; s/</\&lt;/g'
}

# One file that needs no other: machine, chart, table, and what is left out.
draw_page() # heading
{
    cat << 'END'
<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Speed of machsym and of its peers</title>
<style>
:root { color-scheme: light dark }
body { font: 14px system-ui, sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em }
pre { font-size: 12px; white-space: pre-wrap }
div { overflow-x: auto }
table { border-collapse: collapse }
th, td { padding: 2px 10px; border-bottom: 1px solid #8884; white-space: nowrap }
.text { text-align: left }
.number { text-align: right; font-variant-numeric: tabular-nums }
.part { padding-left: 2em }
</style>
<h1>Speed of machsym and of its peers</h1>
END
    echo "<pre>$(as_html <<< "$1")</pre>"
    [ ! -s "$dir/chart.svg" ] || cat "$dir/chart.svg"
    echo "<h2>All rows</h2><p>A ratio says how many times more a peer takes; where a goal is at most (&lt;=), how" \
        "many times more machsym takes. \"of runs\" has the lowest and the highest ratio of separate runs.</p>"
    echo "<div><table>$(awk -v html=1 -v goals="$goals" -f "$here/table.awk" "$dir/rows.tsv")</table></div>"
    [ ! -s "$dir/left-out" ] || echo "<h2>Left out</h2><pre>$(sort -u "$dir/left-out" | as_html)</pre>"
    echo "</html>"
}
