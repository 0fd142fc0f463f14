/* What the subcommands share; see tool.h. */
#include "open.h"
#include "../../report/base/memory.h"
#include "../base/posix.h"
#include "../base/readfile.h"
#include "../base/say.h"
#include "caches.h"
#include "inside.h"

#include <errno.h>
#include <pthread.h>
#ifdef __linux__
#include <sched.h>
#endif
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ---- Images ---- */

/* A file of one image, such as a map, has no list of slices. */
static size_t open_only_slice(const machsym_open_desc *desc, machsym_slice *slice)
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

static void open_list_slices(const machsym_open_desc *desc)
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
        count = open_only_slice(desc, slices);
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

static void open_say_other_uuid(const machsym_open_desc *desc)
{
    text wanted = {0};
    text_uuid(&wanted, desc->uuid);
    say_message("%s: UUID %s was asked for; the file holds",
                desc->path != NULL ? desc->path : "standard input", text_z(&wanted));
    text_free(&wanted);
}

/* Of one image of many, the path that leads to it. */
static void open_say_entry_error(const machsym_open_desc *desc, const machsym_error *err)
{
    text path = {0};
    text_c(&path, desc->path != NULL ? desc->path : "standard input");
    text_c(&path, desc->entry[0] == '/' ? "" : "/");
    text_c(&path, desc->entry);
    say_error(text_z(&path), err);
    text_free(&path);
}

/* Whether an architecture has this name, whatever the file holds. */
static bool open_is_arch(const char *name)
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

static void open_say_other_arch(const machsym_open_desc *desc)
{
    const char *path = desc->path != NULL ? desc->path : "standard input";
    if (!open_is_arch(desc->arch))
        say_message("%s: no architecture is called %s; choose one of the file's with -arch", path,
                    desc->arch);
    else if (strcmp(options_command(), "atos") == 0) /* as Apple's says it */
        say_plain("atos cannot load symbols for the file %s for architecture %s.", path, desc->arch);
    else
        say_message("%s: no slice of architecture %s; choose one of the file's with -arch", path, desc->arch);
}

/* Whether it is the other half that does not open: without it the file does. */
static bool open_is_of_pair(const machsym_open_desc *desc, const machsym_error *err)
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

void open_say_failure(const machsym_open_desc *desc, const machsym_error *err)
{
    bool is_cache =
        desc->path != NULL && cache_is_at(desc->path); /* of thousands of images: they are not listed */
    if (open_is_of_pair(desc, err)) {
        say_error(desc->pair_path, err);
        return;
    }
    if (err->code == MACHSYM_ERR_UUID && desc->uuid != NULL && !is_cache)
        open_say_other_uuid(desc);
    else if (err->code == MACHSYM_ERR_ARCH && desc->arch != NULL)
        open_say_other_arch(desc);
    else if (desc->from != NULL && desc->entry != NULL)
        open_say_entry_error(desc, err);
    else
        say_error(desc->path != NULL ? desc->path : "standard input", err);
    if (!is_cache && (err->code == MACHSYM_ERR_ARCH || err->code == MACHSYM_ERR_AMBIGUOUS ||
                      err->code == MACHSYM_ERR_UUID))
        open_list_slices(desc);
}

bool open_refuse_collection(const machsym_image *image)
{
    machsym_image_info info;
    machsym_image_get_info(image, &info);
    bool is_cache = cache_is(image);
    if (info.slice.filetype != 12 /* MH_FILESET */ && !is_cache)
        return false;
    say_message("%s: a %s; name one of its images with --entry NAME; `machsym info FILE` lists them",
                info.path != NULL ? info.path : "standard input",
                is_cache ? "shared cache" : "kernel collection");
    return true;
}

/* The file that was found damaged. */
static const char *open_damaged_path(const machsym_image_info *info)
{
    bool is_pair = info->damage.is_cut_short ? info->cut.is_pair : info->damage.is_pair;
    const char *path = is_pair ? info->pair_path : info->path;
    return path != NULL ? path : "standard input";
}

static void open_put_part(text *t, const machsym_damage *damage)
{
    text_c(t, damage->what);
    text_c(t, " (");
    text_c(t, damage->where);
    text_c(t, ", offset ");
    text_dec(t, damage->offset);
    text_char(t, ')');
}

void open_put_misleading(text *t, const char *damaged, const machsym_damage *damage)
{
    text_c(t, damaged);
    if (!damage->is_misleading)
        return;
    text_c(t, ": ");
    open_put_part(t, damage);
    text_c(t, "; names and lines may be wrong");
}

