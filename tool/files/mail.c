/* See mail.h. */
#include "mail.h"

#include <string.h>

typedef enum mail_encoding { MAIL_PLAIN, MAIL_QUOTED, MAIL_BASE64 } mail_encoding;

/* What the fields of a part say of it; boundary and name are as they are written. */
typedef struct mail_part {
    machsym_str type; /* empty: text */
    machsym_str boundary;
    machsym_str name;
    bool is_percent; /* the name is as RFC 2231 has it */
    mail_encoding encoding;
} mail_part;

/* The walk over the parts of a mail. */
typedef struct mail_walk {
    text *out;
    bool (*add)(void *user, machsym_str name, size_t at, size_t len);
    void *user;
    unsigned count; /* of parts so far */
} mail_walk;

/* ---- Fields ---- */

static char mail_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool mail_starts(machsym_str s, const char *lower)
{
    size_t len = strlen(lower);
    for (size_t i = 0; i < len; i++) {
        if (i >= s.len || mail_lower(s.ptr[i]) != lower[i])
            return false;
    }
    return true;
}

/* Takes a field off what is left: a line, and those after it that begin with a blank. Returns false at the
 * empty line, which it takes, or at what is no field. */
static bool mail_take_field(machsym_str *rest, machsym_str *field)
{
    machsym_str before = *rest;
    machsym_str line;
    if (!str_take_line(rest, &line) || str_trim(line).len == 0)
        return false;
    size_t colon = 0;
    while (colon < line.len && line.ptr[colon] > ' ' && line.ptr[colon] != ':')
        colon++;
    if (colon == 0 || colon == line.len || line.ptr[colon] != ':') {
        *rest = before;
        return false;
    }
    while (rest->len > 0 && (rest->ptr[0] == ' ' || rest->ptr[0] == '\t') && str_take_line(rest, &line)) {
    }
    *field = str_make(before.ptr, (size_t)(rest->ptr - before.ptr));
    return true;
}

/* What follows blanks and the ends of lines after which a field goes on. */
static machsym_str mail_skip_blanks(machsym_str s)
{
    size_t at = 0;
    while (at < s.len && s.ptr[at] != 0 && strchr(" \t\r\n", s.ptr[at]) != NULL)
        at++;
    return str_from(s, at);
}

/* The value of a parameter of a field, "; key=value" or "; key="value"", as it is written; empty when it has
 * none. */
static machsym_str mail_parameter(machsym_str field, const char *key)
{
    bool is_quoted = false;
    for (size_t i = 0; i < field.len; i++) {
        is_quoted ^= field.ptr[i] == '"';
        if (field.ptr[i] != ';' || is_quoted)
            continue;
        machsym_str rest = mail_skip_blanks(str_from(field, i + 1));
        if (!mail_starts(rest, key) || rest.len <= strlen(key) || rest.ptr[strlen(key)] != '=')
            continue;
        rest = mail_skip_blanks(str_from(rest, strlen(key) + 1));
        size_t len = 0;
        if (rest.len > 0 && rest.ptr[0] == '"') {
            rest = str_from(rest, 1);
            while (len < rest.len && rest.ptr[len] != '"')
                len++;
        } else {
            while (len < rest.len && rest.ptr[len] > ' ' && rest.ptr[len] != ';')
                len++;
        }
        return str_make(rest.ptr, len);
    }
    return str_make(field.ptr, 0);
}

static void mail_take_name(mail_part *part, machsym_str field, const char *key, const char *percent_key)
{
    machsym_str name = mail_parameter(field, percent_key);
    bool is_percent = name.len != 0;
    if (!is_percent)
        name = mail_parameter(field, key);
    if (name.len == 0)
        return;
    part->name = name;
    part->is_percent = is_percent;
}

