/* Tests of the Swift demangler: built-in cases, hostile input, and the tables in the folder argv[1] (default
 * ../shared/vectors; skipped when it is not there). Exits 1 when anything fails. */
#define MACHSYM_IMPLEMENTATION
#include "machsym.h"
#include "names_swift.h"

#include <stdio.h>
#include <stdlib.h>

enum { SMALL = 24 * 1024, LARGE = 256 * 1024, LINE_MAX_LEN = 1 << 20 };

static union {
    uint64_t align[2];
    unsigned char bytes[LARGE];
} scratch;

static size_t passed, failed;
static char out[LINE_MAX_LEN], line[LINE_MAX_LEN];

/* What the header's entrance does: a small frame first, a large one when that is too small. */
static bool demangle(const char *s, size_t len, uint32_t flags, char *buf, size_t cap, size_t *out_len)
{
    ms_dm d;
    for (int round = 0; round < 2; round++) {
        memset(&d, 0, sizeof d);
        d.s = s;
        d.len = len;
        d.flags = flags;
        d.out = buf;
        d.cap = cap;
        d.out_limit = 256 * 1024 + 16 * len;
        d.work = 64 * len + 65536;
        d.mem = scratch.bytes;
        d.mem_len = round == 0 ? SMALL : LARGE;
        memset(scratch.bytes, 0xa5, d.mem_len);
        if (ms_dm_swift(&d)) {
            *out_len = d.out_len;
            return true;
        }
        if (!d.no_mem)
            break;
    }
    return false;
}

static void report(bool ok, const char *what, const char *name, size_t name_len, const char *want,
                   size_t want_len, const char *got, size_t got_len)
{
    if (ok) {
        passed++;
        return;
    }
    if (failed++ < 20)
        printf("%s: %.*s\n  want %.*s\n  got  %.*s\n", what, (int)name_len, name, (int)want_len, want,
               (int)got_len, got);
}

/* A name that is not Swift's is printed unchanged. */
static void check(const char *what, const char *name, size_t name_len, uint32_t flags, const char *want,
                  size_t want_len)
{
    size_t got_len = name_len;
    const char *got = demangle(name, name_len, flags, out, sizeof out, &got_len) ? out : name;
    bool ok = got_len == want_len && memcmp(got, want, want_len) == 0;
    report(ok, what, name, name_len, want, want_len, got, got_len);
}

typedef struct column {
    const char *file;
    size_t at;       /* the column that holds the expected text */
    size_t fallback; /* the column that holds it when that one is empty */
    uint32_t flags;
} column;

static const column columns[] = {
    {"swift.tsv", 1, 1, MACHSYM_DEMANGLE_FULL},
    {"swift.tsv", 2, 2, MACHSYM_DEMANGLE_SIMPLIFIED | ms_dmsw_NO_ASYNC},
    {"swift.tsv", 3, 3, MACHSYM_DEMANGLE_SIMPLIFIED},
    {"swift.tsv", 4, 1, ms_dmsw_NO_SUGAR},
    {"swift-apple-compat.tsv", 1, 1, MACHSYM_DEMANGLE_FULL},
    {"swift-apple-compat.tsv", 2, 2, MACHSYM_DEMANGLE_SIMPLIFIED | ms_dmsw_NO_ASYNC},
    {"swift-apple-compat.tsv", 3, 3, MACHSYM_DEMANGLE_SIMPLIFIED},
    {"swift-apple-compat.tsv", 4, 1, ms_dmsw_NO_SUGAR},
    {"swift-official.tsv", 1, 1, MACHSYM_DEMANGLE_FULL},
    {"swift-simplified-official.tsv", 1, 1, MACHSYM_DEMANGLE_SIMPLIFIED | ms_dmsw_NO_ASYNC},
    {"swift-negative.tsv", 1, 1, MACHSYM_DEMANGLE_FULL},
};

static machsym_str field(const char *text, size_t n)
{
    for (; n > 0; n--) {
        text += strcspn(text, "\t");
        text += *text == '\t';
    }
    machsym_str s = {text, strcspn(text, "\t")};
    return s;
}

