/* Which of several functions of one body a caller calls, by entries written by hand. Truth: the rules that the rows say. */
#include "counters.h"

#include "dwarf.h"
#include "failer.h"

enum {
    TAG_call_site = 0x48,
    AT_call_return_pc = 0x7d,
    AT_call_origin = 0x7f,
    AT_call_all_calls = 0x7a,
    AT_external = 0x3f,
    AT_declaration = 0x3c
};

/* Entries of functions say that all calls in them have entries, as compilers do that write those. */
enum {
    A_UNIT = 1,
    A_EXTERN,      /* a function that other units see */
    A_STATIC,      /* one that they do not see */
    A_OF,          /* one that states what it is of */
    A_COPY,        /* one that states the entry it is a copy of */
    A_CALLER,      /* has calls */
    A_CALL,        /* its origin may be in another unit */
    A_DECLARATION, /* of a function elsewhere */
    A_ABSTRACT,
    A_NAMELESS,
    A_CLONE, /* a copy with a name of its own */
    A_LOOP   /* a declaration of a declaration */
};

enum { SHARED = 0x1000, OTHER = 0x1040, CALLER = 0x1100, TWIN = 0x1200, SIZE = 0x20, CALLS = 0x80 };

/* Entries that calls lead to. */
typedef struct targets {
    size_t f2, f3, s4, a5, a7, nobody_here, nameless, loop, in_the_middle;
    size_t decl_f2, decl_f3, decl_f4, decl_f5, decl_f6, decl_nobody, named_f2;
} targets;

