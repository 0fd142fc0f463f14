/* Cuts files short and flips bits in them, and does with each everything that a program could: nothing crashes, hangs or
 * reads past the end. Built with sanitizers it says more; see tests/torture.sh.
 *
 *   build/tests/torture [--cuts=N] [--flips=N] [--seed=N] [--only=VARIANT] [--save=PATH] [FILE ...]
 *
 * Without files: the fixtures, few variants each. A variant is the same on every machine; what fails is named, and --only
 * and --save make it again. */
#include "test.h"
#include "variants.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { SECONDS = 60, FRAMES = 32, ASKED = 48 };

/* What is being done, for the message when it ends badly. */
static const char *now_file = "";
static long now_variant = -1;

static void say_where(void)
{
    char text[512];
    int len = snprintf(text, sizeof text, "torture: %s, --only=%ld\n", now_file, now_variant);
    if (len > 0 && write(2, text, (size_t)len) < 0)
        _exit(1);
}

static void on_signal(int number)
{
    say_where();
    signal(number, SIG_DFL);
    raise(number);
}

#if defined(__clang__) || defined(__GNUC__)
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));
#endif

/* A limit of processor time for each variant; sanitizers tell where they stopped. */
static void watch(void)
{
    struct itimerval limit;
    memset(&limit, 0, sizeof limit);
    limit.it_value.tv_sec = SECONDS;
    setitimer(ITIMER_PROF, &limit, NULL);
}

/* ---- Use ---- */

static unsigned sum; /* of all bytes of answers: they must be there */

static void read_text(machsym_str text)
{
    for (size_t i = 0; i < text.len; i++)
        sum += (uint8_t)text.ptr[i];
}

static void read_path(const machsym_path *path)
{
    char room[64];
    read_text(path->comp_dir);
    read_text(path->dir);
    read_text(path->name);
    sum += (unsigned)machsym_path_join(path, room, sizeof room);
}

static void read_frames(const machsym_frame *frames, size_t count)
{
    for (size_t i = 0; i < count && i < FRAMES; i++) {
        char room[256];
        read_text(frames[i].linkage_name);
        read_text(frames[i].name);
        read_path(&frames[i].file);
        sum += (unsigned)machsym_demangle(frames[i].linkage_name, 0, room, sizeof room);
    }
}

static void iterate(machsym_session *session)
{
    machsym_cursor at[6];
    machsym_function function;
    machsym_line line;
    machsym_symbol symbol;
    machsym_objc objc;
    machsym_object object;
    machsym_session_counts info;
    machsym_str alias;
    memset(at, 0, sizeof at);
    while (machsym_session_next_function(session, &at[0], &function))
        read_text(function.name);
    while (machsym_session_next_line(session, &at[1], &line))
        sum += (unsigned)line.file.name.len;
    while (machsym_session_next_symbol(session, &at[2], &symbol)) {
        machsym_cursor all = {0, 0};
        read_text(symbol.name);
        for (int i = 0; i < 4 && machsym_session_next_alias_at_addr(session, symbol.lo, &all, &alias); i++)
            read_text(alias);
    }
    while (machsym_session_next_name(session, &at[3], &symbol))
        read_text(symbol.name);
    while (machsym_session_next_objc(session, &at[4], &objc))
        read_text(objc.selector);
    while (machsym_session_next_object(session, &at[5], &object))
        read_text(object.path);
    machsym_session_count_all(session, &info);
    sum += info.damaged_units;
}

/* Addresses all over the code, and around symbols. */
static size_t choose_addrs(const machsym_image *image, uint64_t *addrs)
{
    machsym_cursor at = {0, 0};
    machsym_section section;
    size_t count = 0;
    while (machsym_image_next_section(image, &at, &section) && count + 8 <= ASKED) {
        for (uint64_t i = 0; section.is_code && i < 8; i++)
            addrs[count++] = section.addr + section.size / 8 * i + i;
    }
    return count;
}

