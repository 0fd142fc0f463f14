#ifndef ms_ROOM_macho_files
#define ms_ROOM_macho_files
#include "../api/options.h"
#include "../api/api.h"
#include "../base/platform.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "cache.h"
#include "macho.h"

/* ==== >>files ==============================================================================================
 * Job:    opens a file, a bundle or the caller's bytes for the slices in them.
 * Offers: ms_file, ms_file_open, ms_file_fill, ms_file_settle, ms_file_close, ms_file_slice_at,
 *         ms_file_choose, ms_file_take_slice, ms_file_read_begin, ms_file_list_slices.
 * Never:  parses more of a slice than choosing it takes. */

/* ---- Fat files ---- */

/* Finds slice number index of a file of size bytes from its headers.
 * Returns: false when there is none. *count: how many the file has; a thin file is its own only slice. */
static bool ms_file_slice_place(ms_span begin, uint64_t size, uint32_t index, uint32_t *count,
                                uint64_t *offset, uint64_t *len)
{
    ms_rd rd = ms_rd_make(begin);
    uint32_t magic = ms_rd_be32(&rd);
    size_t one = magic == ms_FAT_MAGIC_64 ? 32 : 20;
    *count = 1;
    *offset = 0;
    *len = size;
    if (magic != ms_FAT_MAGIC_32 && magic != ms_FAT_MAGIC_64)
        return index == 0;
    *count = ms_rd_be32(&rd);
    if (*count > ms_rd_left(&rd) / one)
        *count = (uint32_t)(ms_rd_left(&rd) / one);
    if (*count > MACHSYM_MAX_SLICES)
        *count = MACHSYM_MAX_SLICES;
    if (index >= *count)
        return false;
    ms_rd_skip(&rd, (uint64_t)index * one + 8);
    *offset = magic == ms_FAT_MAGIC_64 ? ms_rd_be64(&rd) : ms_rd_be32(&rd);
    *len = magic == ms_FAT_MAGIC_64 ? ms_rd_be64(&rd) : ms_rd_be32(&rd);
    uint64_t left = *offset < size ? size - *offset : 0;
    if (*len == 0 || *len > left)
        *len = left; /* cut short: what is left may still answer */
    return true;
}

/* Whether a fat file has slices past those that are looked at. */
static bool ms_file_has_more(ms_span begin)
{
    uint32_t count;
    uint64_t offset;
    uint64_t len;
    bool is_last = ms_file_slice_place(begin, begin.len, MACHSYM_MAX_SLICES - 1, &count, &offset, &len);
    ms_rd rd = ms_rd_at(begin, 4);
    return is_last && ms_rd_be32(&rd) > MACHSYM_MAX_SLICES;
}

/* Slice number index of a file whose bytes are all there. */
static bool ms_file_slice_at(ms_span file, uint32_t index, uint32_t *count, ms_span *slice, uint64_t *offset)
{
    uint64_t len;
    bool has = ms_file_slice_place(file, file.len, index, count, offset, &len);
    *slice = has ? ms_span_sub(file, *offset, len) : ms_span_make(NULL, 0);
    return has;
}

static bool ms_file_is_archive(ms_span file)
{
    machsym_str text = ms_str_make((const char *)file.ptr, file.len);
    return ms_str_begins(text, "!<arch>\n") || ms_str_begins(text, "!<thin>\n");
}

/* How many bytes of a slice are read of a file that is not in memory before its load commands are looked at:
 * as many as its header says, which is there. */
static size_t ms_file_head(ms_span slice)
{
    const size_t most = MACHSYM_MAX_COLLECTION_COMMANDS;
    ms_rd rd = ms_rd_at(slice, 20);
    size_t len = (size_t)ms_rd_u32(&rd) + 32; /* sizeofcmds, and the header */
    len = len < MACHSYM_READ_HEAD ? MACHSYM_READ_HEAD : len > most ? most : len;
    return len < slice.len ? len : slice.len;
}

/* Reads the header, UUID and symbol table commands of a slice, without its sections. is_read: all that is
 * there of it is ms_file_head. */
