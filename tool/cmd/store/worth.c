/* What a file of symbols is worth: how damaged it is, and how much it tells. */
#include "store.h"
#include "../../base/posix.h"
#include "../../base/say.h"
#include "../../files/inside.h"
#include "../../files/members.h"
#include "../../files/open.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* Where a file was not written to its end, a disk that had made room for it gives zeros. Fewer than 24
     * zeros end a section of debug info in real dSYMs, at most 15 a table of names. seen: in 480 slices */
    LEAST_ZEROS = 64,
    HEAD_BYTES = 1 << 16 /* load commands: those of large programs have 10,000 */
};

/* ---- What was not written ---- */

bool store_cmd_read_part(const char *path, uint64_t off, uint64_t len, text *out)
{
    machsym_error err;
    machsym_bytes bytes;
    char *name = NULL;
    if (members_end(path) != 0) {
        if (!members_keep(path, &bytes, &name, &err))
            return false;
        free(name);
        if (off < bytes.len)
            text_add(out, (const char *)bytes.ptr + off,
                     (size_t)(len < bytes.len - off ? len : bytes.len - off));
        return true;
    }
    int fd = posix_open_to_read(path);
    long got = fd < 0 || lseek(fd, (off_t)off, SEEK_SET) < 0
                   ? -1
                   : posix_read(fd, text_room(out, (size_t)len), (size_t)len);
    if (fd >= 0)
        close(fd);
    out->len += got > 0 ? (size_t)got : 0;
    return got >= 0;
}

