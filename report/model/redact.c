/* Removes personal data from reports; see redact.h. */
#include "redact.h"
#include "../base/json.h"
#include "../base/memory.h"

#include <stdlib.h>

/* ---- SipHash-2-4 (Aumasson and Bernstein, 2012) ---- */

static uint64_t redact_rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static void redact_sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = redact_rotate(v[1], 13) ^ v[0];
    v[0] = redact_rotate(v[0], 32);
    v[2] += v[3];
    v[3] = redact_rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = redact_rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = redact_rotate(v[1], 17) ^ v[2];
    v[2] = redact_rotate(v[2], 32);
}

static void redact_sip_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    redact_sip_round(v);
    redact_sip_round(v);
    v[0] ^= word;
}

/* Hashes a counter and a text. */
static uint64_t redact_sip_hash(const uint64_t key[2], uint64_t count, machsym_str s)
{
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
                     key[1] ^ 0x7465646279746573};
    uint64_t word = 0;
    redact_sip_word(v, count);
    for (size_t i = 0; i < s.len; i++) {
        word |= (uint64_t)(unsigned char)s.ptr[i] << (8 * (i % 8));
        if (i % 8 == 7) {
            redact_sip_word(v, word);
            word = 0;
        }
    }
    redact_sip_word(v, word | (uint64_t)(s.len + 8) << 56);
    v[2] ^= 0xff;
    for (unsigned i = 0; i < 4; i++)
        redact_sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---- The key ---- */

void redact_open(redactor *out, const char *words)
{
    static const redactor none = {{0, 0}, false, false};
    out->is_again = out->is_raw = false;
    out->key[0] = redact_sip_hash(none.key, 0, str_c(words));
    out->key[1] = redact_sip_hash(none.key, 1, str_c(words));
}

/* ---- One value ---- */

static bool redact_is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Identifiers keep their length and dashes, so that parsers still accept them. */
static bool redact_is_identifier(machsym_str s)
{
    size_t digits = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (!redact_is_hex(s.ptr[i]) && s.ptr[i] != '-')
            return false;
        digits += s.ptr[i] != '-';
    }
    return digits >= 8;
}

static bool redact_is_number(machsym_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
    }
    return s.len > 0;
}

/* Writes digits for those of an identifier, in the same case. */
static void redact_put_identifier(const redactor *how, machsym_str s, text *out)
{
    const char *digits = "0123456789ABCDEF";
    uint64_t hash = 0;
    size_t used = 0;
    for (size_t i = 0; i < s.len; i++)
        digits = s.ptr[i] >= 'a' && s.ptr[i] <= 'f' ? "0123456789abcdef" : digits;
    for (size_t i = 0; i < s.len; i++) {
        if (!redact_is_hex(s.ptr[i])) {
            text_char(out, s.ptr[i]);
            continue;
        }
        if (used % 16 == 0)
            hash = redact_sip_hash(how->key, used / 16, s);
        text_char(out, digits[hash >> (4 * (used++ % 16)) & 15]);
    }
}

/* A number becomes a number with as many digits. */
static void redact_put_number(const redactor *how, machsym_str s, text *out)
{
    uint64_t hash = redact_sip_hash(how->key, 0, s);
    for (size_t i = 0; i < s.len; i++) {
        text_char(out, (char)(i % 16 == 0 ? '1' + hash % 9 : '0' + hash % 10));
        hash = i % 16 == 15 ? redact_sip_hash(how->key, i, s) : hash / 10;
    }
}

/* Writes the replacement of a value. A value without a form of its own becomes a word and 40 bits of the
 * hash. */
static void redact_put_value(const redactor *how, const char *word, machsym_str s, text *out)
{
    if (s.len == 0)
        return;
    if (redact_is_number(s)) {
        redact_put_number(how, s, out);
    } else if (redact_is_identifier(s)) {
        redact_put_identifier(how, s, out);
    } else {
        text_c(out, word);
        text_char(out, '-');
        text_hex(out, redact_sip_hash(how->key, 0, s) >> 24, 10);
    }
}

/* ---- Users' folders ---- */

/* Returns the index after "/Users/" or "/home/", in JSON also with backslashes; the same index if there is
 * neither. */