static machsym_result ms_file_peek(ms_span slice, bool is_read, uint64_t offset, ms_mo *mo,
                                   machsym_error *err)
{
    ms_zero(mo, sizeof *mo);
    if (slice.len == 0 && offset != 0)
        return ms_fail(err, MACHSYM_ERR_DAMAGED, "the file is cut short: a slice lies past its end",
                       "fat header", offset);
    if (ms_file_is_archive(slice))
        return ms_fail(
            err, MACHSYM_ERR_UNSUPPORTED,
            "a universal static library; name a linked file, or an object taken out of it by lipo -thin "
            "and ar -x",
            "fat header", offset);
    mo->bytes = slice;
    mo->head = is_read ? ms_file_head(slice) : 0;
    mo->slice.offset = offset;
    mo->slice.size = slice.len;
    return ms_mo_load(mo, NULL, err);
}

/* Java's class files begin as fat files do. Their version, from 45 on, stands where these count slices. Then
 * they count their constants, and the first one begins with its kind, from 1 to 20 (JVMS 4.1, 4.4). In a fat
 * file that is the third byte of a CPU type, which is 0. */
static bool ms_file_is_java(ms_span file)
{
    ms_rd rd = ms_rd_make(file);
    uint32_t magic = ms_rd_be32(&rd);
    uint32_t major = ms_rd_be32(&rd) & 0xffff;
    uint32_t kind = ms_rd_be32(&rd) >> 8 & 0xff;
    return magic == ms_FAT_MAGIC_32 && major >= 45 && kind >= 1 && kind <= 20;
}

/* The error for a file that is not Mach-O, which says what it is instead where that is known. */
static machsym_result ms_file_refuse(ms_span file, machsym_error *err)
{
    if (file.len == 0)
        return ms_fail(err, MACHSYM_ERR_FORMAT, "the file is empty", "", 0);
    if (ms_str_begins(ms_str_make((const char *)file.ptr, file.len), "\177ELF"))
        return ms_fail(err, MACHSYM_ERR_FORMAT, "an ELF file, not Mach-O", "", 0);
    if (ms_file_is_java(file))
        return ms_fail(err, MACHSYM_ERR_FORMAT, "a Java class file, not Mach-O", "", 0);
    if (ms_file_is_archive(file))
        return ms_fail(err, MACHSYM_ERR_UNSUPPORTED,
                       "a static library; name a linked file or an object in it", "", 0);
    if (ms_dc_is(file))
        return ms_fail(err, MACHSYM_ERR_UNSUPPORTED,
                       "a shared cache, and the library was built with MACHSYM_NO_CACHE", "", 0);
    return ms_fail(err, MACHSYM_ERR_FORMAT, "not a Mach-O file", "", 0);
}

static bool ms_file_same_uuid(const machsym_slice *slice, const machsym_uuid *uuid)
{
    return slice->has_uuid && ms_equal(slice->uuid.v, uuid->v, sizeof uuid->v);
}

/* ---- Files ---- */

/* A whole file: the caller's bytes, or a file that was opened here. */
typedef struct ms_file {
    ms_span bytes;
    char *path; /* what was opened in the end, from the file's allocator; NULL for the caller's bytes */
    /* How bytes are got of a file that is not in memory; call NULL: all are there. */
    machsym_io io;
    uint8_t *room; /* a part of the file; only bytes that were read are set; from room_of */
    size_t room_len;
    uint64_t room_at; /* where that part begins: 0, or at the chosen slice of a fat file */
    uint8_t *head;    /* the begin of a slice that is not chosen yet; from room_of, or NULL */
    size_t head_len;
    machsym_allocator room_of;
    machsym_result lacks; /* why the begin of the slice that was looked at last is not there; else OK */
    uint64_t read_count;
    uint64_t read_bytes;
    bool reads_itself; /* read is this room's, of the file at path, which stays open */
#ifndef MACHSYM_NO_OS
    ms_os_file file;
#endif
} ms_file;

/* Gives room back. */
static void ms_file_drop(const ms_file *input, uint8_t **room, size_t len)
{
    if (*room != NULL)
        input->room_of.free(input->room_of.user, *room, len);
    *room = NULL;
}