static void check_table(const char *folder, const column *c)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, c->file);
    FILE *f = fopen(path, "rb");
    if (!f) {
        printf("skipped: %s is not there\n", c->file);
        return;
    }
    size_t passed_before = passed, failed_before = failed;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        machsym_str name = field(line, 0), want = field(line, c->at);
        if (want.len == 0)
            want = field(line, c->fallback);
        check(c->file, name.ptr, name.len, c->flags, want.ptr, want.len);
    }
    fclose(f);
    printf("%-30s column %zu: %zu passed, %zu failed\n", c->file, c->at + 1, passed - passed_before,
           failed - failed_before);
}

typedef struct sample {
    const char *name, *full, *simplified; /* NULL: unchanged */
} sample;

static const sample samples[] = {
    {"$s4Farm3CowC3moo5timesySi_tF", "Farm.Cow.moo(times: Swift.Int) -> ()", "Cow.moo(times:)"},
    {"$s4Farm3CowC3moo5timesySi_tFZ", "static Farm.Cow.moo(times: Swift.Int) -> ()",
     "static Cow.moo(times:)"},
    {"_$s4Farm3CowCACycfC", "Farm.Cow.__allocating_init() -> Farm.Cow", "Cow.__allocating_init()"},
    {"$e4Farm3CowCACycfc", "Farm.Cow.init() -> Farm.Cow", "Cow.init()"},
    {"$s4Farm3CowCfD", "Farm.Cow.__deallocating_deinit", "Cow.__deallocating_deinit"},
    {"$s4Farm3PenVfd", "Farm.Pen.deinit", "Pen.deinit"},
    {"$s4Farm4feedyySaySiGSg_SDySSypGtF", "Farm.feed([Swift.Int]?, [Swift.String : Any]) -> ()",
     "feed(_:_:)"},
    {"$s4Farm4feedyyxSgzlF", "Farm.feed<A>(inout A?) -> ()", "feed<A>(_:)"},
    {"$s4Farm4sizeSivg", "Farm.size.getter : Swift.Int", "size.getter"},
    {"$s4Farm3PenVyS2icisTo", "@objc Farm.Pen.subscript.setter : (Swift.Int) -> Swift.Int",
     "@objc Pen.subscript.setter"},
    {"$s4Farm4feedyyFyycfU_", "closure #1 () -> () in Farm.feed() -> ()", "closure #1 in feed()"},
    {"$s4Farm4feedyyFyycfU0_TA.12",
     "partial apply forwarder for closure #2 () -> () in Farm.feed() -> () with unmangled "
     "suffix \".12\"",
     "partial apply for closure #2 in feed()"},
    {"$s4Farm4feedyyFTm", "merged Farm.feed() -> ()", "feed()"},
    {"$s4Farm4feedyyxlFSi_Tg5Tf4n_n",
     "function signature specialization <> of generic specialization <Swift.Int> of "
     "Farm.feed<A>(A) -> ()",
     "specialized feed<A>(_:)"},
    {"$s4Farm4feedyyYaKFTY2_", "(3) suspend resume partial function for Farm.feed() async throws -> ()",
     "(3) suspend resume partial function for feed()"},
    {"$s4Farm5AnimaPAAE3runyyF", "(extension in Farm):Farm.Anima.run() -> ()", "Anima.run()"},
    {"$s4Farm3CowCAA5AnimaAAMc", "protocol conformance descriptor for Farm.Cow : Farm.Anima in Farm",
     "protocol conformance descriptor for Cow"},
    {"$s4Farm3CowCAA5AnimaA2aDP3runyyFTW",
     "protocol witness for Farm.Anima.run() -> () in conformance Farm.Cow : "
     "Farm.Anima in Farm",
     "protocol witness for Anima.run() in conformance Cow"},
    {"$s4Farm3CowCMa", "type metadata accessor for Farm.Cow", "type metadata accessor for Cow"},
    {"$s4Farm3CowCSgMd", "demangling cache variable for type metadata for Farm.Cow?",
     "demangling cache variable for type metadata for Cow?"},
    {"$s4Farm3CowC3ageSivpWvd", "direct field offset for Farm.Cow.age : Swift.Int",
     "direct field offset for Cow.age"},
    {"$s4Farm3CowCwca", "assignWithCopy value witness for Farm.Cow", "assignWithCopy for Cow"},
    {"$s4Farm3CowCSgWOe", "outlined consume of Farm.Cow?", "outlined consume of Cow?"},
    {"$s4Farm3CowC3eat33_0123456789ABCDEF0123456789ABCDEFLLyyF",
     "Farm.Cow.(eat in _0123456789ABCDEF0123456789ABCDEF)() -> ()", "Cow.eat()"},
    {"$s4Farm4feedyyF5LocalL_VD", "Local #1 in Farm.feed() -> ()", "Local #1 in feed()"},
    {"$s4Farm1poiyS2i_SitF", "Farm.+ infix(Swift.Int, Swift.Int) -> Swift.Int", "+ infix(_:_:)"},
    {"$s4Farm4feedyyxq_RzRi_zRi0__r0_lF", NULL, NULL},
    {"$s4Farm4feedyyxnRi_zlF", "Farm.feed<A where A: ~Swift.Copyable>(__owned A) -> ()", "feed<A>(_:)"},
    {"$s4Farm4feedyyxxQp_tRvzlF", "Farm.feed<each A>(repeat A) -> ()", "feed<each A>(_:)"},
    {"$sIeg_IegH_TR",
     "reabstraction thunk helper from @escaping @callee_guaranteed () -> () to @escaping "
     "@callee_guaranteed @async () -> ()",
     "thunk for @escaping @callee_guaranteed () -> ()"},
    {"@__swiftmacro_4Farm3CowC3age5WatchfMa_", "accessor macro @Watch expansion #1 of age in Farm.Cow",
     "accessor macro @Watch expansion #1 of age in Cow"},
    {"_TtC4Farm3Cow", "Farm.Cow", "Cow"},
    {"_TFC4Farm3Cow3moofT5timesSi_T_", "Farm.Cow.moo(times: Swift.Int) -> ()", "Cow.moo(times:)"},
    {"_TFC4Farm3CowCfT_S0_", "Farm.Cow.__allocating_init() -> Farm.Cow", "Cow.__allocating_init()"},
    {"_TToFC4Farm3Cowg3ageSi", "@objc Farm.Cow.age.getter : Swift.Int", "@objc Cow.age.getter"},
    {"_TTSg5Si___TF4Farm4feedurFxT_", "generic specialization <Swift.Int> of Farm.feed<A>(A) -> ()",
     "specialized feed<A>(_:)"},
    {"_T04Farm4feedySi5times_tF", "Farm.feed(times: Swift.Int) -> ()", "feed(times:)"},
    {"$s4Farm4feedyyFTfr9", "representation changed of Farm.feed() -> ()", "specialized feed()"},
    {"$s4Farm4feedyyxRVzlF", "Farm.feed<let A>() -> ()", "feed<let A>()"},
    {"$s4Farm4feedyyq_xQp_tRv_r0_lF", "Farm.feed<A, B>(repeat B) -> ()", "feed<A, B>(_:)"},
    {"$s4Farm3hay3cowSSTf1cC0_n",
     "function signature specialization <Arg[0] = [Closure Propagated : cow, Argument "
     "Types : [Swift.String], Arg[1] = [Same As Argument 0]> of Farmhay",
     "specialized Farmhay"},
    {"$s4Farm1cAA3CowV3ageSivpTK", NULL, NULL},
    {"$s4Farm3CowV3ageSivpACTK", "key path getter for Farm.Cow.age : Swift.Int : Farm.Cow",
     "key path getter for Cow.age : Cow"},
    {"$s4Farm3CowV3moo4loudySb_tFACTkmu",
     "key path unapplied method Farm.Cow.moo(loud: Swift.Bool) -> () : Farm.Cow",
     "key path unapplied method Cow.moo(loud:) : Cow"},
    {"$s4Farm3CowCSgWOb", "outlined init with take of Farm.Cow?", "outlined init with take of Cow?"},
    {"$sSiWOi0_", "outlined enum tag store of Swift.Int", "outlined enum tag store of Int"},
    {"$sSiWOi", NULL, NULL},
    {"$s4Farm4feedyyFTTI", "identity thunk of Farm.feed() -> ()", "identity thunk of feed()"},
    {"$s4Farm3PenV3oneSivpfF", "property wrapped field init accessor of Farm.Pen.one : Swift.Int",
     "property wrapped field init accessor of Pen.one"},
    {"$s4Farm3gap0015vergenza_JFa3xyV", NULL, NULL},
    {"$s4Farm0012vergenza_JFaV", "Farm.verg\303\274enza", "verg\303\274enza"},
    {"$s4Farm3CowCCSgD", NULL, NULL},
    {"$s4Farm3PenVy$3_SiGD", "Farm.Pen<4, Swift.Int>", "Pen<4, Int>"},
    {"$sSiXSaD", "[Swift.Int]", "[Int]"},
    {"$s4Farm5Anima_pmD", "Farm.Anima.Protocol", "Anima.Protocol"},
    {"$s4Farm5Anima_AA4LoudpSgD", "(Farm.Anima & Farm.Loud)?", "(Anima & Loud)?"},
    {"$s4Farm5Anima_pXpD", "Farm.Anima.Type", "Anima.Type"},
    {"$sSiIeghHgTo_D", NULL, NULL},
    {"$sS2iIeghHTgo_D",
     "@escaping @callee_guaranteed @Sendable @async (@guaranteed Swift.Int) -> sending (@owned "
     "Swift.Int)",
     "@escaping @callee_guaranteed @Sendable @async (@guaranteed Int) -> sending (@owned Int)"},
    {"_TFC4Farm3CowU2147483646_Si", "closure # : Swift.Int in Farm.Cow", "closure # in Cow"},
    /* no Swift names, or broken ones */
    {"", NULL, NULL},
    {"_", NULL, NULL},
    {"$s", NULL, NULL},
    {"$", NULL, NULL},
    {"_T", NULL, NULL},
    {"_Tea", NULL, NULL},
    {"_ZN3foo3barEv", NULL, NULL},
    {"main", NULL, NULL},
    {"$s4Farm\1abcdC", NULL, NULL}, /* a symbolic reference */
    {"$s99999999999999999999a", NULL, NULL},
    {"$s4Farm3CowCyyG_", NULL, NULL},
};

