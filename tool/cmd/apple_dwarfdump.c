/* dwarfdump as Apple and LLVM have it: --uuid and --lookup; of what else it prints, what to use; see apple.h. */
#include "apple.h"
#include "machsym.h"
#include "../../report/base/digits.h"
#include "../../report/base/text.h"
#include "../base/out.h"
#include "../base/say.h"
#include "../files/inside.h"
#include "../symbols/entries.h"
#include "../symbols/entry_print.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ARCHS = 16 };

typedef struct dwarfdump_options {
    bool uuid;
    bool lookup;
    uint64_t address;
    const char *archs[MAX_ARCHS]; /* none: all */
    size_t arch_count;
} dwarfdump_options;

/* ---- Options ---- */

/* Options that are no work of machsym's dwarfdump: what does it instead. */
static bool called_refuse(const char *what, const char *instead)
{
    say_message("%s is not what machsym's dwarfdump does: %s", what, instead);
    return false;
}

/* Hexadecimal after 0x, else decimal, as llvm-dwarfdump takes it. */
static bool called_take_address(void *field, const char *value)
{
    dwarfdump_options *o = field;
    char *end = NULL;
    bool is_hex = value[0] == '0' && (value[1] == 'x' || value[1] == 'X');
    o->lookup = is_hex ? parse_hex(value, strlen(value), &o->address) : value[0] >= '0' && value[0] <= '9';
    if (o->lookup && !is_hex) {
        o->address = strtoull(value, &end, 10);
        o->lookup = *end == 0;
    }
    if (!o->lookup)
        say_message("--lookup: %s is no address: write it as 0x100000a94", value);
    return o->lookup;
}

/* What has been said before "all" does not count any more. */
static bool called_take_arch(void *field, const char *value)
{
    dwarfdump_options *o = field;
    if (strcmp(value, "all") == 0) {
        o->arch_count = 0;
    } else if (o->arch_count == MAX_ARCHS) {
        say_message("at most %d --arch", (int)MAX_ARCHS);
        return false;
    } else {
        o->archs[o->arch_count++] = value;
    }
    return true;
}

static bool called_take_name(void *field, const char *value)
{
    (void)field;
    (void)value;
    return called_refuse("--name",
                         "machsym find FILE NAME tells its addresses; llvm-dwarfdump prints entries");
}

static bool called_take_debug(void *field, const char *value)
{
    (void)field;
    (void)value;
    return called_refuse(
        "printing a section",
        "machsym map build, then machsym map dump, print functions and lines; llvm-dwarfdump prints entries");
}

static bool called_take_verify(void *field, const char *value)
{
    (void)field;
    (void)value;
    return called_refuse("--verify", "machsym check tells whether a dSYM is whole and has lines");
}

static bool called_take_statistics(void *field, const char *value)
{
    (void)field;
    (void)value;
    return called_refuse("--statistics", "machsym info tells how many units, functions and rows there are");
}

static const option dwarfdump_table[] = {
    {"u uuid", NULL, "the UUID of each slice", offsetof(dwarfdump_options, uuid), NULL},
    {"lookup", "ADDRESS", "unit, function, block and line of an address of the file", 0, called_take_address},
    {"arch", "NAME", "of this architecture only; may repeat; all", 0, called_take_arch},
    {"name n", "NAME", "machsym find does it", 0, called_take_name},
    {"debug-info debug-line a all", NULL, "machsym map dump does it", 0, called_take_debug},
    {"verify", NULL, "machsym check does it", 0, called_take_verify},
    {"statistics", NULL, "machsym info does it", 0, called_take_statistics},
    {0},
};

/* ---- One slice ---- */

/* "UUID: ... (arm64) PATH", as llvm-dwarfdump and Apple's tool print it. */
static void called_print_uuid(const char *path, const machsym_slice *slice)
{
    text uuid = {0};
    if (!slice->has_uuid)
        return;
    text_uuid(&uuid, &slice->uuid);
    out_line("UUID: %s (%s) %s", text_z(&uuid), slice->arch, path);
    text_free(&uuid);
}

/* What LLVM calls the format of a slice. */
static const char *called_format(const char *arch)
{
    return strncmp(arch, "x86_64", 6) == 0  ? "Mach-O 64-bit x86-64"
           : strcmp(arch, "i386") == 0      ? "Mach-O 32-bit i386"
           : strcmp(arch, "arm64_32") == 0  ? "Mach-O arm64 (ILP32)"
           : strncmp(arch, "arm64", 5) == 0 ? "Mach-O arm64"
                                            : "Mach-O arm";
}

/* Which entries answer is asked of the session, as of all commands. Returns false when no unit has the
 * address. */
static bool called_put_entries(text *t, entries *all, machsym_session *session, uint64_t addr)
{
    machsym_explanation how;
    machsym_frame frame;
    machsym_session_explain_addr(session, addr, &how);
    const entry_unit *unit = how.unit_source != MACHSYM_UNIT_NONE ? entries_unit(all, how.unit_offset) : NULL;
    if (unit == NULL)
        return false;
    bool has_frame = machsym_session_frames_at_addr(session, addr, &frame, 1) > 0;
    uint64_t function = has_frame ? frame.die_offset : 0;
    uint64_t block = function != 0 ? entry_block_at(all, function, addr) : 0;
    bool has_row = how.row_used < how.row_count;
    if (function == 0 && !has_row && how.unit_source != MACHSYM_UNIT_ARANGES)
        return false; /* between the unit's functions */
    entry_put_unit(t, all, unit);
    if (function != 0)
        entry_put_one(t, all, function, 2);
    if (block != 0)
        entry_put_one(t, all, block, 4);
    entry_put_line(t, all, has_row ? &how.rows[how.row_used] : NULL, function);
    return true;
}

