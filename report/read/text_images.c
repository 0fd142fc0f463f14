/* ==== >> read/text_images ====
 * Job: lists of images in text reports.
 * Offers: its reader, for read/lines.h.
 * Never: places frames in them. */
#include "../base/digits.h"
#include "../base/text.h"
#include "../model/report.h"
#include "../model/scan.h"
#include "machsym.h"
#include "lines.h"

#include <string.h>

static bool listed_is_arch(machsym_str s)
{
    static const char *const archs[] = {"arm64",  "arm64e", "arm64_32", "armv7",  "armv7s",  "armv7k",
                                        "armv7f", "armv6",  "arm",      "x86_64", "x86_64h", "i386",
                                        "ppc",    "ppc64",  "armv6m",   "armv7m"};
    for (size_t i = 0; i < sizeof archs / sizeof archs[0]; i++) {
        if (str_is(s, archs[i]))
            return true;
    }
    return false;
}

/* "+Name with spaces arm64 (1.0 - 1)": the text between the range and the UUID. */
static void listed_set_image_title(report_image *image, machsym_str s)
{
    s = str_trim(s);
    if (s.len > 0 && (s.ptr[0] == '+' || s.ptr[0] == '*'))
        s = str_trim(str_make(s.ptr + 1, s.len - 1));
    if (s.len > 0 && s.ptr[s.len - 1] == ')') {
        size_t at = s.len - 1;
        while (at > 0 && !(s.ptr[at] == '(' && scan_is_blank(s.ptr[at - 1])))
            at--;
        if (at > 0) {
            image->version = str_make(s.ptr + at + 1, s.len - at - 2);
            s = str_trim(str_make(s.ptr, at));
        }
    }
    size_t word = s.len;
    while (word > 0 && !scan_is_blank(s.ptr[word - 1]))
        word--;
    machsym_str last = {s.ptr + word, s.len - word};
    bool is_unknown = str_is(last, "unknown-arch");
    if (word > 0 && (is_unknown || listed_is_arch(last))) {
        image->arch = is_unknown ? image->arch : last;
        s = str_trim(str_make(s.ptr, word));
    }
    image->name = s;
}

/* Where a path begins that a blank precedes; the length: nowhere. */
static size_t listed_find_path(machsym_str s)
{
    for (size_t at = 0; at + 1 < s.len; at++) {
        if (s.ptr[at] == ' ' && (s.ptr[at + 1] == '/' || str_is_windows_path(str_from(s, at + 1))))
            return at;
    }
    return s.len;
}

/* Reads an image line after the range. Outside an image list it must have a UUID. */
static bool listed_parse_image_tail(text_parser *p, report_image *image, machsym_str s)
{
    static const machsym_uuid none = {0};
    for (size_t at = 0; at < s.len; at++) {
        if (s.ptr[at] != '<')
            continue;
        machsym_str inside = {s.ptr + at + 1, s.len - at - 1 < 64 ? s.len - at - 1 : 64};
        size_t close = str_find(inside, ">");
        bool closed = close < inside.len;
        inside.len = close;
        bool is_uuid = closed && parse_uuid_str(str_trim(inside), &image->uuid);
        if (is_uuid || (closed && str_is(str_trim(inside), "(null)"))) {
            image->has_uuid = is_uuid && memcmp(&image->uuid, &none, sizeof none) != 0;
            size_t path = at + close + 2;
            listed_set_image_title(image, str_make(s.ptr, at));
            image->path = str_trim(str_make(s.ptr + path, s.len - path));
            return true;
        }
    }
    if (p->section != SECTION_IMAGES)
        return false;
    size_t path = listed_find_path(s);
    listed_set_image_title(image, str_make(s.ptr, path));
    image->path = str_trim(str_make(s.ptr + path, s.len - path));
    return image->name.len > 0;
}

/* "0x1000 - 0x1fff +Name arm64 <uuid> /path"; the end may be "???". */
bool text_parse_image(text_parser *p, machsym_str s)
{
    report_image image;
    uint64_t last = 0;
    size_t at = s.len > 0 && s.ptr[0] == '*' ? 1 : 0;
    memset(&image, 0, sizeof image);
    if (!scan_address(s, &at, &image.base))
        return false;
    while (at < s.len && scan_is_blank(s.ptr[at]))
        at++;
    if (at >= s.len || s.ptr[at] != '-')
        return false;
    at++;
    while (at < s.len && scan_is_blank(s.ptr[at]))
        at++;
    if (scan_address(s, &at, &last))
        image.end = last > image.base && last < UINT64_MAX ? last + 1 : 0;
    else if (s.len - at >= 3 && memcmp(s.ptr + at, "???", 3) == 0)
        at += 3;
    else
        return false;
    if (!listed_parse_image_tail(p, &image, str_make(s.ptr + at, s.len - at)))
        return false;
    if (image.name.len == 0 || str_is(image.name, "???"))
        image.name = str_base_name(image.path);
    *report_add_image(p->r) = image;
    return true;
}

/* lldb's `image list`: "[  0] UUID 0xLOAD PATH". */
bool text_parse_lldb_image(text_parser *p, machsym_str s)
{
    machsym_uuid uuid;
    uint64_t base;
    size_t at = str_find(s, "] ");
    if (s.len == 0 || s.ptr[0] != '[' || at + 2 >= s.len)
        return false;
    machsym_str rest = str_trim(str_make(s.ptr + at + 2, s.len - at - 2));
    at = 36;
    if (rest.len <= at || !parse_uuid_str(str_make(rest.ptr, at), &uuid))
        return false;
    while (at < rest.len && scan_is_blank(rest.ptr[at]))
        at++;
    if (!scan_address(rest, &at, &base))
        return false;
    report_image *image = report_add_image(p->r);
    image->base = base;
    image->uuid = uuid;
    image->has_uuid = true;
    image->path = str_trim(str_make(rest.ptr + at, rest.len - at));
    image->name = str_base_name(image->path);
    return true;
}