static void ms_file_close(ms_file *input)
{
#ifndef MACHSYM_NO_OS
    ms_os_free_text(&input->file.allocator, input->path);
    ms_os_unmap(&input->file);
#endif
    ms_file_drop(input, &input->room, input->room_len);
    ms_file_drop(input, &input->head, input->head_len);
    input->path = NULL;
    input->bytes = ms_span_make(NULL, 0);
}

/* ---- Files that are not in memory ---- */

/* Reads a part of the file. Bytes that cannot be read become 0. Returns whether all could. */
static bool ms_file_read(ms_file *input, uint64_t off, uint8_t *out, size_t len)
{
    if (len == 0)
        return true;
    size_t got = input->io.read(input->io.user, off, out, len);
    input->read_count++;
    input->read_bytes += len;
    if (got >= len)
        return true;
    ms_zero(out + got, len - got);
    return false;
}

/* Reads a part of the file into its room. */
static bool ms_file_fill(ms_file *input, uint64_t off, uint64_t len)
{
    uint64_t at = off - input->room_at;
    return off >= input->room_at && at <= input->room_len && len <= input->room_len - at &&
           ms_file_read(input, off, input->room + at, (size_t)len);
}

static machsym_result ms_file_fail_room(const ms_file *input, machsym_error *err)
{
    return ms_fail(err, MACHSYM_ERR_MEMORY,
                   "the file has more bytes than the allocator gives at once; the offset is its size", "file",
                   input->io.size);
}

/* Room for len bytes, or NULL. Less than half of what pointers reach, so that offsets fit. */
static uint8_t *ms_file_take_room(const ms_file *input, uint64_t len)
{
    return len <= SIZE_MAX / 2 ? (uint8_t *)input->room_of.alloc(input->room_of.user, (size_t)len) : NULL;
}

/* Makes room for len bytes at the file's beginning, and keeps those that were read. */
static machsym_result ms_file_make_room(ms_file *input, uint64_t len, machsym_error *err)
{
    uint8_t *room = ms_file_take_room(input, len);
    if (room == NULL)
        return ms_file_fail_room(input, err);
    if (input->room != NULL)
        ms_copy(room, input->room, input->room_len);
    ms_file_drop(input, &input->room, input->room_len);
    input->room = room;
    input->room_len = (size_t)len;
    input->bytes = ms_span_make(room, (size_t)len);
    return MACHSYM_OK;
}

/* Closes a file that is open to be read: all that is needed is there. */
static void ms_file_settle(ms_file *input)
{
#ifdef MACHSYM_NO_OS
    (void)input;
#else
    ms_os_settle(&input->file);
#endif
}

/* Reads a file's beginning up to len bytes. */
static machsym_result ms_file_read_begin(ms_file *input, uint64_t len, machsym_error *err)
{
    size_t have = input->room_len;
    if (input->io.read == NULL || len <= have)
        return MACHSYM_OK;
    machsym_result result = ms_file_make_room(input, len, err);
    if (result == MACHSYM_OK && !ms_file_fill(input, have, len - have))
        result = ms_fail(err, MACHSYM_ERR_IO, "the begin of the file cannot be read", "file", have);
    return result;
}

/* Reads bytes for input->head. Those that were read for the file's beginning are copied. */
static machsym_result ms_file_read_more_head(ms_file *input, uint64_t offset, size_t from, size_t to)
{
    if (offset + to > input->room_len)
        return ms_file_read(input, offset + from, input->head + from, to - from) ? MACHSYM_OK
                                                                                 : MACHSYM_ERR_IO;
    ms_copy(input->head + from, input->room + offset + from, to - from);
    return MACHSYM_OK;
}

/* Makes room for so much of a slice's begin, and keeps len bytes that are there. */
static bool ms_file_grow_head(ms_file *input, size_t len, size_t size)
{
    if (size <= input->head_len)
        return true;
    uint8_t *head = ms_file_take_room(input, size);
    if (head == NULL)
        return false;
    if (len != 0)
        ms_copy(head, input->head, len);
    ms_file_drop(input, &input->head, input->head_len);
    input->head = head;
    input->head_len = size;
    return true;
}

