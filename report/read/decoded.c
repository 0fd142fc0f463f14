/* Lines of crash text; see decoded.h. */
#include "decoded.h"
#include "../base/memory.h"
#include "../model/report.h"

#include <stdlib.h>
#include <string.h>

/* Every frame is written with the name of its image. Longer names would make the output much larger than the
 * report. */
enum { MAX_NAME = 64 };

/* ---- The header ---- */

void decoded_put_key(text *t, const char *key)
{
    size_t at = t->len;
    text_c(t, key);
    text_char(t, ':');
    do
        text_char(t, ' ');
    while (t->len - at < sizeof "Incident Identifier:");
}

void decoded_put_text(text *t, const char *key, machsym_str value)
{
    if (value.len == 0)
        return;
    decoded_put_key(t, key);
    text_shown(t, value);
    text_char(t, '\n');
}

void decoded_put_hex(text *t, uint64_t number, unsigned digits)
{
    text_c(t, "0x");
    text_hex(t, number, digits);
}

void decoded_put_pair(text *t, const char *key, machsym_str a, machsym_str b)
{
    if (a.len == 0) {
        decoded_put_text(t, key, b);
        return;
    }
    decoded_put_key(t, key);
    text_shown(t, a);
    if (b.len > 0) {
        text_c(t, " (");
        text_shown(t, b);
        text_char(t, ')');
    }
    text_char(t, '\n');
}

void decoded_put_time(text *t, const char *key, uint64_t seconds)
{
    if (seconds == 0)
        return;
    decoded_put_key(t, key);
    report_text_time(t, seconds);
    text_char(t, '\n');
}

const char *decoded_code_type(const char *arch)
{
    static const char *const words[][2] = {
        {"arm64", "ARM-64"}, {"x86_64", "X86-64"}, {"arm", "ARM"}, {"i386", "X86"}, {"ppc", "PPC"}};
    for (size_t i = 0; arch != NULL && i < sizeof words / sizeof *words; i++) {
        if (strncmp(arch, words[i][0], strlen(words[i][0])) == 0)
            return words[i][1];
    }
    return arch;
}

/* ---- Images ---- */

static int decoded_by_base(const void *a, const void *b)
{
    const decoded_image *x = (const decoded_image *)a;
    const decoded_image *y = (const decoded_image *)b;
    MACHSYM_COUNT_WORK(1);
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

void decoded_sort_images(decoded_image *images, uint32_t count)
{
    if (count > 0)
        qsort(images, count, sizeof *images, decoded_by_base);
}

static bool decoded_begins_by(const void *element, const void *address)
{
    return ((const decoded_image *)element)->base <= *(const uint64_t *)address;
}

const decoded_image *decoded_find_image(const decoded_image *images, uint32_t count, uint64_t addr)
{
    size_t after = mem_lower_bound(images, count, sizeof *images, &addr, decoded_begins_by);
    const decoded_image *image = after > 0 ? &images[after - 1] : NULL;
    return image != NULL && (image->is_open || addr < image->end) ? image : NULL;
}

static machsym_str decoded_name_of(const decoded_image *image)
{
    machsym_str name = str_base_name(image->path);
    if (name.len > MAX_NAME) {
        name.len = MAX_NAME;
        while (name.len > 0 && ((unsigned char)name.ptr[name.len] & 0xc0) == 0x80)
            name.len--; /* no half characters */
    }
    return name.len > 0 ? name : str_c("???");
}

void decoded_put_images(text *t, const decoded_image *images, uint32_t count)
{
    static const machsym_uuid none = {0};
    text_c(t, "Binary Images:\n");
    for (uint32_t i = 0; i < count; i++) {
        const decoded_image *image = &images[i];
        decoded_put_hex(t, image->base, 16);
        text_c(t, " - ");
        if (image->is_open)
            text_c(t, "???");
        else
            decoded_put_hex(t, image->end - (image->end > image->base), 16);
        text_char(t, ' ');
        text_shown(t, decoded_name_of(image));
        text_char(t, ' ');
        text_c(t, image->arch != NULL ? image->arch : "unknown-arch");
        if (image->other != NULL) {
            text_c(t, " (");
            text_c(t, image->other);
            text_char(t, ')');
        }
        if (memcmp(&image->uuid, &none, sizeof none) != 0) {
            text_c(t, "  <");
            for (size_t k = 0; k < sizeof image->uuid.v; k++)
                text_hex(t, image->uuid.v[k], 2);
            text_char(t, '>');
        }
        text_char(t, ' ');
        text_shown(t, image->path);
        text_char(t, '\n');
    }
}

/* ---- Stacks ---- */

/* "3   demo                          \t0x0000000102a309b8 0x102a30000 + 2488 (main + 120)". */
void decoded_put_frame(text *t, const decoded_image *image, uint64_t number, uint64_t pc, uint64_t plain,
                       machsym_str symbol, uint64_t start)
{
    size_t at = t->len;
    text_dec(t, number);
    do
        text_char(t, ' ');
    while (t->len - at < 4);
    text_shown(t, image != NULL ? decoded_name_of(image) : str_c("???"));
    while (t->len - at < 34)
        text_char(t, ' ');
    text_char(t, '\t');
    decoded_put_hex(t, pc, 16);
    text_char(t, ' ');
    decoded_put_hex(t, image != NULL ? image->base : 0, 1);
    text_c(t, " + ");
    text_dec(t, image != NULL ? plain - image->base : plain);
    if (image != NULL && symbol.len > 0 && start <= plain) {
        text_c(t, " (");
        text_shown(t, symbol);
        text_c(t, " + ");
        text_dec(t, plain - start);
        text_char(t, ')');
    }
    text_char(t, '\n');
}

void decoded_put_register(text *t, uint32_t count, machsym_str name, uint64_t value, unsigned digits)
{
    for (size_t i = name.len; i < 6; i++)
        text_char(t, ' ');
    text_shown(t, name);
    text_c(t, ": ");
    decoded_put_hex(t, value, digits);
    text_c(t, count % 4 == 3 ? "\n" : "");
}

void decoded_end_registers(text *t, uint32_t count)
{
    text_c(t, count % 4 != 0 ? "\n\n" : count > 0 ? "\n" : "");
}
