/* machsym atos: Apple's atos, and more. */
#include "atos.h"
#include "../../../report/base/digits.h"
#include "../../../report/base/memory.h"
#include "../../../report/base/text.h"
#include "../../base/out.h"
#include "../../base/posix.h"
#include "../../base/readfile.h"
#include "../../base/say.h"
#include "../../base/takes.h"
#include "answer.h"
#include "many.h"
#include "trace.h"
#include "../commands.h"
#include "../../files/open.h"
#include "../../symbols/objects.h"
#include "../../symbols/owners.h"
#include "../../symbols/symbols.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Options ---- */

/* Says of a number that it looks like a decimal one: where images are loaded is a multiple of a page, and it
 * is one only if it is read so. */
static void atos_say_decimal(const char *number, uint64_t as_hex)
{
    enum { PAGE = 0x1000 };
    char *end;
    unsigned long long decimal = strtoull(number, &end, 10);
    if (*end == 0 && decimal != 0 && decimal % PAGE == 0 && as_hex % PAGE != 0)
        say_message("%s is read as hexadecimal; if it is decimal, pass 0x%llx", number, decimal);
}

/* Returns false after a message when a second way to count addresses is named, or its value is no number. */
static bool atos_set_kind(atos *a, address_kind kind, const char *number)
{
    bool negative = number != NULL && number[0] == '-';
    if (a->kind != ADDRESS_FILE) {
        fputs("Only one of -s, -l, -textExecAddress or -offset can be passed\n", stderr);
        return false;
    }
    a->kind = kind;
    if (number != NULL && !parse_hex(number + negative, strlen(number + negative), &a->base)) {
        say_message("%s is no hexadecimal address, such as 0x102a30000", number);
        return false;
    }
    if (number != NULL)
        atos_say_decimal(number + negative, a->base);
    if (negative)
        a->base = 0 - a->base;
    return true;
}

static bool atos_take_load(void *to, const char *value)
{
    return atos_set_kind(to, ADDRESS_LOAD, value);
}

static bool atos_take_slide(void *to, const char *value)
{
    return atos_set_kind(to, ADDRESS_SLIDE, value);
}

static bool atos_take_text_exec(void *to, const char *value)
{
    return atos_set_kind(to, ADDRESS_TEXT_EXEC, value);
}

static bool atos_take_offset(void *to, const char *value)
{
    (void)value;
    return atos_set_kind(to, ADDRESS_OFFSET, NULL);
}

static bool atos_take_path(void *to, const char *value)
{
    atos *a = to;
    if (a->path_count == sizeof a->paths / sizeof a->paths[0]) {
        say_message("at most %zu -o", a->path_count);
        return false;
    }
    a->paths[a->path_count++] = value;
    return true;
}

static bool atos_take_process(void *to, const char *value)
{
    (void)to;
    say_message(
        "-p %s looks into a running macOS process, which this system has none of; name its file with -o "
        "and where "
        "it was loaded with -l",
        value);
    return false;
}

const option atos_file_option_table[] = {
    {"o", "FILE",
     "a Mach-O file, the DWARF file of a dSYM, a .dSYM bundle, a .symmap, a\nzip, tar or folder with one, or "
     "a "
     "dyld shared cache; may repeat",
     0, atos_take_path},
    {0},
};

const option atos_option_table[] = {
    {"l", "ADDRESS",
     "the addresses are runtime ones and the image was loaded here (hex); of a\nshared cache without "
     "--entry: "
     "the cache was",
     0, atos_take_load},
    {"s", "SLIDE", "the addresses are runtime ones and the image slid by this much (hex)", 0,
     atos_take_slide},
    {"-offset", NULL, "the addresses are offsets into the image", 0, atos_take_offset},
    {"-textExecAddress", "ADDRESS", "the addresses are a kernel's, its __TEXT_EXEC stands here", 0,
     atos_take_text_exec},
    {"f", "FILE", "read the addresses from FILE", offsetof(atos, input), NULL},
    {"i -inlineFrames", NULL,
     "print inlined calls too, innermost first, and an empty line after each\naddress",
     offsetof(atos, inline_frames), NULL},
    {"d", "DELIMITER", "what separates the lines of one address; a newline without it",
     offsetof(atos, delimiter), NULL},
    {"-fullPath full-path", NULL, "whole paths in place of base names", offsetof(atos, style.full_path),
     NULL},
    {"-printHeader", NULL, "accepted: there is no live process whose header it would print",
     offsetof(atos, print_header), NULL},
    {"p", "PID|NAME", "refused: there is no live process to look at", 0, atos_take_process},
    {NULL, NULL, "", 0, NULL},
    {"lines", "atos|dwarf|stmt|people",
     "atos: the row as it is, first of equals; dwarf: last of equals, as\nllvm-symbolizer; stmt: only rows "
     "that "
     "begin a statement; people: as\ndwarf, but line 0 in a function that somebody wrote takes a line near "
     "by",
     offsetof(atos, lines), take_lines},
    {"best-line", NULL, "line 0 takes the line of the nearest frame that has one",
     offsetof(atos, session_flags), take_best_line},
    {"names", "symtab|dwarf", HELP_NAMES, offsetof(atos, session_flags), take_names},
    {"no-demangle", NULL, "names as the linker knows them", offsetof(atos, style.raw_names), NULL},
    {"full-names", NULL, "Swift names with modules and types", offsetof(atos, style.demangle_flags),
     take_full_names},
    {"json", NULL, "one JSON object a line: address, image, uuid, arch, frames (innermost first)",
     offsetof(atos, json), NULL},
    {"explain", NULL, "how each answer came about", offsetof(atos, explain), NULL},
    {"strict check", NULL, "exit with 1 when an address stayed without a name", offsetof(atos, strict), NULL},
    {0},
};

