/* machsym atos: Apple's atos, and more. */
#include "cmd_atos.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: machsym atos -o FILE [options] [address ...]\n"
    "Prints function, file and line for addresses of a Mach-O file, as Apple's atos does.\n"
    "Without addresses they are read from standard input and answered line by line.\n"
    "\n"
    "  -o FILE             a Mach-O file, the DWARF file of a dSYM, a .dSYM bundle, or a .symmap; may "
    "repeat\n"
    "  -arch NAME          which slice of a fat file: arm64, x86_64, ...\n"
    "  --uuid UUID         which slice, by its UUID\n"
    "  --entry NAME        which image of a kernel collection; without it the one that has the address\n"
    "  -l ADDRESS          the addresses are runtime ones and the image was loaded here (hex)\n"
    "  -s SLIDE            the addresses are runtime ones and the image slid by this much (hex)\n"
    "  -offset             the addresses are offsets into the image\n"
    "  -textExecAddress A  the addresses are a kernel's, its __TEXT_EXEC stands at A\n"
    "  -f FILE             read the addresses from FILE\n"
    "  -i, -inlineFrames   print inlined calls too, innermost first, and an empty line after each address\n"
    "  -d DELIMITER        what separates the lines of one address; a newline without it\n"
    "  -fullPath           whole paths in place of base names\n"
    "  -dedup              all functions that share an address\n"
    "  -printHeader, -p    accepted; there is no live process to look at here\n"
    "\n"
    "  --store DIR         take the map of --uuid from a store; see machsym map --help\n"
    "  --lines=POLICY      atos: the row as it is, first of equals; dwarf: last of equals, as "
    "llvm-symbolizer;\n"
    "                      stmt: only rows that begin a statement\n"
    "  --best-line         line 0 takes the line of the nearest frame that has one\n"
    "  --no-demangle       names as the linker knows them\n"
    "  --full-names        Swift names with modules and types\n"
    "  --json              one JSON object a line: address, image, uuid, arch, frames (innermost first)\n"
    "  --explain           how each answer came about\n"
    "  --copy              read files into memory first: safe when others may truncate them\n"
    "  --check             exit with 2 when an address stayed without a name\n"
    "  --owners RULES      whose code it is, by a file of rules: see machsym owners --help\n" OBJECT_USAGE
    "\n"
    "exit status: 0 ran, 1 usage or a file that cannot be opened, 2 with --check\n";

/* ---- Options ---- */

/* Returns false after a message when a second way to count addresses is named, or the number is none. */
static bool set_kind(atos *a, address_kind kind, const char *number)
{
    bool negative = number != NULL && number[0] == '-';
    if (a->kind != ADDRESS_FILE) {
        fputs("Only one of -s, -l, -textExecAddress or -offset can be passed\n", stderr);
        return false;
    }
    a->kind = kind;
    if (number != NULL && !parse_hex(number + negative, strlen(number + negative), &a->base)) {
        tool_say("%s is no hexadecimal address", number);
        return false;
    }
    if (negative)
        a->base = 0 - a->base;
    return true;
}

typedef struct flag_option {
    const char *name;
    size_t at; /* of a bool in atos */
} flag_option;

static bool set_flag(atos *a, const options *o, const char *name)
{
    static const flag_option flags[] = {
        {"i", offsetof(atos, inline_frames)},
        {"inlineFrames", offsetof(atos, inline_frames)},
        {"dedup", offsetof(atos, dedup)},
        {"json", offsetof(atos, json)},
        {"explain", offsetof(atos, explain)},
        {"check", offsetof(atos, check)},
        {"copy", offsetof(atos, copy)},
        {"fullPath", offsetof(atos, style.full_path)},
        {"full-path", offsetof(atos, style.full_path)},
        {"no-demangle", offsetof(atos, style.raw_names)},
    };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (options_is(o, name, flags[i].name)) {
            bool yes = true;
            memcpy((char *)a + flags[i].at, &yes, sizeof yes);
            return true;
        }
    }
    return false;
}

