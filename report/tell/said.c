/* See said.h. */
#include "said.h"
#include "../base/digits.h"

#include <string.h>

/* Returns the text between two marks of a line; empty if the first is absent, up to the end if the second
 * is. */
static machsym_str said_between(machsym_str s, const char *after, const char *before)
{
    machsym_str rest = str_after(s, after);
    return str_trim(str_make(rest.ptr, str_find(rest, before)));
}

static bool said_has(machsym_str s, const char *needle)
{
    return str_find(s, needle) < s.len;
}

/* ---- Exceptions ---- */

/* "*** Terminating app due to uncaught exception 'NAME', reason: 'WHY'". The reason may contain quotes. */
static bool said_thrown(machsym_str line, said *out)
{
    machsym_str rest = str_after(line, "uncaught exception '");
    machsym_str why = str_after(rest, "reason: '");
    size_t end = str_find(rest, "'");
    if (rest.len == 0)
        return false;
    out->kind = SAID_THROWN;
    out->name = str_make(rest.ptr, end);
    why = str_trim(why);
    if (why.len > 0 && why.ptr[why.len - 1] == '\'')
        why.len--;
    out->words = why;
    return true;
}

/* AppKit catches an exception that an event handler throws, and ends the program. */
static bool said_crashing_on(machsym_str line, said *out)
{
    out->words = str_trim(str_after(line, "Crashing on exception:"));
    if (out->words.len == 0)
        return false;
    out->kind = SAID_THROWN;
    return true;
}

/* "terminating due to uncaught exception of type std::out_of_range: vector", "libc++abi: terminating with
 * ..." */
static bool said_cxx(machsym_str line, said *out)
{
    machsym_str type = str_after(line, "uncaught exception of type ");
    size_t at = 0;
    if (type.len == 0 || !said_has(line, "terminating"))
        return false;
    while (at < type.len && !(type.ptr[at] == ':' && at + 1 < type.len && type.ptr[at + 1] == ' '))
        at++;
    out->kind = SAID_CXX;
    out->name = str_make(type.ptr, at);
    out->words = at < type.len ? str_trim(str_from(type, at + 1)) : str_make(NULL, 0);
    return true;
}

/* ---- Swift ---- */

static bool said_is_number(machsym_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
    }
    return s.len > 0;
}

/* "demo/main.swift:12": a file and a line. */
static bool said_place(machsym_str s, said *out)
{
    size_t colon = s.len;
    while (colon > 0 && s.ptr[colon - 1] != ':')
        colon--;
    if (colon < 2 || !said_is_number(str_from(s, colon)))
        return false;
    out->file = str_make(s.ptr, colon - 1);
    return str_number_after(str_from(s, colon), "", &out->line);
}

/* "Fatal error: WORDS: file main.swift, line 12" up to Swift 5.2; "main.swift:12: Fatal error: WORDS" since
 * then. */
static bool said_swift(machsym_str line, said *out)
{
    static const char *const begins[] = {"Fatal error", "fatal error", "Precondition failed",
                                         "Assertion failed:"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        size_t at = str_find(line, begins[i]);
        machsym_str ahead = str_make(line.ptr, at);
        machsym_str rest = str_from(line, at);
        size_t file = str_find(rest, ": file ");
        bool is_c = i == 3 && said_has(line, ", function ");
        if (at == line.len || is_c || (at > 0 && !(at > 2 && str_is(str_make(line.ptr + at - 2, 2), ": "))))
            continue;
        if (i == 3 && at == 0 && file == rest.len)
            continue;
        out->kind = SAID_SWIFT;
        out->words = str_trim(str_make(rest.ptr, file));
        if (at > 2) {
            said_place(str_make(ahead.ptr, at - 2), out);
        } else if (file < rest.len) {
            out->file = said_between(rest, ": file ", ", line ");
            str_number_after(rest, ", line ", &out->line);
        }
        return true;
    }
    return false;
}

/* ---- Checks of libraries ---- */

/* "BUG IN CLIENT OF LIBDISPATCH: WORDS", "BUG IN LIBDISPATCH: WORDS" */
static bool said_bug(machsym_str line, said *out)
{
    machsym_str client = str_after(line, "BUG IN CLIENT OF ");
    machsym_str own = str_after(line, "BUG IN ");
    machsym_str rest = client.len > 0 ? client : own;
    size_t colon = str_find(rest, ":");
    if (rest.len == 0 || colon == rest.len)
        return false;
    out->kind = client.len > 0 ? SAID_CLIENT : SAID_LIBRARY;
    out->name = str_make(rest.ptr, colon);
    out->words = str_trim(str_from(rest, colon + 1));
    return true;
}

/* "demo(412,0x1f0a2c0c0) malloc: *** error for object 0x600000c00010: pointer being freed was not
 * allocated" */
static bool said_malloc(machsym_str line, said *out)
{
    static const char *const words[] = {"*** error for object ",
                                        "Heap corruption detected",
                                        "Corruption of free object",
                                        "Incorrect guard value",
                                        "pointer being freed was not allocated",
                                        "pointer being realloc'd was not allocated",
                                        "Double free of object",
                                        "Incorrect checksum for freed object",
                                        "Non-aligned pointer"};
    machsym_str after = str_after(line, "malloc: ");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!said_has(line, words[i]))
            continue;
        out->kind = SAID_MALLOC;
        out->words = str_trim(after.len > 0 ? after : line);
        if (str_starts(out->words, "*** "))
            out->words = str_from(out->words, 4);
        return true;
    }
    return false;
}

/* "*** -[CFString release]: message sent to deallocated instance 0x600000c00010" */
static bool said_zombie(machsym_str line, said *out)
{
    if (!said_has(line, "message sent to deallocated instance"))
        return false;
    out->kind = SAID_ZOMBIE;
    out->words = str_starts(line, "*** ") ? str_from(line, 4) : line;
    return true;
}

