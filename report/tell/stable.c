/* Names that stay the same; see stable.h. */
#include "stable.h"
#include "../base/names.h"

#include <string.h>

/* Text after this length is ignored: names of templates may have any length, and functions differ at the
 * start. */
enum { STABLE_NAME_MAX_LEN = 4096 };

static bool stable_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- Text around a name ---- */

/* "(2) suspend resume partial function for NAME": a part of a split async function. */
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

/* Words that compilers put before a name for variants of one function. */
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

static bool stable_ends(machsym_str s, const char *word)
{
    size_t len = strlen(word);
    return s.len > len && memcmp(s.ptr + s.len - len, word, len) == 0;
}

/* Suffixes that compilers and tools add to a name, mangled or not. */
static machsym_str stable_without_suffixes(machsym_str s)
{
    static const char *const tails[] = {".llvm.",    ".cold.", " (.cold",     ".resume.",
                                        ".destroy.", ".isra.", ".constprop.", ".lto_priv.",
                                        " [clone",   " (in ",  ".part.",      "partial apply"};
    static const char *const ends[] = {".cold", ".abi0"};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        size_t at = str_find(s, tails[i]);
        s.len = at > 0 ? at : s.len;
    }
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        s.len -= stable_ends(s, ends[i]) ? strlen(ends[i]) : 0;
    return str_trim(s);
}

/* The return type of a function, or the type of a property. */
static machsym_str stable_without_type(machsym_str s)
{
    s.len = str_find(s, " -> ");
    s.len = str_find(s, " : ");
    return str_trim(s);
}

/* A block is named after its function: "__31-[Player play:]_block_invoke_2.108". */
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

/* ---- Rust ---- */

/* "::h0123456789abcdef" changes with each build. */
enum { RUST_HASH = 19 };

static size_t stable_hex_len(machsym_str s, bool is_upper)
{
    size_t at = 0;
    while (at < s.len && (stable_is_digit(s.ptr[at]) ||
                          (s.ptr[at] >= (is_upper ? 'A' : 'a') && s.ptr[at] <= (is_upper ? 'F' : 'f'))))
        at++;
    return at;
}

static bool stable_has_rust_hash(machsym_str s)
{
    if (s.len <= RUST_HASH)
        return false;
    machsym_str hash = str_from(s, s.len - RUST_HASH);
    return str_starts(hash, "::h") && stable_hex_len(str_from(hash, 3), false) == RUST_HASH - 3;
}

/* A Rust name that a C++ demangler decoded still has its escapes: "a::_$LT$b$GT$::h0123456789abcdef". It is
 * mangled again, so that one demangler reads all. */
static void stable_put_rust(text *out, machsym_str s)
{
    text mangled = text_in(out->memory);
    text_c(&mangled, "_ZN");
    for (size_t at = 0; at < s.len;) {
        machsym_str rest = str_from(s, at);
        size_t len = str_find(rest, "::");
        text_dec(&mangled, len);
        text_add(&mangled, rest.ptr, len);
        at += len + 2;
    }
    text_char(&mangled, 'E');
    text_name(out, str_make(mangled.v, mangled.len), MACHSYM_DEMANGLE_SIMPLIFIED);
    text_free(&mangled);
}

/* Appends the name in source form. */
static void stable_put_readable(text *out, machsym_str name)
{
    bool has_hash = stable_has_rust_hash(name);
    if (has_hash && str_find(name, "$") < name.len)
        stable_put_rust(out, name);
    else
        text_name(out, str_make(name.ptr, name.len - (has_hash ? RUST_HASH : 0)),
                  MACHSYM_DEMANGLE_SIMPLIFIED);
}

/* ---- The name itself ---- */

static bool stable_is_word(char c)
{
    return (c | 32) >= 'a' ? (c | 32) <= 'z' : stable_is_digit(c) || c == '_' || c == '$';
}

/* Whether s[at] begins with the module of a Swift name, which is the name of its image: "Module.". */
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

