/* What the subcommands share; see tool.h. */
#include "../symbols/source.h"

#include "../files/caches.h"
#include "../files/inside.h"

#include <errno.h>
#include <pthread.h>
#ifdef __linux__
#include <sched.h>
#endif
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ---- Messages ---- */

static _Thread_local text *hearer; /* who hears what this thread says; NULL: standard error */

text *tool_hear(text *by)
{
    text *before = hearer;
    hearer = by;
    return before;
}

static void say(const char *name, const char *format, va_list args)
{
    text line = {0};
    text_c(&line, hearer == NULL ? name : "");
    text_format(&line, format, args);
    text_end_line(&line, 0);
    if (hearer != NULL) {
        text_add(hearer, line.v, line.len);
        text_free(&line);
        return;
    }
    out_flush();
    fwrite(line.v, 1, line.len, stderr);
    text_free(&line);
}

void tool_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("machsym: ", format, args);
    va_end(args);
}

void tool_tell(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("", format, args);
    va_end(args);
}

void mem_is_out(size_t wanted)
{
    fprintf(stderr, "machsym: no memory left (%zu bytes wanted)\n", wanted);
    exit(TOOL_ERROR);
}

void tool_die(const char *what)
{
    tool_hear(NULL); /* nobody hears what was kept for an answer */
    tool_say("%s", what);
    exit(TOOL_ERROR);
}

static const char *error_advice(const machsym_error *err)
{
    bool is_of_archive = err->where != NULL && strcmp(err->where, "zip member") == 0;
    switch (err->code) {
    case MACHSYM_ERR_DAMAGED:
        return is_of_archive && strstr(err->what, "; ") == NULL ? "; copy the archive again" : "";
    case MACHSYM_ERR_FORMAT:
        if (strstr(err->what, "symbol map") != NULL)
            return "; name a .symmap; machsym map build makes one";
        if (strstr(err->what, "holds no report") != NULL)
            return "; name a crash report, or a folder or archive of some";
        return "; name a Mach-O file, a .dSYM or a .symmap";
    case MACHSYM_ERR_ARCH: return "; `machsym info FILE` lists what it holds";
    case MACHSYM_ERR_UUID: return "; `machsym info FILE` lists the UUIDs it holds";
    case MACHSYM_ERR_AMBIGUOUS: return "; choose with -arch NAME or --uuid UUID";
    case MACHSYM_ERR_IO: return strstr(err->what, "FIFO") != NULL ? "; copy what it gives to a file" : "";
    case MACHSYM_ERR_PAIR: return "; --pair is for a dSYM and the binary of the same UUID";
    case MACHSYM_ERR_ARGUMENT:
        if (strstr(err->what, "no images by name") != NULL)
            return "; leave --entry out, or name a kernel collection or a shared cache";
        return strstr(err->what, "no image of this name") != NULL ? "; `machsym info FILE` lists its images"
                                                                  : "";
    default: return "";
    }
}

static atomic_bool met_fault; /* of the system, or memory was out */

void tool_note_fault(void)
{
    met_fault = true;
}

bool tool_has_fault(void)
{
    return met_fault;
}

void tool_say_error(const char *path, const machsym_error *err)
{
    if (err->code == MACHSYM_ERR_MEMORY || (err->code == MACHSYM_ERR_IO && posix_is_fault(err->os_errno)))
        tool_note_fault();
    char where[128] = "";
    if (err->where != NULL && err->where[0] != 0)
        snprintf(where, sizeof where, " (%s, offset %llu)", err->where, (unsigned long long)err->offset);
    if (err->os_errno != 0)
        tool_say("%s: %s: %s", path, err->what, strerror(err->os_errno));
    else
        tool_say("%s: %s%s%s", path, err->what, where, error_advice(err));
}

bool tool_say_slices(const char *path, size_t count, const machsym_error *err)
{
    bool ok = count > 0 && err->code == MACHSYM_OK;
    if (!ok)
        tool_say_error(path, err);
    else if (err->where[0] != 0)
        tool_say("%s: a slice is left out: %s (%s, offset %llu)", path, err->what, err->where,
                 (unsigned long long)err->offset);
    return ok;
}

/* ---- Values of options ---- */

