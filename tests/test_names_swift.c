/* Tests of the Swift demangler: own cases, names made to be expensive, the vector files. */
#include "names_harness.h"

enum { FULL = MACHSYM_DEMANGLE_FULL, SIMPLIFIED = MACHSYM_DEMANGLE_SIMPLIFIED };

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

static void test_sample(const sample *s)
{
    check(ms_dmswp_run, s->name, FULL, s->full != NULL ? s->full : s->name);
    check(ms_dmswp_run, s->name, SIMPLIFIED, s->simplified != NULL ? s->simplified : s->name);
    check_truncation(ms_dmswp_run, s->name, FULL);
    if (s->full != NULL) {
        check_caps(ms_dmswp_run, s->name, FULL);
        check_caps(ms_dmswp_run, s->name, SIMPLIFIED);
    }
}

/* Names that would grow or nest without end are refused or end, within the budgets. */
static void check_bomb(const char *what, const char *head, const char *body, size_t times, const char *tail)
{
    static char name[1 << 19];
    char *at = name;
    repeat(&at, head, 1);
    repeat(&at, body, times);
    repeat(&at, tail, 1);
    check_time(ms_dmswp_run, what, name);
    size_t len = (size_t)(at - name);
    size_t a = run(ms_dmswp_run, name, len, SIMPLIFIED, NULL, 0);
    size_t b = run(ms_dmswp_run, name, len, SIMPLIFIED, out_a, OUT_SIZE);
    report(a == b, what, name, "two results", "one");
}

static void test_bombs(void)
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
static void test_nesting(void)
{
    static char name[1 << 12], inner[1 << 12];
    char *at = name;
    repeat(&at, "_TF1a1bFT_T_", 1);
    for (int i = 0; i < 12; i++) {
        memcpy(inner, name, sizeof inner);
        snprintf(name, sizeof name, "_TTSf1cpfr%zu%.3900s___TF1a1bFT_T_", strlen(inner), inner);
        bool taken = run(ms_dmswp_run, name, strlen(name), FULL, out_a, OUT_SIZE) != SIZE_MAX;
        report(taken || i > 4, "nesting", name, "refused", "taken");
        check_time(ms_dmswp_run, "nesting", name);
    }
}

/* ---- vector files ---- */

/* Columns: mangled, full, simplified, simplified with async prefixes, full without sugar where it differs. */
static void swift_row(char *field[FIELDS])
{
    check(ms_dmswp_run, field[0], FULL, field[1]);
    check(ms_dmswp_run, field[0], SIMPLIFIED | ms_DMSW_NO_ASYNC, field[2]);
    check(ms_dmswp_run, field[0], SIMPLIFIED, field[3]);
    check(ms_dmswp_run, field[0], ms_DMSW_NO_SUGAR, field[4][0] != '\0' ? field[4] : field[1]);
}

static void full_row(char *field[FIELDS])
{
    check(ms_dmswp_run, field[0], FULL, field[1]);
}

static void simplified_row(char *field[FIELDS])
{
    check(ms_dmswp_run, field[0], SIMPLIFIED | ms_DMSW_NO_ASYNC, field[1]);
}

/* Operators of the grammar that names of real programs and the official list hardly use: standard types and
 * builtins, accessors, function types, macro expansions, metadata, thunks, specializations (swift,
 * docs/ABI/Mangling.rst). */