/* Whether an angle bracket at s[at] is part of an operator's name. */
static bool stable_is_operator(machsym_str s, size_t at)
{
    static const char word[] = "operator";
    size_t begin = at;
    while (begin > 0 && strchr("<>=-", s.ptr[begin - 1]) != NULL)
        begin--;
    return begin >= sizeof word - 1 && memcmp(s.ptr + begin - (sizeof word - 1), word, sizeof word - 1) == 0;
}

/* Returns the index after the bracket that closes the one at s[at]; 0: it is not closed. */
static size_t stable_closes(machsym_str s, size_t at, char open, char close)
{
    size_t depth = 0;
    for (size_t i = at; i < s.len; i++) {
        bool is_arrow = s.ptr[i] == '>' && i > 0 && s.ptr[i - 1] == '-';
        if (s.ptr[i] == open)
            depth++;
        else if (s.ptr[i] == close && !is_arrow && --depth == 0)
            return i + 1;
    }
    return 0;
}

/* The part to keep of the piece at s[at], and the length of that piece. */
typedef struct stable_piece {
    machsym_str kept;
    size_t len;
} stable_piece;

/* Normalizes a piece: "{{closure}}" of one compiler is "{closure#0}" of the next. */
static bool stable_take_word(machsym_str s, size_t at, stable_piece *out)
{
    static const struct {
        const char *word;
        const char *kept;
        char close; /* the piece ends at this byte; 0: at the end of the word */
    } words[] = {{"(anonymous namespace)", "(anonymous namespace)", 0},
                 {"(extension in ", "", ':'},
                 {"operator()", "operator()", 0},
                 {"[abi:", "", ']'},
                 {"[go.shape.", "", ']'},
                 {"[...]", "", 0},
                 {"{{closure}}", "{closure}", 0},
                 {"{closure#", "{closure}", '}'}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!stable_stands(s, at, words[i].word))
            continue;
        size_t word = strlen(words[i].word);
        const char *end =
            words[i].close != 0 ? (const char *)memchr(s.ptr + at, words[i].close, s.len - at) : NULL;
        out->kept = str_c(words[i].kept);
        out->len = words[i].close == 0 ? word : end != NULL ? (size_t)(end - s.ptr) + 1 - at : s.len - at;
        return true;
    }
    return false;
}

/* Normalizes a receiver of Go, "main.(*Player).Play"; a Kotlin function without a plain name, "<init>"; a
 * number of a Kotlin coroutine, which changes with each build. */
static bool stable_take_quoted(machsym_str s, size_t at, stable_piece *out)
{
    static const char coroutine[] = "COROUTINE$";
    size_t close = 0;
    bool is_after = at > 0 && (s.ptr[at - 1] == '.' || s.ptr[at - 1] == '#');
    if (is_after && stable_stands(s, at, "(*"))
        close = stable_closes(s, at, '(', ')');
    else if (is_after && s.ptr[at] == '<' && at + 1 < s.len && stable_is_word(s.ptr[at + 1]))
        close = stable_closes(s, at, '<', '>');
    if (close > 0) {
        out->kept = str_make(s.ptr + at, close - at);
        out->len = close - at;
        return true;
    }
    if (!stable_stands(s, at, coroutine))
        return false;
    out->kept = str_c(coroutine);
    out->len = sizeof coroutine - 1;
    while (at + out->len < s.len && stable_is_digit(s.ptr[at + out->len]))
        out->len++;
    return true;
}

/* Removes il2cpp's "_t" or "_m" and a hash, of a type or of the method. After the method's hash come only
 * kinds of copies. */
static bool stable_take_il2cpp(machsym_str s, size_t at, stable_piece *out)
{
    enum { IL2CPP_HASH = 40 };
    bool is_method = stable_stands(s, at, "_m");
    if ((!is_method && !stable_stands(s, at, "_t")) ||
        stable_hex_len(str_from(s, at + 2), true) != IL2CPP_HASH)
        return false;
    out->kept = str_c("");
    out->len = is_method ? s.len - at : 2 + IL2CPP_HASH;
    return true;
}