static void check_sample(const sample *s)
{
    size_t len = strlen(s->name);
    const char *full = s->full ? s->full : s->name, *simplified = s->simplified ? s->simplified : s->name;
    check("full", s->name, len, MACHSYM_DEMANGLE_FULL, full, strlen(full));
    check("simplified", s->name, len, MACHSYM_DEMANGLE_SIMPLIFIED, simplified, strlen(simplified));
}

/* The result must not depend on the room for it. */
static void check_caps(const char *name)
{
    size_t len = strlen(name), full = 0, caps[5];
    static char part[LINE_MAX_LEN];
    if (!demangle(name, len, 0, out, sizeof out, &full)) {
        report(false, "caps", name, len, "a Swift name", 12, "", 0);
        return;
    }
    caps[0] = 0;
    caps[1] = 1;
    caps[2] = full - 1;
    caps[3] = full;
    caps[4] = full + 1;
    for (size_t i = 0; i < 5; i++) {
        size_t got = 0, stored = caps[i] < full ? caps[i] : full;
        memset(part, '#', full + 2);
        bool ok = demangle(name, len, 0, caps[i] ? part : NULL, caps[i], &got) && got == full &&
                  memcmp(part, out, stored) == 0 && part[stored] == '#';
        report(ok, "caps", name, len, out, full, part, stored);
    }
}