const char *lines_name(machsym_lines lines)
{
    static const char *const names[] = {"atos", "dwarf", "stmt", "people"};
    return (unsigned)lines < MACHSYM_LINES_COUNT ? names[lines] : "?";
}

bool parse_lines(const char *written, machsym_lines *out)
{
    for (unsigned i = 0; i < MACHSYM_LINES_COUNT; i++) {
        if (strcmp(written, lines_name((machsym_lines)i)) == 0) {
            *out = (machsym_lines)i;
            return true;
        }
    }
    return false;
}

bool take_uuid(void *field, const char *value)
{
    uuid_option *to = field;
    to->is_set = parse_uuid(value, &to->uuid);
    if (!to->is_set)
        tool_say("%s is no UUID: these have 32 hexadecimal digits, with or without dashes", value);
    return to->is_set;
}

bool take_lines(void *field, const char *value)
{
    lines_option *to = field;
    to->is_set = parse_lines(value, &to->lines);
    if (!to->is_set)
        tool_say("--lines is one of atos, dwarf, stmt, people, not %s", value);
    return to->is_set;
}

bool take_jobs(void *field, const char *value)
{
    char *end;
    unsigned long jobs = strtoul(value, &end, 10);
    bool ok = value[0] >= '0' && value[0] <= '9' && *end == 0 && jobs > 0 && jobs <= MAX_JOBS;
    if (ok)
        *(unsigned *)field = (unsigned)jobs;
    else
        tool_say("-j wants a number of threads from 1 to %d, not %s", MAX_JOBS, value);
    return ok;
}

/* A container or taskset may leave a process fewer processors than the machine has. */
static long count_processors(void)
{
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
#endif
    return sysconf(_SC_NPROCESSORS_ONLN);
}

size_t tool_threads(unsigned asked, size_t pieces)
{
    long all = asked != 0 ? (long)asked : count_processors();
    size_t most = pieces < MAX_JOBS ? pieces : MAX_JOBS;
    return all < 1 || most < 1 ? 1 : (size_t)all < most ? (size_t)all : most;
}

bool take_full_names(void *field, const char *value)
{
    (void)value;
    *(uint32_t *)field &= ~(uint32_t)MACHSYM_DEMANGLE_SIMPLIFIED;
    return true;
}

bool take_best_line(void *field, const char *value)
{
    (void)value;
    *(uint32_t *)field |= MACHSYM_SESSION_BEST_LINE;
    return true;
}

/* ---- Images ---- */

/* A file of one image, such as a map, has no list of slices. */
static size_t only_slice(const machsym_open_desc *desc, machsym_slice *slice)
{
    machsym_open_desc any = *desc;
    machsym_image *image;
    machsym_image_info info;
    any.uuid = NULL;
    any.flags |= MACHSYM_OPEN_UNCHECKED;
    if (inside_image_open(&any, &image, NULL) != MACHSYM_OK)
        return 0;
    machsym_image_get_info(image, &info);
    *slice = info.slice;
    machsym_image_close(image);
    return 1;
}

static void list_slices(const machsym_open_desc *desc)
{
    machsym_slice *slices;
    text line = {0};
    if (inside_is_container(desc->path) && inside_list(desc->path, &line)) {
        fwrite(line.v, 1, line.len, stderr);
        text_free(&line);
        return;
    }
    size_t count = inside_list_slices(desc, NULL, 0, NULL);
    slices = mem_alloc((count + 1) * sizeof *slices);
    size_t now = inside_list_slices(desc, slices, count, NULL);
    count = now < count ? now : count; /* another file may stand there by now */
    if (count == 0)
        count = only_slice(desc, slices);
    for (size_t i = 0; i < count && i < 64; i++) {
        text_c(&line, "  ");
        text_c(&line, slices[i].arch);
        text_c(&line, "  ");
        if (slices[i].has_uuid)
            text_uuid(&line, &slices[i].uuid);
        else
            text_c(&line, "(no UUID)");
        text_char(&line, '\n');
    }
    fwrite(line.v, 1, line.len, stderr);
    text_free(&line);
    free(slices);
}