static size_t redact_home_end(machsym_str s, size_t at)
{
    static const char *const homes[] = {"/Users/", "/home/", "\\/Users\\/", "\\/home\\/"};
    for (size_t i = 0; i < sizeof homes / sizeof homes[0]; i++) {
        if (str_starts(str_make(s.ptr + at, s.len - at), homes[i]))
            return at + strlen(homes[i]);
    }
    return at;
}

/* Longest user name that may contain blanks. A longer match is the end of one path and the start of
 * another. */
enum { MAX_USER = 64 };

/* Whether a byte cannot be part of a name. Of JSON's escapes only \uXXXX can. */
static bool redact_ends_user(machsym_str s, size_t i)
{
    static const char ends[] = "\"<>:,()";
    char c = s.ptr[i];
    if (c == '\\')
        return i + 1 == s.len || s.ptr[i + 1] != 'u';
    return (unsigned char)c < ' ' || strchr(ends, c) != NULL;
}

/* Returns where the user name that begins at an index ends. It may contain blanks if a slash follows. */
static size_t redact_user_end(machsym_str s, size_t at)
{
    size_t blank = s.len;
    size_t i = at;
    bool slash = false;
    for (; i < s.len; i++) {
        slash = s.ptr[i] == '/' || (s.ptr[i] == '\\' && i + 1 < s.len && s.ptr[i + 1] == '/');
        if (slash || redact_ends_user(s, i))
            break;
        if (s.ptr[i] == ' ' && blank == s.len)
            blank = i;
    }
    bool is_whole = slash && i - at <= MAX_USER && s.ptr[i - (i > at)] != ' ';
    return is_whole || blank > i ? i : blank;
}

/* Whether a name is that of no person. "Shared" is a folder; Apple writes "USER" and "*" in place of names. */
static bool redact_is_no_person(machsym_str name)
{
    return name.len == 0 || str_is(name, "Shared") || str_is(name, "USER") || str_is(name, "*");
}

static const char user_name[] = "user-";
enum { USER_DIGITS = 10 };

/* Whether a name is one that put_user wrote. */
static bool redact_is_replaced(machsym_str name)
{
    bool is = str_starts(name, user_name) && name.len == sizeof user_name - 1 + USER_DIGITS;
    for (size_t i = sizeof user_name - 1; i < name.len && is; i++)
        is = redact_is_hex(name.ptr[i]);
    return is;
}

static void redact_put_user(const redactor *how, machsym_str name, text *out)
{
    if (redact_is_no_person(name) || (how->is_again && redact_is_replaced(name))) {
        text_str(out, name);
        return;
    }
    text_c(out, user_name);
    text_hex(out, redact_sip_hash(how->key, 0, name) >> 24, USER_DIGITS);
}

static void redact_note(edit_list *places, size_t at, size_t end, size_t text_at, size_t text_end)
{
    if (places == NULL)
        return;
    places->v =
        (edit *)mem_more(places->added.memory, places->v, places->count, &places->cap, sizeof *places->v);
    edit one = {at, end, text_at, text_end};
    places->v[places->count++] = one;
}

/* Replaces user names. offset: where s begins in the report. */
static void redact_users_at(const redactor *how, machsym_str s, size_t offset, text *out, edit_list *places)
{
    size_t from = 0;
    if (s.len == 0) /* its pointer may be NULL */
        return;
    for (size_t i = 0; i < s.len;) {
        size_t end = redact_home_end(s, i);
        if (end == i) {
            i++;
            continue;
        }
        text_add(out, s.ptr + from, end - from);
        size_t text_at = out->len;
        i = from = redact_user_end(s, end);
        redact_put_user(how, str_make(s.ptr + end, from - end), out);
        redact_note(places, offset + end, offset + from, text_at, out->len);
    }
    MACHSYM_COUNT_WORK(s.len / 64);
    text_add(out, s.ptr + from, s.len - from);
}

void redact_users(const redactor *how, machsym_str s, text *out)
{
    redact_users_at(how, s, 0, out, NULL);
}

/* ---- Fields ---- */

typedef struct field {
    const char *in; /* the member whose object must contain it; NULL: any */
    const char *key;
    const char *word;
} field;

/* Compared without case, blanks and other characters that are not letters: "CrashReporter Key" and
 * "crashReporterKey" are equal. */