/* Takes one option. Returns false after a message. */
static bool set_option(atos *a, options *o, const char *name)
{
    bool ok;
    if (set_flag(a, o, name) || options_is(o, name, "printHeader"))
        return true;
    if (object_option(&a->objects, o, name, &ok))
        return ok;
    if (options_is(o, name, "o")) {
        if (a->path_count == sizeof a->paths / sizeof a->paths[0]) {
            tool_say("at most %zu -o", a->path_count);
            return false;
        }
        a->paths[a->path_count++] = options_value(o, "o");
        return true;
    }
    if (options_is(o, name, "l"))
        return set_kind(a, ADDRESS_LOAD, options_value(o, "l"));
    if (options_is(o, name, "s"))
        return set_kind(a, ADDRESS_SLIDE, options_value(o, "s"));
    if (options_is(o, name, "textExecAddress"))
        return set_kind(a, ADDRESS_TEXT_EXEC, options_value(o, "textExecAddress"));
    if (options_is(o, name, "offset"))
        return set_kind(a, ADDRESS_OFFSET, NULL);
    if (options_is(o, name, "p")) {
        options_value(o, "p");
        tool_say("-p looks into a running macOS process, which this system has none of; name its file with "
                 "-o and where "
                 "it was loaded with -l");
        return false;
    }
    if (options_is(o, name, "arch"))
        a->arch = options_value(o, "arch");
    else if (options_is(o, name, "d"))
        a->delimiter = options_value(o, "d");
    else if (options_is(o, name, "entry"))
        a->entry = options_value(o, "entry");
    else if (options_is(o, name, "store"))
        a->store = options_value(o, "store");
    else if (options_is(o, name, "f"))
        a->input = options_value(o, "f");
    else if (options_is(o, name, "owners")) {
        a->rules = a->rules != NULL ? a->rules : owners_new();
        return owners_read(a->rules, options_value(o, "owners"));
    } else if (options_is(o, name, "best-line"))
        a->session_flags |= MACHSYM_SESSION_BEST_LINE;
    else if (options_is(o, name, "full-names"))
        a->style.demangle_flags &= ~(uint32_t)MACHSYM_DEMANGLE_SIMPLIFIED;
    else if (options_is(o, name, "uuid")) {
        a->has_uuid = parse_uuid(options_value(o, "uuid"), &a->uuid);
        if (!a->has_uuid)
            tool_say("--uuid wants 32 hexadecimal digits, with or without dashes");
        return a->has_uuid;
    } else if (options_is(o, name, "lines")) {
        a->has_lines = parse_lines(options_value(o, "lines"), &a->lines);
        if (!a->has_lines)
            tool_say("--lines is one of atos, dwarf, stmt");
        return a->has_lines;
    } else {
        tool_say("no such option: -%s; see machsym atos --help", name);
        return false;
    }
    return true;
}

static int run(atos *a, char **addresses, size_t address_count)
{
    text out = {0};
    if (address_count > 0) {
        for (size_t i = 0; i < address_count; i++) {
            token word = {.len = strlen(addresses[i])};
            word.is_number = parse_hex(addresses[i], word.len, &word.number);
            atos_answer(a, &out, &word, addresses[i]);
        }
        fwrite(out.v, 1, out.len, stdout);
        text_free(&out);
        return TOOL_OK;
    }
    int fd = a->input != NULL ? open(a->input, O_RDONLY) : STDIN_FILENO;
    if (fd < 0) {
        tool_say("%s: %s", a->input, strerror(errno));
        return TOOL_ERROR;
    }
    int status = atos_answer_stream(a, fd);
    if (a->input != NULL)
        close(fd);
    return status;
}

int atos_main(int argc, char **argv, bool file_first, machsym_bytes bytes)
{
    static atos a;
    options o = {argc, argv, 0, false};
    const char *name;
    const char *operand;
    char **addresses = tool_alloc((size_t)argc * sizeof *addresses);
    size_t address_count = 0;
    int status = TOOL_ERROR;
    memset(&a, 0, sizeof a);
    a.bytes = bytes;
    a.delimiter = "\n";
    a.style.demangle_flags = MACHSYM_DEMANGLE_SIMPLIFIED;
    while (options_next(&o, &name, &operand)) {
        if (operand != NULL && file_first && a.path_count == 0) {
            a.paths[a.path_count++] = operand;
        } else if (operand != NULL) {
            addresses[address_count++] = argv[o.at];
        } else if (options_is(&o, name, "help") || options_is(&o, name, "h")) {
            fputs(usage, stdout);
            free(addresses);
            return TOOL_OK;
        } else if (!set_option(&a, &o, name)) {
            free(addresses);
            return TOOL_ERROR;
        }
    }
    a.map_flags =
        address_count > 0 ? MACHSYM_MAP_UNCHECKED : 0; /* reading it all would take longer than to answer */
    if (a.store != NULL && !a.has_uuid)
        tool_say("--store needs --uuid: which image to look for");
    else if (a.path_count == 0 && a.bytes.ptr == NULL && a.store == NULL)
        fputs(usage, stderr);
    else if (atos_open_targets(&a))
        status = run(&a, addresses, address_count);
    atos_close_targets(&a);
    owners_free(a.rules);
    free(addresses);
    return status == TOOL_OK && a.check && a.unresolved ? TOOL_UNRESOLVED : status;
}

int cmd_atos(int argc, char **argv)
{
    return atos_main(argc, argv, false, (machsym_bytes){NULL, 0});
}