static void say_other_uuid(const machsym_open_desc *desc)
{
    text wanted = {0};
    text_uuid(&wanted, desc->uuid);
    tool_say("%s: UUID %s was asked for; the file holds", desc->path != NULL ? desc->path : "standard input",
             text_z(&wanted));
    text_free(&wanted);
}

/* Of one image of many, the path that leads to it. */
static void say_entry_error(const machsym_open_desc *desc, const machsym_error *err)
{
    text path = {0};
    text_c(&path, desc->path != NULL ? desc->path : "standard input");
    text_c(&path, desc->entry[0] == '/' ? "" : "/");
    text_c(&path, desc->entry);
    tool_say_error(text_z(&path), err);
    text_free(&path);
}

/* Whether an architecture has this name, whatever the file holds. */
static bool is_arch(const char *name)
{
    static const uint32_t types[] = {7, 12, 18, 0x01000007, 0x0100000c, 0x01000012, 0x0200000c};
    enum { SUBTYPES = 17 }; /* ARM has the most: 16 is armv7em */
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        for (uint32_t sub = 0; sub < SUBTYPES; sub++) {
            const char *arch = machsym_arch_name(types[i], sub);
            if (arch != NULL && strcmp(arch, name) == 0)
                return true;
        }
    }
    return false;
}

static void say_other_arch(const machsym_open_desc *desc)
{
    const char *path = desc->path != NULL ? desc->path : "standard input";
    if (!is_arch(desc->arch))
        tool_say("%s: no architecture is called %s; choose one of the file's with -arch", path, desc->arch);
    else if (strcmp(options_command(), "atos") == 0) /* as Apple's says it */
        tool_tell("atos cannot load symbols for the file %s for architecture %s.", path, desc->arch);
    else
        tool_say("%s: no slice of architecture %s; choose one of the file's with -arch", path, desc->arch);
}

/* Whether it is the other half that does not open: without it the file does. */
static bool is_of_pair(const machsym_open_desc *desc, const machsym_error *err)
{
    machsym_open_desc alone = *desc;
    machsym_image *image;
    alone.pair_path = NULL;
    if (desc->pair_path == NULL || err->code == MACHSYM_ERR_PAIR ||
        inside_image_open(&alone, &image, NULL) != MACHSYM_OK)
        return false;
    machsym_image_close(image);
    return true;
}

void tool_say_open(const machsym_open_desc *desc, const machsym_error *err)
{
    bool is_cache =
        desc->path != NULL && cache_is_at(desc->path); /* of thousands of images: they are not listed */
    if (is_of_pair(desc, err)) {
        tool_say_error(desc->pair_path, err);
        return;
    }
    if (err->code == MACHSYM_ERR_UUID && desc->uuid != NULL && !is_cache)
        say_other_uuid(desc);
    else if (err->code == MACHSYM_ERR_ARCH && desc->arch != NULL)
        say_other_arch(desc);
    else if (desc->from != NULL && desc->entry != NULL)
        say_entry_error(desc, err);
    else
        tool_say_error(desc->path != NULL ? desc->path : "standard input", err);
    if (!is_cache && (err->code == MACHSYM_ERR_ARCH || err->code == MACHSYM_ERR_AMBIGUOUS ||
                      err->code == MACHSYM_ERR_UUID))
        list_slices(desc);
}

bool tool_refuse_collection(const machsym_image *image)
{
    machsym_image_info info;
    machsym_image_get_info(image, &info);
    bool is_cache = cache_is(image);
    if (info.slice.filetype != 12 /* MH_FILESET */ && !is_cache)
        return false;
    tool_say("%s: a %s; name one of its images with --entry NAME; `machsym info FILE` lists them",
             info.path != NULL ? info.path : "standard input",
             is_cache ? "shared cache" : "kernel collection");
    return true;
}

/* The file that was found damaged. */
static const char *damaged_path(const machsym_image_info *info)
{
    bool is_pair = info->damage.is_cut_short ? info->cut.is_pair : info->damage.is_pair;
    const char *path = is_pair ? info->pair_path : info->path;
    return path != NULL ? path : "standard input";
}