static const field fields[] = {
    {NULL, "incident", "incident"},
    {NULL, "incidentid", "incident"},
    {NULL, "incidentidentifier", "incident"},
    {NULL, "crashreporterkey", "reporter"},
    {NULL, "anonymousuuid", "reporter"},
    {NULL, "betaidentifier", "reporter"},
    {NULL, "guid", "reporter"}, /* an installation's id in Chromium and Electron */
    {NULL, "clientid", "reporter"},
    {NULL, "deviceidentifierforvendor", "vendor"},
    {NULL, "deviceidentifier", "device"},
    {NULL, "deviceapphash", "device"},
    {NULL, "devicename", "device"},
    {NULL, "computername", "device"},
    {NULL, "hostname", "device"},
    {NULL, "servername", "device"},
    {NULL, "serialnumber", "device"},
    {NULL, "udid", "device"},
    {NULL, "systemid", "device"},
    {NULL, "hardwareuuid", "device"},
    {NULL, "sleepwakeuuid", "session"},
    {NULL, "bootsessionuuid", "session"},
    {NULL, "session", "session"},
    {NULL, "sessionid", "session"},
    {"session", "id", "session"},
    {NULL, "eventid", "incident"},
    {NULL, "username", "user"},
    {NULL, "userid", "user"},
    {"device", "name", "device"},
    {"device", "id", "device"},
    {"report", "id", "incident"},
    {"user", "id", "user"},
    {"user", "name", "user"},
    {"user", "email", "user"},
    {"user", "ipaddress", "user"},
    {"usr", "id", "user"},
    {"usr", "name", "user"},
    {"usr", "email", "user"},
};

enum { MAX_KEY = 32 };

/* Converts a key to the form of the table. Returns false if it is longer than all keys there. */
static bool redact_plain_key(machsym_str key, char out[MAX_KEY])
{
    size_t len = 0;
    if (key.len >= 2 * MAX_KEY)
        return false;
    for (size_t i = 0; i < key.len; i++) {
        char c = key.ptr[i];
        c = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
        if (c < 'a' || c > 'z')
            continue;
        if (len + 1 == MAX_KEY)
            return false;
        out[len++] = c;
    }
    out[len] = 0;
    return len > 0;
}

/* Returns the word that replaces a value under a key, in the object of another key; NULL if the value
 * stays. */
static const char *redact_find_field(machsym_str key, machsym_str in)
{
    char plain[MAX_KEY];
    if (!redact_plain_key(key, plain))
        return NULL;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const field *one = &fields[i];
        if (one->key[0] == plain[0] && strcmp(one->key, plain) == 0 &&
            (one->in == NULL || str_is(in, one->in)))
            return one->word;
    }
    return NULL;
}

/* ---- Reports ---- */

/* Keys are known for this many nested objects. Deeper objects count as objects without a key. */
enum { MAX_OPEN = 64 };

/* Most of a report's keys are a few that come again and again: those of frames. This many that have no word in
 * any object are remembered. */
enum { PLAIN_KEYS = 32 };

/* One pass over a report. JSON is recognised by its quotes: a string that no newline cuts, and the value
 * after a colon. So broken and mixed reports are redacted like whole ones. */
typedef struct pass {
    const redactor *how;
    machsym_str s;
    size_t at;
    size_t copied; /* the output is complete up to here */
    text *out;
    edit_list *places;
    machsym_str open[MAX_OPEN]; /* keys of the enclosing objects */
    size_t depth;
    machsym_str key; /* key of the next value; empty: no key */
    machsym_str plain_keys[PLAIN_KEYS];
    bool is_list; /* out gets a list of people, and not the report */
} pass;

static void redact_copy_to(pass *p, size_t end)
{
    machsym_str s = {p->s.ptr + p->copied, end - p->copied};
    redact_users_at(p->how, s, p->copied, p->out, p->places);
    p->copied = end;
}

/* Whether the values that a word replaces name a person, or what one person has. */
static bool redact_is_person(const char *word)
{
    return strcmp(word, "user") == 0 || strcmp(word, "reporter") == 0 || strcmp(word, "vendor") == 0;
}

static void redact_list(pass *p, size_t at, size_t end, const char *word)
{
    text plain = text_in(p->out->memory);
    if (at == end || !redact_is_person(word))
        return;
    json_unescape(&plain, str_make(p->s.ptr + at, end - at));
    if (p->out->v[p->out->len - 1] != '[')
        text_char(p->out, ',');
    text_json(p->out, str_make(plain.v, plain.len));
    text_free(&plain);
}

