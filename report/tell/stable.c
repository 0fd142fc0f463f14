/* Names that stay the same; see stable.h. */
#include "stable.h"
#include "../base/memory.h"
#include "../base/names.h"

#include <stdlib.h>
#include <string.h>

/* What stands after this is not looked at: names of templates may have any length, and what tells functions
 * apart stands in front. */
enum { NAME_MAX_LEN = 4096 };

static bool stable_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- What stands around a name ---- */

/* "(2) suspend resume partial function for NAME": what an async function is cut into. */
static size_t stable_partial_prefix(machsym_str s)
{
    static const char *const kinds[] = {"suspend", "await"};
    static const char rest[] = " resume partial function for ";
    size_t at = 1;
    if (s.len == 0 || s.ptr[0] != '(')
        return 0;
    while (at < s.len && stable_is_digit(s.ptr[at]))
        at++;
    machsym_str kind = str_from(s, at + 2);
    if (at == 1 || str_from(s, at).len < 2 || s.ptr[at] != ')')
        return 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (str_starts(kind, kinds[i]) && str_starts(str_from(kind, strlen(kinds[i])), rest))
            return at + 2 + strlen(kinds[i]) + sizeof rest - 1;
    }
    return 0;
}

/* "generic specialization <...> of NAME" */
static size_t stable_specialization_prefix(machsym_str s)
{
    static const char *const kinds[] = {"generic specialization <",
                                        "generic not re-abstracted specialization <",
                                        "function signature specialization <"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t of = str_find(s, "> of ");
        if (str_starts(s, kinds[i]) && of < s.len)
            return of + 5;
    }
    return 0;
}

/* Forms of one function that compilers make, in words before its name. */
static machsym_str stable_without_prefixes(machsym_str s)
{
    static const char *const words[] = {"specialized ",
                                        "@objc ",
                                        "@nonobjc ",
                                        "partial apply for ",
                                        "merged ",
                                        "dynamic ",
                                        "partial apply forwarder for ",
                                        "non-virtual thunk to ",
                                        "virtual thunk to ",
                                        "invocation function for block in "};
    for (size_t taken = 1; taken > 0;) {
        taken = stable_partial_prefix(s);
        taken = taken > 0 ? taken : stable_specialization_prefix(s);
        for (size_t i = 0; i < sizeof words / sizeof *words && taken == 0; i++)
            taken = str_starts(s, words[i]) ? strlen(words[i]) : 0;
        s = str_from(s, taken);
    }
    return s;
}

/* What compilers and tools put after a name. */
static machsym_str stable_without_suffixes(machsym_str s)
{
    static const char *const tails[] = {".llvm.", ".cold.",      " (.cold",    ".resume.",     ".destroy.",
                                        ".isra.", ".constprop.", ".lto_priv.", " [clone",      " (in ",
                                        ".part.", " -> ",        " : ",        "partial apply"};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        size_t at = str_find(s, tails[i]);
        s.len = at > 0 ? at : s.len;
    }
    if (s.len > 5 && memcmp(s.ptr + s.len - 5, ".cold", 5) == 0)
        s.len -= 5;
    return str_trim(s);
}

/* A block has the name of the function that it is in: "__31-[Player play:]_block_invoke_2.108". */
static machsym_str stable_without_block(machsym_str s)
{
    size_t at = str_find(s, "_block_invoke");
    if (at == s.len || at == 0)
        return s;
    s.len = at;
    size_t digits = str_starts(s, "__") ? 2 : 0;
    while (digits < s.len && stable_is_digit(s.ptr[digits]))
        digits++;
    return str_from(s, digits);
}

/* ---- The name itself ---- */

static bool stable_is_word(char c)
{
    return (c | 32) >= 'a' ? (c | 32) <= 'z' : stable_is_digit(c) || c == '_' || c == '$';
}

/* Whether the module of a Swift name, which is the image it is in, stands at s[at]: "Module.". */
static size_t stable_module_at(machsym_str s, size_t at, machsym_str image)
{
    if (image.len == 0 || (at > 0 && stable_is_word(s.ptr[at - 1])) || s.len - at <= image.len ||
        s.ptr[at + image.len] != '.')
        return 0;
    for (size_t i = 0; i < image.len; i++) {
        char c = stable_is_word(image.ptr[i]) ? image.ptr[i] : '_';
        if (s.ptr[at + i] != c)
            return 0;
    }
    return image.len + 1;
}

static bool stable_stands(machsym_str s, size_t at, const char *word)
{
    return str_starts(str_from(s, at), word);
}

/* Whether an angle bracket at s[at] is a part of an operator's name. */
static bool stable_is_operator(machsym_str s, size_t at)
{
    static const char word[] = "operator";
    size_t begin = at;
    while (begin > 0 && strchr("<>=-", s.ptr[begin - 1]) != NULL)
        begin--;
    return begin >= sizeof word - 1 && memcmp(s.ptr + begin - (sizeof word - 1), word, sizeof word - 1) == 0;
}

