/* Frames in code that functions share and that ends in tail calls, by entries written by hand: the call site decides if no
 * tail call may lead to that code again. Truth: the rules that the rows say. */
#include "counters.h"

#include "dwarf.h"

enum {
    TAG_call_site = 0x48,
    AT_external = 0x3f,
    AT_call_all_calls = 0x7a,
    AT_call_return_pc = 0x7d,
    AT_call_origin = 0x7f,
    AT_call_tail_call = 0x82,
    AT_declaration = 0x3c
};

enum {
    A_UNIT = 1,
    A_FUNCTION,
    A_UNSURE, /* does not say that all its calls have entries */
    A_DECLARATION,
    A_CALL,
    A_TAIL,
    A_TAIL_TO_ANY /* of a function that is not known */
};

/* What the tail calls of a body lead to. */
enum { ENDS, LEAF, CIRCLE, ITSELF, TWIN, AROUND, SECOND, ANY, ELSEWHERE, MANY, NOT_ALL, LEAF_NOT_ALL, KINDS };

static const struct {
    const char *what;
    bool is_decided;
} rows[KINDS] = {
    {"nothing", true},
    {"a function that ends", true},
    {"functions that call each other", true},
    {"the same function", false},
    {"the other function", false},
    {"a function that calls the other one", false},
    {"a function that ends, then one that calls the other one", false},
    {"a function that is not known", false},
    {"a function that no unit has", false},
    {"more functions than are looked at", false},
    {"nothing, as far as entries tell", false},
    {"a function whose entry does not tell all", false},
};

enum { BODIES = 0x1000, CALLER = 0x1200, HELPERS = 0x1400, SIZE = 0x10, CHAIN = 70 };

static void put_abbrevs(program *p)
{
    ABBREV(p, A_UNIT, TAG_compile_unit, 1, AT_name, FORM_string);
    ABBREV(p, A_FUNCTION, TAG_subprogram, 1, AT_name, FORM_string, AT_external, FORM_flag_present, AT_low_pc,
           FORM_addr, AT_high_pc, FORM_data4, AT_call_all_calls, FORM_flag_present);
    ABBREV(p, A_UNSURE, TAG_subprogram, 1, AT_name, FORM_string, AT_external, FORM_flag_present, AT_low_pc,
           FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, A_DECLARATION, TAG_subprogram, 0, AT_name, FORM_string, AT_external, FORM_flag_present,
           AT_declaration, FORM_flag_present);
    ABBREV(p, A_CALL, TAG_call_site, 0, AT_call_return_pc, FORM_addr, AT_call_origin, FORM_ref4);
    ABBREV(p, A_TAIL, TAG_call_site, 0, AT_call_tail_call, FORM_flag_present, AT_call_origin, FORM_ref4);
    ABBREV(p, A_TAIL_TO_ANY, TAG_call_site, 0, AT_call_tail_call, FORM_flag_present);
    abbrev_end(p);
}

static size_t put_function(program *p, unsigned code, const char *name, uint64_t addr, uint32_t size)
{
    size_t at = die(p, code);
    put_str(&p->info, name);
    put64(&p->info, addr);
    put32(&p->info, size);
    return at;
}

/* Adds a tail call. Returns where its target stands. */
static size_t put_tail(program *p, size_t target)
{
    die(p, A_TAIL);
    put32(&p->info, target == 0 ? 0 : local(p, target));
    return p->info.len - 4;
}

/* A function with one tail call, or none. */
static size_t put_helper(program *p, unsigned code, unsigned number, size_t target)
{
    size_t at = put_function(p, code, "helper", HELPERS + SIZE * number, SIZE);
    if (target != 0)
        put_tail(p, target);
    put8(&p->info, 0);
    return at;
}

/* What functions of bodies call. */
typedef struct helpers {
    size_t leaf, unsure, circle, chain, nowhere;
} helpers;

static helpers put_helpers(program *p)
{
    helpers h;
    h.leaf = put_helper(p, A_FUNCTION, 0, 0);
    h.unsure = put_helper(p, A_UNSURE, 1, 0);
    h.circle = put_function(p, A_FUNCTION, "first", HELPERS + SIZE * 2, SIZE);
    size_t to = put_tail(p, 0);
    put8(&p->info, 0);
    patch(&p->info, to, local(p, put_helper(p, A_FUNCTION, 3, h.circle)), 4);
    h.chain = h.leaf;
    for (unsigned i = 0; i < CHAIN; i++)
        h.chain = put_helper(p, A_FUNCTION, 4 + i, h.chain);
    h.nowhere = die(p, A_DECLARATION);
    put_str(&p->info, "nowhere");
    return h;
}