static void test_rare_operators(void)
{
    static const struct {
        const char *mangled;
        const char *full;
    } rows[] = {
        {"$s4main1CCMb", "canonical specialized generic type metadata accessor for main.C"},
        {"$s4main1CCMC", "reflection metadata superclass descriptor main.C"},
        {"$s4main1CCMi", "type metadata instantiation function for main.C"},
        {"$s4main1CCMI", "type metadata instantiation cache for main.C"},
        {"$s4main1CCMM", "specialized generic metaclass for main.C"},
        {"$s4main1CCMN", "noncanonical specialized generic type metadata for main.C"},
        {"$s4main1CCMz", "flag for loading of canonical specialized generic type metadata for main.C"},
        {"$s4main1CCMXE", "extension descriptor main.C"},
        {"$s4main1fQryFQOMg",
         "opaque type descriptor accessor for <<opaque return type of main.f() -> some>>"},
        {"$s4main1fQryFQOMh",
         "opaque type descriptor accessor impl for <<opaque return type of main.f() -> some>>"},
        {"$s4main1fQryFQOMj",
         "opaque type descriptor accessor key for <<opaque return type of main.f() -> some>>"},
        {"$s4main1fQryFQOMk",
         "opaque type descriptor accessor var for <<opaque return type of main.f() -> some>>"},
        {"$s4main1PMS", "protocol self-conformance descriptor for main.P"},
        {"$s4main1PPMS", "protocol self-conformance descriptor for main.P"},
        {"$s4main1CCHn", "nominal type descriptor runtime record for main.C"},
        {"$s4main1fyyFHF", "accessible function runtime record for main.f() -> ()"},
        {"$s4main1CCAA1PAAWp", "protocol witness table pattern for main.C : main.P in main"},
        {"$s4main1CCAA1PAAWG", "generic protocol witness table for main.C : main.P in main"},
        {"$s4main1CCAA1PAAWI",
         "instantiation function for generic protocol witness table for main.C : main.P in main"},
        {"$s4main1CCAA1PAAWr", "resilient protocol witness table for main.C : main.P in main"},
        {"$s4main1CCAA1PAAWa", "protocol witness table accessor for main.C : main.P in main"},
        {"$s4main1CCAA1PAAWP", "protocol witness table for main.C : main.P in main"},
        {"$s4main1CCWOr", "outlined retain of main.C"},
        {"$s4main1CCWOs", "outlined release of main.C"},
        {"$s4main1CCWOg", "outlined enum get tag of main.C"},
        {"$s4main1CCWOe", "outlined consume of main.C"},
        {"$s4main1CCWOy", "outlined copy of main.C"},
        {"$s4main1fyyFTc", "curry thunk of main.f() -> ()"},
        {"$s4main1fyyFTD", "dynamic main.f() -> ()"},
        {"$s4main1fyyFTd", "super main.f() -> ()"},
        {"$s4main1fyyFTE", "distributed thunk main.f() -> ()"},
        {"$s4main1PP1fyyFTS", "protocol self-conformance witness for main.P.f() -> ()"},
        {"$s4main1fyyxlFSi_TG5",
         "generic not re-abstracted specialization <Swift.Int> of main.f<A>(A) -> ()"},
        {"$s4main1fyyxlFSi_TB5", "generic specialization <Swift.Int> of main.f<A>(A) -> ()"},
        {"$s4main1fyyxlFSi_Ts5", "generic pre-specialization <Swift.Int> of main.f<A>(A) -> ()"},
        {"$s4main1fyyxlFSi_Ti5", "inlined generic function <Swift.Int> of main.f<A>(A) -> ()"},
        {"$s4main1fyyxlFSi_Tg5", "generic specialization <Swift.Int> of main.f<A>(A) -> ()"},
        {"$s4main1fyySiFTf4s_n",
         "function signature specialization <Arg[0] = Stack Promoted from Box> of main.f(Swift.Int) -> ()"},
        {"$s4main1fyySiFTf4r_n",
         "function signature specialization <Arg[0] = InOut Converted to Out> of main.f(Swift.Int) -> ()"},
        {"$s4main1fyySiFTf4o_n",
         "function signature specialization <Arg[0] = Guaranteed To Owned> of main.f(Swift.Int) -> ()"},
        {"$s4main1fyySiFTf4i_n",
         "function signature specialization <Arg[0] = Value Promoted from Box> of main.f(Swift.Int) -> ()"},
        {"$s4main1fyySiFTf4d_n",
         "function signature specialization <Arg[0] = Dead> of main.f(Swift.Int) -> ()"},
        {"$s4main1fyySiFTf4ox_n", "function signature specialization <Arg[0] = Guaranteed To Owned, Arg[1] = "
                                  "Exploded> of main.f(Swift.Int) -> ()"},
        {"$s4main1fyySiFTf4gX_n", "function signature specialization <Arg[0] = Owned To Guaranteed and "
                                  "Exploded> of main.f(Swift.Int) -> ()"},
        {"$s4main1fyySiFTf4pi5_n", "function signature specialization <Arg[0] = [Constant Propagated Integer "
                                   ": 5]> of main.f(Swift.Int) -> ()"},
        {"$sXeD", "<ERROR TYPE>"},
        {"$s4main1fyySiYgF", "main.f(@const Swift.Int) -> ()"},
        {"$sSiYgD", "@const Swift.Int"},
        {"$syyYCcD", "nonisolated(nonsending) () -> ()"},
        {"$s4main1fyyxRlzDlF", "main.f<A where A: _NativeClass>(A) -> ()"},
        {"$s4main1fyyxRlzClF", "main.f<A where A: AnyObject>(A) -> ()"},
        {"$s4main1fyyxRlzRlF", "main.f<A where A: _RefCountedObject>(A) -> ()"},
        {"$s4main1CCAA1PAAMc", "protocol conformance descriptor for main.C : main.P in main"},
        {"$sSAD", "Swift.AutoreleasingUnsafeMutablePointer"},
        {"$sSB_pD", "Swift.BinaryFloatingPoint"},
        {"$sSF_pD", "Swift.FloatingPoint"},
        {"$sSm_pD", "Swift.RangeReplaceableCollection"},
        {"$sSOD", "Swift.ObjectIdentifier"},
        {"$sSU_pD", "Swift.UnsignedInteger"},
        {"$sSVD", "Swift.UnsafeRawPointer"},
        {"$sSWD", "Swift.UnsafeRawBufferPointer"},
        {"$sSwD", "Swift.UnsafeMutableRawBufferPointer"},
        {"$sSX_pD", "Swift.RangeExpression"},
        {"$sScED", "Swift.CancellationError"},
        {"$sScF_pD", "Swift.Executor"},
        {"$sScf_pD", "Swift.SerialExecutor"},
        {"$sScgD", "Swift.ThrowingTaskGroup"},
        {"$sSch_pD", "Swift.TaskExecutor"},
        {"$sScJD", "Swift.UnownedJob"},
        {"$sScSD", "Swift.AsyncStream"},
        {"$sScsD", "Swift.AsyncThrowingStream"},
        {"$sSctD", "Swift.UnsafeCurrentTask"},
        {"$sBbD", "Builtin.BridgeObject"},
        {"$sBBD", "Builtin.UnsafeValueBuffer"},
        {"$sBDD", "Builtin.DefaultActorStorage"},
        {"$sBdD", "Builtin.NonDefaultDistributedActorStorage"},
        {"$sBeD", "Builtin.Executor"},
        {"$sBID", "Builtin.IntLiteral"},
        {"$sBjD", "Builtin.Job"},
        {"$sBPD", "Builtin.PackIndex"},
        {"$sBTD", "Builtin.TheTupleType"},
        {"$s4main1xSivG", "main.x.getter : Swift.Int"},
        {"$s4main1xSivw", "main.x.willset : Swift.Int"},
        {"$s4main1xSivW", "main.x.didset : Swift.Int"},
        {"$s4main1xSivy", "main.x.read2 : Swift.Int"},
        {"$s4main1xSivb", "main.x.borrow : Swift.Int"},
        {"$s4main1xSivz", "main.x.mutate : Swift.Int"},
        {"$s4main1xSivi", "main.x.init : Swift.Int"},
        {"$s4main1xSivaO", "main.x.owningMutableAddressor : Swift.Int"},
        {"$s4main1xSivao", "main.x.nativeOwningMutableAddressor : Swift.Int"},
        {"$s4main1xSivap", "main.x.nativePinningMutableAddressor : Swift.Int"},
        {"$s4main1xSivlO", "main.x.owningAddressor : Swift.Int"},
        {"$s4main1xSivlo", "main.x.nativeOwningAddressor : Swift.Int"},
        {"$s4main1xSivlp", "main.x.nativePinningAddressor : Swift.Int"},
        {"$s4main1xSivlu", "main.x.unsafeAddressor : Swift.Int"},
        {"$syyXAD", "@autoclosure () -> ()"},
        {"$syyXfD", "@convention(thin) () -> ()"},
        {"$syyXKD", "@autoclosure () -> ()"},
        {"$syyXLD", "@escaping @convention(block) () -> ()"},
        {"$syyXBD", "@convention(block) () -> ()"},
        {"$sSiXoD", "unowned Swift.Int"},
        {"$sSiXuD", "unowned(unsafe) Swift.Int"},
        {"$sSiXwD", "weak Swift.Int"},
        {"$sSiXbD", "@box Swift.Int"},
        {"$s4main1CCfZ", "main.C.__isolated_deallocating_deinit"},
        {"$s4main1CCfe", "main.C.__ivar_initializer"},
        {"$s4main1CCfE", "main.C.__ivar_destroyer"},
        {"$s4main1xSivpfW", "property wrapper init from projected value of main.x : Swift.Int"},
        {"$s4main1xSivpfP", "property wrapper backing initializer of main.x : Swift.Int"},
        {"$s4main1xSivpfa", "runtime attribute generator of main.x : Swift.Int"},
        {"$s4main1fyyF1mfMr_", "memberAttribute macro @m expansion #1 of m in main.f() -> ()"},
        {"$s4main1fyyF1mfMm_", "member macro @m expansion #1 of m in main.f() -> ()"},
        {"$s4main1fyyF1mfMc_", "conformance macro @m expansion #1 of m in main.f() -> ()"},
        {"$s4main1fyyF1mfMe_", "extension macro @m expansion #1 of m in main.f() -> ()"},
        {"$s4main1fyyF1mfMq_", "preamble macro @m expansion #1 of m in main.f() -> ()"},
        {"$s4main1fyyF1mfMb_", "body macro @m expansion #1 of m in main.f() -> ()"},
        {"$s4main1fyyF1mfMu_", "unique name #1 of m in main.f() -> ()"},
        {"$s4main1fyyF1mfMp_", "peer macro @m expansion #1 of m in main.f() -> ()"},
        {"$s4main1fyyF1mfMa_", "accessor macro @m expansion #1 of m in main.f() -> ()"},
        {"$s4main1fyyF1mfMf_", "freestanding macro expansion #1 of m in main.f() -> ()"},
        {"$s4main1poiyS2i_SitF", "main.+ infix(Swift.Int, Swift.Int) -> Swift.Int"},
        {"$s4main1popyS2iF", "main.+ prefix(Swift.Int) -> Swift.Int"},
        {"$s4main1poPyS2iF", "main.+ postfix(Swift.Int) -> Swift.Int"},
        {"$s4main2eeoiyySi_SitF", "main.== infix(Swift.Int, Swift.Int) -> ()"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        machsym_demangle(ms_str_from_c(rows[i].mangled), MACHSYM_DEMANGLE_FULL, text, sizeof text);
        CHECK_TEXT(text, rows[i].full);
    }
}

int main(void)
{
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        test_sample(&samples[i]);
    test_bombs();
    test_nesting();
    each_row("swift.tsv", swift_row);
    each_row("swift-apple-compat.tsv", swift_row);
    each_row("swift-official.tsv", full_row);
    each_row("swift-simplified-official.tsv", simplified_row);
    each_row("swift-negative.tsv", full_row);
    test_rare_operators();
    return test_done();
}