/* Without arguments of templates and functions, tags of ABIs and modules. */
static void stable_put_core(text *out, machsym_str s, machsym_str image)
{
    size_t depth = 0;
    for (size_t at = 0; at < s.len; at++) {
        char c = s.ptr[at];
        size_t module = depth == 0 ? stable_module_at(s, at, image) : 0;
        if (module > 0) {
            at += module - 1;
        } else if (c == '<' && !stable_is_operator(s, at)) {
            depth++;
        } else if (c == '>' && depth > 0 && !stable_is_operator(s, at)) {
            depth--;
        } else if (depth > 0) {
            continue;
        } else if (stable_stands(s, at, "(anonymous namespace)")) {
            text_c(out, "(anonymous namespace)");
            at += sizeof "(anonymous namespace)" - 2;
        } else if (stable_stands(s, at, "(extension in ")) {
            at += str_find(str_from(s, at), ":");
        } else if (stable_stands(s, at, "operator()")) {
            text_c(out, "operator()");
            at += sizeof "operator()" - 2;
        } else if (stable_stands(s, at, "[abi:")) {
            at += str_find(str_from(s, at), "]");
        } else if (c == '(') {
            return;
        } else {
            text_char(out, c);
        }
    }
}

void stable_name(text *out, machsym_str name, machsym_str image)
{
    text readable = {0};
    size_t from = out->len;
    name = str_trim(name);
    name.len = name.len > NAME_MAX_LEN ? NAME_MAX_LEN : name.len;
    name = stable_without_block(stable_without_suffixes(name));
    text_name(&readable, name, MACHSYM_DEMANGLE_SIMPLIFIED);
    machsym_str s = stable_without_prefixes(str_make(readable.v, readable.len));
    s = stable_without_suffixes(stable_without_block(s));
    size_t method =
        s.len > 1 && (s.ptr[0] == '-' || s.ptr[0] == '+') && s.ptr[1] == '[' ? str_find(s, "]") : s.len;
    while (s.len > 0 && s.ptr[0] == '_')
        s = str_from(s, 1);
    if (method < s.len)
        text_add(out, s.ptr, method + 1);
    else if (!str_starts(s, "OUTLINED_FUNCTION_"))
        stable_put_core(out, s, image);
    while (out->len > from && out->v[out->len - 1] == ' ')
        out->len--;
    text_free(&readable);
}

/* ---- Machinery ---- */

/* In their stable form: without underscores in front and arguments. */
static const char *const built_in[] = {"pthread_kill",
                                       "kill",
                                       "raise",
                                       "abort",
                                       "abort_message",
                                       "assert_rtn",
                                       "sigtramp",
                                       "demangling_terminate_handler",
                                       "demangling_unexpected_handler",
                                       "default_terminate_handler",
                                       "default_unexpected_handler",
                                       "objc_terminate",
                                       "std::terminate",
                                       "std::__terminate",
                                       "cxa_*",
                                       "objc_exception_*",
                                       "exceptionPreprocess",
                                       "+[NSException raise*",
                                       "-[NSException raise*",
                                       "-[NSAssertionHandler *",
                                       "swift_runtime_on_report",
                                       "swift_unexpectedError",
                                       "swift_fatalError*",
                                       "Swift runtime failure*",
                                       "assertionFailure",
                                       "fatalErrorMessage",
                                       "closure #1 in assertionFailure",
                                       "closure #1 in closure #1 in assertionFailure",
                                       "closure #1 in closure #1 in closure #1 in assertionFailure",
                                       "CFRunLoop*",
                                       "CFRUNLOOP_IS_*",
                                       "GSEventRun*",
                                       "UIApplicationMain",
                                       "NSApplicationMain",
                                       "-[UIApplication _run]",
                                       "-[NSApplication run]",
                                       "start",
                                       "start_sim",
                                       "thread_start",
                                       "start_wqthread",
                                       "pthread_start",
                                       "pthread_body",
                                       "pthread_wqthread",
                                       "NSThread__start__",
                                       "dispatch_*"};

struct machinery {
    text source;
    machsym_str *v;
    size_t count;
    size_t cap;
};

machinery *machinery_make(text *source)
{
    machinery *list = mem_alloc(sizeof *list);
    machsym_str line;
    memset(list, 0, sizeof *list);
    list->source = *source;
    memset(source, 0, sizeof *source);
    machsym_str rest = {list->source.v, list->source.len};
    while (str_take_line(&rest, &line)) {
        line = str_trim(line);
        if (line.len == 0 || line.ptr[0] == '#')
            continue;
        list->v = mem_room(list->v, list->count, &list->cap, sizeof *list->v);
        list->v[list->count++] = line;
    }
    return list;
}

void machinery_free(machinery *list)
{
    if (list == NULL)
        return;
    text_free(&list->source);
    free(list->v);
    free(list);
}

static bool stable_fits(machsym_str name, machsym_str pattern)
{
    MACHSYM_COUNT_WORK(1);
    if (pattern.len > 0 && pattern.ptr[pattern.len - 1] == '*')
        return name.len >= pattern.len - 1 && memcmp(name.ptr, pattern.ptr, pattern.len - 1) == 0;
    return str_equal(name, pattern);
}

bool machinery_has(const machinery *list, machsym_str stable_name)
{
    size_t count = list != NULL ? list->count : sizeof built_in / sizeof *built_in;
    for (size_t i = 0; i < count; i++) {
        if (stable_fits(stable_name, list != NULL ? list->v[i] : str_c(built_in[i])))
            return true;
    }
    return false;
}