static uint32_t store_cmd_get32(const text *t, uint64_t at)
{
    const uint8_t *p = (const uint8_t *)t->v + at;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static size_t store_cmd_zeros_at_end(const char *ptr, size_t len)
{
    size_t count = 0;
    while (count < len && ptr[len - count - 1] == 0)
        count++;
    return count;
}

static bool store_cmd_fail(machsym_error *err, const char *what, const char *where, uint64_t offset)
{
    *err = (machsym_error){MACHSYM_ERR_DAMAGED, 0, what, where, offset};
    return false;
}

/* Whether the last bytes of a part of a slice are zeros. What cannot be read is not known to be. */
static bool store_cmd_ends_in_zeros(const char *path, const machsym_slice *slice, uint64_t end,
                                    uint64_t count)
{
    text part = {0};
    bool is = end >= count && end <= slice->size &&
              store_cmd_read_part(path, slice->offset + end - count, count, &part) && part.len == count &&
              store_cmd_zeros_at_end(part.v, part.len) == count;
    text_free(&part);
    return is;
}

/* A signature is a blob that tells its length, big-endian (cs_blobs.h). It ends in a hash or a signature, and
 * room for more follows. */
static bool store_cmd_check_signature(const char *path, const machsym_slice *slice, uint64_t from,
                                      uint64_t len, machsym_error *err)
{
    enum { LEAST_HASH = 16 };
    text head = {0};
    bool ok = true;
    if (len >= 8 && from + len <= slice->size && store_cmd_read_part(path, slice->offset + from, 8, &head) &&
        head.len == 8) {
        const uint8_t *p = (const uint8_t *)head.v;
        uint64_t size = (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 | (uint64_t)p[6] << 8 | p[7];
        bool is_blob = p[0] == 0xfa && p[1] == 0xde && size >= LEAST_HASH && size <= len;
        if (store_cmd_zeros_at_end(head.v, 8) == 8 ||
            (is_blob && store_cmd_ends_in_zeros(path, slice, from + size, LEAST_HASH)))
            ok = store_cmd_fail(err, "the end of its signature is zeros: it was not written",
                                "LC_CODE_SIGNATURE", from);
    }
    text_free(&head);
    return ok;
}

/* The table of names, and the signature of a program: loader.h. */
static bool store_cmd_check_tables(const char *path, const machsym_slice *slice, machsym_error *err)
{
    enum { SYMTAB = 2, CODE_SIGNATURE = 0x1d };
    static const uint32_t magic_32 = 0xfeedface;
    static const uint32_t magic_64 = 0xfeedfacf;
    text head = {0};
    bool ok =
        store_cmd_read_part(path, slice->offset, slice->size < HEAD_BYTES ? slice->size : HEAD_BYTES, &head);
    uint32_t magic = ok && head.len >= 32 ? store_cmd_get32(&head, 0) : 0;
    uint64_t at = magic == magic_64 ? 32 : 28;
    uint32_t count = magic == magic_32 || magic == magic_64 ? store_cmd_get32(&head, 16) : 0;
    for (ok = true; ok && count > 0 && at + 24 <= head.len; count--) {
        uint32_t kind = store_cmd_get32(&head, at);
        uint32_t size = store_cmd_get32(&head, at + 4);
        uint64_t names = store_cmd_get32(&head, at + 16);
        uint64_t names_size = store_cmd_get32(&head, at + 20);
        if (kind == CODE_SIGNATURE && slice->filetype != 10 /* MH_DSYM */)
            ok = store_cmd_check_signature(path, slice, store_cmd_get32(&head, at + 8),
                                           store_cmd_get32(&head, at + 12), err);
        else if (kind == SYMTAB && names_size >= LEAST_ZEROS &&
                 store_cmd_ends_in_zeros(path, slice, names + names_size, LEAST_ZEROS))
            ok = store_cmd_fail(err, "the end of its names is zeros: it was not written", "LC_SYMTAB",
                                names + names_size - LEAST_ZEROS);
        if (size < 8)
            break;
        at += size;
    }
    text_free(&head);
    return ok;
}

static bool store_cmd_is_debug(const machsym_section *section)
{
    return str_starts(section->name, "__debug") || str_starts(section->name, "__zdebug") ||
           str_starts(section->name, "__apple");
}

/* Whether units are damaged. Decodes all of them. */
static bool store_cmd_has_damaged_units(const machsym_image *image)
{
    machsym_session_desc desc;
    machsym_session *session = NULL;
    machsym_session_counts info;
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    if (machsym_session_open(&desc, &session, NULL) != MACHSYM_OK)
        return true;
    machsym_session_count_all(session, &info);
    machsym_session_close(session);
    return info.damaged_units > 0;
}

/* Whether zeros at the end of a section were never written. In .debug_info zeros also close nested entries,
 * any number of them: then the units are sound. */
static bool store_cmd_is_unwritten(const machsym_image *image, const machsym_section *section, size_t zeros)
{
    bool is_all = zeros == section->bytes.len;
    if (zeros < LEAST_ZEROS)
        return zeros >= 8 && is_all;
    return is_all || !str_is(section->name, "__debug_info") || store_cmd_has_damaged_units(image);
}

bool store_cmd_is_written(const machsym_image *image, machsym_error *err)
{
    machsym_image_info info;
    machsym_cursor at = {0, 0};
    machsym_section section;
    machsym_image_get_info(image, &info);
    while (machsym_image_next_section(image, &at, &section)) {
        const char *bytes = section.bytes.ptr;
        size_t zeros = section.is_pair || !store_cmd_is_debug(&section)
                           ? 0
                           : store_cmd_zeros_at_end(bytes, section.bytes.len);
        if (store_cmd_is_unwritten(image, &section, zeros))
            return store_cmd_fail(err, "the end of a section of debug info is zeros: it was not written",
                                  "__DWARF", section.offset + section.bytes.len - zeros);
    }
    return store_cmd_check_tables(info.path, &info.slice, err);
}

/* ---- Worth ---- */

static uint64_t store_cmd_debug_bytes(const machsym_image *image)
{
    machsym_cursor at = {0, 0};
    machsym_section section;
    uint64_t sum = 0;
    while (machsym_image_next_section(image, &at, &section))
        sum += store_cmd_is_debug(&section) && !section.is_pair ? section.bytes.len : 0;
    return sum;
}

store_told store_cmd_told_of(const machsym_map *map)
{
    machsym_map_info info;
    machsym_map_get_info(map, &info);
    return (store_told){info.run_count > 0, (info.flags & MACHSYM_MAP_DAMAGED) != 0, info.run_count,
                        info.symbol_run_count, info.text_bytes};
}

static int store_cmd_order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

int store_cmd_compare_told(const store_told *a, const store_told *b)
{
    int by = store_cmd_order(a->has_lines, b->has_lines);
    by = by != 0 ? by : store_cmd_order(b->is_damaged, a->is_damaged);
    by = by != 0 ? by : store_cmd_order(a->ranges, b->ranges);
    by = by != 0 ? by : store_cmd_order(a->symbols, b->symbols);
    return by != 0 ? by : store_cmd_order(a->names, b->names);
}

int store_cmd_compare_worth(const store_worth *a, const store_worth *b, const char **why)
{
    const struct {
        int by;
        const char *why;
    } orders[] = {{store_cmd_order(a->opens, b->opens), "can be read"},
                  {store_cmd_order(a->told.has_lines, b->told.has_lines), "has debug info"},
                  {store_cmd_order(b->damage, a->damage), "has less damage"},
                  {store_cmd_order(b->is_encrypted, a->is_encrypted), "is not encrypted"},
                  {store_cmd_order(a->told.ranges, b->told.ranges), "has more debug info"},
                  {store_cmd_order(a->debug_bytes, b->debug_bytes), "has more debug info"},
                  {store_cmd_order(a->told.symbols, b->told.symbols), "has more symbols"},
                  {store_cmd_order(a->told.names, b->told.names), "has more names"},
                  {store_cmd_order(a->entries, b->entries), "has more symbols"}};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        *why = orders[i].why;
        if (orders[i].by != 0)
            return orders[i].by;
    }
    *why = "";
    return 0;
}

/* Decodes all of it: most damage shows only then. */
static bool store_cmd_judge_image(const machsym_image *image, const char *path, const build_options *how,
                                  store_worth *out)
{
    machsym_plan_desc desc;
    machsym_part_info counts;
    machsym_image_info info;
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    desc.lines = MACHSYM_LINES_DWARF;
    desc.flags = MACHSYM_MAP_DAMAGED;
    machsym_map *map = build_image(&desc, path, how, &counts);
    if (map == NULL)
        return false;
    open_read_info(image, &info);
    out->opens = true;
    out->told = store_cmd_told_of(map);
    out->is_encrypted = info.is_encrypted;
    out->damage = info.damage_count + counts.damaged_units;
    out->debug_bytes = store_cmd_debug_bytes(image);
    out->entries = info.symbol_count;
    if (!store_cmd_is_written(image, &out->err)) {
        out->damage++;
    } else if (info.damage_count > 0) {
        out->err =
            (machsym_error){MACHSYM_ERR_DAMAGED, 0, info.damage.what, info.damage.where, info.damage.offset};
    } else if (counts.damaged_units > 0) {
        out->err = (machsym_error){MACHSYM_ERR_DAMAGED, 0, counts.damage.what, counts.damage.where,
                                   counts.damage.offset};
    } else if (out->told.is_damaged && !info.is_encrypted) {
        out->damage++;
        out->err = (machsym_error){MACHSYM_ERR_DAMAGED, 0, "tables of names or metadata are damaged", "", 0};
    }
    machsym_map_close(map);
    return true;
}

bool store_cmd_judge(const char *path, const char *arch, const machsym_uuid *uuid, const build_options *how,
                     store_worth *out)
{
    machsym_open_desc desc;
    machsym_image *image;
    memset(out, 0, sizeof *out);
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.arch = arch;
    desc.uuid = uuid;
    desc.flags = MACHSYM_OPEN_NO_PAIR | MACHSYM_OPEN_NO_OBJECTS;
    if (inside_image_open(&desc, &image, &out->err) != MACHSYM_OK) {
        bool is_fault = out->err.code == MACHSYM_ERR_MEMORY ||
                        (out->err.code == MACHSYM_ERR_IO && out->err.os_errno != 0);
        if (is_fault)
            say_error(path, &out->err);
        return !is_fault;
    }
    machsym_image_info info;
    machsym_image_get_info(image, &info);
    bool ok =
        info.map != NULL ||
        store_cmd_judge_image(image, path, how, out); /* a map is no Mach-O file: it is worth nothing here */
    if (info.map != NULL)
        out->err =
            (machsym_error){MACHSYM_ERR_FORMAT, 0, "a symbol map in the place of a Mach-O file", "", 0};
    machsym_image_close(image);
    return ok;
}