/* Replaces the value from at to end. */
static void redact_replace(pass *p, size_t at, size_t end, const char *word)
{
    if (p->is_list) {
        redact_list(p, at, end, word);
        return;
    }
    text plain = text_in(p->out->memory);
    redact_copy_to(p, at);
    json_unescape(&plain, str_make(p->s.ptr + at, end - at));
    size_t text_at = p->out->len;
    redact_put_value(p->how, word, str_make(plain.v, plain.len), p->out);
    redact_note(p->places, at, end, text_at, p->out->len);
    p->copied = end;
    text_free(&plain);
}

/* Blanks, the bytes of no-break spaces, which mails contain, and those of a byte order mark. */
static bool redact_is_gap(char c)
{
    return c == ' ' || c == '\t' || (c != 0 && strchr("\xc2\xa0\xef\xbb\xbf", c) != NULL);
}

static bool redact_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Returns the index after the closing quote of the string that begins at `at`; returns `at` if its line does
 * not close it. */
static size_t redact_string_end(machsym_str s, size_t at)
{
    for (size_t i = at + 1; i < s.len && s.ptr[i] != '\n'; i++) {
        if (s.ptr[i] == '\\')
            i++;
        else if (s.ptr[i] == '"')
            return i + 1;
    }
    return at;
}

/* Whether a key may have a word in some object. */
static bool redact_is_field(machsym_str key)
{
    char plain[MAX_KEY];
    bool is = false;
    if (!redact_plain_key(key, plain))
        return false;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0] && !is; i++)
        is = fields[i].key[0] == plain[0] && strcmp(fields[i].key, plain) == 0;
    return is;
}

/* Returns the word that replaces the next value; NULL if the value stays. */
static const char *redact_word_of_value(pass *p)
{
    bool is_known = p->depth > 0 && p->depth <= MAX_OPEN;
    if (p->how->is_raw || p->key.len == 0)
        return NULL;
    const unsigned char *bytes = (const unsigned char *)p->key.ptr;
    machsym_str *plain = &p->plain_keys[(bytes[0] + 3 * p->key.len + bytes[p->key.len - 1]) % PLAIN_KEYS];
    if (str_equal(*plain, p->key))
        return NULL;
    const char *word = redact_find_field(p->key, is_known ? p->open[p->depth - 1] : str_make(NULL, 0));
    if (word == NULL && !redact_is_field(p->key))
        *plain = p->key;
    return word;
}

static void redact_take_string(pass *p)
{
    size_t at = p->at;
    size_t end = redact_string_end(p->s, at);
    if (end == at) { /* not a string, and the rest of the line has no string either */
        while (p->at < p->s.len && p->s.ptr[p->at] != '\n')
            p->at++;
        return;
    }
    machsym_str inside = {p->s.ptr + at + 1, end - at - 2};
    size_t colon = end;
    while (colon < p->s.len && redact_is_blank(p->s.ptr[colon]))
        colon++;
    p->at = end;
    if (p->key.len == 0 && colon < p->s.len && p->s.ptr[colon] == ':') {
        p->key = inside;
        p->at = colon + 1;
        return;
    }
    const char *word = redact_word_of_value(p);
    if (word != NULL)
        redact_replace(p, at + 1, end - 1, word);
    p->key.len = 0;
}

static void redact_take_number(pass *p)
{
    size_t end = p->at;
    while (end < p->s.len && p->s.ptr[end] >= '0' && p->s.ptr[end] <= '9')
        end++;
    const char *word = redact_word_of_value(p);
    if (word != NULL)
        redact_replace(p, p->at, end, word);
    p->at = end;
    p->key.len = 0;
}

/* Returns where the next part of a line begins, after the end of a log prefix or of a quote mark; `end` if
 * there is no next part. */
static size_t redact_next_part(machsym_str s, size_t at, size_t end)
{
    for (; at + 1 < end; at++) {
        bool is_flag = (s.ptr[at] == 'F' || s.ptr[at] == 'P') && at > 0 && s.ptr[at - 1] == ' '; /* of CRI */
        bool ends = s.ptr[at] == '>' || (is_flag && redact_is_blank(s.ptr[at + 1])) ||
                    (s.ptr[at] != 0 && strchr("]|)Z0123456789:", s.ptr[at]) != NULL &&
                     redact_is_blank(s.ptr[at + 1]));
        if (ends)
            break;
    }
    at = at + 1 < end ? at + 1 : end;
    while (at < end && redact_is_blank(s.ptr[at]))
        at++;
    return at;
}