/* Reads the fields of a part and takes them off what is left. */
static mail_part mail_take_fields(machsym_str *rest)
{
    mail_part part = {{rest->ptr, 0}, {rest->ptr, 0}, {rest->ptr, 0}, false, MAIL_PLAIN};
    machsym_str field;
    while (mail_take_field(rest, &field)) {
        machsym_str value = mail_skip_blanks(str_after(field, ":"));
        if (mail_starts(field, "content-type:")) {
            part.type = value;
            part.boundary = mail_parameter(value, "boundary");
            if (part.name.len == 0)
                mail_take_name(&part, value, "name", "name*");
        } else if (mail_starts(field, "content-disposition:")) {
            mail_take_name(&part, value, "filename", "filename*");
        } else if (mail_starts(field, "content-transfer-encoding:")) {
            part.encoding = mail_starts(value, "base64")             ? MAIL_BASE64
                            : mail_starts(value, "quoted-printable") ? MAIL_QUOTED
                                                                     : MAIL_PLAIN;
        }
    }
    return part;
}

/* Goes over the fields that bytes begin with; *rest: what follows. Returns whether one says that it is a mail
 * with parts. */
static bool mail_has_version(machsym_str begin, machsym_str *rest)
{
    machsym_str field;
    *rest = begin;
    if (str_starts(begin, "From ")) /* of a mailbox */
        str_take_line(rest, &field);
    while (mail_take_field(rest, &field)) {
        if (mail_starts(field, "mime-version:"))
            return true;
    }
    return false;
}

bool mail_may_begin(machsym_str head)
{
    machsym_str rest;
    return mail_has_version(head, &rest) || rest.len == 0 || memchr(rest.ptr, '\n', rest.len) == NULL;
}

bool mail_is(machsym_str begin)
{
    machsym_str rest;
    return mail_has_version(begin, &rest);
}

bool mail_is_encoded(machsym_str mail)
{
    machsym_str line;
    while (str_take_line(&mail, &line)) {
        if (mail_starts(line, "content-transfer-encoding:")) {
            machsym_str value = str_trim(str_after(line, ":"));
            if (mail_starts(value, "base64") || mail_starts(value, "quoted-printable"))
                return true;
        }
    }
    return false;
}

/* ---- Contents ---- */

static int mail_hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* Appends text in which a mark and two digits stand for a byte. */
static void mail_put_marked(machsym_str s, char mark, text *out)
{
    for (size_t i = 0; i < s.len; i++) {
        bool is_byte =
            s.ptr[i] == mark && s.len - i > 2 && mail_hex(s.ptr[i + 1]) >= 0 && mail_hex(s.ptr[i + 2]) >= 0;
        text_char(out, is_byte ? (char)(mail_hex(s.ptr[i + 1]) * 16 + mail_hex(s.ptr[i + 2])) : s.ptr[i]);
        i += is_byte ? 2 : 0;
    }
}

/* Quoted-printable (RFC 2045, 6.7): blanks at the end of a line were added on the way; a line that ends in =
 * goes on. */
static void mail_put_quoted(machsym_str s, text *out)
{
    machsym_str before = s;
    machsym_str line;
    while (str_take_line(&s, &line)) {
        machsym_str whole = str_make(before.ptr, (size_t)(s.ptr - before.ptr));
        machsym_str plain = str_trim_end(line);
        bool goes_on = plain.len > 0 && plain.ptr[plain.len - 1] == '=';
        mail_put_marked(str_make(plain.ptr, plain.len - goes_on), '=', out);
        if (!goes_on)
            text_add(out, whole.ptr + line.len, whole.len - line.len);
        before = s;
    }
}

static int mail_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c != 0 ? strchr(digits, c) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

/* Base64 (RFC 2045, 6.8), in which all other characters are passed over. */
static void mail_put_base64(machsym_str s, text *out)
{
    uint32_t bits = 0;
    unsigned count = 0;
    for (size_t i = 0; i < s.len && s.ptr[i] != '='; i++) {
        int digit = mail_digit(s.ptr[i]);
        if (digit < 0)
            continue;
        bits = bits << 6 | (uint32_t)digit;
        count += 6;
        if (count >= 8) {
            count -= 8;
            text_char(out, (char)(bits >> count & 0xff));
        }
    }
}