void text_damage(text *t, const machsym_image_info *info)
{
    const machsym_cut *cut = &info->cut;
    if (info->damage_count == 0)
        return;
    text_c(t, damaged_path(info));
    if (info->damage.is_cut_short && cut->missing != 0) {
        text_c(t, ": cut short: at least ");
        text_dec(t, cut->missing);
        text_c(t, cut->missing == 1 ? " byte is missing at its end; " : " bytes are missing at its end; ");
        text_str(t, cut->name);
        text_c(t, ": ");
        text_dec(t, cut->present);
        text_c(t, " of ");
        text_dec(t, cut->size);
        text_c(t, " bytes are there");
    } else {
        text_c(t, info->damage.is_cut_short ? ": cut short: " : ": damaged: ");
        text_c(t, info->damage.what);
        text_c(t, " (");
        text_c(t, info->damage.where);
        text_c(t, ", offset ");
        text_dec(t, info->damage.offset);
        text_char(t, ')');
    }
    if (info->damage.is_misleading)
        text_c(t, "; names and lines may be wrong");
    if (info->damage_count > 1) {
        text_c(t, "; ");
        text_dec(t, info->damage_count);
        text_c(t, " parts of the file are damaged");
    }
}

/* Files of which damage was said, each once. */
static struct {
    pthread_mutex_t lock;
    char **v;
    size_t count;
    size_t cap;
} said = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0};

static bool is_new_to_say(const char *path)
{
    bool is_new = true;
    pthread_mutex_lock(&said.lock);
    for (size_t i = 0; i < said.count && is_new; i++)
        is_new = strcmp(said.v[i], path) != 0;
    if (is_new) {
        said.v = mem_room(said.v, said.count, &said.cap, sizeof *said.v);
        said.v[said.count] = mem_alloc(strlen(path) + 1);
        strcpy(said.v[said.count++], path);
    }
    pthread_mutex_unlock(&said.lock);
    return is_new;
}

static atomic_bool lacked_memory;

void tool_lacked_memory(void)
{
    lacked_memory = true;
}

bool tool_had_memory(const char *output)
{
    if (output == NULL || strcmp(output, "-") == 0 || !lacked_memory)
        return true;
    tool_say("%s: not written: memory ran out", output);
    return false;
}

bool tool_has_lacked_memory(void)
{
    return lacked_memory;
}

static atomic_bool found_damage;

void tool_note_damage(void)
{
    found_damage = true;
}

void tool_say_fault(const char *path, const machsym_error *err)
{
    tool_note_damage();
    if (is_new_to_say(path))
        tool_say_error(path, err);
}

size_t tool_read_begin(const char *path, void *out, size_t len)
{
    int fd = posix_open_to_read(path);
    long got = fd >= 0 ? posix_read(fd, out, len) : -1;
    int failure = got < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    machsym_error err = {MACHSYM_ERR_IO, failure, "cannot be read", "", 0};
    if (posix_is_fault(failure))
        tool_say_fault(path, &err);
    return got > 0 ? (size_t)got : 0;
}

bool tool_stat(const char *path, struct stat *st)
{
    if (stat(path, st) == 0)
        return true;
    int failure = errno;
    machsym_error err = {MACHSYM_ERR_IO, failure, "cannot be read", "", 0};
    if (posix_is_fault(failure))
        tool_say_fault(path, &err);
    errno = failure;
    return false;
}

bool tool_read_info(const machsym_image *image, machsym_image_info *info)
{
    bool ok = machsym_image_read_info(image, info);
    if (!ok)
        tool_lacked_memory();
    return ok;
}

static void say_damage(const machsym_image *image, const machsym_image_info *info)
{
    text t = {0};
    bool lacks_files = cache_lacks_files(image);
    if (info->map != NULL || (info->damage_count == 0 && !lacks_files))
        return;
    tool_note_damage();
    text_damage(&t, info);
    bool is_new = is_new_to_say(damaged_path(info));
    if (is_new && lacks_files)
        cache_say_files(image);
    else if (is_new)
        tool_say("%.*s", (int)t.len, t.v);
    text_free(&t);
}

void tool_say_damage(const machsym_image *image)
{
    machsym_image_info info;
    tool_read_info(image, &info);
    say_damage(image, &info);
}