/* Rust's "<A as B>" and "<impl B for A>" in a path identify the function, so they stay. "<A>" at the start of
 * a path is A. */
static size_t stable_qualified_at(machsym_str s, size_t at)
{
    bool is_path = at == 0 || (at > 2 && stable_stands(s, at - 2, "::"));
    size_t close = is_path && s.ptr[at] == '<' ? stable_closes(s, at, '<', '>') : 0;
    machsym_str inner = close > 0 ? str_make(s.ptr + at, close - at) : str_make(NULL, 0);
    bool is_told = str_starts(inner, "<impl ") || str_find(inner, " as ") < inner.len;
    return is_told || at == 0 ? close : 0;
}

/* Appends the name without arguments of templates and functions, ABI tags and modules. */
static void stable_put_core(text *out, machsym_str s, machsym_str image)
{
    size_t depth = 0;
    size_t qualified = 0; /* end of a qualified path */
    for (size_t at = 0; at < s.len; at++) {
        char c = s.ptr[at];
        stable_piece piece = {{NULL, 0}, 0};
        size_t module = depth == 0 ? stable_module_at(s, at, image) : 0;
        size_t close = depth == 0 && at >= qualified && c == '<' ? stable_qualified_at(s, at) : 0;
        if (module > 0) {
            at += module - 1;
        } else if (close > 0) {
            qualified = close;
        } else if (at + 1 == qualified) {
            continue;
        } else if (depth == 0 && (stable_take_word(s, at, &piece) || stable_take_quoted(s, at, &piece) ||
                                  stable_take_il2cpp(s, at, &piece))) {
            text_str(out, piece.kept);
            at += piece.len - 1;
        } else if (c == '<' && !stable_is_operator(s, at)) {
            depth++;
        } else if (c == '>' && depth > 0 && !stable_is_operator(s, at)) {
            depth--;
        } else if (depth > 0) {
            continue;
        } else if (c == '(' && at >= qualified) {
            return;
        } else {
            text_char(out, c);
        }
    }
}

/* Returns the length of "closure #1 (Swift.Int) -> () in " at the start; *number: up to the end of its
 * number. */
static size_t stable_closure_prefix(machsym_str s, size_t *number)
{
    static const char *const words[] = {"closure #", "implicit closure #"};
    static const char in[] = " in ";
    size_t depth = 0;
    size_t at = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words && at == 0; i++)
        at = str_starts(s, words[i]) ? strlen(words[i]) : 0;
    if (at == 0)
        return 0;
    while (at < s.len && stable_is_digit(s.ptr[at]))
        at++;
    *number = at;
    for (; at < s.len; at++) {
        if (depth == 0 && stable_stands(s, at, in))
            return at + sizeof in - 1;
        depth += s.ptr[at] == '(';
        depth -= s.ptr[at] == ')' && depth > 0;
    }
    return 0;
}

/* Closures nest: their numbers stay, their types are removed. Returns the function that contains them. */
static machsym_str stable_put_closures(text *out, machsym_str s)
{
    size_t number = 0;
    size_t len;
    while ((len = stable_closure_prefix(s, &number)) > 0) {
        text_add(out, s.ptr, number);
        text_c(out, " in ");
        s = stable_without_prefixes(str_from(s, len));
    }
    return s;
}

void stable_name(text *out, machsym_str name, machsym_str image)
{
    text readable = text_in(out->memory);
    size_t from = out->len;
    name = str_trim(name);
    if (name.len > STABLE_NAME_MAX_LEN)
        name.len = STABLE_NAME_MAX_LEN;
    stable_put_readable(&readable, stable_without_block(stable_without_suffixes(name)));
    machsym_str s = stable_without_prefixes(str_make(readable.v, readable.len));
    s = stable_put_closures(out, s);
    s = stable_without_type(stable_without_suffixes(stable_without_block(s)));
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
