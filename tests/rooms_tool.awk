# The law of the house, checked in the rooms of tool/ and report/. From the top of the tree:
#   awk -f tests/rooms_code.awk -f tests/rooms_tool.awk pass=1 HEADERS AND SOURCES pass=2 HEADERS AND SOURCES
# A room is a header and the sources that include it first, from its own folder; a source without one is a room by itself.
#  - A room uses rooms of permitted storeys only (tests/rooms.storeys), and there is no circle.
#  - A file includes each room whose names it uses, and no other. A source has what its own header includes.
#  - What a header offers is defined in its room; but what a room asks for is defined above it ("asks NAME" in the table).
#  - A function carries its room's prefix (tests/rooms_tool.prefixes); no other room's functions carry it.
#  - A banner states Job, Offers and Never, and what it offers exists.
#  - report/ reads no file, prints nothing, starts no thread and ends no program.
#  - No static prototypes but below "rooms: recursion"; no room of more than 2,000 lines.
# -v counting=FOLDER/: what is found there is counted and not complained of.
# -v uses=1 prints what each file should include, and checks nothing: "FILE ROOM ...".

BEGIN {
    read_storeys("tool")
    while ((getline line < "tests/rooms_tool.prefixes") > 0)
        if (split(line, pair, " ") >= 2 && line !~ /^#/) {
            n = split(line, pair, " ")
            for (i = 2; i <= n; i++) {
                home[pair[i]] = pair[1]
                has_home[pair[1]] = 1
            }
        }
    largest = 2000
    split("stdio.h pthread.h unistd.h fcntl.h stdatomic.h sys/stat.h", parts, " ")
    for (i in parts)
        outside[parts[i]] = 1
    split("exit abort _exit malloc realloc calloc free printf fprintf fwrite fopen getenv pthread_create", parts, " ")
    for (i in parts)
        outside[parts[i]] = 1
    delete outside["malloc"]; delete outside["realloc"]; delete outside["calloc"]; delete outside["free"]
}

function complain(text)
{
    if (uses)
        return
    if (counting != "" && index(file, counting) == 1) {
        counted++
        return
    }
    print file ":" FNR ": " text
    bad++
}