static void use_map(const machsym_map *map, const uint64_t *addrs, size_t count)
{
    machsym_map_frame holders[FRAMES];
    machsym_frame frames[FRAMES];
    char text[4096];
    machsym_map_info info;
    machsym_map_range range;
    machsym_cursor at = {0, 0};
    machsym_map_get_info(map, &info);
    read_text(info.name);
    for (size_t i = 0; i < count; i++) {
        size_t found = machsym_map_frames_at_addr(map, addrs[i], holders, FRAMES);
        machsym_map_names(map, holders, found < FRAMES ? found : FRAMES, frames, text, sizeof text);
        read_frames(frames, found);
    }
    for (unsigned i = 0; i < 200000 && machsym_map_next(map, &at, &range); i++)
        sum += (unsigned)range.lo;
}

/* Opens the map again with some bits wrong. */
static void flip_map(const machsym_map *map, const uint64_t *addrs, size_t count)
{
    machsym_bytes bytes = machsym_map_bytes(map);
    uint8_t *copy = (uint8_t *)malloc(bytes.len);
    for (int i = 0; i < 4 && copy != NULL; i++) {
        machsym_map *damaged = NULL;
        machsym_map_desc given;
        memset(&given, 0, sizeof given);
        given.bytes.ptr = copy;
        given.bytes.len = bytes.len;
        given.flags = MACHSYM_MAP_UNCHECKED;
        memcpy(copy, bytes.ptr, bytes.len);
        for (int j = 0; j < 8; j++)
            copy[variant_roll(j < 4 && bytes.len > 256 ? 256 : bytes.len)] ^= (uint8_t)(1 << variant_roll(8));
        memcpy(copy, bytes.ptr, 12); /* else nothing opens */
        if (machsym_map_open(&given, &damaged, NULL) == MACHSYM_OK)
            use_map(damaged, addrs, count);
        machsym_map_close(damaged);
    }
    free(copy);
}

static void use_image(const machsym_image *image)
{
    uint64_t addrs[ASKED];
    size_t count = choose_addrs(image, addrs);
    for (int lines = 0; lines < MACHSYM_LINES_COUNT; lines++) {
        machsym_session_desc how;
        machsym_plan_desc plan;
        machsym_session *session = NULL;
        machsym_map *map = NULL;
        machsym_frame frames[FRAMES];
        machsym_explanation why;
        memset(&how, 0, sizeof how);
        how.image = image;
        how.lines = (machsym_lines)lines;
        if (machsym_session_open(&how, &session, NULL) != MACHSYM_OK)
            exit(1);
        for (size_t i = 0; i < count; i++) {
            read_frames(frames, machsym_session_frames_at_addr(session, addrs[i], frames, FRAMES));
            if (lines == 0)
                machsym_session_explain_addr(session, addrs[i], &why);
        }
        if (lines == 0)
            iterate(session);
        machsym_session_close(session);
        memset(&plan, 0, sizeof plan);
        plan.image = image;
        plan.lines = (machsym_lines)lines;
        plan.flags = MACHSYM_MAP_DAMAGED | (lines == 1 ? (uint32_t)MACHSYM_MAP_COLUMNS : 0u);
        if (machsym_map_build(&plan, &map, NULL) == MACHSYM_OK) {
            use_map(map, addrs, count);
            flip_map(map, addrs, count);
        }
        machsym_map_close(map);
    }
}

/* The images of a shared cache; few, as each costs as much as a file. */
static void use_entries(const machsym_image *cache)
{
    machsym_cursor at = {0, 0};
    machsym_entry entry;
    for (unsigned i = 0; i < 2 && machsym_image_next_entry(cache, &at, &entry); i++) {
        char name[256];
        machsym_open_desc desc;
        machsym_image *image = NULL;
        memset(&desc, 0, sizeof desc);
        snprintf(name, sizeof name, "%.*s", (int)(entry.name.len < 255 ? entry.name.len : 255),
                 entry.name.len != 0 ? entry.name.ptr : "");
        desc.from = cache;
        desc.entry = name;
        if (machsym_image_open(&desc, &image, NULL) == MACHSYM_OK)
            use_image(image);
        machsym_image_close(image);
    }
}