const option atos_image_option_table[] = {
    {"-dedup", NULL, "all functions that share the code, a line each", offsetof(atos, dedup), NULL},
    {"folded", NULL, "the names of all functions that share the code, after that of the one\nthat answers",
     offsetof(atos, folded), NULL},
    {"stack", NULL,
     "the addresses are one stack, innermost first: all but the first are\nreturn addresses, whose call is "
     "looked "
     "up; callers say which function\nof a shared body they called, else as --folded",
     offsetof(atos, stack), NULL},
    {"nearest", NULL, "of code without a name the nearest name below it, marked as a guess",
     offsetof(atos, nearest), NULL},
    {"owners", "RULES", "whose code it is, by a file of rules: see machsym owners --help",
     offsetof(atos, rules), owners_take_rules},
    {0},
};

/* ---- The command ---- */

static int atos_answer_operands(atos *a, char **addresses, size_t count)
{
    text out = {0};
    for (size_t i = 0; i < count; i++) {
        token word = {.len = strlen(addresses[i])};
        word.is_number = parse_hex(addresses[i], word.len, &word.number);
        answer_word(a, &out, &word, addresses[i]);
    }
    out_text(&out);
    text_free(&out);
    return TOOL_OK;
}

/* The words of a text. The caller frees them. */
static machsym_str *atos_split(machsym_str input, size_t *count)
{
    machsym_str *words = NULL;
    size_t cap = 0;
    *count = 0;
    for (size_t at = 0, end; at < input.len; at = end) {
        end = at;
        while (end < input.len && !isspace((unsigned char)input.ptr[end]))
            end++;
        if (end > at) {
            words = mem_room(words, *count, &cap, sizeof *words);
            words[(*count)++] = str_make(input.ptr + at, end - at);
        }
        end += end < input.len;
    }
    return words;
}

/* Answers operands, or the words of the input, as one stack. */
static int atos_answer_stack(atos *a, char **addresses, size_t count)
{
    text input = {0};
    text out = {0};
    const char *why = count == 0 ? file_read(&input, a->input != NULL ? a->input : "-") : NULL;
    if (why != NULL) {
        say_message("%s: %s", a->input != NULL ? a->input : "standard input", why);
        text_free(&input);
        return TOOL_ERROR;
    }
    for (size_t i = 0; i < count; i++) {
        text_c(&input, addresses[i]);
        text_char(&input, '\n');
    }
    size_t word_count;
    machsym_str *words = atos_split(str_make(input.v, input.len), &word_count);
    trace_answer(a, &out, words, word_count);
    out_text(&out);
    free(words);
    text_free(&out);
    text_free(&input);
    return TOOL_OK;
}

static int atos_answer_input(atos *a)
{
    int fd = a->input != NULL ? open(a->input, O_RDONLY) : STDIN_FILENO;
    if (fd < 0) {
        say_message("%s: %s", a->input, strerror(errno));
        return TOOL_ERROR;
    }
    for (size_t i = 0; i < a->target_count; i++)
        answer_hidden_names(&a->targets[i]); /* once, instead of a look at each of many frames */
    int status = many_answer_stream(a, fd);
    if (a->input != NULL)
        close(fd);
    return status;
}

/* The chunk on standard input. Returns false after a message. */
static bool atos_read_chunk(atos *a, text *chunk)
{
    const char *why = file_read(chunk, "-");
    bool ok = why == NULL && chunk->len > 0;
    if (why != NULL)
        say_message("standard input: %s", why);
    else if (!ok)
        say_message("standard input: it is empty; pass a value that machsym map export --chunks made");
    if (ok && a->base64 && !text_from_base64(chunk)) {
        say_message("standard input: not base64; pass a value that was stored so, or leave out --base64");
        ok = false;
    }
    a->bytes = (machsym_bytes){chunk->len > 0 ? chunk->v : "", chunk->len};
    return ok;
}