static bool called_look_up_in(text *t, const machsym_image *image, uint64_t addr)
{
    machsym_session_desc desc;
    machsym_session *session;
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    desc.lines = MACHSYM_LINES_DWARF;
    if (machsym_session_open(&desc, &session, NULL) != MACHSYM_OK)
        return false;
    entries *all = entries_open(image);
    bool is_found = called_put_entries(t, all, session, addr);
    bool is_whole = !entries_are_tired(all);
    entries_close(all);
    machsym_session_close(session);
    if (!is_whole)
        say_message("its debug info leads to more entries than are read for one address: some have no name");
    return is_found && is_whole;
}

/* What debug info has at an address. Returns false when it has nothing there. */
static bool called_look_up(const char *path, const machsym_slice *slice, uint64_t addr)
{
    machsym_open_desc desc;
    machsym_image *image;
    machsym_error err;
    text t = {0};
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.arch = slice->arch;
    desc.uuid = slice->has_uuid ? &slice->uuid : NULL;
    desc.flags = MACHSYM_OPEN_NO_PAIR | MACHSYM_OPEN_NO_OBJECTS;
    if (inside_image_open(&desc, &image, &err) != MACHSYM_OK) {
        say_error(path, &err);
        return false;
    }
    text_shown(&t, str_c(path));
    if (slice->offset > 0) {
        text_char(&t, '(');
        text_c(&t, slice->arch);
        text_char(&t, ')');
    }
    text_c(&t, ":\tfile format ");
    text_c(&t, called_format(slice->arch));
    text_char(&t, '\n');
    bool is_found = called_look_up_in(&t, image, addr);
    out_text(&t);
    machsym_image_close(image);
    text_free(&t);
    return is_found;
}

/* ---- All of them ---- */

static bool called_wants(const dwarfdump_options *o, const char *arch)
{
    bool is_wanted = o->arch_count == 0;
    for (size_t i = 0; i < o->arch_count && !is_wanted; i++)
        is_wanted = strcmp(o->archs[i], arch) == 0;
    return is_wanted;
}

/* Returns false after a message, and where nothing is found. */
static bool called_print_slices(const char *path, const dwarfdump_options *o)
{
    machsym_slice slices[MACHSYM_MAX_SLICES];
    machsym_open_desc desc;
    machsym_error err;
    bool is_found = true;
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    size_t count = inside_list_slices(&desc, slices, MACHSYM_MAX_SLICES, &err);
    for (size_t i = 0; i < count && i < MACHSYM_MAX_SLICES; i++) {
        if (!called_wants(o, slices[i].arch))
            continue;
        if (o->uuid)
            called_print_uuid(path, &slices[i]);
        else
            is_found = called_look_up(path, &slices[i], o->address) && is_found;
    }
    return say_slices(path, count, &err) && count > 0 && is_found;
}

/* Files of debug info in a bundle go by their own paths. */
static bool called_print_all(const char *path, const dwarfdump_options *o)
{
    path_list found = {NULL, 0, 0};
    text inner = {0};
    text_c(&inner, path);
    text_c(&inner, inside_is_bundle(path) ? "/Contents/Resources/DWARF" : "");
    bool ok = inside_expand(text_z(&inner), INSIDE_ALL, &found);
    for (size_t i = 0; i < found.count; i++)
        ok = called_print_slices(found.v[i], o) && ok;
    path_list_free(&found);
    text_free(&inner);
    return ok;
}

static int called_run_dwarfdump(int argc, char **argv)
{
    dwarfdump_options o;
    bool ok = true;
    memset(&o, 0, sizeof o);
    int count = options_parse(&called_dwarfdump_command, &o, argc, argv);
    if (count < 0)
        return options_status(count);
    if (!o.uuid && !o.lookup)
        return options_wrong(&called_dwarfdump_command,
                             "machsym's dwarfdump prints --uuid or --lookup=ADDRESS");
    if (count == 0)
        return options_wrong(&called_dwarfdump_command, "no file is named");
    for (int i = 1; i <= count; i++)
        ok = called_print_all(argv[i], &o) && ok;
    return ok ? TOOL_OK : TOOL_ERROR;
}

const command called_dwarfdump_command = {
    "dwarfdump",
    "UUIDs of files, and what debug info has at an address, as Apple's dwarfdump prints them",
    "--uuid|--lookup=ADDRESS [options] FILE...",
    "Prints the UUID of each slice of Mach-O files and dSYMs; or the entries of debug info at an address,\n"
    "and its line.\n",
    {{dwarfdump_table, 0}},
    "exit status: 0 done, 1 a file cannot be read, or nothing is at the address, 2 usage\n",
    called_run_dwarfdump,
    NULL,
};