/* Every beginning of a name ends without harm, and nothing behind its end is read (a sanitizer sees it). */
static void check_truncations(const char *name)
{
    size_t len = strlen(name);
    for (size_t n = 0; n <= len; n++) {
        char *copy = (char *)malloc(n ? n : 1);
        size_t got = 0, again = 0;
        if (!copy)
            exit(1);
        memcpy(copy, name, n);
        bool a = demangle(copy, n, 0, out, sizeof out, &got);
        bool b = demangle(copy, n, 0, NULL, 0, &again);
        report(a == b && got == again, "truncated", copy, n, "the same twice", 14, "", 0);
        free(copy);
    }
}

static size_t repeat(char *to, size_t at, const char *what, size_t times)
{
    size_t len = strlen(what);
    for (; times > 0 && at + len < sizeof line; times--, at += len)
        memcpy(to + at, what, len);
    return at;
}

/* Names that would grow or nest without end must be refused or end, within the budgets. */
static void check_bomb(const char *what, const char *head, const char *body, size_t times, const char *tail)
{
    size_t len = repeat(line, 0, head, 1), got = 0, again = 0;
    len = repeat(line, len, body, times);
    len = repeat(line, len, tail, 1);
    bool a = demangle(line, len, 0, NULL, 0, &got);
    bool b = demangle(line, len, MACHSYM_DEMANGLE_SIMPLIFIED, NULL, 0, &again);
    bool ok = (!a || got <= 256 * 1024 + 16 * len) && (!b || again <= 256 * 1024 + 16 * len);
    report(ok, what, line, len < 80 ? len : 80, "within the budget", 17, "", 0);
}