/* Reads the begin of a slice, as far as ms_file_head says. */
static machsym_result ms_file_read_head(ms_file *input, uint64_t offset, size_t len)
{
    const size_t first = len < MACHSYM_READ_HEAD ? len : (size_t)MACHSYM_READ_HEAD;
    if (!ms_file_grow_head(input, 0, first))
        return MACHSYM_ERR_MEMORY;
    machsym_result result = ms_file_read_more_head(input, offset, 0, first);
    size_t whole = ms_file_head(ms_span_make(input->head, len));
    if (result != MACHSYM_OK || whole <= first)
        return result;
    if (!ms_file_grow_head(input, first, whole))
        return MACHSYM_ERR_MEMORY;
    return ms_file_read_more_head(input, offset, first, whole);
}

/* Slice number index of a file. Of a slice by a reader only what ms_file_head says is there, until the next
 * call; one too large for this machine is cut short. When that cannot be got, input->lacks says why. */
static bool ms_file_slice(ms_file *input, uint32_t index, uint32_t *count, ms_span *slice, uint64_t *offset)
{
    uint64_t len;
    if (input->io.read == NULL)
        return ms_file_slice_at(input->bytes, index, count, slice, offset);
    *slice = ms_span_make(NULL, 0);
    if (!ms_file_slice_place(input->bytes, input->io.size, index, count, offset, &len))
        return false;
    size_t here = len < SIZE_MAX ? (size_t)len : SIZE_MAX;
    input->lacks = len != 0 ? ms_file_read_head(input, *offset, here) : MACHSYM_OK;
    if (len != 0 && input->lacks == MACHSYM_OK)
        *slice = ms_span_make(input->head, here);
    return true;
}

/* The error for a slice whose begin cannot be got: memory or the reader may have it the next time, so that it
 * must not look like a slice that is damaged. */
static machsym_result ms_file_fail_head(const ms_file *input, uint64_t offset, machsym_error *err)
{
    if (input->lacks == MACHSYM_ERR_MEMORY)
        return ms_fail_memory(err);
    return ms_fail(err, input->lacks, "the begin of a slice cannot be read", "file", offset);
}

/* Makes room for the chosen slice of a file by a reader, and reads its begin there. */
static machsym_result ms_file_take_slice(ms_file *input, ms_mo *mo, machsym_error *err)
{
    const uint64_t offset = mo->slice.offset;
    const size_t len = mo->bytes.len;
    size_t have = offset != 0 ? 0 : input->room_len < len ? input->room_len : len;
    uint8_t *room = ms_file_take_room(input, len);
    if (room == NULL)
        return ms_fail(err, MACHSYM_ERR_MEMORY,
                       "the slice has more bytes than the allocator gives at once; the offset is its size",
                       "file", len);
    ms_copy(room, input->room, have);
    ms_file_drop(input, &input->head, input->head_len);
    ms_file_drop(input, &input->room, input->room_len);
    input->room = room;
    input->room_len = len;
    input->room_at = offset;
    input->bytes = ms_span_make(room, len);
    mo->bytes = input->bytes;
    if (mo->head > have && !ms_file_fill(input, offset + have, mo->head - have))
        return ms_fail(err, MACHSYM_ERR_IO, "the begin of the slice cannot be read", "file", offset);
    return MACHSYM_OK;
}

/* Opens a file by a reader, and reads its begin. */
static machsym_result ms_file_open_reader(const machsym_io *io, machsym_allocator allocator, ms_file *input,
                                          machsym_error *err)
{
    const uint64_t head = MACHSYM_READ_HEAD;
    input->io = *io;
    input->room_of = allocator;
    return ms_file_read_begin(input, io->size < head ? io->size : head, err);
}

/* Whether a big-endian slice was not asked for: it has another architecture, or a UUID alone was asked for,
 * which is not read of it. */
static bool ms_file_is_unasked(const ms_mo *mo, const char *arch, const machsym_uuid *uuid)
{
    if (arch == NULL)
        return uuid != NULL;
    return mo->slice.arch != NULL && !ms_str_is(ms_str_from_c(arch), mo->slice.arch);
}

