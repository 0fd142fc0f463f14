# What the two checks of the house share (tests/rooms.awk, tests/rooms_tool.awk).

# The line without comments and literals; a comment may go on in the next one.
function code_of(line,   at, out, c, rest)
{
    out = ""
    while (line != "") {
        if (in_comment) {
            at = index(line, "*/")
            if (at == 0)
                return out
            line = substr(line, at + 2)
            in_comment = 0
            continue
        }
        if (match(line, /\/\*|"|'/) == 0)
            return out line
        out = out substr(line, 1, RSTART - 1)
        c = substr(line, RSTART, 1)
        rest = substr(line, RSTART + RLENGTH)
        if (c == "/") {
            in_comment = 1
            line = rest
            continue
        }
        out = out c c
        while (rest != "" && substr(rest, 1, 1) != c)
            rest = substr(rest, substr(rest, 1, 1) == "\\" ? 3 : 2)
        line = substr(rest, 2)
    }
    return out
}

# The table of storeys: "HALF STOREY [STOREY OR ROOM that it may use] ..."; a storey may use itself. "asks NAME": a function
# that a room declares and whoever uses it defines.
function read_storeys(half,   line, n, words, i)
{
    while ((getline line < "tests/rooms.storeys") > 0) {
        n = split(line, words, " ")
        if (words[1] == "asks")
            asked[words[2]] = 1
        if (n < 2 || words[1] != half)
            continue
        storeys++
        may[words[2]] = ""
        for (i = 3; i <= n; i++)
            may[words[2]] = may[words[2]] " " words[i]
    }
}

# The storey of a room: the longest of the table that its path begins with.
function storey_of(room,   s, best)
{
    best = ""
    for (s in may)
        if (index(room, s "/") == 1 && length(s) > length(best))
            best = s
    return best
}

# Whether one room may use another.
function is_allowed(from, to,   storey, other, n, words, i)
{
    storey = storey_of(from)
    other = storey_of(to)
    if (storey == other)
        return 1
    n = split(may[storey], words, " ")
    for (i = 1; i <= n; i++)
        if (words[i] == other || words[i] == to)
            return 1
    return 0
}

function note_arrow(from, to)
{
    if (from == to || (from, to) in arrow)
        return
    arrow[from, to] = 1
    goes[from] = goes[from] " " to
    if (!is_allowed(from, to))
        arrows_up++
}

# All rooms that can be reached from one, in reaches.
function reach(from, at,   n, words, i)
{
    n = split(goes[at], words, " ")
    for (i = 1; i <= n; i++)
        if (!((from, words[i]) in reaches)) {
            reaches[from, words[i]] = 1
            reach(from, words[i])
        }
}

# How many groups of rooms there are that all lead to each other; says which.
function count_circles(   room, other, count, group, seen)
{
    count = 0
    for (room in goes)
        reach(room, room)
    for (room in goes) {
        if (!((room, room) in reaches) || (room in seen))
            continue
        group = ""
        for (other in goes)
            if (((room, other) in reaches) && ((other, room) in reaches)) {
                seen[other] = 1
                group = group " " other
            }
        print "a circle:" group
        count++
    }
    return count
}
