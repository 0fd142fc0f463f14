# The law of the house, checked in the rooms of src/. From the top of the tree:
#   awk -f tests/rooms_code.awk -f tests/rooms.awk $(src/join --list)
# The rooms must come in the order in which they are joined.
#  - A room includes each room whose names it uses, and no other. A name belongs to the room where it appears first;
#    a struct that the API only declares belongs to the room that completes it too.
#  - A room uses rooms of permitted storeys only (tests/rooms.storeys).
#  - A function carries its room's prefix. Inner rooms neither call nor define public functions.
#  - No static prototypes, but where grammars recurse, in names.
#  - A banner states Job, Offers and Never, and what it offers exists.
#  - No room has more than 2,000 lines, and no line more than 110 bytes, but rows of a table that end in \.

BEGIN {
    read_storeys("src")
    while ((getline line < "tests/rooms.prefixes") > 0)
        if (split(line, pair, " ") == 2) {
            home[pair[2]] = "src/" pair[1]
            has_home["src/" pair[1]] = 1
        }
    largest = 2000
}

function complain(text)
{
    print FILENAME ":" FNR ": " text
    bad++
}

# The longest prefix that a name begins with, among those that belong to a room.
function prefix_of(name,   p, best)
{
    best = ""
    for (p in home)
        if (index(name, p) == 1 && length(p) > length(best))
            best = p
    return best
}

function end_room(   i, n, names, token)
{
    if (room == "")
        return
    if (lines > largest)
        complain(room " has " lines " lines, more than " largest)
    if (inner && banner != "JON")
        complain(room " has no banner of Job, Offers, Never")
    n = split(offers, names, /[ ,.()]+/)
    for (i = 1; i <= n; i++)
        if (names[i] ~ /^ms_[a-z0-9_]+$/ && !(names[i] in mine))
            complain(room " offers " names[i] ", which it does not have")
    for (token in included)
        if (!(token in used))
            complain(room " includes " token ", but uses nothing of it")
    for (token in used)
        if (!(token in included))
            complain(room " uses " used[token] " of " token ", which it does not include")
}

function begin_room()
{
    room = FILENAME
    begun[room] = 1
    rooms++
    lines = 0
    storey = storey_of(room)
    inner = room !~ /^src\/(api\/.*|machsym)\.h$/
    banner = offers = field = ""
    in_banner = in_comment = 0
    split("", mine)
    split("", used)
    split("", included)
}

function check_include(named,   path)
{
    path = storey "/" named
    while (sub(/[^\/]+\/\.\.\//, "", path))
        ;
    included[path] = 1
    note_arrow(room, path)
    if (!is_allowed(room, path))
        complain(room " may not use " path)
}

# The room where a name that is new belongs. A list of the API or of a room may have put a constant together from parts:
# it belongs to the API, or to the room of its prefix.
function maker_of(token,   p)
{
    if (token ~ /^MACHSYM_/ && inner)
        return "src/api/api.h"
    p = token ~ /^ms_[A-Z]/ ? prefix_of(tolower(token)) : ""
    return p != "" && (home[p] in begun) ? home[p] : room
}

function note_token(token,   place, i, n, places, found)
{
    if (token ~ /^MACHSYM_(NO_|IMPLEMENT)/ || token ~ /^ms_ROOM_/)
        return
    if (token ~ /^MACHSYM_(OK|ERR_[A-Z]+)$/) # api.h puts these together with ##
        token = "MACHSYM_RESULTS"
    mine[token] = 1
    if (!(token in owner)) {
        owner[token] = maker_of(token)
        if (owner[token] == room)
            return
    }
    n = split(owner[token], places, " ")
    found = 0
    for (i = 1; i <= n; i++)
        if (places[i] == room)
            return
    # of several rooms the last one is used, if it is included at all
    for (i = n; i >= 1 && !found; i--)
        if (places[i] in included) {
            used[places[i]] = token
            found = 1
        }
    if (!found)
        used[places[1]] = token
    else if (n > 1 && places[1] in included)
        used[places[1]] = token
}

function check_definition(name,   p)
{
    p = prefix_of(name)
    if (name ~ /^machsym_/)
        complain(name " is private and has a public name")
    else if (p == "" && room != "src/base/bytes.h")
        complain(name " has no prefix of a room")
    else if (p != "" && home[p] != room)
        complain(name " is defined in " room ", its prefix belongs to " home[p])
    else if (p == "" && (room in has_home))
        complain(name " has not the prefix of " room)
}

FNR == 1 {
    end_room()
    begin_room()
}
{ lines++ }

/^#include "/ && room != "src/machsym.h" {
    named = $2
    gsub(/"/, "", named)
    check_include(named)
    next
}
room == "src/machsym.h" { next }

/^\/\* ==== >>/ && inner { in_banner = 1 }
in_banner && /^ \* (Job|Offers|Never): / {
    field = substr($2, 1, 1)
    banner = banner field
}
in_banner && field == "O" {
    text = $0
    sub(/^ \* (Offers:)? */, "", text)
    offers = offers " " text
}
in_banner && /\*\// { in_banner = 0 }

length($0) > 110 && !/\\$/ { complain("more than 110 bytes") }

{
    if ($0 ~ /^\/\* rooms: recursion \*\//)
        recursion = 1
    text = code_of($0)
    rest = text
    while (match(rest, /[A-Za-z_][A-Za-z0-9_]*/)) {
        token = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        if (token ~ /^(ms_|machsym_|MACHSYM_)/) {
            note_token(token)
            if (token ~ /^machsym_/ && rest ~ /^\(/ && (token in public) && inner && room != "src/entrance.h")
                complain("calls the public " token)
        }
    }
    if (match(text, /^struct machsym_[a-z_]+ \{/) || match(text, /^typedef struct machsym_[a-z_]+ \{/)) {
        token = text
        sub(/^(typedef )?struct /, "", token)
        sub(/ .*/, "", token)
        if (owner[token] != room)
            owner[token] = owner[token] " " room
    }
    # functions begin at column 1
    if (text ~ /^[A-Za-z].*[ *](ms_|machsym_)[a-z0-9_]+\(/ && text !~ /^(typedef|enum|struct|#|return)/) {
        token = text
        sub(/\(.*/, "", token)
        sub(/.*[ *]/, "", token)
        if (room == "src/api/api.h")
            public[token] = 1
        else if (text !~ /MACHSYM_API/)
            pending = token
        if (text ~ /MACHSYM_API/ && room != "src/api/api.h" && room != "src/entrance.h")
            complain(token " is public and not in the entrance")
    }
    if (pending != "") {
        if (text ~ /;[ ]*$/) {
            if (text ~ /\)[ ]*;[ ]*$/ && storey != "src/names")
                complain("a static prototype: " pending)
            pending = ""
        } else if (text ~ /^\{/) {
            if (!(pending in public))
                check_definition(pending)
            pending = ""
        }
    }
}

END {
    end_room()
    circles = count_circles()
    print "src/: " storeys " storeys, " rooms " rooms, " arrows_up + 0 " arrows up, " circles " circles"
    if (bad + circles)
        print bad + circles " violations of the house's law"
    exit bad + circles > 0
}