/* Chooses the slice that arch and uuid ask for; each may be NULL. If arm64e is asked for, an arm64 slice
 * will do, as with Apple's tools. If arm64 is asked for, an arm64e slice will not. *lost, unless it is NULL,
 * becomes the offset of a slice without any bytes. */
static machsym_result ms_file_choose(ms_file *file, const char *arch, const machsym_uuid *uuid, ms_mo *out,
                                     uint64_t *lost, machsym_error *err)
{
    ms_span slice;
    uint64_t offset = 0;
    uint32_t count = 0;
    uint32_t matches = 0;
    bool uuid_seen = false;
    bool by_name = false;
    ms_mo mo;
    machsym_result first_error = MACHSYM_OK;
    machsym_result other = MACHSYM_OK;
    bool is_any_read = false;
    for (uint32_t i = 0; ms_file_slice(file, i, &count, &slice, &offset); i++) {
        if (file->lacks != MACHSYM_OK)
            return ms_file_fail_head(file, offset, err);
        machsym_result result =
            ms_file_peek(slice, file->io.read != NULL, offset, &mo, first_error == MACHSYM_OK ? err : NULL);
        if (result == MACHSYM_ERR_UNSUPPORTED && ms_file_is_unasked(&mo, arch, uuid)) {
            other = result;
            continue;
        }
        if (result != MACHSYM_OK) {
            first_error = result;
            if (slice.len == 0 && lost != NULL)
                *lost = offset;
            continue;
        }
        is_any_read = true;
        if (uuid != NULL && !ms_file_same_uuid(&mo.slice, uuid))
            continue;
        uuid_seen = true;
        bool exact = arch == NULL || ms_str_is(ms_str_from_c(arch), mo.slice.arch);
        bool similar = !exact && ms_str_is(ms_str_from_c(arch), "arm64e") &&
                       ms_str_is(ms_str_from_c(mo.slice.arch), "arm64");
        if (!exact && !(similar && !by_name))
            continue;
        if (exact && arch != NULL && by_name)
            continue; /* the first of equals */
        by_name = by_name || (exact && arch != NULL);
        matches++;
        *out = mo;
    }
    if (count == 0)
        return ms_fail(err, MACHSYM_ERR_DAMAGED, "a fat file without slices", "fat header", 4);
    if (matches == 0 && first_error != MACHSYM_OK)
        return first_error;
    if (!is_any_read && other != MACHSYM_OK)
        return other;
    if (matches == 0 && ms_file_has_more(file->bytes))
        return ms_fail(err, MACHSYM_ERR_LIMIT,
                       "no slice of those looked at, and slices past MACHSYM_MAX_SLICES are left out",
                       "fat header", 4);
    if (matches == 0 && uuid != NULL && !uuid_seen)
        return ms_fail(err, MACHSYM_ERR_UUID, "the file has no slice with this UUID", "", 0);
    if (matches == 0)
        return ms_fail(err, MACHSYM_ERR_ARCH, "the file has no slice for this architecture", "", 0);
    if (matches > 1 && arch == NULL && uuid == NULL)
        return ms_fail(err, MACHSYM_ERR_AMBIGUOUS,
                       "the file has several slices; name an architecture or a UUID", "", 0);
    return MACHSYM_OK;
}

#ifndef MACHSYM_NO_OS
/* The three texts as one, from the allocator. */
static char *ms_file_text(machsym_str a, const char *b, machsym_str c, const machsym_allocator *allocator)
{
    size_t b_len = strlen(b);
    char *text = (char *)ms_os_take(allocator, a.len + b_len + c.len + 1);
    if (text == NULL)
        return NULL;
    ms_copy(text, a.ptr, a.len);
    ms_copy(text + a.len, b, b_len);
    ms_copy(text + a.len + b_len, c.ptr, c.len);
    text[a.len + b_len + c.len] = 0;
    return text;
}