void open_put_damage(text *t, const machsym_image_info *info)
{
    const machsym_cut *cut = &info->cut;
    if (info->damage_count == 0)
        return;
    text_c(t, open_damaged_path(info));
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
        open_put_part(t, &info->damage);
    }
    if (info->damage.is_misleading)
        text_c(t, "; names and lines may be wrong");
    if (info->damage_count > 1) {
        text_c(t, "; ");
        text_dec(t, info->damage_count);
        text_c(t, " parts of the file are damaged");
    }
}

bool open_read_info(const machsym_image *image, machsym_image_info *info)
{
    bool ok = machsym_image_count_damage(image, info);
    if (!ok)
        status_note_memory();
    return ok;
}

static void open_say_known_damage(const machsym_image *image, const machsym_image_info *info)
{
    text t = {0};
    bool lacks_files = cache_lacks_files(image);
    if (info->map != NULL || (info->damage_count == 0 && !lacks_files))
        return;
    status_note_damage();
    open_put_damage(&t, info);
    bool is_new = say_is_new(open_damaged_path(info));
    if (is_new && lacks_files)
        cache_say_files(image);
    else if (is_new)
        say_message("%.*s", (int)t.len, t.v);
    text_free(&t);
}

void open_say_damage(const machsym_image *image)
{
    machsym_image_info info;
    open_read_info(image, &info);
    open_say_known_damage(image, &info);
}

void open_say_met_damage(const machsym_image *image)
{
    machsym_image_info info;
    machsym_image_get_info(image, &info);
    if (info.damage_count != 0 || cache_lacks_files(image))
        open_say_damage(image);
}

void open_say_lost(const char *path, const machsym_session *session)
{
    machsym_io_stats reads;
    machsym_session_get_io_stats(session, &reads);
    if (reads.lost == 0)
        return;
    status_note_damage();
    path = path != NULL ? path : "standard input";
    if (say_is_new(path))
        say_message(
            "%s: damaged: the map's checksum does not match its bytes, offset %llu; frames or names are "
            "missing; build it again",
            path, (unsigned long long)reads.lost_at);
}

machsym_image *open_image(const machsym_open_desc *desc)
{
    machsym_image *image = open_damaged(desc);
    if (image != NULL)
        open_say_damage(image);
    return image;
}

machsym_image *open_without_dwarf(const machsym_open_desc *desc)
{
    machsym_image_info info;
    machsym_image *image = open_damaged(desc);
    if (image == NULL)
        return NULL;
    machsym_image_get_info(image, &info);
    open_say_known_damage(image, &info);
    return image;
}

machsym_image *open_damaged(const machsym_open_desc *desc)
{
    machsym_image *image;
    machsym_image_info info;
    machsym_error err;
    if (inside_image_open(desc, &image, &err) != MACHSYM_OK) {
        open_say_failure(desc, &err);
        return NULL;
    }
    machsym_image_get_info(image, &info);
    if (info.map == NULL)
        return image;
    say_message("%s: a symbol map; name the dSYM or binary that it was made of", desc->path);
    machsym_image_close(image);
    return NULL;
}

void open_session_close(machsym_session *session)
{
    if (session != NULL && machsym_session_lacked_memory(session))
        status_note_memory();
    machsym_session_close(session);
}

machsym_session *open_session(const machsym_image *image, machsym_lines lines, uint32_t flags)
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
    say_and_die(err.what);
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
    if (file_stat(path, &st) && S_ISDIR(st.st_mode)) {
        say_message("%s: a folder, and --member is for archives: name the file in it", path);
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
    machsym_image *image = from->no_dwarf ? open_without_dwarf(&desc) : open_image(&desc);
    if (image == NULL || !open_refuse_collection(image))
        return image;
    machsym_image_close(image);
    return NULL;
}

/* Of what an app store has encrypted a list of names is not whole. */
static void open_say_encrypted(const machsym_image *image)
{
    machsym_image_info info;
    machsym_image_get_info(image, &info);
    if (!info.is_encrypted)
        return;
    say_message("%s: an app store has encrypted __TEXT; ask the program without encryption, or its dSYM",
                info.path);
    status_note_damage();
}

int open_for_command(const command *c, image_options *from, int argc, char **argv, void *to,
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
    open_say_encrypted(*image);
    *session = open_session(*image, MACHSYM_LINES_ATOS, 0);
    return TOOL_OK;
}
