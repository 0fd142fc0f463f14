/* See archive.h. */
#include "archive.h"
#include "../../report/base/memory.h"
#include "../base/posix.h"
#include "../base/readfile.h"
#include "../base/say.h"
#include "mail.h"
#include "zstd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef enum archive_kind {
    KIND_ZIP,
    KIND_TAR,
    KIND_GZIP,
    KIND_ZSTD,
    KIND_BZIP2,
    KIND_XZ,
    KIND_MAIL,
    KIND_AR,
    KIND_FAT,
    KIND_THIN
} archive_kind;

/* A hard link: another name of a member. */
typedef struct tar_link {
    machsym_str name;
    machsym_str target;
    size_t at; /* of the member */
} tar_link;

struct archive {
    archive_kind kind;
    const char *path; /* while it is opened; NULL: bytes */
    int fd;           /* -1: all of it is in memory */
    const uint8_t *ptr;
    uint64_t size;
    uint64_t file_size; /* before gzip became what it holds */
    text own;           /* the file, when it was taken */
    text content;       /* what ptr shows of a .tar.gz and its like */
    text directory;
    uint64_t shift; /* bytes before a zip, which its offsets do not count */
    pool names;
    machsym_str folder; /* that a thin library's members lie below; empty: it has none */
    archive_member *v;
    const archive_member **by_name; /* in the order of their names */
    size_t count;
    size_t cap;
    tar_link *links; /* hard links of a tar */
    size_t link_count;
    size_t link_cap;
};

enum {
    ZIP_LOCAL = 0x04034b50,
    ZIP_CENTRAL = 0x02014b50,
    ZIP_END = 0x06054b50,
    ZIP_END_64 = 0x06064b50,
    ZIP_LOCATOR_64 = 0x07064b50,
    ZIP_END_SIZE = 22,
    ZIP_LOCATOR_SIZE = 20,
    ZIP_CENTRAL_SIZE = 46,
    ZIP_LOCAL_SIZE = 30,
    ZIP_ENCRYPTED = 1,
    ZIP_STORED = 0, /* methods: APPNOTE.TXT 4.4.5 */
    ZIP_DEFLATED = 8,
    ZIP_ZSTD = 93,
    ZIP_ZSTD_ROOM = 1 << 17, /* of a block: RFC 8878 3.1.1.2.4 */
    TAR_BLOCK = 512,
    AR_HEADER = 60,
    FAT_ARCH = 20,
    FAT_MAX = 40, /* slices; a Java class, which has the same magic, has 45 and more there */
    GZIP_HEADER = 10,
    GZIP_FIRST_ROOM = 1 << 16
};

/* ---- Bytes ---- */

static bool archive_fail(machsym_error *err, machsym_result code, const char *what, const char *where,
                         uint64_t offset)
{
    err->code = code;
    err->os_errno = 0;
    err->what = what;
    err->where = where;
    err->offset = offset;
    return false;
}

static bool archive_damaged(machsym_error *err, const char *what, const char *where, uint64_t offset)
{
    return archive_fail(err, MACHSYM_ERR_DAMAGED, what, where, offset);
}

static uint16_t archive_get16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t archive_get32(const uint8_t *p)
{
    return (uint32_t)archive_get16(p) | (uint32_t)archive_get16(p + 2) << 16;
}

static uint32_t archive_get_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint64_t archive_get64(const uint8_t *p)
{
    return (uint64_t)archive_get32(p) | (uint64_t)archive_get32(p + 4) << 32;
}

/* Says that the system failed to read a file, if it did: what was not read is no sign of another kind of
 * file. */
static void archive_say_fault(const char *path)
{
    machsym_error err = {MACHSYM_ERR_IO, errno, "cannot be read", "", 0};
    if (path != NULL && posix_is_fault(errno))
        say_fault(path, &err);
}

/* Appends bytes of the file. Returns false when it has not as many, or cannot be read. */
static bool archive_read_at(const archive *a, uint64_t off, uint64_t len, text *out)
{
    if (off > a->size || len > a->size - off || len > SIZE_MAX / 2)
        return false;
    char *to = text_room(out, (size_t)len + 1);
    if (a->fd < 0) {
        if (len != 0)
            memcpy(to, a->ptr + off, (size_t)len);
        out->len += (size_t)len;
        return true;
    }
    if (lseek(a->fd, (off_t)off, SEEK_SET) < 0) {
        archive_say_fault(a->path);
        return false;
    }
    for (uint64_t done = 0; done < len;) {
        size_t step = len - done < 1 << 30 ? (size_t)(len - done) : (size_t)1 << 30;
        ssize_t got = read(a->fd, to + done, (unsigned)step);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            archive_say_fault(a->path);
        if (got <= 0)
            return false;
        done += (uint64_t)got;
    }
    out->len += (size_t)len;
    return true;
}

static bool archive_str_ends(machsym_str str, const char *suffix)
{
    size_t len = strlen(suffix);
    return str.len > len && memcmp(str.ptr + str.len - len, suffix, len) == 0;
}

