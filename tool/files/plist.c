/* See plist.h. */
#include "plist.h"
#include "../../report/base/json.h"

enum {
    TRAILER_SIZE = 32, /* of a binary list: CFBinaryPList.c */
    MAX_CHARACTER = 0x10ffff
};

static plist_found plist_bad(machsym_error *err, const char *what, const char *where, uint64_t offset)
{
    *err = (machsym_error){MACHSYM_ERR_DAMAGED, 0, what, where, offset};
    return PLIST_BAD;
}

/* ---- Binary ---- */

typedef enum object_kind {
    OBJECT_OTHER = 0,
    OBJECT_INTEGER,
    OBJECT_ASCII,
    OBJECT_UTF16,
    OBJECT_DICT
} object_kind;

typedef struct binary {
    const uint8_t *v;
    uint64_t size; /* up to the trailer */
    uint64_t table;
    uint64_t count;
    unsigned offset_size;
    unsigned ref_size;
    machsym_error *err;
} binary;

/* An object: its kind, and where its bytes or references are. */
typedef struct object {
    object_kind kind;
    uint64_t at;
    uint64_t count; /* bytes, characters, or pairs */
} object;

static uint64_t plist_big_endian(const uint8_t *p, unsigned size)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < size; i++)
        number = number << 8 | p[i];
    return number;
}

/* Takes the length of an object, which stands in its first byte or in an integer after that. */
static bool plist_take_count(const binary *b, object *o, unsigned low)
{
    o->count = low;
    if (low != 15)
        return true;
    if (o->at >= b->size || b->v[o->at] >> 4 != 1 || (b->v[o->at] & 15) > 3)
        return false;
    unsigned size = 1u << (b->v[o->at] & 15);
    if (size > b->size - o->at - 1)
        return false;
    o->count = plist_big_endian(b->v + o->at + 1, size);
    o->at += 1 + size;
    return true;
}

static bool plist_get_object(const binary *b, uint64_t index, object *o)
{
    if (index >= b->count)
        return false;
    o->at = plist_big_endian(b->v + b->table + index * b->offset_size, b->offset_size);
    if (o->at >= b->table)
        return false;
    unsigned marker = b->v[o->at++];
    unsigned width = 1;
    o->count = 0;
    o->kind = OBJECT_OTHER;
    switch (marker >> 4) {
    case 1:
        o->kind = OBJECT_INTEGER;
        o->count = (marker & 15) <= 4 ? 1u << (marker & 15) : UINT64_MAX;
        break;
    case 5: o->kind = OBJECT_ASCII; break;
    case 6:
        o->kind = OBJECT_UTF16;
        width = 2;
        break;
    case 13:
        o->kind = OBJECT_DICT;
        width = 2 * b->ref_size;
        break;
    default: return true;
    }
    if (o->kind != OBJECT_INTEGER && !plist_take_count(b, o, marker & 15))
        return false;
    return o->at <= b->size && o->count <= (b->size - o->at) / width;
}

static void plist_put_utf16(text *out, const uint8_t *p, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint32_t c = (uint32_t)plist_big_endian(p + 2 * i, 2);
        if (c >= 0xd800 && c < 0xdc00 && i + 1 < count) {
            uint32_t low = (uint32_t)plist_big_endian(p + 2 * i + 2, 2);
            if (low >= 0xdc00 && low < 0xe000) {
                c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
                i++;
            }
        }
        text_utf8(out, c);
    }
}

static plist_found plist_put_object(const binary *b, const object *o, text *out)
{
    if (o->kind == OBJECT_ASCII)
        text_add(out, (const char *)b->v + o->at, (size_t)o->count);
    else if (o->kind == OBJECT_UTF16)
        plist_put_utf16(out, b->v + o->at, o->count);
    else if (o->kind == OBJECT_INTEGER && o->count <= 8 && b->v[o->at] < (o->count == 8 ? 0x80 : 0x100))
        text_dec(out, plist_big_endian(b->v + o->at, (unsigned)o->count)); /* those of 8 bytes have a sign */
    else
        return PLIST_NONE;
    return PLIST_FOUND;
}

/* Replaces a dictionary by the value of a key. */
static plist_found plist_enter(const binary *b, object *o, const char *key)
{
    size_t len = strlen(key);
    object dict = *o;
    if (dict.kind != OBJECT_DICT)
        return PLIST_NONE;
    for (uint64_t i = 0; i < dict.count; i++) {
        const uint8_t *ref = b->v + dict.at + i * b->ref_size;
        if (!plist_get_object(b, plist_big_endian(ref, b->ref_size), o))
            return plist_bad(b->err, "an object lies outside of the list", "binary property list", dict.at);
        if (o->kind != OBJECT_ASCII || o->count != len || memcmp(b->v + o->at, key, len) != 0)
            continue;
        ref += dict.count * b->ref_size;
        if (!plist_get_object(b, plist_big_endian(ref, b->ref_size), o))
            return plist_bad(b->err, "a value lies outside of the list", "binary property list", dict.at);
        return PLIST_FOUND;
    }
    return PLIST_NONE;
}