static void put_abbrevs(program *p)
{
    ABBREV(p, A_UNIT, TAG_compile_unit, 1, AT_name, FORM_string);
    ABBREV(p, A_EXTERN, TAG_subprogram, 0, AT_linkage_name, FORM_string, AT_external, FORM_flag_present,
           AT_low_pc, FORM_addr, AT_high_pc, FORM_data4, AT_call_all_calls, FORM_flag_present);
    ABBREV(p, A_STATIC, TAG_subprogram, 0, AT_name, FORM_string, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4,
           AT_call_all_calls, FORM_flag_present);
    ABBREV(p, A_OF, TAG_subprogram, 0, AT_specification, FORM_ref4, AT_low_pc, FORM_addr, AT_high_pc,
           FORM_data4, AT_call_all_calls, FORM_flag_present);
    ABBREV(p, A_COPY, TAG_subprogram, 0, AT_abstract_origin, FORM_ref4, AT_low_pc, FORM_addr, AT_high_pc,
           FORM_data4, AT_call_all_calls, FORM_flag_present);
    ABBREV(p, A_CALLER, TAG_subprogram, 1, AT_linkage_name, FORM_string, AT_external, FORM_flag_present,
           AT_low_pc, FORM_addr, AT_high_pc, FORM_data4, AT_call_all_calls, FORM_flag_present);
    ABBREV(p, A_CALL, TAG_call_site, 0, AT_call_origin, FORM_ref_addr, AT_call_return_pc, FORM_addr);
    ABBREV(p, A_DECLARATION, TAG_subprogram, 0, AT_linkage_name, FORM_string, AT_declaration,
           FORM_flag_present, AT_external, FORM_flag_present);
    ABBREV(p, A_ABSTRACT, TAG_subprogram, 0, AT_linkage_name, FORM_string, AT_external, FORM_flag, 0x20,
           FORM_data1);
    ABBREV(p, A_NAMELESS, TAG_subprogram, 0, AT_declaration, FORM_flag_present);
    ABBREV(p, A_CLONE, TAG_subprogram, 0, AT_linkage_name, FORM_string, AT_abstract_origin, FORM_ref4,
           AT_low_pc, FORM_addr, AT_high_pc, FORM_data4, AT_call_all_calls, FORM_flag_present);
    ABBREV(p, A_LOOP, TAG_subprogram, 0, AT_specification, FORM_ref4);
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

static size_t put_named(program *p, unsigned code, const char *name)
{
    size_t at = die(p, code);
    put_str(&p->info, name);
    return at;
}

static size_t put_of(program *p, unsigned code, size_t target)
{
    size_t at = die(p, code);
    put32(&p->info, local(p, target));
    put64(&p->info, SHARED);
    put32(&p->info, SIZE);
    return at;
}

static void put_clone(program *p, const char *name, size_t target)
{
    die(p, A_CLONE);
    put_str(&p->info, name);
    put32(&p->info, local(p, target));
    put64(&p->info, SHARED);
    put32(&p->info, SIZE);
}

static void put_call(program *p, size_t target, uint64_t return_pc)
{
    die(p, A_CALL);
    put32(&p->info, target);
    put64(&p->info, return_pc);
}

static void unit_open(program *p, const char *name)
{
    unit_begin(p, dwarf5, 1, 0);
    die(p, A_UNIT);
    put_str(&p->info, name);
}

static void unit_close(program *p)
{
    put8(&p->info, 0);
    unit_end(p);
}

/* The functions that share a body. */
static void put_members(program *p, targets *t)
{
    unit_open(p, "members.cc");
    t->s4 = put_named(p, A_DECLARATION, "_Z2f4v");
    t->a5 = put_named(p, A_ABSTRACT, "_Z2f5v");
    put8(&p->info, 1);
    put8(&p->info, 1);
    t->a7 = put_named(p, A_ABSTRACT, "_Z2f7v");
    put8(&p->info, 1);
    put8(&p->info, 1);
    t->f2 = put_function(p, A_EXTERN, "_Z2f2v", SHARED, SIZE);
    t->f3 = put_function(p, A_STATIC, "f3", SHARED, SIZE);
    put_of(p, A_OF, t->s4);
    put_of(p, A_COPY, t->a5);
    put_function(p, A_EXTERN, "_Z2f6v", SHARED, SIZE);
    put_clone(p, "_Z3f7av", t->a7);
    put_clone(p, "_Z3f7bv", t->a7);
    unit_close(p);
}

/* The entry that a call refers to, and the name of the function that it calls. NULL: that is unknown. */
typedef struct row {
    size_t target;
    const char *name;
} row;

enum { ROWS = 16, MEMBERS = 7 };

static void list_rows(const targets *t, row *rows)
{
    const row all[ROWS] = {
        {t->f2, "_Z2f2v"},      /* the entry itself */
        {t->f3, "f3"},          /* of a function that other units do not see, too */
        {t->s4, "_Z2f4v"},      /* what an entry is of */
        {t->a5, "_Z2f5v"},      /* what an entry is a copy of */
        {t->decl_f2, "_Z2f2v"}, /* another unit's declaration, by its name */
        {t->decl_f4, "_Z2f4v"}, /* what it is of says that others see it */
        {t->decl_f5, "_Z2f5v"},
        {t->decl_f3, NULL},       /* others do not see it */
        {t->decl_f6, "_Z2f6v"},   /* two entries of one function */
        {t->a7, NULL},            /* two functions are copies of it */
        {t->decl_nobody, NULL},   /* none has */
        {t->named_f2, NULL},      /* has code of its own elsewhere */
        {t->nameless, NULL},      /* says nothing */
        {t->loop, NULL},          /* leads to itself */
        {t->in_the_middle, NULL}, /* is no entry */
        {t->nobody_here, NULL},   /* past the end */
    };
    memcpy(rows, all, sizeof all);
}

static void put_callers(program *p, targets *t, row *rows)
{
    unit_open(p, "callers.cc");
    put_function(p, A_EXTERN, "_Z2f6v", SHARED, SIZE);
    t->decl_f2 = put_named(p, A_DECLARATION, "_Z2f2v");
    t->decl_f3 = put_named(p, A_DECLARATION, "f3");
    t->decl_f4 = put_named(p, A_DECLARATION, "_Z2f4v");
    t->decl_f5 = put_named(p, A_DECLARATION, "_Z2f5v");
    t->decl_f6 = put_named(p, A_DECLARATION, "_Z2f6v");
    t->decl_nobody = put_named(p, A_DECLARATION, "_Z6nobodyv");
    t->named_f2 = put_function(p, A_EXTERN, "_Z2f2v", OTHER, SIZE);
    t->nameless = die(p, A_NAMELESS);
    t->loop = die(p, A_LOOP);
    put32(&p->info, local(p, t->loop));
    t->in_the_middle = t->decl_f2 + 3;
    t->nobody_here = 0xffffff;
    list_rows(t, rows);
    put_function(p, A_CALLER, "_Z6callerv", CALLER, CALLS);
    for (size_t i = 0; i < ROWS; i++)
        put_call(p, rows[i].target, CALLER + 8 * (i + 1));
    put_call(p, t->f2, CALLER + 8 * (ROWS + 1)); /* two calls that return to one address */
    put_call(p, t->f3, CALLER + 8 * (ROWS + 1));
    put8(&p->info, 0);
    put_function(p, A_CALLER, "_Z5twin1v", TWIN, SIZE);
    put_call(p, t->f2, TWIN + 8);
    put_call(p, t->f2, TWIN + 16);
    put8(&p->info, 0);
    put_function(p, A_CALLER, "_Z5twin2v", TWIN, SIZE);
    put_call(p, t->decl_f2, TWIN + 8);
    put_call(p, t->f3, TWIN + 16);
    put8(&p->info, 0);
    unit_close(p);
}

/* Checks a stack that begins in the shared body and goes on at a return address. want: the name of the called
 * function; NULL: the session does not decide on one. */
static void check_called(machsym_session *session, uint64_t return_pc, const char *want)
{
    machsym_stack_addr pcs[2] = {{SHARED + 4, false}, {return_pc, true}};
    machsym_stack_answer calls[2];
    machsym_frame frames[8];
    machsym_session_frames_of_stack(session, pcs, 2, calls, frames, 8);
    const machsym_frame *called = &frames[calls[0].first];
    CHECK_EQ(calls[0].function_count, MEMBERS);
    CHECK_EQ(calls[0].is_decided, want != NULL);
    if (want != NULL)
        CHECK_STR(called->linkage_name.len != 0 ? called->linkage_name : called->name, want);
}

/* Every allocation fails once: a caller that decides names the right function, or it decides nothing. */
static void check_memory(const machsym_image *image, const row *rows)
{
    test_begin();
    for (size_t n = 0, calls = 0; n <= calls; n++) {
        failer f = {0, 0, false, 0, 0};
        machsym_session_desc how;
        machsym_session *session = NULL;
        memset(&how, 0, sizeof how);
        how.image = image;
        how.allocator.alloc = failing_alloc;
        how.allocator.free = failing_free;
        how.allocator.user = &f;
        f.fail_at = n; /* 0: none */
        machsym_result result = machsym_session_open(&how, &session, NULL);
        CHECK(result == MACHSYM_OK || result == MACHSYM_ERR_MEMORY);
        for (size_t i = 0; i < ROWS && session != NULL; i++) {
            machsym_stack_addr pcs[2] = {{SHARED + 4, false}, {CALLER + 8 * (i + 1), true}};
            machsym_stack_answer found[2];
            machsym_frame frames[8];
            machsym_session_frames_of_stack(session, pcs, 2, found, frames, 8);
            const machsym_frame *called = &frames[found[0].first];
            CHECK(!found[0].is_decided || rows[i].name != NULL);
            if (found[0].is_decided && rows[i].name != NULL && !called->lacks_memory)
                CHECK_STR(called->linkage_name.len != 0 ? called->linkage_name : called->name, rows[i].name);
        }
        machsym_session_close(session);
        CHECK_EQ(f.out, 0);
        calls = n == 0 ? f.calls : calls;
    }
    test_end("each allocation fails once");
}

/* A map of the program decides as the program does. */
static void check_map(const machsym_image *image, const row *rows)
{
    machsym_plan_desc plan;
    machsym_map *map = NULL;
    memset(&plan, 0, sizeof plan);
    plan.image = image;
    plan.lines = MACHSYM_LINES_PEOPLE;
    CHECK_EQ(machsym_map_build(&plan, &map, NULL), MACHSYM_OK);
    machsym_bytes bytes = machsym_map_bytes(map);
    machsym_image *made = test_open_bytes(bytes.ptr, bytes.len);
    machsym_session *session = test_session(made, MACHSYM_LINES_PEOPLE, 0);
    for (size_t i = 0; i < ROWS; i++) {
        char title[32];
        snprintf(title, sizeof title, "call of row %zu, of a map", i);
        test_begin();
        check_called(session, CALLER + 8 * (i + 1), rows[i].name);
        check_called(session, CALLER + 8 * (i + 1) + 1, NULL);
        test_end(title);
    }
    check_called(session, CALLER + 8 * (ROWS + 1), NULL);
    check_called(session, TWIN + 8, "_Z2f2v");
    check_called(session, TWIN + 16, NULL);
    machsym_session_close(session);
    machsym_image_close(made);
    machsym_map_close(map);
}

int main(void)
{
    program p;
    targets t;
    row rows[ROWS];
    memset(&p, 0, sizeof p);
    memset(&t, 0, sizeof t);
    put_abbrevs(&p);
    put_members(&p, &t);
    put_callers(&p, &t, rows);
    machsym_image *image = program_open(&p);
    machsym_session *session = test_session(image, MACHSYM_LINES_PEOPLE, 0);
    for (size_t i = 0; i < ROWS; i++) {
        char title[32];
        snprintf(title, sizeof title, "call of row %zu", i);
        test_begin();
        check_called(session, CALLER + 8 * (i + 1), rows[i].name);
        check_called(session, CALLER + 8 * (i + 1) + 1, NULL); /* no call returns there */
        test_end(title);
    }
    check_called(session, CALLER + 8 * (ROWS + 1), NULL); /* two calls are there */
    check_called(session, TWIN + 8, "_Z2f2v");            /* both callers call the same */
    check_called(session, TWIN + 16, NULL);               /* they do not */
    check_called(session, UINT64_MAX, NULL);              /* another image's */
    check_called(session, 0x1400, NULL);                  /* no function is there */
    machsym_session_close(session);
    check_memory(image, rows);
    check_map(image, rows);
    machsym_image_close(image);
    program_free(&p);
    return test_done();
}