/* CRC-32 as zip and gzip have it (RFC 1952 8), four bits at a time. */
static uint32_t archive_crc_of(const char *ptr, size_t len)
{
    static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                       0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    uint32_t crc = ~(uint32_t)0;
    for (size_t i = 0; i < len; i++) {
        crc ^= (uint8_t)ptr[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

/* Whether sizes are those of a bomb, or of a lie. */
static bool archive_would_be_bomb(uint64_t packed, uint64_t size)
{
    return size > ARCHIVE_MAX_RATIO_AHEAD && (size - ARCHIVE_MAX_RATIO_AHEAD) / ARCHIVE_MAX_RATIO > packed;
}

static archive_member *archive_add_member(archive *a, machsym_error *err)
{
    if (a->count == ARCHIVE_MAX_MEMBERS) {
        archive_fail(err, MACHSYM_ERR_LIMIT,
                     "the archive has more than a million members; unpack it and name what you need",
                     "archive", 0);
        return NULL;
    }
    a->v = mem_room(a->v, a->count, &a->cap, sizeof *a->v);
    archive_member *member = &a->v[a->count++];
    memset(member, 0, sizeof *member);
    return member;
}

/* ---- Zip (APPNOTE.TXT 4.3) ---- */

/* Where a zip's central directory lies. */
typedef struct zip_end {
    uint64_t at; /* of what follows the directory */
    uint64_t off;
    uint64_t size;
    uint64_t count;
} zip_end;

/* The end record: the last one whose comment ends where the file does. */
static bool archive_find_end(const archive *a, zip_end *end, machsym_error *err)
{
    text tail = {0};
    uint64_t len = a->size < ZIP_END_SIZE + 0xffff ? a->size : ZIP_END_SIZE + 0xffff;
    bool found = false;
    if (!archive_read_at(a, a->size - len, len, &tail)) {
        text_free(&tail);
        return archive_damaged(err, "the archive cannot be read to its end", "zip", a->size - len);
    }
    const uint8_t *v = (const uint8_t *)tail.v;
    for (uint64_t i = len < ZIP_END_SIZE ? 0 : len - ZIP_END_SIZE + 1; i > 0 && !found; i--) {
        const uint8_t *p = v + i - 1;
        if (archive_get32(p) != ZIP_END || archive_get16(p + 20) != len - (i - 1) - ZIP_END_SIZE)
            continue;
        found = true;
        end->at = a->size - len + i - 1;
        end->count = archive_get16(p + 10);
        end->size = archive_get32(p + 12);
        end->off = archive_get32(p + 16);
    }
    text_free(&tail);
    return found ||
           archive_damaged(err, "the zip has no end record: it is cut short; copy it again", "zip", a->size);
}

/* The end record of zip64, if there is one: its numbers have 64 bits. */
static bool archive_find_end_64(const archive *a, zip_end *end, machsym_error *err)
{
    text record = {0};
    bool ok = true;
    if (end->at >= ZIP_LOCATOR_SIZE &&
        archive_read_at(a, end->at - ZIP_LOCATOR_SIZE, ZIP_LOCATOR_SIZE, &record) &&
        archive_get32((const uint8_t *)record.v) == ZIP_LOCATOR_64) {
        uint64_t at = archive_get64((const uint8_t *)record.v + 8);
        record.len = 0;
        const uint8_t *p;
        /* without bytes before the zip it lies where the locator says; else right before the locator */
        ok = archive_read_at(a, at, 56, &record) && archive_get32((const uint8_t *)record.v) == ZIP_END_64;
        if (!ok && end->at >= ZIP_LOCATOR_SIZE + 56) {
            at = end->at - ZIP_LOCATOR_SIZE - 56;
            record.len = 0;
            ok =
                archive_read_at(a, at, 56, &record) && archive_get32((const uint8_t *)record.v) == ZIP_END_64;
        }
        p = (const uint8_t *)record.v;
        if (ok) {
            end->count = archive_get64(p + 32);
            end->size = archive_get64(p + 40);
            end->off = archive_get64(p + 48);
            end->at = at;
        } else {
            archive_damaged(err, "the zip64 end record is not where its locator says", "zip", at);
        }
    }
    text_free(&record);
    return ok;
}

/* Takes the 64-bit numbers of a member whose fields are full (APPNOTE.TXT 4.5.3). */
static bool archive_take_zip64(archive_member *member, const uint8_t *extra, size_t len)
{
    bool size = member->size == 0xffffffff;
    bool packed = member->packed == 0xffffffff;
    bool at = member->at == 0xffffffff;
    while (len >= 4 && (size || packed || at)) {
        size_t field = archive_get16(extra + 2);
        if (field > len - 4)
            return false;
        if (archive_get16(extra) == 1) {
            const uint8_t *p = extra + 4;
            if (field < (size ? 8u : 0u) + (packed ? 8u : 0u) + (at ? 8u : 0u))
                return false;
            if (size)
                member->size = archive_get64(p);
            p += size ? 8 : 0;
            if (packed)
                member->packed = archive_get64(p);
            p += packed ? 8 : 0;
            if (at)
                member->at = archive_get64(p);
            return true;
        }
        extra += 4 + field;
        len -= 4 + field;
    }
    return true; /* a file of just that size */
}

static bool archive_open_zip(archive *a, machsym_error *err)
{
    zip_end end = {0};
    if (!archive_find_end(a, &end, err) || !archive_find_end_64(a, &end, err))
        return false;
    if (end.size > end.at || end.size > ARCHIVE_MAX_DIRECTORY)
        return archive_damaged(err, "the zip's central directory is larger than the zip, or than 256 MB",
                               "zip", end.at);
    uint64_t from = end.at - end.size;
    if (end.off > from)
        return archive_damaged(err, "the zip's central directory is not where its end record says", "zip",
                               end.at);
    a->shift = from - end.off;
    if (!archive_read_at(a, from, end.size, &a->directory))
        return archive_damaged(err, "the zip's central directory cannot be read", "zip", from);
    const uint8_t *v = (const uint8_t *)a->directory.v;
    uint64_t at = 0;
    for (uint64_t i = 0; i < end.count; i++) {
        const uint8_t *p = v + at;
        if (end.size - at < ZIP_CENTRAL_SIZE || archive_get32(p) != ZIP_CENTRAL)
            return archive_damaged(err,
                                   "the zip's central directory has fewer members than its end record says",
                                   "central directory", from + at);
        uint64_t rest = (uint64_t)archive_get16(p + 28) + archive_get16(p + 30) + archive_get16(p + 32);
        if (end.size - at - ZIP_CENTRAL_SIZE < rest)
            return archive_damaged(err, "a name runs past the zip's central directory", "central directory",
                                   from + at);
        archive_member *member = archive_add_member(a, err);
        if (member == NULL)
            return false;
        member->flags = archive_get16(p + 8);
        member->method = archive_get16(p + 10);
        member->crc = archive_get32(p + 16);
        member->packed = archive_get32(p + 20);
        member->size = archive_get32(p + 24);
        member->name = str_make((const char *)p + ZIP_CENTRAL_SIZE, archive_get16(p + 28));
        member->at = archive_get32(p + 42);
        if (!archive_take_zip64(member, p + ZIP_CENTRAL_SIZE + member->name.len, archive_get16(p + 30)))
            return archive_damaged(err, "a member lacks its 64-bit sizes", "central directory", from + at);
        at += ZIP_CENTRAL_SIZE + rest;
    }
    return true;
}

/* Where the contents of a zip's member begin. The header before them must tell of the same member. */
static bool archive_find_contents(const archive *a, const archive_member *member, uint64_t *at,
                                  machsym_error *err)
{
    text head = {0};
    uint64_t off = member->at + a->shift;
    if (member->at > a->size || !archive_read_at(a, off, ZIP_LOCAL_SIZE, &head) ||
        archive_get32((const uint8_t *)head.v) != ZIP_LOCAL) {
        text_free(&head);
        return archive_damaged(err, "there is no member where the zip's central directory says", "zip member",
                               off);
    }
    size_t name_len = archive_get16((const uint8_t *)head.v + 26);
    uint64_t rest = (uint64_t)name_len + archive_get16((const uint8_t *)head.v + 28);
    uint16_t method = archive_get16((const uint8_t *)head.v + 8);
    *at = off + ZIP_LOCAL_SIZE + rest;
    head.len = 0;
    bool same = method == member->method && archive_read_at(a, off + ZIP_LOCAL_SIZE, name_len, &head) &&
                str_equal(str_make(head.v, head.len), member->name);
    text_free(&head);
    if (!same)
        return archive_damaged(err, "the member is another one than the zip's central directory says",
                               "zip member", off);
    if (*at > a->size || member->packed > a->size - *at)
        return archive_damaged(err, "the member runs past the end of the zip", "zip member", off);
    return true;
}

/* ---- Contents ---- */

static bool archive_say_inflate(machsym_result result, uint64_t at, size_t used, machsym_error *err)
{
    if (result == MACHSYM_ERR_LIMIT)
        return archive_damaged(err, "the member has more bytes than the archive says", "zip member",
                               at + used);
    return archive_damaged(err, "the compressed bytes are damaged or cut short; copy the archive again",
                           "zip member", at + used);
}

/* Appends the first bytes of a deflate stream in the file. */
static bool archive_inflate_at(const archive *a, uint64_t at, const archive_member *member, uint64_t max,
                               text *out, machsym_error *err)
{
    text packed = {0};
    uint64_t wanted = member->size < max ? member->size : max;
    /* if only the beginning of a member is wanted, only that is read */
    uint64_t some =
        wanted < member->size && wanted + 65536 < member->packed ? wanted + 65536 : member->packed;
    size_t len;
    size_t used;
    if (!archive_read_at(a, at, some, &packed)) {
        text_free(&packed);
        return archive_damaged(err, "the member cannot be read", "zip member", at);
    }
    machsym_bytes in = {packed.v, packed.len};
    char *to = text_room(out, (size_t)wanted + 1);
    machsym_error unused;
    machsym_result result =
        machsym_inflate(MACHSYM_DEFLATE_RAW, in, to, (size_t)wanted, &len, &used, &unused);
    text_free(&packed);
    out->len += len;
    bool ok = result == MACHSYM_OK ? len == wanted : wanted < member->size && len == wanted;
    return ok ||
           (result == MACHSYM_OK
                ? archive_damaged(err, "the member has fewer bytes than the archive says", "zip member", at)
                : archive_say_inflate(result, at, used, err));
}

/* Appends the first bytes of a member that zstd compressed. */
static bool archive_unzstd_at(const archive *a, uint64_t at, const archive_member *member, uint64_t wanted,
                              text *out, machsym_error *err)
{
    text packed = {0};
    size_t from = out->len;
    size_t used = 0;
    if (!archive_read_at(a, at, member->packed, &packed)) {
        text_free(&packed);
        return archive_damaged(err, "the member cannot be read", "zip member", at);
    }
    machsym_bytes in = {packed.v, packed.len};
    bool is_whole = wanted == member->size;
    /* with room for one block more, damage is not taken for a member that is too long */
    zstd_end end = is_whole ? zstd_decode(in, wanted + ZIP_ZSTD_ROOM, out, &used)
                            : zstd_decode_begin(in, (size_t)wanted, out, &used);
    size_t len = out->len - from;
    text_free(&packed);
    if (end == ZSTD_DICTIONARY)
        return archive_fail(err, MACHSYM_ERR_UNSUPPORTED,
                            "the member was compressed with a dictionary; unpack it first", "zip member", at);
    if (end == ZSTD_FULL || (end == ZSTD_DONE && len > wanted))
        return archive_say_inflate(MACHSYM_ERR_LIMIT, at, used, err);
    if (end != ZSTD_DONE)
        return archive_say_inflate(MACHSYM_ERR_DAMAGED, at, used, err);
    return len == wanted ||
           archive_damaged(err, "the member has fewer bytes than the archive says", "zip member", at);
}

/* The path of a thin library's member; NULL when it leads out of the library's folder, or nowhere. From
 * malloc. */
static char *archive_find_outside(const archive *a, const archive_member *member)
{
    text path = {0};
    text_str(&path, a->folder);
    char *folder = realpath(text_z(&path), NULL);
    text_char(&path, '/');
    text_str(&path, member->name);
    char *real = realpath(text_z(&path), NULL);
    size_t len = folder != NULL ? strlen(folder) : 0;
    if (len > 0 && posix_is_slash(folder[len - 1])) /* the root */
        len--;
    bool is_inside =
        folder != NULL && real != NULL && strncmp(real, folder, len) == 0 && posix_is_slash(real[len]);
    text_free(&path);
    free(folder);
    if (is_inside)
        return real;
    free(real);
    return NULL;
}

/* Appends the first bytes of a thin library's member, which is a file below its folder. */
static bool archive_read_outside(const archive *a, const archive_member *member, uint64_t max, text *out,
                                 machsym_error *err)
{
    const char *where = "static library";
    struct stat st;
    archive file;
    memset(&file, 0, sizeof file);
    if (a->folder.len == 0)
        return archive_fail(
            err, MACHSYM_ERR_UNSUPPORTED,
            "a thin static library in an archive: its members are files beside it; unpack the archive", where,
            0);
    char *path = archive_find_outside(a, member);
    file.fd = path != NULL && stat(path, &st) == 0 && S_ISREG(st.st_mode)
                  ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                  : -1;
    free(path);
    if (file.fd < 0)
        return archive_fail(
            err, MACHSYM_ERR_IO,
            "the member of a thin static library is no file below the library's folder that can be "
            "read; name the file itself",
            where, 0);
    file.size = (uint64_t)st.st_size;
    bool is_same = file.size == member->size;
    bool ok = is_same && archive_read_at(&file, 0, file.size < max ? file.size : max, out);
    close(file.fd);
    if (!is_same)
        return archive_damaged(
            err,
            "the member's file has another size than the thin static library says; name the file "
            "itself, or make the library again",
            where, 0);
    return ok || archive_fail(err, MACHSYM_ERR_IO, "the member's file cannot be read to its end", where, 0);
}

bool archive_read(const archive *a, const archive_member *member, uint64_t max, text *out, machsym_error *err)
{
    if (a->kind == KIND_THIN)
        return archive_read_outside(a, member, max, out, err);
    uint64_t at = member->at;
    size_t from = out->len;
    uint64_t wanted = member->size < max ? member->size : max;
    if (a->kind == KIND_ZIP && (member->flags & ZIP_ENCRYPTED) != 0)
        return archive_fail(err, MACHSYM_ERR_UNSUPPORTED, "the member is encrypted; unpack it first",
                            "zip member", at);
    if (a->kind == KIND_ZIP && member->method != ZIP_STORED && member->method != ZIP_DEFLATED &&
        member->method != ZIP_ZSTD)
        return archive_fail(err, MACHSYM_ERR_UNSUPPORTED,
                            "the member is compressed in another way than deflate or zstd; unpack it first",
                            "zip member", at);
    if (wanted > ARCHIVE_MAX_BYTES || wanted > SIZE_MAX / 4 || archive_would_be_bomb(member->packed, wanted))
        return archive_fail(
            err, MACHSYM_ERR_LIMIT,
            "the member would become more than 256 times its size in the archive, or more than 8 GB; if that "
            "is right, unpack it first",
            "archive member", at);
    if (a->kind == KIND_ZIP && !archive_find_contents(a, member, &at, err))
        return false;
    if (member->method == ZIP_DEFLATED) {
        if (!archive_inflate_at(a, at, member, max, out, err))
            return false;
    } else if (member->method == ZIP_ZSTD) {
        if (!archive_unzstd_at(a, at, member, wanted, out, err))
            return false;
    } else if (member->packed != member->size) {
        return archive_damaged(err, "the two sizes of a stored member differ", "zip member", at);
    } else if (!archive_read_at(a, at, wanted, out)) {
        return archive_damaged(err, "the member runs past the end of the archive", "archive member", at);
    }
    if (a->kind == KIND_ZIP && wanted == member->size &&
        archive_crc_of(out->v + from, out->len - from) != member->crc)
        return archive_damaged(err, "the member's checksum differs; copy the archive again", "zip member",
                               at);
    return true;
}

/* ---- Tar (POSIX pax and ustar, GNU) ---- */

/* A number of a header: octal digits, or in GNU's way bytes after a first bit. Returns false at others. */
static bool archive_tar_number(const uint8_t *p, size_t len, uint64_t *out)
{
    *out = 0;
    if ((p[0] & 0x80) != 0) {
        for (size_t i = 0; i < len; i++) {
            if (*out >> 55 != 0)
                return false;
            *out = *out << 8 | (i == 0 ? p[0] & 0x7fu : p[i]);
        }
        return true;
    }
    size_t i = 0;
    while (i < len && p[i] == ' ')
        i++;
    for (; i < len && p[i] >= '0' && p[i] <= '7'; i++)
        *out = *out << 3 | (uint64_t)(p[i] - '0');
    return i == len || p[i] == 0 || p[i] == ' ';
}

static bool archive_is_tar_header(const uint8_t *p)
{
    uint64_t sum = 0;
    uint64_t wanted;
    for (size_t i = 0; i < TAR_BLOCK; i++)
        sum += i >= 148 && i < 156 ? ' ' : p[i];
    return archive_tar_number(p + 148, 8, &wanted) && sum == wanted;
}

static machsym_str archive_tar_field(const uint8_t *p, size_t len)
{
    const void *end = memchr(p, 0, len);
    return str_make((const char *)p, end != NULL ? (size_t)((const uint8_t *)end - p) : len);
}

/* What extended headers say of the member after them. */
typedef struct tar_extra {
    text name;
    text target; /* of a link */
    uint64_t size;
    bool has_size;
} tar_extra;

/* Reads records "LENGTH KEY=VALUE\n" (pax 3). */
static void archive_take_pax(tar_extra *extra, machsym_str body)
{
    while (body.len > 0) {
        size_t len = 0;
        size_t i = 0;
        for (; i < body.len && body.ptr[i] >= '0' && body.ptr[i] <= '9' && len < body.len; i++)
            len = len * 10 + (size_t)(body.ptr[i] - '0');
        if (len <= i || len > body.len || body.ptr[i] != ' ')
            return;
        machsym_str record = str_make(body.ptr + i + 1, len - i - 1);
        if (record.len > 0)
            record.len--; /* the newline */
        if (str_starts(record, "path=")) {
            extra->name.len = 0;
            text_add(&extra->name, record.ptr + 5, record.len - 5);
        } else if (str_starts(record, "linkpath=")) {
            extra->target.len = 0;
            text_add(&extra->target, record.ptr + 9, record.len - 9);
        } else if (str_starts(record, "size=")) {
            extra->has_size = true;
            extra->size = 0;
            for (size_t j = 5; j < record.len && record.ptr[j] >= '0' && record.ptr[j] <= '9'; j++)
                extra->size = extra->size < UINT64_MAX / 16
                                  ? extra->size * 10 + (uint64_t)(record.ptr[j] - '0')
                                  : UINT64_MAX / 16;
        }
        body.ptr += len;
        body.len -= len;
    }
}

/* The name of what a header is of. */
static machsym_str archive_tar_name(archive *a, const uint8_t *p, const tar_extra *extra)
{
    text name = {0};
    if (extra->name.len == 0 && memcmp(p + 257, "ustar", 6) == 0 && p[345] != 0) {
        text_str(&name, archive_tar_field(p + 345, 155));
        text_char(&name, '/');
    }
    if (extra->name.len == 0)
        text_str(&name, archive_tar_field(p, 100));
    else
        text_add(&name, extra->name.v, extra->name.len);
    machsym_str kept = pool_copy(&a->names, name.v, name.len);
    text_free(&name);
    return kept;
}

static bool archive_add_tar_member(archive *a, const uint8_t *p, const tar_extra *extra, uint64_t at,
                                   uint64_t size, machsym_error *err)
{
    archive_member *member = archive_add_member(a, err);
    if (member == NULL)
        return false;
    member->name = archive_tar_name(a, p, extra);
    member->at = at;
    member->packed = member->size = size;
    return true;
}

static bool archive_add_tar_link(archive *a, const uint8_t *p, const tar_extra *extra, machsym_error *err)
{
    machsym_str target = extra->target.len > 0 ? str_make(extra->target.v, extra->target.len)
                                               : archive_tar_field(p + 157, 100);
    if (a->link_count == ARCHIVE_MAX_MEMBERS)
        return archive_fail(
            err, MACHSYM_ERR_LIMIT,
            "the archive has more than a million hard links; unpack it and name what you need", "tar", 0);
    a->links = mem_room(a->links, a->link_count, &a->link_cap, sizeof *a->links);
    a->links[a->link_count++] =
        (tar_link){archive_tar_name(a, p, extra), pool_copy(&a->names, target.ptr, target.len), 0};
    return true;
}

/* Whether a header stands at an offset: then nothing lies between the one before and this one. */
static bool archive_is_header_at(const archive *a, uint64_t at)
{
    text head = {0};
    bool is = a->size - at >= TAR_BLOCK && archive_read_at(a, at, TAR_BLOCK, &head) &&
              archive_is_tar_header((const uint8_t *)head.v);
    text_free(&head);
    return is;
}

/* One header, and the member after it. *at moves to the next one. */
static bool archive_take_tar(archive *a, const uint8_t *p, uint64_t *at, tar_extra *extra, machsym_error *err)
{
    uint64_t size;
    char type = (char)p[156];
    if (!archive_is_tar_header(p) || !archive_tar_number(p + 124, 12, &size))
        return archive_damaged(err, "a tar header's checksum or size is wrong; copy the archive again", "tar",
                               *at);
    bool is_file = type == 0 || type == '0' || type == '7';
    if (is_file && extra->has_size)
        size = extra->size;
    uint64_t from = *at + TAR_BLOCK;
    if (type == '1' && (size > a->size - from || archive_is_header_at(a, from)))
        size = 0; /* some writers state the size of the file that a link leads to */
    if (size > a->size - from)
        return archive_damaged(err, "a member runs past the end of the tar", "tar", *at);
    if (type == 'L' || type == 'x' || type == 'K') {
        text body = {0};
        bool ok = size <= ARCHIVE_MAX_TAR_NAME && archive_read_at(a, from, size, &body);
        if (ok && type == 'x')
            archive_take_pax(extra, str_make(body.v, body.len));
        if (ok && type == 'L') {
            extra->name.len = 0;
            text_str(&extra->name, archive_tar_field((const uint8_t *)body.v, body.len));
        }
        if (ok && type == 'K') {
            extra->target.len = 0;
            text_str(&extra->target, archive_tar_field((const uint8_t *)body.v, body.len));
        }
        text_free(&body);
        if (!ok)
            return archive_damaged(err, "a tar header for a long name is longer than 64 KB", "tar", *at);
    } else {
        if (is_file && !archive_add_tar_member(a, p, extra, from, size, err))
            return false;
        if (type == '1' && !archive_add_tar_link(a, p, extra, err))
            return false;
        extra->name.len = extra->target.len = 0;
        extra->has_size = false;
    }
    uint64_t blocks = size / TAR_BLOCK + (size % TAR_BLOCK != 0);
    *at = from + (blocks * TAR_BLOCK < a->size - from ? blocks * TAR_BLOCK : a->size - from);
    return true;
}

static bool archive_open_tar(archive *a, machsym_error *err)
{
    static const uint8_t zeros[TAR_BLOCK];
    tar_extra extra;
    text head = {0};
    bool ok = true;
    memset(&extra, 0, sizeof extra);
    for (uint64_t at = 0; ok && at < a->size;) {
        head.len = 0;
        ok = archive_read_at(a, at, TAR_BLOCK, &head) ||
             archive_damaged(err, "the tar is cut short", "tar", at);
        if (ok && memcmp(head.v, zeros, TAR_BLOCK) == 0)
            break;
        ok = ok && archive_take_tar(a, (const uint8_t *)head.v, &at, &extra, err);
    }
    text_free(&head);
    text_free(&extra.name);
    text_free(&extra.target);
    return ok;
}

/* ---- Gzip (RFC 1952) ---- */

static const char bomb[] =
    "the file would become more than 256 times its size; if that is right, unpack it first";

/* The length of the header; 0 when there is no header. */
static size_t archive_gzip_header(const uint8_t *p, size_t len)
{
    size_t at = GZIP_HEADER;
    if (len < GZIP_HEADER || p[0] != 0x1f || p[1] != 0x8b || p[2] != 8 || (p[3] & 0xe0) != 0)
        return 0;
    if ((p[3] & 4) != 0) /* extra */
        at += len - at >= 2 ? 2u + archive_get16(p + at) : len;
    for (unsigned bit = 8; bit <= 16; bit *= 2) { /* name, comment */
        const void *end = (p[3] & bit) != 0 && at < len ? memchr(p + at, 0, len - at) : NULL;
        if ((p[3] & bit) != 0)
            at = end != NULL ? (size_t)((const uint8_t *)end - p) + 1 : len + 1;
    }
    at += (p[3] & 2) != 0 ? 2 : 0;
    return at <= len ? at : 0;
}

/* Decompresses one member of a gzip file, which says only after it how many bytes it has, and only the low
 * 32 bits of that. *used: the bytes that it takes. */
static bool archive_gunzip_one(const uint8_t *p, size_t len, uint64_t at, text *out, size_t *used,
                               machsym_error *err)
{
    size_t from = out->len;
    size_t head = archive_gzip_header(p, len);
    if (head == 0)
        return archive_damaged(err, "not a gzip member, or its header is cut short", "gzip", at);
    machsym_bytes in = {p + head, len - head};
    uint64_t most = (uint64_t)len * ARCHIVE_MAX_RATIO + ARCHIVE_MAX_RATIO_AHEAD;
    uint64_t room = len >= 4 && archive_get32(p + len - 4) > GZIP_FIRST_ROOM ? archive_get32(p + len - 4)
                                                                             : GZIP_FIRST_ROOM;
    for (;; room *= 2) { /* the room is right at once where the file has one member */
        size_t got;
        machsym_error why;
        room = room < most ? room : most;
        if (room > SIZE_MAX / 4)
            return archive_fail(err, MACHSYM_ERR_LIMIT, "the contents do not fit into memory", "gzip", at);
        char *to = text_room(out, (size_t)room + 1);
        machsym_result result = machsym_inflate(MACHSYM_DEFLATE_RAW, in, to, (size_t)room, &got, used, &why);
        if (result == MACHSYM_ERR_LIMIT && room < most)
            continue;
        if (result == MACHSYM_ERR_LIMIT)
            return archive_fail(err, MACHSYM_ERR_LIMIT, bomb, "gzip", at);
        if (result != MACHSYM_OK || in.len - *used < 8)
            return archive_damaged(err, "the compressed bytes are damaged or cut short; copy the file again",
                                   "gzip", at + head + *used);
        out->len += got;
        const uint8_t *tail = p + head + *used;
        if (archive_get32(tail) != archive_crc_of(out->v + from, got) ||
            archive_get32(tail + 4) != (uint32_t)got)
            return archive_damaged(err, "the checksum differs; copy the file again", "gzip",
                                   at + head + *used);
        *used += head + 8;
        return true;
    }
}

/* Decompresses a gzip file as a whole, of one or several members. Zeros may follow. */
static bool archive_gunzip(const archive *a, text *out, machsym_error *err)
{
    text packed = {0};
    bool ok = a->size < ARCHIVE_MAX_BYTES && archive_read_at(a, 0, a->size, &packed);
    if (!ok)
        archive_fail(err, MACHSYM_ERR_IO, "the file cannot be read into memory", "gzip", 0);
    const uint8_t *p = (const uint8_t *)packed.v;
    for (size_t at = 0; ok && at < packed.len;) {
        size_t used = 0;
        if (at > 0 && p[at] == 0) {
            at++;
            continue;
        }
        ok = archive_gunzip_one(p + at, packed.len - at, at, out, &used, err);
        at += used;
        if (ok && archive_would_be_bomb(at, out->len))
            ok = archive_fail(err, MACHSYM_ERR_LIMIT, bomb, "gzip", at);
    }
    text_free(&packed);
    return ok;
}

/* ---- Zstandard ---- */

static bool archive_unzstd(const archive *a, text *out, machsym_error *err)
{
    text packed = {0};
    size_t at = 0;
    zstd_end end = ZSTD_DONE;
    bool ok = a->size < ARCHIVE_MAX_BYTES && archive_read_at(a, 0, a->size, &packed);
    if (!ok)
        archive_fail(err, MACHSYM_ERR_IO, "the file cannot be read into memory", "zstd", 0);
    machsym_bytes in = {packed.v, packed.len};
    uint64_t most = a->size * ARCHIVE_MAX_RATIO + ARCHIVE_MAX_RATIO_AHEAD;
    if (ok)
        end = zstd_decode(in, most < ARCHIVE_MAX_BYTES ? most : ARCHIVE_MAX_BYTES, out, &at);
    text_free(&packed);
    switch (end) {
    case ZSTD_DONE: return ok;
    case ZSTD_FULL: return archive_fail(err, MACHSYM_ERR_LIMIT, bomb, "zstd", at);
    case ZSTD_DICTIONARY:
        return archive_fail(err, MACHSYM_ERR_UNSUPPORTED,
                            "it was made with a dictionary; unpack it with `zstd -d -D DICTIONARY`", "zstd",
                            at);
    case ZSTD_SHORT:
    case ZSTD_BAD: break;
    }
    return archive_damaged(err, "the compressed bytes are damaged or cut short; copy the file again", "zstd",
                           at);
}

/* ---- Static libraries (ar.h) ---- */

static bool archive_ar_number(const uint8_t *p, size_t len, uint64_t *out)
{
    size_t i = 0;
    for (*out = 0; i < len && p[i] >= '0' && p[i] <= '9'; i++)
        *out = *out * 10 + (uint64_t)(p[i] - '0');
    return i > 0;
}

/* The name at a place in the table of long names; false when it does not end. */
static bool archive_take_long_name(const text *names, uint64_t at, machsym_str *name)
{
    size_t left = names->len - (size_t)at;
    *name = str_make(names->v + at, left < ARCHIVE_MAX_AR_NAME ? left : ARCHIVE_MAX_AR_NAME);
    name->len = str_find(*name, "\n");
    return name->len < ARCHIVE_MAX_AR_NAME;
}

/* Whether the contents of a thin library's member lie in a file of their own: those of its tables do not,
 * which are called "/", "//" and "/SYM64/". */
static bool archive_is_outside(const archive *a, const uint8_t *header)
{
    bool is_table = header[0] == '/' && (header[1] < '0' || header[1] > '9');
    return a->kind == KIND_THIN && !is_table;
}

/* Names stand in the header, after it (BSD), or in a table of long names (GNU). The library lies from at to
 * stop; folder goes before its members' names. */
static bool archive_open_ar(archive *a, uint64_t at, uint64_t stop, const char *folder, machsym_error *err)
{
    text head = {0};
    text long_names = {0};
    bool ok = true;
    for (at += 8; ok && stop - at >= AR_HEADER;) {
        uint64_t size;
        uint64_t len = 0;
        head.len = 0;
        ok = archive_read_at(a, at, AR_HEADER, &head);
        const uint8_t *p = (const uint8_t *)head.v;
        uint64_t from = at + AR_HEADER;
        ok = ok && memcmp(p + 58, "`\n", 2) == 0 && archive_ar_number(p + 48, 10, &size);
        uint64_t here = !ok || archive_is_outside(a, p) ? 0 : size;
        if (!ok || here > stop - from) {
            ok = archive_damaged(err, "a member's header is wrong, or it runs past the end", "static library",
                                 at);
            break;
        }
        at = from + here + (here & 1 && here < stop - from);
        machsym_str name = str_trim(str_make((const char *)p, 16));
        text bsd = {0};
        if (str_starts(name, "#1/") && archive_ar_number(p + 3, 13, &len) && len <= size &&
            archive_read_at(a, from, len, &bsd))
            name = archive_tar_field((const uint8_t *)bsd.v, bsd.len);
        else if (str_is(name, "//") && size < ARCHIVE_MAX_DIRECTORY)
            archive_read_at(a, from, size, &long_names);
        else if (name.len > 1 && name.ptr[0] == '/' && archive_ar_number(p + 1, 15, &size) &&
                 size < long_names.len)
            ok = archive_take_long_name(&long_names, size, &name) ||
                 archive_damaged(err, "a name in the table of long names has more than 1023 bytes",
                                 "static library", from - AR_HEADER);
        if (name.len > 1 && name.ptr[name.len - 1] == '/')
            name.len--;
        bool is_table = name.len == 0 || name.ptr[0] == '/' || str_starts(name, "__.SYMDEF");
        archive_member *member = is_table || !ok ? NULL : archive_add_member(a, err);
        ok = ok && (is_table || member != NULL);
        if (member != NULL) {
            text full = {0};
            text_c(&full, folder);
            text_str(&full, name);
            member->name = pool_copy(&a->names, full.v, full.len);
            text_free(&full);
            member->at = from + len;
            archive_ar_number(p + 48, 10, &member->size);
            member->size -= len;
            member->packed = member->size;
        }
        text_free(&bsd);
    }
    text_free(&head);
    text_free(&long_names);
    return ok;
}

/* A fat file of static libraries: those of an architecture have its name as their folder. */
static bool archive_open_fat(archive *a, machsym_error *err)
{
    text head = {0};
    bool ok = archive_read_at(a, 0, 8 + FAT_ARCH, &head);
    uint32_t count = ok ? archive_get_be32((const uint8_t *)head.v + 4) : 0;
    for (uint32_t i = 0; ok && i < count && i < FAT_MAX; i++) {
        head.len = 0;
        ok = archive_read_at(a, 8 + (uint64_t)i * FAT_ARCH, FAT_ARCH, &head);
        const uint8_t *p = (const uint8_t *)head.v;
        uint32_t off = ok ? archive_get_be32(p + 8) : 0;
        uint32_t size = ok ? archive_get_be32(p + 12) : 0;
        ok = ok && off >= 8 && off <= a->size && size >= 8 && size <= a->size - off;
        if (!ok)
            archive_damaged(err, "a slice of the fat file lies past its end", "fat header",
                            8 + (uint64_t)i * FAT_ARCH);
        text folder = {0};
        text_c(&folder, machsym_arch_name(ok ? archive_get_be32(p) : 0, ok ? archive_get_be32(p + 4) : 0));
        text_char(&folder, '/');
        ok = ok && archive_open_ar(a, off, (uint64_t)off + size, text_z(&folder), err);
        text_free(&folder);
    }
    text_free(&head);
    return ok;
}

/* ---- Opening ---- */

/* Whether the first slice of a fat file is a static library. */
static bool archive_is_fat_library(const archive *a, const text *head)
{
    text first = {0};
    const uint8_t *p = (const uint8_t *)head->v;
    bool is = head->len >= 8 + FAT_ARCH && archive_get_be32(p) == 0xcafebabe &&
              archive_get_be32(p + 4) - 1 < FAT_MAX &&
              archive_read_at(a, archive_get_be32(p + 16), 8, &first) && memcmp(first.v, "!<arch>\n", 8) == 0;
    text_free(&first);
    return is;
}

/* Whether the file is a mail with parts that are encoded. Others are read as they are. */
static bool archive_is_mail(const archive *a)
{
    text mail = {0};
    bool is = archive_read_at(a, 0, a->size < MAIL_HEAD ? a->size : MAIL_HEAD, &mail) &&
              mail_is(str_make(mail.v, mail.len));
    uint64_t left = is && a->size < ARCHIVE_MAX_BYTES ? a->size - mail.len : 0;
    is = is && archive_read_at(a, mail.len, left, &mail) && mail_is_encoded(str_make(mail.v, mail.len));
    text_free(&mail);
    return is;
}

/* Whether the file is an archive, by its first bytes. */
static bool archive_find_kind(archive *a)
{
    text head = {0};
    bool found = true;
    archive_read_at(a, 0, a->size < TAR_BLOCK ? a->size : TAR_BLOCK, &head);
    const uint8_t *p = (const uint8_t *)head.v;
    if (head.len >= 4 && (archive_get32(p) == ZIP_LOCAL || archive_get32(p) == ZIP_END))
        a->kind = KIND_ZIP;
    else if (archive_gzip_header(p, head.len) != 0 || (head.len >= 4 && p[0] == 0x1f && p[1] == 0x8b))
        a->kind = KIND_GZIP;
    else if (zstd_is((machsym_bytes){head.v, head.len}))
        a->kind = KIND_ZSTD;
    else if (head.len >= 10 && memcmp(p, "BZh", 3) == 0 && memcmp(p + 4, "1AY&SY", 6) == 0)
        a->kind = KIND_BZIP2;
    else if (head.len >= 6 && memcmp(p,
                                     "\xfd"
                                     "7zXZ\0",
                                     6) == 0)
        a->kind = KIND_XZ;
    else if (head.len >= 8 && memcmp(p, "!<arch>\n", 8) == 0)
        a->kind = KIND_AR;
    else if (head.len >= 8 && memcmp(p, "!<thin>\n", 8) == 0) /* of GNU's ar and llvm-ar */
        a->kind = KIND_THIN;
    else if (archive_is_fat_library(a, &head))
        a->kind = KIND_FAT;
    else if (head.len == TAR_BLOCK && p[0] != 0 && archive_is_tar_header(p))
        a->kind = KIND_TAR;
    else if (mail_may_begin(str_make(head.v, head.len)) && archive_is_mail(a))
        a->kind = KIND_MAIL;
    else
        found = false;
    text_free(&head);
    return found;
}

/* What is compressed as a whole becomes what it holds: a tar, or one file. */
static bool archive_open_packed(archive *a, const char *ending, machsym_error *err)
{
    archive_kind kind = a->kind;
    if (!(kind == KIND_ZSTD ? archive_unzstd : archive_gunzip)(a, &a->content, err))
        return false;
    if (a->fd >= 0)
        close(a->fd);
    a->fd = -1;
    a->ptr = (const uint8_t *)a->content.v;
    a->size = a->content.len;
    if (archive_find_kind(a) && a->kind == KIND_TAR)
        return archive_open_tar(a, err);
    a->kind = kind;
    archive_member *member = archive_add_member(a, err);
    machsym_str name = str_base_name(str_c(a->path != NULL ? a->path : "contents"));
    member->name =
        pool_copy(&a->names, name.ptr, name.len - (archive_str_ends(name, ending) ? strlen(ending) : 0));
    member->packed = member->size = a->size;
    return true;
}

/* What a part of a mail is added to; *err is set when it cannot be. */
typedef struct mail_taker {
    archive *a;
    machsym_error *err;
} mail_taker;

/* Adds a part. A second one of a name lies in a folder: each can be named. */
static bool archive_add_part(void *user, machsym_str name, size_t at, size_t len)
{
    const mail_taker *taker = user;
    archive *a = taker->a;
    text full = {0};
    size_t same = 1;
    for (size_t i = 0; i < a->count; i++)
        same += str_equal(str_base_name(a->v[i].name), name);
    if (a->count == MAIL_MAX_PARTS)
        return archive_fail(taker->err, MACHSYM_ERR_LIMIT,
                            "the mail has more than 4096 parts; save what you need of it", "mail", at);
    archive_member *member = archive_add_member(a, taker->err);
    if (member == NULL)
        return false;
    if (same > 1) {
        text_dec(&full, same);
        text_char(&full, '/');
    }
    text_str(&full, name);
    member->name = pool_copy(&a->names, full.v, full.len);
    member->at = at;
    member->packed = member->size = len;
    text_free(&full);
    return true;
}

/* A mail becomes what its parts hold. */
static bool archive_open_mail(archive *a, machsym_error *err)
{
    mail_taker taker = {a, err};
    text mail = {0};
    if (!archive_read_at(a, 0, a->size, &mail))
        return archive_fail(err, MACHSYM_ERR_IO, "the file cannot be read into memory", "mail", 0);
    bool is_whole = mail_take_apart(str_make(mail.v, mail.len), &a->content, archive_add_part, &taker);
    text_free(&mail);
    if (!is_whole && err->code == MACHSYM_OK)
        archive_damaged(err, "the mail is cut short: no line ends its parts; save it again", "mail", a->size);
    if (a->fd >= 0)
        close(a->fd);
    a->fd = -1;
    a->ptr = (const uint8_t *)a->content.v;
    a->size = a->content.len;
    return is_whole;
}

static void archive_set_folder(archive *a)
{
    machsym_str path = str_c(a->path);
    path.len -= str_base_name(path).len;
    a->folder = path.len == 0 ? str_c(".") : pool_copy(&a->names, path.ptr, path.len);
}

static bool archive_open_kind(archive *a, machsym_error *err)
{
    switch (a->kind) {
    case KIND_ZIP: return archive_open_zip(a, err);
    case KIND_TAR: return archive_open_tar(a, err);
    case KIND_GZIP: return archive_open_packed(a, ".gz", err);
    case KIND_ZSTD: return archive_open_packed(a, ".zst", err);
    case KIND_BZIP2:
        return archive_fail(err, MACHSYM_ERR_UNSUPPORTED,
                            "compressed by bzip2, which is not read here; unpack it with `bunzip2`", "bzip2",
                            0);
    case KIND_XZ:
        return archive_fail(err, MACHSYM_ERR_UNSUPPORTED,
                            "compressed by xz, which is not read here; unpack it with `unxz`", "xz", 0);
    case KIND_MAIL: return archive_open_mail(a, err);
    case KIND_FAT: return archive_open_fat(a, err);
    case KIND_THIN:
        if (a->path != NULL)
            archive_set_folder(a);
        return archive_open_ar(a, 0, a->size, "", err);
    default: return archive_open_ar(a, 0, a->size, "", err);
    }
}

static int archive_compare_names(machsym_str x, machsym_str y)
{
    size_t len = x.len < y.len ? x.len : y.len;
    int order = len > 0 ? memcmp(x.ptr, y.ptr, len) : 0;
    return order != 0 ? order : x.len < y.len ? -1 : x.len > y.len;
}

static int archive_by_name(const void *a, const void *b)
{
    const archive_member *x = *(const archive_member *const *)a;
    const archive_member *y = *(const archive_member *const *)b;
    int order = archive_compare_names(x->name, y->name);
    return order != 0 ? order : x < y ? -1 : x > y;
}

static void archive_sort_names(archive *a)
{
    if (a->count == 0)
        return;
    a->by_name = mem_alloc(a->count * sizeof *a->by_name);
    for (size_t i = 0; i < a->count; i++)
        a->by_name[i] = &a->v[i];
    qsort(a->by_name, a->count, sizeof *a->by_name, archive_by_name);
}

static bool archive_name_is_before(const void *element, const void *name)
{
    const archive_member *const *member = element;
    return archive_compare_names((*member)->name, *(const machsym_str *)name) < 0;
}

/* Where the first member in the order of names is that is not before one. */
static size_t archive_place_of(const archive *a, machsym_str name)
{
    return mem_lower_bound(a->by_name, a->count, sizeof *a->by_name, &name, archive_name_is_before);
}

const archive_member *archive_find(const archive *a, machsym_str name)
{
    size_t at = archive_place_of(a, name);
    return at < a->count && str_equal(a->by_name[at]->name, name) ? a->by_name[at] : NULL;
}

const archive_member *archive_find_below(const archive *a, machsym_str begin)
{
    size_t at = archive_place_of(a, begin);
    while (at < a->count && str_equal(a->by_name[at]->name, begin)) /* the folder, as `zip -r` has it */
        at++;
    const archive_member *member = at < a->count ? a->by_name[at] : NULL;
    bool is_below =
        member != NULL && member->name.len > begin.len && memcmp(member->name.ptr, begin.ptr, begin.len) == 0;
    return is_below ? member : NULL;
}

/* Whether a name is one that symbols or reports have, in a bundle or by its end. Of others that lead nowhere
 * nothing is reported: tars of build folders are made of parts, and what is asked for may be complete. */
static bool archive_is_wanted_name(machsym_str name)
{
    static const char *const parts[] = {".dSYM/", ".app/", ".framework/", ".xcarchive/"};
    static const char *const ends[] = {".symmap", ".bcsymbolmap", ".crash", ".ips"};
    bool is = false;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        is |= str_find(name, parts[i]) < name.len;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        is |= archive_str_ends(name, ends[i]);
    return is;
}

/* Says of a hard link that it has no contents. */
static void archive_say_link(const archive *a, const tar_link *link, const char *what)
{
    machsym_error err = {MACHSYM_ERR_DAMAGED, 0, what, "", 0};
    text path = {0};
    text_c(&path, a->path != NULL ? a->path : "standard input");
    text_char(&path, '/');
    text_str(&path, link->name);
    say_fault(text_z(&path), &err);
    text_free(&path);
}

/* Makes hard links members of their own, with the bytes of the member that they lead to. All together they
 * may become as much as what is compressed may. Tars name a file first, then links to it, so none leads to a
 * link. Returns false with *err. */
static bool archive_resolve_links(archive *a, machsym_error *err)
{
    size_t count = 0;
    uint64_t sum = 0;
    for (size_t i = 0; i < a->link_count; i++) { /* while nothing is added: members move then */
        const archive_member *target = archive_find(a, a->links[i].target);
        if (target == NULL) {
            if (archive_is_wanted_name(a->links[i].name))
                archive_say_link(a, &a->links[i], "a hard link to a file that is not in the archive");
            continue;
        }
        a->links[count] = a->links[i];
        a->links[count++].at = (size_t)(target - a->v);
        sum += target->size;
    }
    if (archive_would_be_bomb(a->file_size, sum))
        return archive_fail(err, MACHSYM_ERR_LIMIT,
                            "hard links would become more than 256 times the archive's size; unpack it first",
                            "tar", 0);
    for (size_t i = 0; i < count; i++) {
        archive_member *member = archive_add_member(a, err);
        if (member == NULL)
            return false;
        *member = a->v[a->links[i].at];
        member->name = a->links[i].name;
    }
    if (count > 0) {
        free(a->by_name);
        a->by_name = NULL;
        archive_sort_names(a);
    }
    return true;
}

static archive *archive_open_any(archive from, machsym_error *err)
{
    archive_fail(err, MACHSYM_OK, "no error", "", 0);
    if (archive_find_kind(&from)) {
        archive *a = mem_alloc(sizeof *a);
        *a = from;
        bool ok = archive_open_kind(a, err);
        if (ok)
            archive_sort_names(a);
        if (ok && archive_resolve_links(a, err))
            return a;
        archive_close(a);
    } else {
        if (from.fd >= 0)
            close(from.fd);
        text_free(&from.own);
    }
    return NULL;
}

archive *archive_open_bytes(machsym_bytes bytes, machsym_error *err)
{
    archive from;
    memset(&from, 0, sizeof from);
    from.fd = -1;
    from.ptr = bytes.ptr;
    from.size = from.file_size = bytes.len;
    return archive_open_any(from, err);
}

archive *archive_open_text(const char *path, text *content, machsym_error *err)
{
    archive from;
    memset(&from, 0, sizeof from);
    from.fd = -1;
    from.path = path;
    from.own = *content;
    from.ptr = (const uint8_t *)content->v;
    from.size = from.file_size = content->len;
    memset(content, 0, sizeof *content);
    return archive_open_any(from, err);
}

bool archive_is_bomb(const archive *a, uint64_t bytes)
{
    return archive_would_be_bomb(a->file_size, bytes);
}

archive *archive_open(const char *path, machsym_error *err)
{
    archive from;
    struct stat st;
    memset(&from, 0, sizeof from);
    archive_fail(err, MACHSYM_OK, "no error", "", 0);
    if (!file_stat(path, &st) || !S_ISREG(st.st_mode))
        return NULL;
    from.fd = posix_open_to_read(path);
    if (from.fd < 0) {
        archive_say_fault(path);
        return NULL;
    }
    from.path = path;
    from.size = from.file_size = (uint64_t)st.st_size;
    return archive_open_any(from, err);
}

void archive_close(archive *a)
{
    if (a->fd >= 0)
        close(a->fd);
    text_free(&a->own);
    text_free(&a->content);
    text_free(&a->directory);
    pool_free(&a->names);
    free(a->links);
    free(a->by_name);
    free(a->v);
    free(a);
}

size_t archive_count(const archive *a)
{
    return a->count;
}

const archive_member *archive_at(const archive *a, size_t i)
{
    return &a->v[i];
}