/* Adds the two functions of a body, the one that answers last. Returns the other one. */
static size_t put_body(program *p, int kind, const helpers *h)
{
    uint64_t addr = BODIES + SIZE * (unsigned)kind;
    const size_t to[KINDS] = {0, h->leaf, h->circle, 0, 0, 0, h->leaf, 0, h->nowhere, h->chain, 0, h->unsure};
    size_t around = 0;
    size_t twin = put_function(p, A_FUNCTION, "called", addr, SIZE);
    put8(&p->info, 0);
    if (kind == AROUND || kind == SECOND)
        around = put_helper(p, A_FUNCTION, (kind == AROUND ? 80 : 81), twin);
    size_t own = put_function(p, kind == NOT_ALL ? A_UNSURE : A_FUNCTION, "other", addr, SIZE);
    if (to[kind] != 0)
        put_tail(p, to[kind]);
    if (kind == ITSELF || kind == TWIN)
        put_tail(p, kind == ITSELF ? own : twin);
    if (around != 0)
        put_tail(p, around);
    if (kind == ANY)
        die(p, A_TAIL_TO_ANY);
    put8(&p->info, 0);
    return twin;
}

static void put_program(program *p)
{
    size_t called[KINDS];
    put_abbrevs(p);
    unit_begin(p, dwarf5, 1, 0);
    die(p, A_UNIT);
    put_str(&p->info, "tails.c");
    helpers h = put_helpers(p);
    for (int kind = 0; kind < KINDS; kind++)
        called[kind] = put_body(p, kind, &h);
    put_function(p, A_FUNCTION, "caller", CALLER, 8 * (KINDS + 1));
    for (unsigned kind = 0; kind < KINDS; kind++) {
        die(p, A_CALL);
        put64(&p->info, CALLER + 8 * (kind + 1));
        put32(&p->info, local(p, called[kind]));
    }
    put8(&p->info, 0);
    put8(&p->info, 0);
    unit_end(p);
}

static void check_kind(machsym_session *session, unsigned kind, const char *where)
{
    machsym_stack_addr pcs[2] = {{BODIES + SIZE * kind + 4, false}, {CALLER + 8 * (kind + 1), true}};
    machsym_stack_answer calls[2];
    machsym_frame frames[8];
    char title[96];
    test_begin();
    machsym_session_frames_of_stack(session, pcs, 2, calls, frames, 8);
    CHECK_EQ(calls[0].function_count, 2);
    CHECK_EQ(calls[0].is_decided, rows[kind].is_decided);
    CHECK_STR(frames[calls[0].first].name, rows[kind].is_decided ? "called" : "other");
    snprintf(title, sizeof title, "a body that calls %s last%s", rows[kind].what, where);
    test_end(title);
}

int main(void)
{
    program p;
    machsym_plan_desc plan;
    machsym_map *map = NULL;
    memset(&p, 0, sizeof p);
    memset(&plan, 0, sizeof plan);
    put_program(&p);
    machsym_image *image = program_open(&p);
    machsym_session *session = test_session(image, MACHSYM_LINES_DWARF, 0);
    for (unsigned kind = 0; kind < KINDS; kind++)
        check_kind(session, kind, "");
    for (unsigned kind = KINDS; kind-- > 0;) /* decoded before */
        check_kind(session, kind, ", again");
    machsym_session_close(session);

    plan.image = image;
    plan.lines = MACHSYM_LINES_DWARF;
    CHECK_EQ(machsym_map_build(&plan, &map, NULL), MACHSYM_OK);
    machsym_bytes bytes = machsym_map_bytes(map);
    machsym_image *made = test_open_bytes(bytes.ptr, bytes.len);
    session = test_session(made, MACHSYM_LINES_DWARF, 0);
    for (unsigned kind = 0; kind < KINDS; kind++)
        check_kind(session, kind, ", of a map");
    machsym_session_close(session);
    machsym_image_close(made);
    machsym_map_close(map);
    machsym_image_close(image);
    program_free(&p);
    return test_done();
}
