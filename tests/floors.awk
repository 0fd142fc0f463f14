# The law of the house, checked in machsym.h: floors stand in the order of the manual's contents; a function's prefix is
# that of its floor; nothing is called before it is defined, and nothing of a floor that the banner does not name;
# no static prototypes; inner floors never call a public function; banners are whole and name what exists.
# Usage: awk -f tests/floors.awk machsym.h

BEGIN {
    split("platform ms_os_ reader ms_rd_ memory ms_arena_ segments ms_seg_ macho ms_mo_ inflate ms_inf_ " \
          "symbols ms_sym_ unwind ms_uw_ objc ms_oc_ swift ms_sw_ forms ms_dw_ units ms_cu_ lines ms_ln_ " \
          "functions ms_fn_ debugmap ms_om_ answer ms_ans_ map ms_map_ names ms_dm", pair, " ")
    for (i = 1; i in pair; i += 2)
        home[pair[i + 1]] = pair[i]
    bad = 0
}

function complain(text)
{
    print FILENAME ":" FNR ": " text
    bad++
}

# The line without comments and literals; notes comments that matter.
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

function prefix_of(name,   p)
{
    for (p in home)
        if (index(name, p) == 1)
            return p
    return ""
}

function end_floor(   i, n, names, name)
{
    if (floor == "" || !inner)
        return
    if (banner != "JUON")
        complain("the banner of >>" floor " is not Job, Uses, Offers, Never")
    n = split(offers, names, /[ ,.()]+/)
    for (i = 1; i <= n; i++) {
        name = names[i]
        if (name ~ /^ms_[a-z0-9_]+$/ && !(name in seen_on))
            complain(">>" floor " offers " name ", which it does not have")
    }
}

function check_call(name,   owner)
{
    if (name ~ /^machsym_/) {
        if (floor != "entrance" && !(name in own_static))
            complain(">>" floor " calls the public " name)
        return
    }
    if (!(name in defined)) {
        if (!(name in macro))
            complain(">>" floor " calls " name " before it is defined: a call to a lower floor, or a typing error")
        return
    }
    owner = defined[name]
    if (owner != floor && !uses_all && !((" " uses " ") ~ ("[ ,]" owner "[ ,.]")))
        complain(">>" floor " calls " name " of >>" owner ", which its banner does not name")
}

function check_definition(name,   p)
{
    p = prefix_of(name)
    if (name ~ /^machsym_/) {
        if (floor != "entrance")
            complain(name " is defined on >>" floor)
    } else if (floor == "entrance") {
        complain(name " is defined on >>entrance")
    } else if (p != "" && home[p] != floor) {
        complain(name " is defined on >>" floor ", its prefix belongs to >>" home[p])
    } else if (p == "" && floor != "bytes") {
        complain(name " has no prefix of a floor and is not on >>bytes")
    }
    if ((name in defined) && defined[name] != floor)
        complain(name " is defined on >>" defined[name] " too")
    defined[name] = floor
}

# ---- Banners and the table of contents ----

/^\/\* ==== >>[a-z]+ =/ {
    match($0, />>[a-z]+/)
    end_floor()
    floor = substr($0, RSTART + 2, RLENGTH - 2)
    banners[++banner_count] = floor
    inner = floor != "manual" && floor != "options" && floor != "api"
    banner = uses = offers = ""
    uses_all = 0
    field = ""
    in_banner = inner
}

floor == "manual" && /^ \* +>>[a-z]+/ {
    match($0, />>[a-z]+/)
    contents[++content_count] = substr($0, RSTART + 2, RLENGTH - 2)
}

in_banner && /^ \* (Job|Uses|Offers|Never): / {
    field = substr($2, 1, 1)
    banner = banner field
}
in_banner && field == "U" {
    text = $0
    sub(/^ \* (Uses:)? */, "", text)
    sub(/ *\*\/.*/, "", text)
    uses = uses " " text
    if (text ~ /every floor above/)
        uses_all = 1
}
in_banner && field == "O" {
    text = $0
    sub(/^ \* (Offers:)? */, "", text)
    offers = offers " " text
}
in_banner && /\*\/ *$/ { in_banner = 0 }

# ---- Code ----

/^\/\* .*floors: recursion/ { recursion_at = floor == "names" ? FNR : 0 }

{
    line = code_of($0)
    if (!inner)
        next
    for (text = line; match(text, /ms_[a-z0-9_]+/); text = substr(text, RSTART + RLENGTH))
        seen_on[substr(text, RSTART, RLENGTH)] = 1
}

inner && /^#[ ]*define / {
    match(line, /define +[A-Za-z0-9_]+/)
    name = substr(line, RSTART, RLENGTH)
    sub(/define +/, "", name)
    macro[name] = 1
    next
}
/^#/ { next }

# A declaration at file scope: gathered until its body or its end.
inner && depth == 0 && pending == "" && line ~ /^[A-Za-z]/ { pending = " " }
inner && pending != "" {
    pending = pending " " line
    if (line ~ /[{;]/) {
        text = pending
        pending = ""
        head = text
        sub(/[{;=].*/, "", head)
        is_function = text !~ /=/ && head ~ /[A-Za-z0-9_]+\(/ && head !~ /^ *typedef/
        if (text ~ /=/ && index(text, "(") > 0 && index(text, "(") < index(text, "="))
            is_function = head ~ /\)[ ]*$/
        if (is_function) {
            match(head, /[A-Za-z0-9_]+\(/)
            name = substr(head, RSTART, RLENGTH - 1)
            if (text ~ /\{/) {
                if (name ~ /^machsym_/ && head ~ /static/)
                    own_static[name] = 1
                check_definition(name)
                line = substr(text, index(text, "{"))
            } else if (head ~ /static/ && !recursion_at) {
                complain("a static prototype: " name)
                macro[name] = 1
            } else {
                defined[name] = floor
            }
        }
    }
    if (pending != "")
        next
    if (text !~ /\{/)
        line = ";"
}

inner {
    for (text = line; match(text, /(ms|machsym)_[a-z0-9_]+\(/); text = substr(text, RSTART + RLENGTH)) {
        before = RSTART > 1 ? substr(text, RSTART - 1, 1) : " "
        name = substr(text, RSTART, RLENGTH - 1)
        if (before !~ /[A-Za-z0-9_]/ && name != "")
            check_call(name)
    }
    for (text = line; match(text, /[{}]/); text = substr(text, RSTART + 1))
        depth += substr(text, RSTART, 1) == "{" ? 1 : -1
    if (line !~ /^ *$/)
        recursion_at = recursion_at && line ~ /;/ && depth == 0 ? recursion_at : 0
}

END {
    end_floor()
    if (depth != 0)
        complain("braces do not match")
    if (content_count == 0)
        complain("the manual has no table of contents")
    for (i = 1; i <= banner_count || i <= content_count + 1; i++)
        if (banners[i + 1] != contents[i] && i <= content_count) {
            complain("contents and banners differ: " contents[i] " is written, " banners[i + 1] " follows")
            break
        }
    if (banner_count - 1 != content_count)
        complain(banner_count - 1 " floors below the manual, " content_count + 0 " in its contents")
    if (bad > 0)
        exit 1
    print "floors: " banner_count " banners in order, every call goes up"
}