/* Opens every slice, as it lies in a file and as it would lie in memory. */
static void use(const uint8_t *ptr, size_t len)
{
    machsym_open_desc desc;
    machsym_slice slices[4];
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = ptr;
    desc.bytes.len = len;
    size_t count = machsym_list_slices(&desc, slices, 4, NULL);
    for (size_t i = 0; i < count && i < 4; i++) {
        machsym_image *image = NULL;
        machsym_image_info info;
        desc.arch = slices[i].arch;
        desc.flags = variant_roll(8) == 0   ? MACHSYM_OPEN_LOADED
                     : variant_roll(8) == 0 ? MACHSYM_OPEN_NO_SYMTAB
                                            : 0;
        if (machsym_image_open(&desc, &image, NULL) != MACHSYM_OK)
            continue;
        machsym_image_get_info(image, &info);
        use_image(image);
        machsym_image_count_damage(image, &info);
        if (info.slice.filetype == 0)
            use_entries(image);
        machsym_image_close(image);
    }
}

/* ---- Variants ---- */

typedef struct options {
    variant_options variants;
    const char *save; /* where to write each variant; NULL: nowhere */
} options;

/* Makes variant number index of a file and uses it. */
static void run_variant(const variant_file *file, long index, const options *o)
{
    size_t len;
    uint8_t *bytes = variant_make(file, index, &o->variants, &len);
    now_variant = index;
    if (o->save != NULL)
        variant_save(o->save, bytes, len);
    watch();
    use(bytes, len);
    free(bytes);
}

static bool is_mach(const variant_file *file)
{
    if (file->len >= 7 && memcmp(file->ptr, "dyld_v1", 7) == 0)
        return true;
    static const uint8_t magics[][4] = {{0xca, 0xfe, 0xba, 0xbe}, {0xca, 0xfe, 0xba, 0xbf},
                                        {0xcf, 0xfa, 0xed, 0xfe}, {0xce, 0xfa, 0xed, 0xfe},
                                        {0xfe, 0xed, 0xfa, 0xce}, {0xfe, 0xed, 0xfa, 0xcf}};
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
        if (file->len >= 4 && memcmp(file->ptr, magics[i], 4) == 0)
            return true;
    }
    return false;
}

static void torture(const char *path, const options *o)
{
    const variant_options *v = &o->variants;
    variant_file file = variant_read(path);
    now_file = path;
    for (long i = 0; is_mach(&file) && i < v->cuts + v->flips; i++) {
        if (v->only < 0 || v->only == i) {
            run_variant(&file, i, o);
            test_count(true);
        }
    }
    free(file.ptr);
}

/* The fixtures of a folder, in any order: a variant depends on its file alone. */
static void torture_fixtures(const options *o)
{
    DIR *dir = opendir("tests/fixtures/bin");
    char path[512];
    struct stat st;
    for (struct dirent *entry = dir != NULL ? readdir(dir) : NULL; entry != NULL; entry = readdir(dir)) {
        snprintf(path, sizeof path, "tests/fixtures/bin/%s", entry->d_name);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
            torture(path, o);
    }
    if (dir != NULL)
        closedir(dir);
}

int main(int argc, char **argv)
{
    options o = {{4, 4, 1, -1}, NULL};
    int files = 0;
    signal(SIGPROF, on_signal);
    signal(SIGSEGV, on_signal);
    signal(SIGBUS, on_signal);
    signal(SIGABRT, on_signal);
#if defined(__clang__) || defined(__GNUC__)
    if (__sanitizer_set_death_callback != NULL)
        __sanitizer_set_death_callback(say_where);
#endif
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--save=", 7) == 0)
            o.save = argv[i] + 7;
        else if (!variant_option(argv[i], &o.variants)) {
            torture(argv[i], &o);
            files++;
        }
    }
    if (files == 0)
        torture_fixtures(&o);
    return test_done();
}
