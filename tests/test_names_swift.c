/* Tests of the Swift demangler: own cases, names made to be expensive, the vector files. */
#define TEST_ROOM <rooms/src/names/swift_printer.h>
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
    {"$s4Farm4feedyyyycF19$s4Farm3CowC3mooyyFTf1c_n",
     "function signature specialization <Arg[0] = [Closure Propagated : Farm.Cow.moo() -> (), Argument "
     "Types : []> of Farm.feed(() -> ()) -> ()",
     "specialized feed(_:)"},
    {"$s4Farm4feedyyyycF33$s4Farm4feedyySaySiGSg_SDySSypGtFTf1E_n",
     "function signature specialization <Arg[0] = [Escaping Closure Propagated : "
     "Farm.feed(Swift.Optional<Swift.Array<Swift.Int>>, Swift.Dictionary<Swift.String, Any>) -> (), Argument "
     "Types : []> of Farm.feed(() -> ()) -> ()",
     "specialized feed(_:)"},
    {"$s4Farm4feedyyyycF14$s4Farm3CowCMaTf1c_n",
     "function signature specialization <Arg[0] = [Closure Propagated : type metadata accessor for Farm.Cow, "
     "Argument Types : []> of Farm.feed(() -> ()) -> ()",
     "specialized feed(_:)"},
    {"$s4Farm4feedyyyycF9$s4FarmooTf1c_n",
     "function signature specialization <Arg[0] = [Closure Propagated : $s4Farmoo, Argument "
     "Types : []> of Farm.feed(() -> ()) -> ()",
     "specialized feed(_:)"},
    {"$ss5SIMD2VyxGxIeglr_ACxIeglr_SBRzs10SIMDScalarRz16_"
     "Differentiation14DifferentiableRz13TangentVectorAeFPQz"
     "RszlTJOpTA",
     "partial apply forwarder for autodiff self-reordering reabstraction thunk for pullback<A where A: "
     "Swift.BinaryFloatingPoint, A: Swift.SIMDScalar, A: _Differentiation.Differentiable, A == "
     "A._Differentiation.Differentiable.TangentVector>  from @escaping @callee_guaranteed (@inout "
     "Swift.SIMD2<A>) -> (@out A) to @escaping @callee_guaranteed (@inout Swift.SIMD2<A>) -> (@out A)",
     "partial apply for autodiff self-reordering reabstraction thunk for @escaping @callee_guaranteed "
     "(@inout "
     "SIMD2<A>) -> (@out A)"},
    {"$sSdyS2dcfCTJfSUpSr",
     "forward-mode derivative of Swift.Double.init(Swift.Double) -> Swift.Double with respect to parameters "
     "{0} and results {0}",
     "forward-mode derivative of Double.init(_:)"},
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
    {"$s4Farm4feedyyFTTH", "hop to main actor thunk of Farm.feed() -> ()",
     "hop to main actor thunk of feed()"},
    {"$s4Farm4feedyyFTTJ", NULL, NULL},
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
    {"_TFC4Farm3CowU2147483645_Si", "closure #2147483647 : Swift.Int in Farm.Cow",
     "closure #2147483647 in Cow"},
    {"_TFC4Farm3CowU2147483646_Si", NULL, NULL},
    {"$s4main1fyyFyyXEfU2147483646_", NULL, NULL},
    {"$s4main1fyyF.\\\t\n\r\"'\001\303",
     "main.f() -> () with unmangled suffix \".\\\\\\t\\n\\r\\\"'\\x01\\xC3\"", "f()"},
    {"$s4main1fyyF.\x1f ~\x7f", "main.f() -> () with unmangled suffix \".\\x1F ~\\x7F\"", "f()"},
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