/* Says that no file is named, after the line of usage that Apple's atos prints then. */
static void atos_say_no_file(const command *c, atos_way way, char **operands, int count)
{
    struct stat st;
    const char *file = NULL;
    for (int i = 0; i < count && file == NULL; i++)
        file = stat(operands[i], &st) == 0 ? operands[i] : NULL;
    say_plain("usage: machsym %s %s", c->name, c->usage);
    if (way == ATOS_FIRST_IS_FILE)
        options_wrong(c, "no map is named");
    else if (file != NULL)
        say_message("%s: a file, not an address; name it with -o: -o %s", file, file);
    else
        options_wrong(c, "-o FILE is missing: the dSYM, binary or map that has the addresses");
}

/* Whether the command line names all that is needed; says what is missing. */
static bool atos_is_complete(const command *c, const atos *a, atos_way way, char **addresses, int operands)
{
    struct stat st;
    uint64_t number;
    const char *fault = symbols_fault(&a->symbols, &a->image);
    if (fault != NULL)
        options_wrong(c, fault);
    else if (a->symbols.path_count > 0 && a->path_count > 0)
        options_wrong(c, "-o names the file that --symbols would look for: pass one of them");
    else if (way == ATOS_CHUNK && operands == 0)
        options_wrong(c, "no address is named");
    else if (way == ATOS_FIRST_IS_FILE && a->path_count > 0 && stat(a->paths[0], &st) != 0 &&
             parse_hex(a->paths[0], strlen(a->paths[0]), &number))
        options_wrong(c, "the map comes first, then the addresses");
    else if (way != ATOS_CHUNK && a->path_count == 0 && a->symbols.path_count == 0)
        atos_say_no_file(c, way, addresses, operands);
    else
        return true;
    return false;
}

int atos_run(const command *c, atos_way way, int argc, char **argv)
{
    static atos a;
    text chunk = {0};
    int status = TOOL_ERROR;
    memset(&a, 0, offsetof(atos, frames));
    a.delimiter = "\n";
    a.style.demangle_flags = MACHSYM_DEMANGLE_SIMPLIFIED;
    int count = options_parse(c, &a, argc, argv);
    char **addresses = argv + 1;
    if (count > 0 && way == ATOS_FIRST_IS_FILE && a.path_count == 0) {
        a.paths[a.path_count++] = *addresses++;
        count--;
    }
    a.asks_one = count == 1 && !a.explain;
    a.folded |= a.stack;
    for (size_t i = 0; i < a.path_count; i++)
        a.paths[i] = image_options_path(&a.image, a.paths[i]);
    if (count < 0)
        status = options_status(count);
    else if (!atos_is_complete(c, &a, way, addresses, count))
        status = TOOL_USAGE;
    else if (owners_are_read(a.rules) && (way != ATOS_CHUNK || atos_read_chunk(&a, &chunk)) &&
             answer_open_targets(&a))
        status = a.stack     ? atos_answer_stack(&a, addresses, (size_t)count)
                 : count > 0 ? atos_answer_operands(&a, addresses, (size_t)count)
                             : atos_answer_input(&a);
    answer_say_met_damage(&a);
    answer_close_targets(&a);
    owners_free(a.rules);
    text_free(&chunk);
    return status == TOOL_OK && a.strict && a.unresolved ? TOOL_ERROR : status;
}

static int atos_run_command(int argc, char **argv)
{
    return atos_run(&atos_command, ATOS_FILES, argc, argv);
}

const command atos_command = {
    "atos",
    "addresses to function, file and line, as Apple's atos prints them",
    "-o FILE | --symbols PATH --uuid UUID [options] [address ...]",
    "Prints function, file and line for addresses of a Mach-O file, as Apple's atos does.\n"
    "Without addresses they are read from standard input and answered line by line.\n"
    "Of a kernel collection or shared cache an image is opened when an address is for it. Damage in an "
    "image\nthat is "
    "not opened is not reported. Where images lie over each other one of them answers. Open images\nare "
    "closed, to be "
    "opened again, once all have more than 8 MB and 320 times the file.\n",
    {{atos_file_option_table, 0},
     {atos_option_table, 0},
     {atos_image_option_table, 0},
     {symbols_option_table, offsetof(atos, symbols)},
     {slice_option_table, offsetof(atos, image)},
     {object_option_table, offsetof(atos, objects)}},
    "exit status: 0 done, 1 a file or its addresses could not be read, or --strict, 2 usage\n",
    atos_run_command,
    NULL,
};