void tool_say_met_damage(const machsym_image *image)
{
    machsym_image_info info;
    machsym_image_get_info(image, &info);
    if (info.damage_count != 0 || cache_lacks_files(image))
        tool_say_damage(image);
}

void tool_say_lost(const char *path, const machsym_session *session)
{
    machsym_reads reads;
    machsym_session_get_reads(session, &reads);
    if (reads.lost == 0)
        return;
    tool_note_damage();
    path = path != NULL ? path : "standard input";
    if (is_new_to_say(path))
        tool_say("%s: damaged: the map's checksum does not match its bytes, offset %llu; frames or names are "
                 "missing; build it again",
                 path, (unsigned long long)reads.lost_at);
}

machsym_image *tool_open(const machsym_open_desc *desc)
{
    machsym_image *image = tool_open_damaged(desc);
    if (image != NULL)
        tool_say_damage(image);
    return image;
}

machsym_image *tool_open_without_dwarf(const machsym_open_desc *desc)
{
    machsym_image_info info;
    machsym_image *image = tool_open_damaged(desc);
    if (image == NULL)
        return NULL;
    machsym_image_get_info(image, &info);
    say_damage(image, &info);
    return image;
}

machsym_image *tool_open_damaged(const machsym_open_desc *desc)
{
    machsym_image *image;
    machsym_image_info info;
    machsym_error err;
    if (inside_image_open(desc, &image, &err) != MACHSYM_OK) {
        tool_say_open(desc, &err);
        return NULL;
    }
    machsym_image_get_info(image, &info);
    if (info.map == NULL)
        return image;
    tool_say("%s: a symbol map; name the dSYM or binary that it was made of", desc->path);
    machsym_image_close(image);
    return NULL;
}

int tool_end(int status)
{
    if (lacked_memory)
        tool_say("memory ran out: some answers lack names or lines");
    if (status == TOOL_OK && (lacked_memory || found_damage))
        return TOOL_ERROR;
    return status;
}

void tool_session_close(machsym_session *session)
{
    if (session != NULL && machsym_session_lacked_memory(session))
        tool_lacked_memory();
    machsym_session_close(session);
}

machsym_session *tool_session(const machsym_image *image, machsym_lines lines, uint32_t flags)
{
    machsym_session_desc desc;
    machsym_session *session;
    machsym_error err;
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    desc.lines = lines;
    desc.flags = flags;
    if (machsym_session_open(&desc, &session, &err) == MACHSYM_OK)
        return session;
    tool_die(err.what);
}

const option slice_option_table[] = {
    {"-arch", "NAME", "which slice of a fat file: arm64, x86_64, ...", offsetof(image_options, arch), NULL},
    {"uuid", "UUID", "which slice, by its UUID", offsetof(image_options, uuid), take_uuid},
    {"entry", "NAME", "which image of a kernel collection or shared cache", offsetof(image_options, entry),
     NULL},
    {"member", "NAME", "which member of an archive: of a zip, tar or static library; as FILE/NAME",
     offsetof(image_options, member), NULL},
    {"copy", NULL, "read files into memory first: safe when others may truncate them",
     offsetof(image_options, copy), NULL},
    {0},
};

const option image_option_table[] = {
    {"-arch", "NAME", "which slice of a fat file: arm64, x86_64, ...", offsetof(image_options, arch), NULL},
    {"uuid", "UUID", "which slice, by its UUID", offsetof(image_options, uuid), take_uuid},
    {"entry", "NAME", "which image of a kernel collection or shared cache", offsetof(image_options, entry),
     NULL},
    {"member", "NAME", "which member of an archive: of a zip, tar or static library; as FILE/NAME",
     offsetof(image_options, member), NULL},
    {"pair", "FILE", "the other half: the binary to a dSYM, or the dSYM to a binary",
     offsetof(image_options, pair), NULL},
    {"copy", NULL, "read files into memory first: safe when others may truncate them",
     offsetof(image_options, copy), NULL},
    {0},
};