static plist_found plist_find_binary(machsym_str plist, const char *dict, const char *key, text *out,
                                     machsym_error *err)
{
    object o;
    binary b = {(const uint8_t *)plist.ptr, 0, 0, 0, 0, 0, err};
    if (plist.len < 8 + TRAILER_SIZE)
        return plist_bad(err, "the file ends inside its trailer", "binary property list", plist.len);
    b.size = plist.len - TRAILER_SIZE;
    const uint8_t *trailer = b.v + b.size;
    b.offset_size = trailer[6];
    b.ref_size = trailer[7];
    b.count = plist_big_endian(trailer + 8, 8);
    b.table = plist_big_endian(trailer + 24, 8);
    if (b.offset_size - 1 > 7 || b.ref_size - 1 > 7 || b.table > b.size ||
        b.count > (b.size - b.table) / b.offset_size)
        return plist_bad(err, "its table of objects is not in the file; it may be cut short",
                         "binary property list", b.size);
    if (!plist_get_object(&b, plist_big_endian(trailer + 16, 8), &o))
        return plist_bad(err, "its first object lies outside of the list", "binary property list", b.size);
    plist_found found = dict != NULL ? plist_enter(&b, &o, dict) : PLIST_FOUND;
    if (found == PLIST_FOUND)
        found = plist_enter(&b, &o, key);
    return found == PLIST_FOUND ? plist_put_object(&b, &o, out) : found;
}

/* ---- XML ---- */

typedef struct xml {
    machsym_str all;
    size_t at;
    machsym_str tag; /* the name of the last one */
    bool is_end;     /* </tag> */
    bool is_empty;   /* <tag/> */
    bool is_damaged;
} xml;

static bool plist_at_text(const xml *x, const char *what)
{
    return str_starts(str_make(x->all.ptr + x->at, x->all.len - x->at), what);
}

/* Moves past a text that ends something. Returns false when the list has none. */
static bool plist_skip_past(xml *x, const char *what)
{
    size_t len = str_find(str_make(x->all.ptr + x->at, x->all.len - x->at), what);
    x->is_damaged = len == x->all.len - x->at;
    x->at += len + (x->is_damaged ? 0 : strlen(what));
    return !x->is_damaged;
}

/* Moves to the next tag and after it; what is no tag is passed over. Returns false at the end. */
static bool plist_next_tag(xml *x)
{
    for (;;) {
        const char *less = x->at < x->all.len ? memchr(x->all.ptr + x->at, '<', x->all.len - x->at) : NULL;
        if (less == NULL)
            return false;
        x->at = (size_t)(less - x->all.ptr);
        if (plist_at_text(x, "<!--")) {
            if (!plist_skip_past(x, "-->"))
                return false;
        } else if (plist_at_text(x, "<![CDATA[")) {
            if (!plist_skip_past(x, "]]>"))
                return false;
        } else if (plist_at_text(x, "<?") || plist_at_text(x, "<!")) {
            if (!plist_skip_past(x, ">"))
                return false;
        } else {
            break;
        }
    }
    size_t from = ++x->at;
    if (!plist_skip_past(x, ">"))
        return false;
    machsym_str tag = str_make(x->all.ptr + from, x->at - 1 - from);
    x->is_end = tag.len > 0 && tag.ptr[0] == '/';
    x->is_empty = tag.len > 0 && tag.ptr[tag.len - 1] == '/';
    tag.ptr += x->is_end;
    tag.len -= (size_t)x->is_end + (size_t)(x->is_empty && !x->is_end);
    tag.len = str_find(tag, " ");
    x->tag = str_trim(tag);
    return true;
}

/* Appends the character that an entity stands for; of one that is not known its text. */
static void plist_put_entity(text *out, machsym_str name)
{
    static const struct {
        const char *name;
        char c;
    } known[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    uint32_t c = 0;
    bool is_hex = name.len > 1 && name.ptr[0] == '#' && name.ptr[1] == 'x';
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (str_is(name, known[i].name)) {
            text_char(out, known[i].c);
            return;
        }
    }
    for (size_t i = is_hex ? 2 : 1; name.len > 1 && name.ptr[0] == '#' && i < name.len; i++) {
        unsigned digit = (unsigned char)name.ptr[i] - (unsigned)'0';
        unsigned letter = ((unsigned char)name.ptr[i] | 0x20u) - (unsigned)'a';
        digit = digit > 9 && is_hex && letter < 6 ? letter + 10 : digit;
        c = digit < (is_hex ? 16u : 10u) && c <= MAX_CHARACTER ? c * (is_hex ? 16 : 10) + digit
                                                               : MAX_CHARACTER + 1;
    }
    if (c > 0 && c <= MAX_CHARACTER) {
        text_utf8(out, c);
        return;
    }
    text_char(out, '&');
    text_str(out, name);
    text_char(out, ';');
}

