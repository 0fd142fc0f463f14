/* What is in archives (tool/files/archive.h), of all kinds and with every field that a writer may leave out or add. tests/members/archives.py
 * makes them; the truth is what was put there, as Python's zipfile, tarfile and gzip, llvm-ar and GNU's ar and tar read it. SEED=... for
 * other ones. */
#include "test.h"

#include "../report/base/text.h"
#include "../tool/base/readfile.h"
#include "../tool/files/archive.h"

#include <sys/stat.h>
#include <unistd.h>

enum { MEMBERS = 64 };

/* What the list says of one archive. */
typedef struct told {
    text path;
    text whole;
    size_t count;
    text names[MEMBERS];
    text contents[MEMBERS];
} told;

static char folder[] = "/tmp/test_archive.XXXXXX";

static void join(text *path, machsym_str name)
{
    path->len = 0;
    text_c(path, folder);
    text_c(path, "/made/");
    text_str(path, name);
}

static machsym_str take_field(machsym_str *line)
{
    size_t len = str_find(*line, "\t");
    machsym_str field = {line->ptr, len};
    size_t skip = len < line->len ? len + 1 : len;
    line->ptr += skip;
    line->len -= skip;
    return field;
}

static void put_hex(text *out, machsym_str hex)
{
    for (size_t i = 0; i + 1 < hex.len; i += 2) {
        char digits[3] = {hex.ptr[i], hex.ptr[i + 1], 0};
        text_char(out, (char)strtoul(digits, NULL, 16));
    }
}

static machsym_str str_of(const text *t)
{
    return str_make(t->v, t->len);
}

/* The first bytes of a member: as many as are asked for, and no others, after what the text had. */
static void check_begin(const archive *a, const archive_member *member, const text *want, uint64_t max)
{
    machsym_error err;
    text got = {0};
    text_c(&got, "before");
    CHECK(archive_read(a, member, max, &got, &err));
    size_t len = max < want->len ? (size_t)max : want->len;
    CHECK_EQ(got.len, 6 + len);
    CHECK(got.len == 6 + len && memcmp(got.v, "before", 6) == 0 && memcmp(got.v + 6, want->v, len) == 0);
    text_free(&got);
}

static void check_member(const archive *a, const archive_member *member, const text *want)
{
    static const uint64_t firsts[] = {0, 1, 28, 512, 65536};
    size_t last = want->len > 0 ? want->len - 1 : 0;
    CHECK_EQ(member->size, want->len);
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
        check_begin(a, member, want, firsts[i]);
    check_begin(a, member, want, last);
    check_begin(a, member, want, (uint64_t)want->len + 1);
    check_begin(a, member, want, UINT64_MAX);
}

/* Of the names that begin so and go on, the first in the order of their bytes; NULL when there is none. */
static const text *first_below(const told *t, machsym_str begin)
{
    const text *first = NULL;
    for (size_t i = 0; i < t->count; i++) {
        const text *name = &t->names[i];
        if (name->len <= begin.len || memcmp(name->v, begin.ptr, begin.len) != 0)
            continue;
        size_t len = first != NULL && first->len < name->len ? first->len : name->len;
        int order = first != NULL ? memcmp(name->v, first->v, len) : -1;
        if (order < 0 || (order == 0 && name->len < first->len))
            first = name;
    }
    return first;
}

static void check_names(const archive *a, const told *t)
{
    for (size_t i = 0; i < t->count; i++) {
        machsym_str name = str_of(&t->names[i]);
        const archive_member *found = archive_find(a, name);
        CHECK(found != NULL && str_equal(found->name, name));
        for (size_t len = 0; len <= name.len; len++) {
            machsym_str begin = {name.ptr, len};
            const text *want = first_below(t, begin);
            const archive_member *below = archive_find_below(a, begin);
            CHECK((below == NULL) == (want == NULL));
            CHECK(below == NULL || want == NULL || str_equal(below->name, str_of(want)));
        }
        name.len--;
        bool is_other = false;
        for (size_t j = 0; j < t->count; j++)
            is_other |= str_equal(str_of(&t->names[j]), name);
        CHECK((archive_find(a, name) != NULL) == is_other);
    }
}

static void check_archive(archive *a, const told *t)
{
    CHECK(a != NULL);
    if (a == NULL)
        return;
    CHECK_EQ(archive_count(a), t->count);
    for (size_t i = 0; i < t->count && i < archive_count(a); i++) {
        const archive_member *member = archive_at(a, i);
        CHECK(str_equal(member->name, str_of(&t->names[i])));
        check_member(a, member, &t->contents[i]);
    }
    check_names(a, t);
    archive_close(a);
}

