/* See links.h. */
#include "links.h"

#include <string.h>

/* ---- Templates ---- */

/* Schemes that open a page or a file in an editor. javascript:, data: and the like would run what a path
 * contains. */
static const char *const link_schemes[] = {"https://",           "http://",      "file://", "vscode://",
                                           "vscode-insiders://", "cursor://",    "zed://",  "idea://",
                                           "xcode://",           "jetbrains://", "txmt://", "subl://"};

/* Placeholders of a template. */
typedef enum link_place {
    LINK_COMMIT = 0,
    LINK_PATH,
    LINK_LINE,
    LINK_COLUMN,
    LINK_VERSION, /* version and build: of the program that the report is of */
    LINK_BUILD,
    LINK_PLACES
} link_place;

static const char *const link_places[LINK_PLACES] = {"{commit}", "{path}",    "{line}",
                                                     "{column}", "{version}", "{build}"};

static link_place link_place_at(machsym_str s)
{
    unsigned i = 0;
    while (i < LINK_PLACES && !str_starts(s, link_places[i]))
        i++;
    return (link_place)i;
}

static bool link_has_scheme(machsym_str s)
{
    for (size_t i = 0; i < sizeof link_schemes / sizeof *link_schemes; i++) {
        if (str_starts(s, link_schemes[i]))
            return true;
    }
    return false;
}

const char *links_take_template(link_rules *rules, machsym_str s)
{
    bool has_path = false;
    if (!link_has_scheme(s))
        return "it begins with https://, http://, file:// or an editor's scheme, such as vscode://";
    for (size_t i = 0; i < s.len; i++) {
        machsym_str rest = str_from(s, i);
        link_place place = LINK_PLACES;
        if ((uint8_t)s.ptr[i] <= ' ' || (uint8_t)s.ptr[i] >= 0x7f || strchr("\"<>\\^`|", s.ptr[i]) != NULL)
            return "it has a character that links do not have: write it as %XX";
        if (s.ptr[i] == '{')
            place = link_place_at(rest);
        else if (s.ptr[i] != '}')
            continue;
        if (place == LINK_PLACES)
            return "its places are {path}, {line}, {column}, {commit}, {version}, {build}";
        has_path |= place == LINK_PATH;
        i += strlen(link_places[place]) - 1;
    }
    rules->pattern = s;
    return has_path ? NULL : "{path} is not in it";
}

const char *links_add_root(link_rules *rules, machsym_str s)
{
    size_t at = s.len;
    while (at > 0 && s.ptr[at - 1] != '=')
        at--;
    if (at <= 1)
        return "it is FROM=TO: what a path begins with, and what takes its place";
    if (rules->root_count == LINK_ROOTS)
        return "there are 16 already";
    link_root *root = &rules->roots[rules->root_count++];
    root->from = str_make(s.ptr, at - 1);
    root->to = str_from(s, at);
    while (root->from.len > 1 && root->from.ptr[root->from.len - 1] == '/')
        root->from.len--;
    return NULL;
}

bool links_lack_commit(const link_rules *rules)
{
    return rules->commit.len == 0 && str_find(rules->pattern, link_places[LINK_COMMIT]) < rules->pattern.len;
}

/* ---- Paths ---- */

static bool link_is_slash(char c)
{
    return c == '/' || c == '\\';
}

/* Appends the parts of a path, with one slash between them. ".." removes the last part after `from`. Returns
 * false if there is no part to remove. */
static bool link_add_parts(text *out, size_t from, machsym_str path)
{
    for (size_t i = 0; i < path.len;) {
        size_t end = i;
        while (end < path.len && !link_is_slash(path.ptr[end]))
            end++;
        machsym_str part = str_make(path.ptr + i, end - i);
        i = end + 1;
        if (part.len == 0 || str_is(part, "."))
            continue;
        if (!str_is(part, "..")) {
            text_c(out, out->len > from ? "/" : "");
            text_str(out, part);
            continue;
        }
        if (out->len == from)
            return false;
        while (out->len > from && out->v[out->len - 1] != '/')
            out->len--;
        out->len -= out->len > from;
    }
    return true;
}