/* A closure's name that holds a closure's name, and so on: the innermost stay as they are where levels end. */
static void test_nested_closures(void)
{
    static char inner[1 << 13] = "$s4Farm3CowC3mooyyF", outer[1 << 14];
    for (unsigned i = 1; i <= 40; i++, memcpy(inner, outer, strlen(outer) + 1)) {
        snprintf(outer, sizeof outer, "$s4Farm4feedyyyycF%zu%sTf1c_n", strlen(inner), inner);
        check_time(ms_dmswp_run, "nested closures", outer);
        check_caps(ms_dmswp_run, outer, FULL);
        const char *got = run_text(ms_dmswp_run, outer, FULL);
        report(strstr(got, i < 3 ? "Farm.Cow.moo() -> ()" : "[Closure Propagated : function signature") !=
                   NULL,
               "nested closures", outer, got, "names inside in source form");
    }
}

/* Hundreds of closures, each read into the scratch that the one before it left. */
static void test_many_closures(void)
{
    static char name[1 << 17];
    enum { COUNT = 700 };
    char *at = name;
    repeat(&at, "$s4Farm4feedyyF", 1);
    repeat(&at, "30$s4Farm3CowC3moo5timesySi_tFTm", COUNT);
    repeat(&at, "Tf1", 1);
    repeat(&at, "c", COUNT);
    repeat(&at, "_n", 1);
    const char *got = run_text(ms_dmswp_run, name, FULL);
    size_t count = 0;
    for (const char *s = got; (s = strstr(s, "Closure Propagated : merged Farm.Cow.moo(")) != NULL; s++)
        count++;
    CHECK_EQ(count, COUNT);
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

/* More such operators, of the newest and of the oldest grammar. The texts are what the official printer
 * writes for each node (swift, lib/Demangling/NodePrinter.cpp). */
static void test_rare_nodes(void)
{
    static const struct {
        const char *mangled;
        const char *full;
    } rows[] = {
        {"$s$3_SiBVD", "Builtin.FixedArray<4, Swift.Int>"},
        {"$sSiBWD", "Builtin.Borrow<Swift.Int>"},
        {"$sSiXSpD", "(Swift.Int)"},
        {"$s$3_SiXSAD", "[4 of Swift.Int]"},
        {"$sSiXDD", "Self"},
        {"$s4main1P_AA1CCXcD", "main.C & main.P"},
        {"$s4main1CXYD", "main.C"},
        {"$sSiQe_D", "/* level: 0 */ each Swift.Int"},
        {"$s4main1fyyxq_Rhzr0_lF", "main.f<A, B where A.shape == B.shape>(A) -> ()"},
        {"$sSiSbTH", "key path index equality operator for (Swift.Int, Swift.Bool)"},
        {"$sSiSbTHq", "key path index equality operator for (Swift.Int, Swift.Bool), serialized"},
        {"$sSixlTHq", "key path index equality operator for <A>(Swift.Int, A), serialized"},
        {"$sSiTh", "key path index hash operator for (Swift.Int)"},
        {"$sIeg_SiTz_", "@objc completion handler block implementation for @escaping @callee_guaranteed () "
                        "-> () with result type Swift.Int"},
        {"$sIeg_SiTz0_", "@objc completion handler block implementation for @escaping @callee_guaranteed () "
                         "-> () with result type Swift.Int nonzero on error"},
        {"$sIeg_SiTz1_", "@objc completion handler block implementation for @escaping @callee_guaranteed () "
                         "-> () with result type Swift.Int zero on error"},
        {"$sIeg_SiTz5_", "@objc completion handler block implementation for @escaping @callee_guaranteed () "
                         "-> () with result type Swift.Int <invalid error flag>"},
        {"$sIeg_SilTz_", "@objc completion handler block implementation for <A>@escaping @callee_guaranteed "
                         "() -> () with result type Swift.Int"},
        {"$sIeg_SiTZ1_", "predefined @objc completion handler block implementation for @escaping "
                         "@callee_guaranteed () -> () with result type Swift.Int zero on error"},
        {"$sIeg_IegH_SiTy", "reabstraction thunk from @escaping @callee_guaranteed () -> () to @escaping "
                            "@callee_guaranteed @async () -> () self Swift.Int"},
        {"$sIeg_IegH_TRScMTU",
         "reabstraction thunk helper from @escaping @callee_guaranteed () -> () to @escaping "
         "@callee_guaranteed @async () -> () with global actor constraint Swift.MainActor"},
        {"$s4main1CCMq", "uniquable main.C"},
        {"$s4main1fyyFMJ",
         "cache variable for noncanonical specialized generic type metadata for main.f() -> ()"},
        {"$s4main1CCMXX", "anonymous descriptor main.C"},
        {"$s1A4main1PPTM", "default associated type metadata accessor for main.P.A"},
        {"$s4main1CCAA1PAA1AWt", "associated type metadata accessor for A in main.C : main.P in main"},
        {"$sSiWOj0_", "outlined enum project data for load of Swift.Int"},
        {"$sxlWOe", "outlined consume of A<A>"},
        {"$s4main1xSivpAA1CCTKq", "key path getter for main.x : Swift.Int : main.C, serialized"},
        {"$s4main3FooV3barSiyFACTkMA", "key path applied method main.Foo.bar() -> Swift.Int : main.Foo"},
        {"$s4main1fyyxlFSiTP5",
         "generic not-reabstracted partial specialization <Signature = Swift.Int> of main.f<A>(A) -> ()"},
        {"$s4main1fyySiF1gTf4pg_n", "function signature specialization <Arg[0] = [Constant Propagated Global "
                                    ": g]> of main.f(Swift.Int) -> ()"},
        {"$s4main1fyySiF3fooTf4psw_n", "function signature specialization <Arg[0] = [Constant Propagated "
                                       "String : u16'foo']> of main.f(Swift.Int) -> ()"},
        {"$s4main1fyySiF3fooTf4psc_n", "function signature specialization <Arg[0] = [Constant Propagated "
                                       "String : objc'foo']> of main.f(Swift.Int) -> ()"},
        {"$s4main1fyySiF3fooSiTf4E_n",
         "function signature specialization <Arg[0] = [Escaping Closure Propagated : foo, Argument Types : "
         "[Swift.Int]> of main.f(Swift.Int) -> ()"},
        {"$s4main1fyySiFAA1SVTf4pSi5i6_n",
         "function signature specialization <Arg[0] = [Constant Propagated Struct : main.S][Constant "
         "Propagated Integer : 5][Constant Propagated Integer : 6]> of main.f(Swift.Int) -> ()"},
        {"$s4main1fyySiFTf4eDGOX_n",
         "function signature specialization <Arg[0] = Existential To Protocol Constrained Generic and Dead "
         "and Owned To Guaranteed and Guaranteed To Owned and Exploded> of main.f(Swift.Int) -> ()"},
        {"$s4main1fyySiFTf4dGOX_n",
         "function signature specialization <Arg[0] = Dead and Owned To Guaranteed and Guaranteed To Owned "
         "and Exploded> of main.f(Swift.Int) -> ()"},
        {"$sIegJ_D", "@escaping @callee_guaranteed @convention(objc_method) () -> ()"},
        {"$sIegK_D", "@escaping @callee_guaranteed @convention(closure) () -> ()"},
        {"$sIegzB3vBv_D", "@escaping @callee_guaranteed @convention(block, mangledCType: \"vBv\") () -> ()"},
        {"$sIegzC3vBv_D", "@escaping @callee_guaranteed @convention(c, mangledCType: \"vBv\") () -> ()"},
        {"$sIeNg_D", "@escaping nonisolated(nonsending) @callee_guaranteed () -> ()"},
        {"$sIegG_D", "@escaping @callee_guaranteed @yield_many () -> ()"},
        {"$sIegA_D", "@escaping @callee_guaranteed @yield_once () -> ()"},
        {"$sIegI_D", "@escaping @callee_guaranteed @yield_once_2 () -> ()"},
        {"$sIedg_D", "@escaping @differentiable @callee_guaranteed () -> ()"},
        {"$sIelg_D", "@escaping @differentiable(_linear) @callee_guaranteed () -> ()"},
        {"$sIerg_D", "@escaping @differentiable(reverse) @callee_guaranteed () -> ()"},
        {"$sIefg_D", "@escaping @differentiable(_forward) @callee_guaranteed () -> ()"},
        {"$sSiIegiI_D", "@escaping @callee_guaranteed (@in isolated Swift.Int) -> ()"},
        {"$sSiIegiL_D", "@escaping @callee_guaranteed (@in sil_implicit_leading_param Swift.Int) -> ()"},
        {"$sSSIegiT_D", "@escaping @callee_guaranteed (@in sending Swift.String) -> ()"},
        {"$sSiIegYi_D", "@escaping @callee_guaranteed () -> (@yields @in Swift.Int)"},
        {"$sSiIegzow_D", "@escaping @callee_guaranteed () -> (@error @owned @noDerivative Swift.Int)"},
        {"$sSiz_XxD", "{ var Swift.Int }"},
        {"$sSi_XxD", "{ let Swift.Int }"},
        {"$syXxD", "{ }"},
        {"$sx4main1PHD0_", "dependent root protocol conformance A to main.P"},
        {"$sx4main1PHD1_", "dependent root protocol conformance #0 A to main.P"},
        {"$sx4main1PHD1_SiHO",
         "opaque result conformance dependent root protocol conformance #0 A to main.P of Swift.Int"},
        {"$s4main1fyyFWJrSSpSr", "reverse-mode differentiability witness for main.f() -> () with respect to "
                                 "parameters {0, 1} and results {0}"},
        {"$s4main1fyyFWJfSUpSr", "forward-mode differentiability witness for main.f() -> () with respect to "
                                 "parameters {0} and results {0}"},
        {"$s4main1fyyFWJlSUpSr", "linear differentiability witness for main.f() -> () with respect to "
                                 "parameters {0} and results {0}"},
        {"$s4main1fyyFWJdSUpSr", "normal differentiability witness for main.f() -> () with respect to "
                                 "parameters {0} and results {0}"},
        {"$s4main1fyyFTJfSpSr",
         "forward-mode derivative of main.f() -> () with respect to parameters {0} and results {0}"},
        {"$s4main1fyyFTJdSpSr",
         "differential of main.f() -> () with respect to parameters {0} and results {0}"},
        {"$s4main1fyyFTJpSpSr", "pullback of main.f() -> () with respect to parameters {0} and results {0}"},
        {"$s4main1fyyFTJVrSpSr", "vtable thunk for reverse-mode derivative of main.f() -> () with respect to "
                                 "parameters {0} and results {0}"},
        {"$sSiXg", "existential shape for any Swift.Int"},
        {"$s4main1P_pXg", "existential shape for any main.P"},
        {"$s4main3abcyXZ", "main.(unknown context at abc)"},
        {"$s4main3abcSi_XZ", "main.(unknown context at abc)<Swift.Int>"},
        {"$s4main3abcyXZ1TV", "main.(unknown context at abc).T"},
        {"$s4main3abcyXZ1fyyF", "main.(unknown context at abc).f() -> ()"},
        {"$s4main3abcyXZ1xSivg", "main.(unknown context at abc).x.getter : Swift.Int"},
        {"$sSi1AQaD", "Swift.Int.A"},
        {"$sSi1AQxD", "Swift.Int.A"},
        {"$sSi1A_1BQXD", "Swift.Int.A.B"},
        {"$syyXUD", "() -> ()"},
        {"$s4main1Txfp", "main.T"},
        {"$s4main1PPySiGD", "Swift.Int as main.P"},
        {"$s4main1XXYySiGD", "main.X<Swift.Int>"},
        {"$s4main1xSivx", "main.x.modify2 : Swift.Int"},
        {"$s4main1xSivr", "main.x.read : Swift.Int"},
        {"$s4main1xSivM", "main.x.modify : Swift.Int"},
        {"$s4main1fyyxRlzM63_7_lF", "main.f<A where A: _TrivialAtMost(64, 8)>(A) -> ()"},
        {"$s4main1fyyxRlzE63_7_lF", "main.f<A where A: _Trivial(64, 8)>(A) -> ()"},
        {"$s4main1fyyxRlze63_lF", "main.f<A where A: _Trivial(64)>(A) -> ()"},
        {"$s4main1fyyxRlzUlF", "main.f<A where A: _UnknownLayout>(A) -> ()"},
        {"$s4main1fyyxRlzNlF", "main.f<A where A: _NativeRefCountedObject>(A) -> ()"},
        {"$s4main1fyyxRlzTlF", "main.f<A where A: _Trivial>(A) -> ()"},
        {"$s4main1fyyxRi2_zlF", "main.f<A where A: ~Swift.<bit 3>>(A) -> ()"},
        {"$s4main1fyyxSi1ARtzlF", "main.f<A where A.A == Swift.Int>(A) -> ()"},
        {"_TtDSi", "Self"},
        {"_TtERR", "<ERROR TYPE>"},
        {"_TtSr", "Swift.UnsafeMutableBufferPointer"},
        {"_TtQU_", "some"},
        {"_TtXbSi", "@box Swift.Int"},
        {"_TtXBmSi_", "{ var Swift.Int }"},
        {"_TtXBiSimSS_", "{ let Swift.Int, var Swift.String }"},
        {"_TtXB_", "{ }"},
        {"_TtXMtSi", "@thin Swift.Int.Type"},
        {"_TtXMTSi", "@thick Swift.Int.Type"},
        {"_TtXMoSi", "@objc_metatype Swift.Int.Type"},
        {"_TtXPMtP4main1P_", "@thin main.P.Type"},
        {"_TtXuSi", "unowned(unsafe) Swift.Int"},
        {"_TtXfSiSi", "@convention(thin) (Swift.Int) -> Swift.Int"},
        {"_TtXFo_iSi_oSi_", "@callee_owned (@in Swift.Int) -> (@owned Swift.Int)"},
        {"_TtXFo_gSi_oSizoSS_",
         "@callee_owned (@guaranteed Swift.Int) -> (@owned Swift.Int, @error @owned Swift.String)"},
        {"_TtXFg___", "@callee_guaranteed () -> ()"},
        {"_TtXFt___", "@convention(thin) () -> ()"},
        {"_TtXFtCc___", "@convention(thin) @convention(c) () -> ()"},
        {"_TtXFtCm___", "@convention(thin) @convention(method) () -> ()"},
        {"_TtXFtCO___", "@convention(thin) @convention(objc_method) () -> ()"},
        {"_TtXFtCw___", "@convention(thin) @convention(witness_method) () -> ()"},
        {"_TtXFtCb___", "@convention(thin) @convention(block) () -> ()"},
        {"_TtXFtGr_ix__", "@convention(thin) <A> (@in A) -> ()"},
        {"_TtXFtgr_ix__", "@convention(thin) <A> (@in A) -> ()"},
        {"_TTrXFo___XFt___", "reabstraction thunk from @convention(thin) () -> () to @callee_owned () -> ()"},
        {"_TTRXFo___XFt___",
         "reabstraction thunk helper from @convention(thin) () -> () to @callee_owned () -> ()"},
        {"_TTRGrXFo___XFt___",
         "reabstraction thunk helper <A> from @convention(thin) () -> () to @callee_owned () -> ()"},
        {"_TtBv4Bi32_", "Builtin.Vec4xInt32"},
        {"_TtBv4Bf32_", "Builtin.Vec4xFPIEEE32"},
        {"_TtBv4Bp", "Builtin.Vec4xRawPointer"},
        {"_TtBf80_", "Builtin.FPIEEE80"},
        {"_TF4mainG1xSi", "main.x.getter : Swift.Int"},
        {"_TF4mainw1xSi", "main.x.willset : Swift.Int"},
        {"_TF4mainW1xSi", "main.x.didset : Swift.Int"},
        {"_TF4mainr1xSi", "main.x.read : Swift.Int"},
        {"_TF4mainM1xSi", "main.x.modify : Swift.Int"},
        {"_TF4mainap1xSi", "main.x.nativePinningMutableAddressor : Swift.Int"},
        {"_TF4mainlp1xSi", "main.x.nativePinningAddressor : Swift.Int"},
        {"_TFC4main1Cg9subscriptFSiSi", "main.C.subscript.getter : (Swift.Int) -> Swift.Int"},
        {"_TFC4main1CgP3abc9subscriptFSiSi", "main.C.subscript.getter : (Swift.Int) -> Swift.Int"},
        {"_TFC4main1CgP3abc1xSi", "main.C.(x in abc).getter : Swift.Int"},
        {"_TF4mainop1pFSiSi", "main.+ prefix(Swift.Int) -> Swift.Int"},
        {"_TF4mainoP1pFSiSi", "main.+ postfix(Swift.Int) -> Swift.Int"},
        {"_TIF4main1fFT_T_A_", "default argument 0 of main.f() -> ()"},
        {"_TIF4main1fFT_T_i", "variable initialization expression of main.f() -> ()"},
        {"_TWLC4main1CS0_S_1PS_", "lazy protocol witness table cache variable for type main.C and "
                                  "conformance main.C : main.P in main"},
        {"_TWlC4main1CS0_S_1PS_",
         "lazy protocol witness table accessor for type main.C and conformance main.C : main.P in main"},
        {"_TWtC4main1CS_1PS_1A", "associated type metadata accessor for A in main.C : main.P in main"},
        {"_TWTC4main1CS_1PS_1AS_1Q",
         "associated type witness table accessor for A : main.Q in main.C : main.P in main"},
        {"_TTWC4main1CS_1PS_FS1_1fFT_T_",
         "protocol witness for main.P.f() -> () in conformance main.C : main.P in main"},
        {"_TTdF4main1fFT_T_", "super main.f() -> ()"},
        {"_TTVF4main1fFT_T_", "override main.f() -> ()"},
        {"_TTSf4r___TF4main1fFT_T_",
         "function signature specialization <Arg[0] = InOut Converted to Out> of main.f() -> ()"},
        {"_TTSf4i_k_s___TF4main1fFT_T_",
         "function signature specialization <Arg[0] = Value Promoted from Box, Arg[1] = Stack Promoted from "
         "Box, Arg[2] = Exploded> of main.f() -> ()"},
        {"_TTSf4cpse0v1a___TF4main1fFT_T_", "function signature specialization <Arg[0] = [Constant "
                                            "Propagated String : u8'a']> of main.f() -> ()"},
        {"_TTSf4cpse1v1a___TF4main1fFT_T_", "function signature specialization <Arg[0] = [Constant "
                                            "Propagated String : u16'a']> of main.f() -> ()"},
        {"_TTSf4cpfl5___TF4main1fFT_T_",
         "function signature specialization <Arg[0] = [Constant Propagated Float : 5]> of main.f() -> ()"},
        {"_TTSf4cl1gSiSS___TF4main1fFT_T_",
         "function signature specialization <Arg[0] = [Closure Propagated : g, Argument Types : "
         "[Swift.IntSwift.String]> of main.f() -> ()"},
        {"_TTSrq5Si___TF4main1fFT_T_",
         "generic not re-abstracted specialization <serialized, Swift.Int> of main.f() -> ()"},
        {"_TtGVV4main1S1TSi_SS_", "main.S<Swift.Int>.T<Swift.String>"},
        {"_TFE4mainSi1fFT_T_", "(extension in main):Swift.Int.f() -> ()"},
        {"_TFe4mainRxS_1PrC5other1C1fFT_T_", "(extension in main):other.C<A where A: main.P>.f() -> ()"},
        {"_TF4main1fuRxlE64_8rFxT_", "main.f<A where A: _Trivial(64, 8)>(A) -> ()"},
        {"_TF4main1fuRxlm64rFxT_", "main.f<A where A: _TrivialAtMost(64)>(A) -> ()"},
        {"_TF4main1fuRxlNrFxT_", "main.f<A where A: _NativeRefCountedObject>(A) -> ()"},
        {"_TF4main1fuRxS_1PwxPS0_1AzSirFxT_", "main.f<A where A: main.P, A.main.P.A == Swift.Int>(A) -> ()"},
        {"_TF4main1fFWx1A1B_T_", "main.f(A.A.B) -> ()"},
        {"_TF4main1fFwxP4main1P1AT_", "main.f(A.main.P.A) -> ()"},
        {"_TF4main1fFtSiSS_T_", "main.f(Swift.Int, Swift.String...) -> ()"},
        {"_TF4main1fbT_T_", "main.f : @convention(block) () -> ()"},
        {"_TF4main1fKT_T_", "main.f : @autoclosure () -> ()"},
        {"_Ttqd0_0_", "B2"},
        {"_TtCSC1C", "__C_Synthesized.C"},
        {"_TtPMP4main1P_", "main.P.Type"},
        {"$s4main1XVy$n3_GD", "main.X<-4>"},
        {"$s4main1fyyxlFSi_TtG5",
         "generic not re-abstracted specialization <Swift.Int> of main.f<A>(A) -> ()"},
        {"$s4main1fyyxlFSi_TtB5", "generic specialization <Swift.Int> of main.f<A>(A) -> ()"},
        {"$syyXzB3vBvD", "@convention(block, mangledCType: \"vBv\") () -> ()"},
        {"$syyXzC3vBvD", "@convention(c, mangledCType: \"vBv\") () -> ()"},
        {"$sIeg_IegH_SilTy", "reabstraction thunk <A> from @escaping @callee_guaranteed () -> () to "
                             "@escaping @callee_guaranteed @async () -> () self Swift.Int"},
        {"$s4main1P_AA1QXlD", "main.P & main.Q & Swift.AnyObject"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check(ms_dmswp_run, rows[i].mangled, FULL, rows[i].full);
        check_truncation(ms_dmswp_run, rows[i].mangled, SIMPLIFIED);
        check_caps(ms_dmswp_run, rows[i].mangled, FULL);
    }
}

/* Names that break the grammar at one place. An operator's operand is missing, is no such node, or is out of
 * range, or the operator has no such letter after it. The names come back unchanged. */
static void test_broken_operators(void)
{
    static const char *const rows[] = {
        "$s4FarmWZ",
        "$s4Farm1xWZ",
        "$s4Farm3PenVWz",
        "$s$n_",
        "$s4Farm3PenVy$n_GD",
        "$s4Farm3PenVy$n2147483647_GD",
        "$s4Farm4feedyyFyycfU2147483647_",
        "$sIegzCv_D",
        "$sIegx_D",
        "$sIegY_D",
        "$sIegz_D",
        "$s4main1fyyFWJxSUpSr",
        "$s4main1fyyFWJrSSr",
        "$s4main1fyyFWJrSpS",
        "$s4main1fyyFTJxSpSr",
        "$sWJrSpSr",
        "$sSiwx",
        "$sSiw",
        "$s4main1fyyFMXM",
        "$s4main1CCMXz",
        "$sQRD",
        "$s4main1fyySiF3fooTf4psx_n",
        "$s4main1fyySiFTf4pz_n",
        "$s4main1fyySiFTf4xG_n",
        "$s4main1fyySiFTf4pg_n",
        "$s4main1fyyFTp5",
        "$s4main1fyyFTtx5",
        "$sSiA1_D",
        "$sSiA27_D",
        "$sA_D",
        "$s4main1xSiva",
        "$s4main1xSivax",
        "$s4main1xSivlx",
        "$s4main1xSivk",
        "$s4main1fyyFfx",
        "$s4main1AoiyySi_SitF",
        "$s4main1koiyySi_SitF",
        "$s4main1xoxyySi_SitF",
        "$s4main1fyyxRlzXlF",
        "$s4main1fyyxrx",
        "$s1AQxD",
        "$s1A_1BQx",
        "$sSSXUD",
        "$sSi_lXX",
        "$sxz_lSi_XX",
        "$sSiXSzD",
        "$sSiXzxD",
        "$s4main1XSiG",
        "$sSi4main1PGD",
        "$s4main1CCHA",
        "$sTH",
        "$sTz_",
        "$sIeg_Tz",
        "$s4main1fyyFTw",
        "$s4main1fyyFTe",
        "$s4main1xSivpTK",
        "$sSiWO",
        "$sSiWOx",
        "$sSiWv",
        "$s4main1xSivpWvx",
        "$sSiBi",
        "$sSiBv4D",
        "$sBz",
        "$sSiYzD",
        "$sSiYjx",
        "$syyYjxcD",
        "$s4main1CCfM",
        "$s4main1fyyFU_",
        "$s4main1fyyFyycfx",
        "$sSiMY",
        "$sIeg_D5",
        "$s00D",
        "$s4main5_D",
        "_TtERX",
        "_TtXPxSi",
        "_TtXMxSi",
        "_TtXFx___",
        "_TtXFtCx___",
        "_TtXFtN___",
        "_TtXFo_xSi__",
        "_TtXFtGrxiSi_",
        "_TtXzSi",
        "_TtXB",
        "_TtXBx_",
        "_TtXBGRx",
        "_TtBv4Bx",
        "_TtBv4x",
        "_TtBv4_",
        "_TtBi64",
        "_TtBi_",
        "_TtBx",
        "_TF4mainax1xSi",
        "_TF4mainlx1xSi",
        "_TF4mainox1pFSiSi",
        "_TF4mainoip1FTSiSi_Si",
        "_TF4mainoi1AFTSiSi_Si",
        "_TF4mainoi1hFTSiSi_Si",
        "_TIF4main1fFT_T_f",
        "_TIF4main1fFT_T_u",
        "_TWvxvC4main1C1xSi",
        "_TWlSi",
        "_TWtSi",
        "_TWTSi",
        "_TWx",
        "_TTWSi",
        "_TTRXFo___",
        "_TTSf4cpse2v1a___TF4main1fFT_T_",
        "_TTSf4cpse0x1a___TF4main1fFT_T_",
        "_TTSf4cpx___TF4main1fFT_T_",
        "_TTSf4cpi___TF4main1fFT_T_",
        "_TTSf4gx___TF4main1fFT_T_",
        "_TTSf4cl1gSi",
        "_TTSr5Si",
        "_TF4main1fuRxlxrFxT_",
        "_TF4main1fuRxlMrFxT_",
        "_TF4main1fuRxlM64rFxT_",
        "_TF4main1fuRxSirFxT_",
        "_TF4main1fFWx1A",
        "_TtCSsx",
        "_TtS",
        "_TtS99999999999_",
        "_Ttqd99999999999__",
        "_TtX",
        "_TtQdx",
        "_TtQP4main1A",
        "_TFS_1fFT_T_",
        "_TFSs1fFT_T_",
        "_TFES_Si1fFT_T_",
        "_TtGC4main1CSi",
        "_TtGE4mainV4main1SSi_",
        "_TtGSi",
        "_TPB",
        "_Twzz",
        "_TWoFC4main1C1fFT_T_",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check(ms_dmswp_run, rows[i], FULL, rows[i]);
        check(ms_dmswp_run, rows[i], SIMPLIFIED, rows[i]);
    }
}

/* Truth: the text of one, which is that of swift.tsv's names of the same form, for one and for 300 of each. */
static void test_siblings(void)
{
    /* clang-format off */
    static const char *const ends0[4] = {"_TtT", "_", "(", ")"};
    static const char *const units0[][2] = {
        {"Si", "Swift.Int"},
        {"GSaSi_", "[Swift.Int]"},
        {"FSiSi", "(Swift.Int) -> Swift.Int"},
        {"P_", "Any"},
        {"MSi", "Swift.Int.Type"},
        {"C1a1b", "a.b"},
        {"TSiSi_", "(Swift.Int, Swift.Int)"},
        {"GV1a1bSi_", "a.b<Swift.Int>"},
        {"PMP_", "Any.Type"},
        {"RSi", "inout Swift.Int"},
        {"XoSi", "unowned Swift.Int"},
    };
    /* clang-format on */
    check_siblings(ms_dmswp_run, ends0, units0, sizeof units0 / sizeof units0[0]);
}

int main(void)
{
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        test_sample(&samples[i]);
    test_bombs();
    test_siblings();
    test_nested_closures();
    test_many_closures();
    test_nesting();
    each_row("swift.tsv", swift_row);
    each_row("swift-apple-compat.tsv", swift_row);
    each_row("swift-official.tsv", full_row);
    each_row("swift-simplified-official.tsv", simplified_row);
    each_row("swift-negative.tsv", full_row);
    test_rare_operators();
    test_rare_nodes();
    test_broken_operators();
    return test_done();
}