static machsym_str ms_file_without_slashes(const char *path)
{
    machsym_str text = ms_str_from_c(path);
    while (text.len > 1 && ms_os_is_slash(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* Finds the DWARF file inside a bundle: the file named like the bundle, else the first one. Returns 0 with
 * its path, which comes from the allocator, or with NULL when there is none; else an errno. */
static int ms_file_in_bundle(const char *bundle, const machsym_allocator *allocator, char **found)
{
    machsym_str path = ms_file_without_slashes(bundle);
    machsym_str name = ms_os_base_name(path);
    bool is_file = false;
    if (ms_str_ends(name, ".dSYM"))
        name.len -= 5;
    *found = ms_file_text(path, "/Contents/Resources/DWARF/", name, allocator);
    if (*found == NULL)
        return ENOMEM;
    int code = ms_os_find_file(*found, &is_file);
    if (is_file)
        return 0;
    ms_os_free_text(allocator, *found);
    *found = NULL;
    if (code != 0)
        return code;
    char *folder = ms_file_text(path, "/Contents/Resources/DWARF", ms_str_empty(), allocator);
    if (folder == NULL)
        return ENOMEM;
    code = ms_os_first_file(folder, allocator, found);
    ms_os_free_text(allocator, folder);
    return code;
}

/* Opens the file at input->path, and reads of it what is needed when it is needed. */
static machsym_result ms_file_open_unread(ms_file *input, machsym_error *err)
{
    machsym_io io;
    const machsym_allocator allocator = input->file.allocator;
    int code = ms_os_open_unread(input->path, allocator, &input->file, &io.size);
    if (code != 0)
        return ms_os_fail(err, code);
    io.read = ms_os_read;
    io.user = (void *)(intptr_t)input->file.fd;
    input->reads_itself = true;
    return ms_file_open_reader(&io, allocator, input, err);
}

static machsym_result ms_file_open_path(const char *path, uint32_t flags, ms_file *input, machsym_error *err)
{
    const machsym_allocator allocator = input->file.allocator;
    int code;
    if (ms_os_is_folder(path)) {
        code = ms_file_in_bundle(path, &allocator, &input->path);
        if (code != 0)
            return ms_os_fail(err, code);
        if (input->path == NULL)
            return ms_fail(
                err, MACHSYM_ERR_IO,
                "a folder without Contents/Resources/DWARF/FILE in it; name a Mach-O file or a .dSYM", "", 0);
    } else {
        input->path = ms_file_text(ms_str_from_c(path), "", ms_str_empty(), &allocator);
        if (input->path == NULL)
            return ms_fail_memory(err);
    }
    if (!ms_OS_MAPS && (flags & MACHSYM_OPEN_COPY) == 0)
        return ms_file_open_unread(input, err);
    code = ms_os_map(input->path, (flags & MACHSYM_OPEN_COPY) != 0, allocator, &input->file);
    if (code != 0)
        return ms_os_fail(err, code);
    input->bytes = ms_span_make(input->file.ptr, input->file.len);
    return MACHSYM_OK;
}
#endif

/* Opens a path, or takes the caller's bytes, whatever they are. */
static machsym_result ms_file_take(const char *path, machsym_bytes bytes, const machsym_io *io,
                                   uint32_t flags, machsym_allocator allocator, ms_file *input,
                                   machsym_error *err)
{
    ms_zero(input, sizeof *input);
#ifndef MACHSYM_NO_OS
    input->file.allocator = allocator;
#endif
    machsym_result result = MACHSYM_OK;
    if (bytes.ptr != NULL)
        input->bytes = ms_span_make(bytes.ptr, bytes.len);
    else if (io != NULL && io->read != NULL)
        result = ms_file_open_reader(io, allocator, input, err);
#ifndef MACHSYM_NO_OS
    else if (path != NULL)
        result = ms_file_open_path(path, flags, input, err);
#endif
    else
        return ms_fail(err, MACHSYM_ERR_ARGUMENT, "neither a path nor bytes to open", "", 0);
    (void)path;
    (void)flags;
    (void)allocator;
    if (result != MACHSYM_OK)
        ms_file_close(input);
    return result;
}

static bool ms_file_is_mach(ms_span bytes)
{
    ms_rd rd = ms_rd_make(bytes);
    uint32_t magic = ms_rd_be32(&rd);
    return (magic == ms_FAT_MAGIC_32 && !ms_file_is_java(bytes)) || magic == ms_FAT_MAGIC_64 ||
           magic == ms_MH_MAGIC || magic == ms_MH_MAGIC_64 || magic == ms_MH_CIGAM || magic == ms_MH_CIGAM_64;
}

/* Opens a path, or takes the caller's bytes, if they are a Mach-O file or a shared cache. */
static machsym_result ms_file_open(const char *path, machsym_bytes bytes, const machsym_io *io,
                                   uint32_t flags, machsym_allocator allocator, ms_file *input,
                                   machsym_error *err)
{
    machsym_result result = ms_file_take(path, bytes, io, flags, allocator, input, err);
    if (result != MACHSYM_OK)
        return result;
    bool is_known = ms_file_is_mach(input->bytes) || (ms_DC_IS_READ != 0 && ms_dc_is(input->bytes));
    result = is_known ? MACHSYM_OK : ms_file_refuse(input->bytes, err);
    if (result != MACHSYM_OK)
        ms_file_close(input);
    return result;
}

/* Takes the only slice of a shared cache. Returns how many there are. */
static size_t ms_file_list_cache(const ms_file *input, machsym_allocator allocator, machsym_slice *slices,
                                 size_t cap, machsym_error *err)
{
    ms_arena arena = ms_arena_make(allocator);
    ms_dc dc;
    ms_mo mo;
    bool ok = ms_dc_open(&dc, input->bytes, &arena);
    if (ok)
        ms_mo_describe_cache(&mo, &dc);
    ms_fail(err, ok ? MACHSYM_OK : MACHSYM_ERR_DAMAGED,
            ok ? "no error" : "the shared cache ends inside its header", ok ? "" : "cache header", 0);
    if (ok && cap > 0) {
        slices[0] = mo.slice;
        slices[0].size = input->io.read != NULL ? input->io.size : input->bytes.len;
    }
    ms_arena_free(&arena);
    return ok;
}

/* Lists the slices of what the descriptor names: fills up to cap. Returns how many there are. */
static size_t ms_file_list_slices(const machsym_open_desc *desc, machsym_allocator allocator,
                                  machsym_slice *slices, size_t cap, machsym_error *err)
{
    ms_file input;
    ms_span slice;
    uint64_t offset;
    uint32_t count = 0;
    size_t listed = 0;
    machsym_error first = {MACHSYM_OK, 0, "no error", "", 0};
    if (ms_file_open(desc->path, desc->bytes, &desc->io, desc->flags, allocator, &input, err) != MACHSYM_OK)
        return 0;
    if (ms_DC_IS_READ != 0 && ms_dc_is(input.bytes)) {
        listed = ms_file_list_cache(&input, allocator, slices, cap, err);
        ms_file_close(&input);
        return listed;
    }
    for (uint32_t i = 0; ms_file_slice(&input, i, &count, &slice, &offset); i++) {
        ms_mo mo;
        machsym_error why;
        machsym_result result = input.lacks == MACHSYM_OK
                                    ? ms_file_peek(slice, input.io.read != NULL, offset, &mo, &why)
                                    : ms_file_fail_head(&input, offset, &why);
        if (result != MACHSYM_OK) {
            if (first.code == MACHSYM_OK || first.code == MACHSYM_ERR_UNSUPPORTED)
                first = why;
            continue;
        }
        if (listed < cap)
            slices[listed] = mo.slice;
        listed++;
    }
    bool is_damaged = first.code != MACHSYM_OK && first.code != MACHSYM_ERR_UNSUPPORTED;
    if (!is_damaged && ms_file_has_more(input.bytes))
        ms_fail(&first, MACHSYM_ERR_LIMIT, "slices past MACHSYM_MAX_SLICES are left out", "fat header", 4);
    if (count == 0)
        ms_fail(err, MACHSYM_ERR_DAMAGED, "a fat file without slices", "fat header", 4);
    else if (listed > 0 && first.code == MACHSYM_ERR_UNSUPPORTED)
        ms_fail(err, MACHSYM_OK, first.what, first.where, first.offset); /* it is whole: no damage */
    else if (err != NULL)
        *err = first;
    ms_file_close(&input);
    return listed;
}

#endif /* ms_ROOM_macho_files */
