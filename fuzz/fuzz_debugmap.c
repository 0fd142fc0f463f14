/* Fuzzes debug maps: part 1 is the program with its stabs, the rest an object file or an archive, which
 * stands under every name that the seeds' stabs have. Archives, relocations and moved code run under all of
 * it. Run: build/fuzz/debugmap -dict=fuzz/macho.dict -max_len=40000 fuzz/corpus/debugmap */
#include "mutate_macho.h"

#include <stdio.h>
#include <unistd.h>

static char folder[256]; /* made once, emptied at the end of the process */
static const char *const names[] = {"main.o", "libutil.a"};

static void name_path(char *out, size_t cap, size_t i)
{
    snprintf(out, cap, "%s/%s", folder, names[i]);
}

static void remove_folder(void)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[300];
        name_path(path, sizeof path, i);
        unlink(path);
    }
    rmdir(folder);
}

static void make_folder(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/machsym-fuzz-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL)
        abort();
    atexit(remove_folder);
}

static void jsonframe_object(const bytes *object)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[300];
        name_path(path, sizeof path, i);
        FILE *out = fopen(path, "wb");
        if (out == NULL || fwrite(object->v, 1, object->len, out) != object->len)
            abort();
        fclose(out);
    }
}

static void drive_files(const machsym_session *session)
{
    machsym_cursor at = {0, 0};
    machsym_object_file file;
    while (machsym_session_next_object_file(session, &at, &file)) {
        drive_text(file.path);
        drive_text(file.member);
        if (file.status == MACHSYM_OBJECT_UNTRIED || file.status >= MACHSYM_OBJECT_STATUS_COUNT)
            abort();
    }
}

static void build_map(const machsym_image *image)
{
    machsym_plan_desc how;
    machsym_map *map;
    memset(&how, 0, sizeof how);
    how.image = image;
    how.flags = MACHSYM_MAP_DAMAGED;
    if (machsym_map_build(&how, &map, NULL) == MACHSYM_OK)
        machsym_map_close(map);
}

/* One policy and one cache limit an input, by choice: all of them at once would be slow. */
static void drive_program(const bytes *program, size_t choice)
{
    const char *dir = folder;
    machsym_open_desc desc;
    machsym_image *image;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = program->v;
    desc.bytes.len = program->len;
    desc.oso_dirs = &dir;
    desc.oso_dir_count = 1;
    desc.flags = MACHSYM_OPEN_ANY_TIME;
    if (machsym_image_open(&desc, &image, NULL) != MACHSYM_OK)
        return;
    machsym_session_desc how;
    machsym_session *session;
    memset(&how, 0, sizeof how);
    how.image = image;
    how.lines = (machsym_lines)(choice % MACHSYM_LINES_COUNT);
    how.cache_limit = choice % 2 == 0 ? 1 : 0;
    if (machsym_session_open(&how, &session, NULL) != MACHSYM_OK)
        abort();
    drive_session(session, image);
    drive_files(session);
    machsym_session_close(session);
    if (choice % 5 == 0)
        build_map(image);
    machsym_image_close(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (folder[0] == 0)
        make_folder();
    bytes program = drive_part(&data, &size, false);
    bytes object = drive_part(&data, &size, true);
    if (program.len != 0 && object.len != 0) {
        jsonframe_object(&object);
        drive_program(&program, object.len + program.len);
        if (object.len % 4 == 0)
            drive_file(object.v, object.len, 0);
    }
    bytes_free(&program);
    bytes_free(&object);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    mutation m = mutate_begin(data, size, max, seed);
    size_t choice = mutate_random(&m, 8);
    if (size < 2 || choice == 0)
        return LLVMFuzzerMutate(data, size, max);
    mutate_open_part(&m, choice < 4);
    mutate_file(&m, false);
    mutate_close_part(&m, choice < 4);
    return m.len;
}