/* The length of the entity that a text begins with; 0: it begins with another character. */
static size_t plist_entity_length(machsym_str s)
{
    enum { LONGEST = 12 }; /* &#x0010ffff; */
    machsym_str begin = str_make(s.ptr, s.len < LONGEST ? s.len : LONGEST);
    size_t end = str_find(begin, ";");
    return end > 1 && end < begin.len ? end + 1 : 0;
}

/* Appends what stands between a tag and the end of it, which the list is moved past. */
static bool plist_put_content(xml *x, text *out)
{
    size_t len;
    while (x->at < x->all.len) {
        const char *p = x->all.ptr + x->at;
        machsym_str rest = str_make(p, x->all.len - x->at);
        if (str_starts(rest, "<!--")) {
            plist_skip_past(x, "-->");
        } else if (str_starts(rest, "<![CDATA[")) {
            len = str_find(rest, "]]>");
            text_add(out, p + 9, len > 9 ? len - 9 : 0);
            plist_skip_past(x, "]]>");
        } else if (*p == '<') {
            return plist_next_tag(x) && x->is_end;
        } else if (*p == '&' && (len = plist_entity_length(rest)) != 0) {
            plist_put_entity(out, str_make(p + 1, len - 2));
            x->at += len;
        } else {
            text_char(out, *p);
            x->at++;
        }
    }
    return false;
}

/* Moves past the end of a tag with all that is in it. */
static bool plist_skip_value(xml *x)
{
    uint64_t depth = 1;
    if (x->is_empty)
        return true;
    while (depth > 0 && plist_next_tag(x)) {
        if (x->is_end)
            depth--;
        else if (!x->is_empty)
            depth++;
    }
    return depth == 0;
}

/* In a dictionary: moves past the tag of a key's value. */
static plist_found plist_find_key(xml *x, const char *key)
{
    text name = {0};
    bool found = false;
    bool ok = true;
    bool at_end = false;
    while (ok && !found && !at_end) {
        ok = plist_next_tag(x);
        at_end = ok && x->is_end;
        if (!ok || at_end)
            break;
        if (!str_is(x->tag, "key") || x->is_empty) {
            ok = plist_skip_value(x);
            continue;
        }
        name.len = 0;
        ok = plist_put_content(x, &name);
        found = ok && str_is(str_make(name.v != NULL ? name.v : "", name.len), key);
    }
    text_free(&name);
    at_end = at_end || (found && (!plist_next_tag(x) || x->is_end));
    return !ok ? PLIST_BAD : found && !at_end ? PLIST_FOUND : PLIST_NONE;
}

static plist_found plist_find_xml(machsym_str plist, const char *dict, const char *key, text *out,
                                  machsym_error *err)
{
    xml x;
    memset(&x, 0, sizeof x);
    x.all = plist;
    plist_found found = PLIST_BAD;
    if (plist_next_tag(&x) && str_is(x.tag, "plist") && plist_next_tag(&x))
        found = str_is(x.tag, "dict") && !x.is_end && !x.is_empty ? PLIST_FOUND : PLIST_NONE;
    if (found == PLIST_FOUND && dict != NULL) {
        found = plist_find_key(&x, dict);
        if (found == PLIST_FOUND && (!str_is(x.tag, "dict") || x.is_empty))
            found = PLIST_NONE;
    }
    if (found == PLIST_FOUND)
        found = plist_find_key(&x, key);
    if (found == PLIST_FOUND && !str_is(x.tag, "string") && !str_is(x.tag, "integer"))
        found = PLIST_NONE;
    if (found == PLIST_FOUND && !x.is_empty && !plist_put_content(&x, out))
        found = PLIST_BAD;
    return found != PLIST_BAD ? found
                              : plist_bad(err, "the file is no property list, or it is cut short",
                                          "XML property list", x.at);
}

plist_found plist_text(machsym_str plist, const char *dict, const char *key, text *out, machsym_error *err)
{
    machsym_str begin = plist;
    if (str_starts(begin, "\xef\xbb\xbf")) { /* a byte order mark */
        begin.ptr += 3;
        begin.len -= 3;
    }
    while (begin.len > 0 && strchr(" \t\r\n", begin.ptr[0]) != NULL && begin.ptr[0] != 0) {
        begin.ptr++;
        begin.len--;
    }
    if (str_starts(plist, "bplist0"))
        return plist_find_binary(plist, dict, key, out, err);
    if (str_starts(begin, "<"))
        return plist_find_xml(begin, dict, key, out, err);
    return plist_bad(err, "neither an XML nor a binary property list", "property list", 0);
}