const char *image_options_path(const image_options *from, const char *path)
{
    static pool paths; /* until the program ends: images keep what they were named */
    text full = {0};
    struct stat st;
    if (from->member == NULL)
        return path;
    if (tool_stat(path, &st) && S_ISDIR(st.st_mode)) {
        tool_say("%s: a folder, and --member is for archives: name the file in it", path);
        exit(TOOL_ERROR);
    }
    text_c(&full, path);
    if (full.len > 0 && !posix_is_slash(full.v[full.len - 1]))
        text_char(&full, '/');
    text_c(&full, from->member);
    path = pool_copy_z(&paths, full.v, full.len);
    text_free(&full);
    return path;
}

void image_options_apply(const image_options *from, machsym_open_desc *desc)
{
    desc->path = from->path;
    desc->pair_path = from->pair;
    desc->arch = from->arch;
    desc->uuid = from->uuid.is_set ? &from->uuid.uuid : NULL;
    desc->entry = from->entry;
    desc->flags |= (from->copy ? MACHSYM_OPEN_COPY : 0u) | (from->no_symtab ? MACHSYM_OPEN_NO_SYMTAB : 0u);
}

machsym_image *image_options_open(const image_options *from)
{
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    image_options_apply(from, &desc);
    machsym_image *image = from->no_dwarf ? tool_open_without_dwarf(&desc) : tool_open(&desc);
    if (image == NULL || !tool_refuse_collection(image))
        return image;
    machsym_image_close(image);
    return NULL;
}

/* Of what an app store has encrypted a list of names is not whole. */
static void say_encrypted(const machsym_image *image)
{
    machsym_image_info info;
    machsym_image_get_info(image, &info);
    if (!info.is_encrypted)
        return;
    tool_say("%s: an app store has encrypted __TEXT; ask the program without encryption, or its dSYM",
             info.path);
    tool_note_damage();
}

int image_command_open(const command *c, image_options *from, int argc, char **argv, void *to,
                       machsym_image **image, machsym_session **session)
{
    int count = options_parse(c, to, argc, argv);
    *image = NULL;
    if (count < 0)
        return options_status(count);
    if (count != 1)
        return options_wrong(c, count == 0 ? "no file is named" : "one file at a time");
    from->path = image_options_path(from, argv[1]);
    *image = image_options_open(from);
    if (*image == NULL)
        return TOOL_ERROR;
    say_encrypted(*image);
    *session = tool_session(*image, MACHSYM_LINES_ATOS, 0);
    return TOOL_OK;
}

/* ---- Frames ---- */

bool frame_has_line(const machsym_frame *frame)
{
    return frame->line_source != MACHSYM_SOURCE_NONE && frame->file.name.len != 0;
}

void text_frame_name(text *t, const machsym_frame *frame, const frame_style *style)
{
    machsym_str name = frame->linkage_name.len != 0 ? frame->linkage_name : frame->name;
    if (style->raw_names)
        text_str(t, name);
    else if (style->source == NULL || !symbol_source_name(style->source, frame, style, t))
        text_name(t, name, style->demangle_flags);
}

void text_frame_file(text *t, const machsym_frame *frame, bool full_path)
{
    if (full_path) {
        text_path(t, &frame->file);
        return;
    }
    text_base_name(t, frame->file.name);
}

void text_frame_json(text *t, const machsym_frame *frame, uint64_t addr, const frame_style *style)
{
    text part = {0};
    text_frame_name(&part, frame, style);
    text_c(t, "{\"name\":");
    text_json(t, (machsym_str){part.v, part.len});
    text_c(t, ",\"linkage_name\":");
    text_json(t, frame->linkage_name);
    part.len = 0;
    text_path(&part, &frame->file);
    text_c(t, ",\"file\":");
    text_json(t, (machsym_str){part.v, part.len});
    text_c(t, ",\"line\":");
    text_dec(t, frame->line);
    text_c(t, ",\"column\":");
    text_dec(t, frame->column);
    text_c(t, frame->is_inline ? ",\"inline\":true" : ",\"inline\":false");
    text_c(t, frame->lacks_callers ? ",\"callers_left_out\":true" : "");
    text_c(t, ",\"offset\":");
    text_dec(t, addr - frame->function_start);
    text_c(t, ",\"name_source\":\"");
    text_c(t, machsym_source_name(frame->name_source));
    text_c(t, "\",\"line_source\":\"");
    text_c(t, machsym_source_name(frame->line_source));
    text_c(t, "\"}");
    text_free(&part);
}