/* "*** CFRelease() called with NULL ***" */
static bool said_null(machsym_str line, said *out)
{
    size_t at = str_find(line, "() called with NULL");
    size_t begin = str_starts(line, "*** ") ? 4 : 0;
    if (at == line.len || !str_starts(str_from(line, begin), "CF"))
        return false;
    out->kind = SAID_NULL_OBJECT;
    out->words = str_make(line.ptr + begin, at - begin + sizeof "() called with NULL" - 1);
    return true;
}

/* "Assertion failed: (count > 0), function pop, file queue.c, line 12." */
static bool said_assertion(machsym_str line, said *out)
{
    machsym_str words = str_after(line, "Assertion failed: ");
    if (words.len == 0 || !said_has(line, ", function "))
        return false;
    out->kind = SAID_ASSERTION;
    out->words = str_trim(str_make(words.ptr, str_find(words, ", file ")));
    out->file = said_between(words, ", file ", ", line ");
    str_number_after(words, ", line ", &out->line);
    return true;
}

static bool said_overflow(machsym_str line, said *out)
{
    static const char *const words[] = {"stack buffer overflow", "detected buffer overflow",
                                        "detected source and destination buffer overlap"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!said_has(line, words[i]))
            continue;
        out->kind = SAID_OVERFLOW;
        out->words = line;
        return true;
    }
    return false;
}

static bool said_objc(machsym_str line, said *out)
{
    static const char *const words[] = {"Attempt to use unknown class",
                                        "Invalid or prematurely-freed autorelease pool",
                                        "Method cache corrupted", "autorelease pool page"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!said_has(line, words[i]))
            continue;
        out->kind = SAID_OBJC;
        out->words = line;
        return true;
    }
    return false;
}

/* ---- Which of it ---- */

/* Sorted by cause: an earlier row is the cause of a later one. */
static bool (*const said_readers[])(machsym_str line, said *out) = {
    said_thrown, said_crashing_on, said_cxx,  said_swift,     said_bug,      said_malloc,
    said_zombie, said_null,        said_objc, said_assertion, said_overflow,
};

/* Messages without an error: of the loader, of a simulator, of abort, of AppKit about the current event. */
static bool said_is_noise(machsym_str line)
{
    static const char *const begins[] = {
        "abort() called", "dyld",          "dyld3 mode",           "dyld4 config",         "CoreSimulator",
        "objc_msgSend",   "Selector name", "*** set a breakpoint", "Performing @selector", "Completed ",
        "Pid ",           "Bug Type",      "Abort Cause"};
    if (line.len == 0)
        return true;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        if (str_starts(line, begins[i]))
            return true;
    }
    return false;
}

/* More lines than a library writes. A damaged report may have a million. */
enum { LINES_MAX = 256 };

/* The reason may span lines, up to its closing quote. One line is shown. */
static bool said_find_in(machsym_str info, said *out)
{
    for (size_t i = 0; i < sizeof said_readers / sizeof *said_readers; i++) {
        machsym_str rest = info;
        machsym_str line;
        for (unsigned count = 0; count < LINES_MAX && str_take_line(&rest, &line); count++) {
            memset(out, 0, sizeof *out);
            if (said_readers[i](str_trim(line), out))
                return true;
        }
    }
    memset(out, 0, sizeof *out);
    return false;
}

static void said_find_other(machsym_str info, said *out)
{
    machsym_str line;
    for (unsigned count = 0; count < LINES_MAX && str_take_line(&info, &line); count++) {
        line = str_trim(line);
        if (said_is_noise(line))
            continue;
        out->kind = SAID_OTHER;
        out->words = line;
        return;
    }
}

static machsym_str said_first_line(machsym_str s)
{
    return str_trim(str_make(s.ptr, str_find(s, "\n")));
}

void said_find(const report *r, said *out)
{
    machsym_str info = r->facts[FACT_APP_INFO];
    machsym_str reason = said_first_line(r->facts[FACT_REASON]);
    bool is_found = said_find_in(info, out);
    if (is_found && (out->kind != SAID_THROWN || out->name.len > 0))
        return;
    if (r->facts[FACT_THROWN].len > 0 || reason.len > 0) {
        out->kind = r->facts[FACT_THROWN].len > 0 || is_found ? SAID_THROWN : SAID_REASON;
        out->name = r->facts[FACT_THROWN];
        out->words = reason.len > 0 ? reason : out->words;
        return;
    }
    if (!is_found)
        said_find_other(info, out);
}

/* ---- In words ---- */

const char *said_kind_name(said_kind kind)
{
    static const char *const names[] = {
#define SAID_KIND_NAME(kind, name, words) name,
        SAID_KINDS(SAID_KIND_NAME)
#undef SAID_KIND_NAME
    };
    return names[kind];
}

void said_put(text *t, const said *what)
{
    static const char *const words[] = {
#define SAID_KIND_WORDS(kind, name, words) words,
        SAID_KINDS(SAID_KIND_WORDS)
#undef SAID_KIND_WORDS
    };
    if (what->kind == SAID_NOTHING)
        return;
    text_c(t, words[what->kind]);
    if (what->name.len > 0) {
        text_c(t, what->kind == SAID_CLIENT || what->kind == SAID_LIBRARY ? ", " : " ");
        text_shown(t, what->name);
    }
    if (what->words.len > 0) {
        text_c(t, ": ");
        text_shown(t, what->words);
    }
    if (what->file.len > 0) {
        text_c(t, " (");
        text_shown(t, what->file);
        if (what->line > 0) {
            text_char(t, ':');
            text_dec(t, what->line);
        }
        text_char(t, ')');
    }
    text_char(t, '\n');
}