static void check_bombs(void)
{
    static const size_t times[] = {10, 100, 250, 1000, 20000};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        size_t n = times[i];
        check_bomb("optional", "$sSi", "Sg", n, "D");
        check_bomb("doubling tuples", "$s1a1bC_ADt", "_AEt", 1, "D");
        check_bomb("doubling", "$s1a1bVACyACG", "ACyAEG", n, "D");
        check_bomb("repeats", "$s1a1bC", "A2000c", n, "D");
        check_bomb("metatypes", "$sSi", "m", n, "D");
        check_bomb("functions", "$sSi", "Sic", n, "D");
        check_bomb("contexts", "$s1a", "1bC", n, "D");
        check_bomb("closures", "$s1a1byyF", "yycfU_", n, "");
        check_bomb("words", "$s010abcDefGhij", "0aB0", n, "C");
        check_bomb("statics", "$s1a1byyF", "Z", n, "");
        check_bomb("old metatypes", "_Tt", "M", n, "Si");
        check_bomb("old tuples", "_Tt", "T", n, "Si");
        check_bomb("old contexts", "_TtC", "C", n, "1a1b");
        check_bomb("old functions", "_TF", "F", n, "1a1bFT_T_");
        check_bomb("old generics", "_Tt", "GSa", n, "Si");
        check_bomb("old archetypes", "_Tt", "Q", n, "u");
        check_bomb("old specializations", "_TTSg5Si__", "_TTSg5Si__", n, "_TF1a1bFT_T_");
        check_bomb("forwarders", "_TPA__T", "PA__T", n, "F1a1bFT_T_");
        check_bomb("punycode", "$s00", "9", n, "a");
    }
}

/* Whole symbols as names inside names: some levels are read, too many refused. */
static void check_nesting(void)
{
    size_t len = repeat(line, 0, "_TF1a1bFT_T_", 1);
    static char inner[LINE_MAX_LEN];
    for (int i = 0; i < 12; i++) {
        memcpy(inner, line, len);
        int head = snprintf(line, sizeof line, "_TTSf1cpfr%zu%.*s___TF1a1bFT_T_", len, (int)len, inner);
        len = (size_t)head;
        size_t got = 0, again = 0;
        bool a = demangle(line, len, 0, NULL, 0, &got), b = demangle(line, len, 0, out, sizeof out, &again);
        report(a == b && (a || i > 4) && got == again, "nesting", line, len < 80 ? len : 80, "the same twice",
               14, "", 0);
    }
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "../shared/vectors";
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        check_sample(&samples[i]);
        check_truncations(samples[i].name);
        if (samples[i].full)
            check_caps(samples[i].name);
    }
    check_bombs();
    check_nesting();
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        check_table(folder, &columns[i]);
    printf("%zu passed, %zu failed\n", passed, failed);
    return failed > 0;
}