function path_of(named,   path)
{
    if (named == "machsym.h")
        return named
    path = folder "/" named
    while (sub(/[^\/.]+\/\.\.\//, "", path))
        ;
    return path
}

function own(token, weak)
{
    if (file !~ /\.h$/) { # what a source declares for itself
        is_local[file, token] = 1
        return
    }
    if (weak && (token in owner))
        return
    if (!weak && (token in is_weak)) {
        delete is_weak[token]
        delete owner[token]
    }
    if (weak)
        is_weak[token] = 1
    if (!(token in owner))
        owner[token] = file
    else if (index(" " owner[token] " ", " " file " ") == 0)
        owner[token] = owner[token] " " file
}

function note_kind(kind, token)
{
    if (file ~ /\.h$/)
        kind[token] = 1
}

# ---- The first pass: what headers offer ----

function offer(text,   token, rest)
{
    if (match(text, /^#[ ]*define [A-Za-z_][A-Za-z0-9_]*/)) {
        token = substr(text, RSTART, RLENGTH)
        sub(/.* /, "", token)
        if (token ~ /^MACHSYM_[A-Z_]*_H$/ || token ~ /_H$/)
            return
        own(token)
        note_kind(is_macro, token)
        if (file ~ /\.h$/ && match(text, /[a-z_]+_##/)) { # a table of functions: all of that prefix are declared here
            token = substr(text, RSTART, RLENGTH - 2)
            own_prefix[token] = owner[token] = file
        }
        return
    }
    if (text ~ /^#/ || text ~ /^extern *("[^"]*")? *\{$/) # what C++ programs call in C is at the top, too
        return
    if (depth == 0) {
        if (match(text, /^typedef (struct|enum|union) [a-z_0-9]+ \{/) || match(text, /^(struct|enum|union) [a-z_0-9]+ \{/)) {
            token = text
            sub(/^typedef /, "", token)
            sub(/^[a-z]+ /, "", token)
            sub(/ .*/, "", token)
            own(token)
            note_kind(is_type, token)
        } else if (text ~ /^typedef struct [a-z_0-9]+ [a-z_0-9]+;/) {
            token = text
            sub(/;.*/, "", token)
            sub(/.* /, "", token)
            own(token, 1)
            note_kind(is_type, token)
        } else if (match(text, /^typedef .*\(\*[a-z_0-9]+\)/)) {
            token = substr(text, RSTART, RLENGTH)
            sub(/.*\(\*/, "", token)
            sub(/\).*/, "", token)
            own(token)
            note_kind(is_type, token)
        } else if (text ~ /^typedef [^{(]*;/) {
            token = text
            sub(/;.*/, "", token)
            sub(/.*[ *]/, "", token)
            own(token)
            note_kind(is_type, token)
        } else if (text ~ /^extern /) {
            token = text
            sub(/(\[[^\]]*\])*;.*/, "", token)
            sub(/.*[ *]/, "", token)
            own(token)
            note_kind(is_variable, token)
        } else if (text ~ /^[a-z].*[ *][A-Za-z_0-9]+\(/ && text !~ /^(typedef|enum|struct [a-z_]+ \{)/) {
            token = text
            sub(/\(.*/, "", token)
            sub(/.*[ *]/, "", token)
            if (file ~ /\.h$/ || text ~ /^static/)
                own(token)
            if (file ~ /\.h$/ && text !~ /static/)
                is_offered[token] = 1
        }
    }
    rest = text
    while (match(rest, /[A-Za-z_][A-Za-z0-9_]*|[{},=()]/)) {
        token = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        if (token == "{") {
            if (depth == 0)
                in_enum = text ~ /(^|[ ])enum([ ]|$)/
            depth++
            wants = 1
        } else if (token == "}") {
            depth -= depth > 0
        } else if (token == ",") {
            wants = 1
        } else if (token ~ /^[A-Za-z_]/ && in_enum && depth == 1 && wants) {
            own(token)
            note_kind(is_macro, token)
            wants = 0
        } else if (token == "=") {
            wants = 0
        }
    }
}

# ---- The second pass ----

function begin_file(   parts)
{
    file = FILENAME
    folder = file
    sub(/\/[^\/]*$/, "", folder)
    in_comment = depth = in_enum = wants = 0
    first_include = 1
    recursion = pending = ""
    if (pass == 2) {
        files[++file_count] = file
        room_of[file] = file
        own_header = file ~ /\.h$/ ? file : ""
    }
}

# Whether a token that headers declare is that name here, and not a variable or a field that is called the same.
function is_use(token, before, after,   word)
{
    if (before ~ /(\.|->)$/ || ((file, token) in is_local))
        return 0
    if (match(before, /[A-Za-z_0-9]+ \**$/)) { # what it follows: of a declaration the type
        word = substr(before, RSTART, RLENGTH)
        sub(/ .*/, "", word)
        if (word !~ /^(const|static|struct|enum|union|typedef|extern|inline|return|sizeof|case|else|goto|_Thread_local|_Atomic|defined)$/)
            return before ~ /^#/
    }
    if (token in is_type)
        return after ~ /^ \**[A-Za-z_(]/ || after ~ /^ \*+[),;]/ || (before ~ /\($/ && after ~ /^\)[A-Za-z_({0-9*&-]/) || before ~ /(sizeof|offsetof)\($/ || before ~ /(const|struct|enum) $/
    if (token in is_macro)
        return token ~ /[A-Z]/ || after ~ /^\(/ || before ~ /struct $/
    return 1
}

function note_use(token,   n, places, i, room, have)
{
    if (token ~ /^(machsym_|MACHSYM_[A-Z])/ && !(token in owner))
        owner[token] = "machsym.h"
    if (!(token in owner))
        return
    n = split(owner[token], places, " ")
    for (i = 1; i <= n; i++)
        if (places[i] == room_of[file])
            return
    if (!((file, owner[token]) in uses_of)) {
        uses_of[file, owner[token]] = token
        list_of[file] = list_of[file] "|" owner[token]
    }
}

function look(text,   rest, token, before, at)
{
    rest = text
    at = 1
    while (match(rest, /[A-Za-z_][A-Za-z0-9_]*/)) {
        token = substr(rest, RSTART, RLENGTH)
        before = substr(text, 1, at + RSTART - 2)
        at += RSTART + RLENGTH - 1
        rest = substr(rest, RSTART + RLENGTH)
        if (token in own_prefix) # a table of functions is put together
            note_use(token)
        if (((token in owner) && is_use(token, before, rest)) || token ~ /^(machsym_|MACHSYM_[A-Z])/)
            note_use(token)
        if (folder ~ /^report\// && (token in outside) && rest ~ /^\(/ && before !~ /(\.|->)$/)
            complain("report/ " token "s")
    }
}

function prefix_of(name,   p, best)
{
    best = ""
    for (p in home)
        if (index(name, p) == 1 && length(p) > length(best))
            best = p
    return best
}

# Whether a table asks for it by name, or by what it begins with.
function is_asked(name,   a)
{
    for (a in asked)
        if (a == name || (a ~ /\*$/ && index(name, substr(a, 1, length(a) - 1)) == 1))
            return 1
    return 0
}

function check_definition(name,   p)
{
    defined[name] = room_of[file]
    if (!is_static && is_asked(name)) {
        for (p in own_prefix)
            if (!(name in owner) && index(name, p) == 1)
                owner[name] = own_prefix[p]
        note_use(name)
    }
    if (!is_static && (name in is_offered) && !is_asked(name) && index(" " owner[name] " ", " " room_of[file] " ") == 0)
    {
        complain(name " is offered by " owner[name] " and defined in " room_of[file])
        note_use(name)
    }
    if (name == "main" || is_asked(name))
        return
    p = prefix_of(name)
    if (p == "")
        complain(name " has no prefix of a room")
    else if (home[p] != room_of[file])
        complain(name " is defined in " room_of[file] ", its prefix belongs to " home[p])
}

FNR == 1 { begin_file() }

pass == 2 { lines[room_of[file]]++ }

/^#include "/ {
    if (pass == 1)
        next
    target = path_of(substr($2, 2, length($2) - 2))
    if (first_include && own_header == "") {
        header_folder = target
        sub(/\/[^\/]*$/, "", header_folder)
        if (header_folder == folder) {
            lines[target] += lines[file]
            delete lines[file]
            banner[target] = banner[target] banner[file]
            own_header = room_of[file] = target
        }
    }
    first_include = 0
    if (target != own_header) {
        includes[file, target] = 1
        include_list[file] = include_list[file] " " target
    }
    next
}
/^#include </ {
    named = substr($2, 2, length($2) - 2)
    if (pass == 2 && folder ~ /^report\// && (named in outside))
        complain("report/ includes <" named ">")
    next
}

pass == 2 && /^( \*|\/\*) (Job|Offers|Never): / {
    key = $2
    sub(/:/, "", key)
    field = substr(key, 1, 1)
    banner[room_of[file]] = banner[room_of[file]] field
}
pass == 2 && field == "O" {
    text = $0
    sub(/^( \*|\/\*) (Offers:)? */, "", text)
    offers[room_of[file]] = offers[room_of[file]] " " text
}
/\*\// { field = "" }

{
    if ($0 ~ /^\/\* rooms: recursion/)
        recursion = 1
    text = code_of($0)
    if (pass == 1) {
        offer(text)
        next
    }
    look(text)
    # functions begin at column 1
    if (text ~ /^[A-Za-z].*[ *][a-zA-Z_0-9]+\(/ && text !~ /^(typedef|enum|struct [a-z_]+ \{|union|#|return|else|extern)/ && text !~ /^[^(]*=/) {
        token = text
        sub(/\(.*/, "", token)
        sub(/.*[ *]/, "", token)
        pending = token
        is_static = text ~ /^static/
    }
    if (pending != "") {
        if (text ~ /^\{/ || text ~ /\{$/) {
            check_definition(pending)
            pending = ""
        } else if (text ~ /;[ ]*$/) {
            if (is_static && text ~ /\)[ ]*;[ ]*$/ && recursion == "")
                complain("a static prototype: " pending)
            pending = ""
        }
    }
}

# Which of the rooms that own a name a file shall include: one that it includes, or the last.
function chosen(f, owners,   n, places, i)
{
    n = split(owners, places, " ")
    for (i = n; i >= 1; i--)
        if ((f, places[i]) in includes)
            return places[i]
    for (i = n; i >= 1; i--)
        if ((room_of[f], places[i]) in includes)
            return places[i]
    return places[n]
}

END {
    FNR = 0
    for (i = 1; i <= file_count; i++) {
        f = file = files[i]
        is_room[room_of[f]] = 1
        split("", needed)
        n = split(list_of[f], parts, "|")
        line = ""
        for (k = 1; k <= n; k++) {
            if (parts[k] == "")
                continue
            to = chosen(f, parts[k])
            if (!(to in needed))
                line = line " " to
            needed[to] = uses_of[f, parts[k]]
        }
        if (uses) {
            print f, room_of[f] line
            continue
        }
        for (to in needed) {
            if (!((f, to) in includes) && !((room_of[f], to) in includes))
                complain("uses " needed[to] " of " to ", which it does not include")
        }
        n = split(include_list[f], parts, " ")
        for (k = 1; k <= n; k++) {
            to = parts[k]
            if (!(to in needed))
                complain("includes " to ", but uses nothing of it")
            else if (f != room_of[f] && ((room_of[f], to) in includes))
                complain("includes " to ", which its header includes")
            if (to != "machsym.h") {
                if (!is_allowed(room_of[f], to) && !((room_of[f], to) in arrow))
                    complain("may not use " to)
                note_arrow(room_of[f], to)
            }
        }
    }
    if (uses)
        exit 0
    for (room in is_room) {
        rooms++
        file = room
        if (lines[room] > largest)
            complain(room " has " lines[room] " lines, more than " largest)
        if (banner[room] != "JON")
            complain(room " has no banner of Job, Offers, Never")
        n = split(offers[room], parts, /[ ,.();]+/)
        for (k = 1; k <= n; k++)
            if (parts[k] ~ /^[a-z0-9]+_[a-z0-9_]+$/ && index(" " owner[parts[k]] " ", " " room " ") == 0)
                complain(room " offers " parts[k] ", which it does not have")
        if (storey_of(room) == "")
            complain(room " is on no storey")
    }
    circles = count_circles()
    if (counting != "")
        print counting ": " counted + 0 " violations are only counted"
    print "report/, tool/: " storeys " storeys, " rooms " rooms, " arrows_up + 0 " arrows up, " circles " circles"
    if (counting == "")
        bad += circles
    if (bad)
        print bad " violations of the house's law"
    exit bad > 0
}