/* A file by its name, its bytes, and the bytes that were read ahead. */
static void check_told(told *t)
{
    machsym_error err;
    test_begin();
    check_archive(archive_open(text_z(&t->path), &err), t);
    CHECK(file_read(&t->whole, text_z(&t->path)) == NULL);
    machsym_bytes bytes = {t->whole.v, t->whole.len};
    bool has_own_name = t->path.len > 3 && strcmp(t->path.v + t->path.len - 3, ".gz") == 0;
    archive *a = archive_open_bytes(bytes, &err);
    if (has_own_name && a != NULL)
        archive_close(a);
    else
        check_archive(a, t);
    a = archive_open_text(t->path.v, &t->whole, &err);
    CHECK(t->whole.len == 0 && t->whole.v == NULL);
    check_archive(a, t);
    test_end(t->path.v);
}

static void forget(told *t)
{
    for (size_t i = 0; i < t->count; i++) {
        text_free(&t->names[i]);
        text_free(&t->contents[i]);
    }
    text_free(&t->path);
    text_free(&t->whole);
    memset(t, 0, sizeof *t);
}

static void check_refused(machsym_str name, machsym_str why)
{
    machsym_error err;
    text path = {0};
    join(&path, name);
    archive *a = archive_open(text_z(&path), &err);
    bool says = a == NULL && err.code != MACHSYM_OK && str_find(str_c(err.what), why.ptr) < strlen(err.what);
    if (!says)
        printf("%s: %s\n", path.v, a != NULL ? "opens" : err.what);
    CHECK(says);
    if (a != NULL)
        archive_close(a);
    text_free(&path);
}

/* A member of an archive that opens cannot be read. */
static void check_damaged(const told *t, machsym_str name, const char *why)
{
    machsym_error err;
    text got = {0};
    archive *a = archive_open(t->path.v, &err);
    const archive_member *member = a != NULL ? archive_find(a, name) : NULL;
    CHECK(member != NULL && !archive_read(a, member, UINT64_MAX, &got, &err) &&
          strstr(err.what, why) != NULL);
    if (a != NULL)
        archive_close(a);
    text_free(&got);
}

static void check_not_one(machsym_str name)
{
    machsym_error err;
    text path = {0};
    join(&path, name);
    CHECK(archive_open(text_z(&path), &err) == NULL && err.code == MACHSYM_OK);
    text_free(&path);
}

/* What an archive may become, to the byte. */
static void check_bomb(machsym_str name, uint64_t most)
{
    machsym_error err;
    text path = {0};
    join(&path, name);
    archive *a = archive_open(text_z(&path), &err);
    CHECK(a != NULL && !archive_is_bomb(a, most) && archive_is_bomb(a, most + 1) && !archive_is_bomb(a, 0));
    if (a != NULL)
        archive_close(a);
    text_free(&path);
}

static void add_member(told *t, machsym_str hex, machsym_str file)
{
    text path = {0};
    join(&path, file);
    CHECK(t->count < MEMBERS);
    put_hex(&t->names[t->count], hex);
    text_room(&t->contents[t->count], 1);
    CHECK(file_read(&t->contents[t->count++], text_z(&path)) == NULL);
    text_free(&path);
}

static void check_list(text *list)
{
    machsym_str rest = {list->v, list->len};
    machsym_str line;
    told t;
    memset(&t, 0, sizeof t);
    bool is_open = false;
    while (str_take_line(&rest, &line)) {
        char kind = line.ptr[0];
        take_field(&line);
        machsym_str name = take_field(&line);
        machsym_str other = take_field(&line);
        char text_of[128];
        snprintf(text_of, sizeof text_of, "%.*s", (int)other.len, other.ptr);
        if (kind != 'M' && kind != 'D' && is_open)
            check_told(&t);
        if (kind != 'M' && kind != 'D') {
            forget(&t);
            is_open = kind == 'A';
        }
        switch (kind) {
        case 'A': join(&t.path, name); break;
        case 'M': add_member(&t, name, other); break;
        case 'E': check_refused(name, str_c(text_of)); break;
        case 'D': {
            text real = {0};
            put_hex(&real, name);
            text_z(&t.path);
            check_damaged(&t, str_of(&real), text_of);
            text_free(&real);
            is_open = false;
            break;
        }
        case 'N': check_not_one(name); break;
        case 'B': check_bomb(name, strtoull(text_of, NULL, 10)); break;
        default: CHECK(false);
        }
    }
    if (is_open)
        check_told(&t);
    forget(&t);
}

int main(void)
{
    char command[256];
    text list = {0};
    text path = {0};
    const char *seed = getenv("SEED");
    if (system("command -v python3 >/dev/null") != 0) {
        test_leave_out("archives by chance", "it needs python3");
        return test_done();
    }
    CHECK(mkdtemp(folder) != NULL);
    snprintf(command, sizeof command,
             "PYTHONDONTWRITEBYTECODE=1 python3 tests/members/archives.py %s/made %.40s", folder,
             seed != NULL ? seed : "1");
    CHECK(system(command) == 0);
    join(&path, str_c("list"));
    CHECK(file_read(&list, text_z(&path)) == NULL);
    check_list(&list);
    CHECK(test_passed > 200);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
    text_free(&list);
    text_free(&path);
    return test_done();
}