/* Whether a path begins with a root and the root ends at the end of a part. */
static bool link_is_below(machsym_str path, machsym_str from)
{
    if (path.len < from.len || memcmp(path.ptr, from.ptr, from.len) != 0)
        return false;
    return path.len == from.len || link_is_slash(path.ptr[from.len]) || link_is_slash(from.ptr[from.len - 1]);
}

bool links_path(const link_rules *rules, machsym_str path, text *out)
{
    size_t from = out->len;
    text plain = text_in(out->memory);
    bool ok = link_add_parts(&plain, 0, path); /* a ".." may leave the root that the path begins with */
    bool is_absolute = path.len > 0 && link_is_slash(path.ptr[0]);
    text whole = text_in(out->memory);
    text_c(&whole, is_absolute ? "/" : "");
    text_add(&whole, plain.v, plain.len);
    machsym_str s = {whole.v, whole.len};
    bool is_placed = rules->root_count == 0 && ok && link_add_parts(out, from, s);
    for (size_t i = 0; i < rules->root_count && ok && !is_placed; i++) {
        if (!link_is_below(s, rules->roots[i].from))
            continue;
        is_placed = link_add_parts(out, from, rules->roots[i].to) &&
                    link_add_parts(out, from, str_from(s, rules->roots[i].from.len));
    }
    text_free(&plain);
    text_free(&whole);
    is_placed = is_placed && out->len > from;
    out->len = is_placed ? out->len : from;
    return is_placed;
}

/* ---- Links ---- */

/* Escapes all characters except the unreserved ones of RFC 3986, so that a name cannot end an attribute or
 * begin a query. */
static void link_escape(text *out, machsym_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                        c == '-' || c == '.' || c == '_' || c == '~' || c == '/';
        if (is_plain) {
            text_char(out, c);
        } else {
            text_char(out, '%');
            text_hex(out, (uint8_t)c, 2);
        }
    }
}

/* Returns "1.2" or "7" of "1.2 (7)". */
static machsym_str link_version(const report *r, bool is_build)
{
    machsym_str s = r->facts[FACT_VERSION];
    size_t open = str_find(s, "(");
    if (!is_build)
        return str_trim(str_make(s.ptr, open));
    machsym_str build = str_from(s, open + 1);
    build.len = str_find(build, ")");
    return build;
}

bool links_put(const link_rules *rules, const report *r, machsym_str path, uint32_t line, uint32_t column,
               text *out)
{
    size_t from = out->len;
    text values[LINK_PLACES];
    memset(values, 0, sizeof values);
    bool ok = rules->pattern.len > 0 && line > 0 && links_path(rules, path, &values[LINK_PATH]);
    text_str(&values[LINK_COMMIT], rules->commit);
    text_dec(&values[LINK_LINE], line);
    text_dec(&values[LINK_COLUMN], column > 0 ? column : 1);
    text_str(&values[LINK_VERSION], link_version(r, false));
    text_str(&values[LINK_BUILD], link_version(r, true));
    for (size_t i = 0; i < rules->pattern.len && ok;) {
        machsym_str rest = str_from(rules->pattern, i);
        link_place place = rest.ptr[0] == '{' ? link_place_at(rest) : LINK_PLACES;
        if (place == LINK_PLACES) {
            text_char(out, rest.ptr[0]);
            i++;
            continue;
        }
        ok = values[place].len > 0;
        link_escape(out, str_make(values[place].v, values[place].len));
        i += strlen(link_places[place]);
    }
    for (unsigned i = 0; i < LINK_PLACES; i++)
        text_free(&values[i]);
    out->len = ok ? out->len : from;
    return ok;
}