/* The name of a part, without folders: its own, or a made-up one. */
static void mail_put_name(const mail_walk *w, const mail_part *part, text *name)
{
    machsym_str own = part->name;
    if (part->is_percent) {
        machsym_str text_of = str_after(str_after(own, "'"), "'"); /* charset'language'name */
        mail_put_marked(text_of, '%', name);
    } else {
        text_str(name, own);
    }
    for (size_t i = name->len; i-- > 0;) {
        if (name->v[i] == '/' || name->v[i] == '\\') {
            memmove(name->v, name->v + i + 1, name->len - i - 1);
            name->len -= i + 1;
            break;
        }
    }
    if (name->len != 0)
        return;
    text_c(name, "part ");
    text_dec(name, w->count);
    text_c(name, mail_starts(part->type, "text/html")  ? ".html"
                 : mail_starts(part->type, "message/") ? ".eml"
                                                       : ".txt");
}

/* ---- Parts ---- */

static bool mail_show(mail_walk *w, const mail_part *part, machsym_str body)
{
    text name = {0};
    size_t at = w->out->len;
    w->count++;
    mail_put_name(w, part, &name);
    if (part->encoding == MAIL_BASE64)
        mail_put_base64(body, w->out);
    else if (part->encoding == MAIL_QUOTED)
        mail_put_quoted(body, w->out);
    else
        text_str(w->out, body);
    bool ok = w->add(w->user, str_make(name.v, name.len), at, w->out->len - at);
    text_free(&name);
    return ok;
}

/* Whether a line is the mark between parts, or after the last one. */
static bool mail_is_mark(machsym_str line, machsym_str boundary, bool *is_last)
{
    line = str_trim_end(line);
    *is_last = line.len == boundary.len + 4 && line.ptr[line.len - 1] == '-' && line.ptr[line.len - 2] == '-';
    return (line.len == boundary.len + 2 || *is_last) && str_starts(line, "--") &&
           memcmp(line.ptr + 2, boundary.ptr, boundary.len) == 0;
}

/* Takes a part off what is left: up to the next mark, without the end of the line ahead of it. Returns false
 * when no mark follows. */
static bool mail_take_part(machsym_str *rest, machsym_str boundary, machsym_str *part, bool *is_last)
{
    machsym_str from = *rest;
    machsym_str line;
    size_t before = 0;
    while (str_take_line(rest, &line)) {
        size_t at = (size_t)(line.ptr - from.ptr);
        if (mail_is_mark(line, boundary, is_last)) {
            *part = str_make(from.ptr, before);
            return true;
        }
        before = at + line.len;
    }
    *part = from;
    return false;
}

static bool mail_walk_part(mail_walk *w, machsym_str whole, unsigned depth)
{
    machsym_str rest = whole;
    mail_part part = mail_take_fields(&rest);
    bool is_mail = mail_starts(part.type, "message/rfc822") && part.encoding == MAIL_PLAIN;
    if (depth == MAIL_MAX_DEPTH ||
        (!is_mail && (!mail_starts(part.type, "multipart/") || part.boundary.len == 0)))
        return mail_show(w, &part, rest);
    if (is_mail)
        return mail_walk_part(w, rest, depth + 1);
    machsym_str one;
    bool is_last = false;
    if (!mail_take_part(&rest, part.boundary, &one,
                        &is_last)) /* what stands ahead of the first part is for old programs */
        return false;
    while (!is_last) {
        bool has_end = mail_take_part(&rest, part.boundary, &one, &is_last);
        if (!mail_walk_part(w, one, depth + 1) || !has_end)
            return false;
    }
    return true;
}

/* Takes a mail off a mailbox: up to a line that begins with From and has an empty one ahead, without the line
 * it begins with. */
static machsym_str mail_take_mail(machsym_str *rest)
{
    machsym_str line;
    bool is_after_empty = false;
    str_take_line(rest, &line);
    machsym_str mail = *rest;
    while (rest->len > 0 && !(is_after_empty && str_starts(*rest, "From "))) {
        str_take_line(rest, &line);
        is_after_empty = line.len == 0;
    }
    return str_make(mail.ptr, mail.len - rest->len);
}

bool mail_take_apart(machsym_str mail, text *out,
                     bool (*add)(void *user, machsym_str name, size_t at, size_t len), void *user)
{
    mail_walk w = {out, add, user, 0};
    bool ok = true;
    if (!str_starts(mail, "From ")) /* else it is a mailbox */
        return mail_walk_part(&w, mail, 0);
    while (ok && mail.len > 0)
        ok = mail_walk_part(&w, mail_take_mail(&mail), 0);
    return ok;
}