/* Returns the word for "Key:   value" that begins at *at, or after the prefix of a log or a mail, and moves
 * *at to the value. NULL: no such key. */
static const char *redact_find_key(machsym_str s, size_t *at, size_t end)
{
    enum { PARTS = 12, LOOKED_AT = 200 }; /* no log has a longer prefix */
    size_t from = *at;
    size_t last = end - *at < LOOKED_AT ? end : *at + LOOKED_AT;
    for (unsigned i = 0; i < PARTS && from < last; i++) {
        const char *colon = (const char *)memchr(s.ptr + from, ':', last - from);
        if (colon == NULL)
            return NULL;
        size_t to = (size_t)(colon - s.ptr);
        bool is_key = memchr(s.ptr + from, '"', to - from) == NULL && /* else a member's key */
                      (i == 0 || to + 1 == end || redact_is_blank(s.ptr[to + 1]));
        const char *word =
            is_key ? redact_find_field(str_make(s.ptr + from, to - from), str_make(NULL, 0)) : NULL;
        if (word != NULL) {
            *at = to + 1;
            return word;
        }
        from = redact_next_part(s, from, last);
    }
    return NULL;
}

/* Redacts "Key:   value" on a line. Returns false if nothing is to be replaced. */
static bool redact_take_line(pass *p)
{
    size_t end = p->at + str_line_len(str_make(p->s.ptr + p->at, p->s.len - p->at));
    size_t value = p->at;
    const char *word = redact_find_key(p->s, &value, end);
    if (word == NULL)
        return false;
    while (value < end && redact_is_gap(p->s.ptr[value]))
        value++;
    size_t last = end;
    while (last > value && redact_is_gap(p->s.ptr[last - 1]))
        last--;
    redact_replace(p, value, last, word);
    p->at = end;
    return true;
}

static void redact_take_byte(pass *p, char c)
{
    if (c == '{') {
        if (p->depth < MAX_OPEN)
            p->open[p->depth] = p->key;
        p->depth++;
        p->key.len = 0;
    } else if (c == '}') {
        p->depth -= p->depth > 0;
        p->key.len = 0;
    } else if (!redact_is_blank(c)) {
        p->key.len = 0;
    }
    p->at++;
}

/* Whether a line with a key may begin so: with the key, or with the prefix of a log or a mail. */
static bool redact_begins_key(const pass *p, char c)
{
    bool is_letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    return is_letter || (p->key.len == 0 && c != 0 && strchr(">[({0123456789", c) != NULL);
}

/* Skips what neither begins a string, an object or a line, nor ends one. */
static void redact_skip(pass *p)
{
    while (p->at < p->s.len) {
        char c = p->s.ptr[p->at];
        if (c == '"' || c == '{' || c == '}' || c == '\n' || c == '\r')
            return;
        p->at++;
    }
}

static void redact_pass(pass *p)
{
    bool line_begins = true;
    while (p->at < p->s.len) {
        char c = p->s.ptr[p->at];
        if (line_begins && redact_begins_key(p, c) && redact_take_line(p))
            continue;
        line_begins =
            c == '\n' || c == '\r' ||
            (line_begins && (redact_is_gap(c) || c == '#')); /* Crashlytics writes # before its keys */
        if (c == '"')
            redact_take_string(p);
        else if (p->key.len > 0 && c >= '0' && c <= '9')
            redact_take_number(p);
        else
            redact_take_byte(p, c);
        if (!line_begins && p->key.len == 0)
            redact_skip(p);
    }
    MACHSYM_COUNT_WORK(p->s.len / 16);
}

void redact_report(const redactor *how, machsym_str whole, text *out, edit_list *places)
{
    pass p;
    memset(&p, 0, sizeof p);
    p.how = how;
    p.s = whole;
    p.out = out;
    p.places = places;
    redact_pass(&p);
    redact_copy_to(&p, whole.len);
}

void redact_people(machsym_str whole, text *out)
{
    redactor all = {{0, 0}, false, false};
    pass p;
    memset(&p, 0, sizeof p);
    p.how = &all;
    p.s = whole;
    p.out = out;
    p.is_list = true;
    text_char(out, '[');
    redact_pass(&p);
    text_char(out, ']');
}
