/* The memory of a part of a map: units that were decoded go as soon as the next one is, so that a part of many
 * units needs hardly more than a part of few. */
#include "dwarf.h"

enum {
    FEW = 2,
    MANY = 24,
    FUNCTIONS = 500, /* of a unit */
    ROWS = 64,       /* of a function, all of one line: they are one range of the map */
    STEP = 4,        /* bytes from row to row */
    SIZE = ROWS * STEP,
    UNIT_SIZE = FUNCTIONS * SIZE,
    LINE_BASE = -5,
    LINE_RANGE = 14,
    OPCODE_BASE = 13,
    ROW_BYTES = 24,
    DECODED = FUNCTIONS * ROWS * ROW_BYTES /* bytes of a unit's rows, at least */
};

#define START ((uint64_t)MAKE_TEXT)

/* ---- Memory that is counted ---- */

typedef struct counted {
    size_t live;
    size_t most;
} counted;

static void *take(void *user, size_t size)
{
    counted *c = (counted *)user;
    c->live += size;
    c->most = c->live > c->most ? c->live : c->most;
    return malloc(size);
}

static void give_back(void *user, void *ptr, size_t size)
{
    ((counted *)user)->live -= size;
    free(ptr);
}

/* ---- A program ---- */

static void add_line_program(program *p, uint64_t lo)
{
    static const uint8_t lengths[12] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    size_t length_at = begin_length(p, &p->line);
    put16(&p->line, 4);
    size_t header_at = p->line.len;
    put32(&p->line, 0);
    put8(&p->line, 1); /* byte at least in an instruction */
    put8(&p->line, 1); /* operation in it */
    put8(&p->line, 1); /* rows are statements */
    put8(&p->line, (uint8_t)LINE_BASE);
    put8(&p->line, LINE_RANGE);
    put8(&p->line, OPCODE_BASE);
    put(&p->line, lengths, sizeof lengths);
    put8(&p->line, 0);
    put_str(&p->line, "many.c");
    put_zeros(&p->line, 4);
    patch(&p->line, header_at, p->line.len - header_at - 4, 4);
    put8(&p->line, 0);
    put8(&p->line, 9);
    put8(&p->line, 2);
    put64(&p->line, lo);
    for (unsigned i = 0; i < FUNCTIONS * ROWS; i++)
        put8(&p->line, OPCODE_BASE - LINE_BASE + LINE_RANGE * (i == 0 ? 0 : STEP)); /* the line stays */
    put8(&p->line, 2);
    put8(&p->line, STEP);
    put8(&p->line, 0);
    put8(&p->line, 1);
    put8(&p->line, 1);
    end_length(p, &p->line, length_at);
}

static void add_unit(program *p, unsigned unit)
{
    uint64_t lo = START + (uint64_t)unit * UNIT_SIZE;
    unit_begin(p, dwarf4, 1, 0);
    die(p, 1);
    put32(&p->info, p->line.len);
    put64(&p->info, lo);
    put32(&p->info, UNIT_SIZE);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        die(p, 2);
        put64(&p->info, lo + i * SIZE);
        put32(&p->info, SIZE);
    }
    put8(&p->info, 0);
    unit_end(p);
    add_line_program(p, lo);
}

/* The most memory that the one part of a program with `units` units takes. */
static size_t most_of_part(unsigned units)
{
    counted memory = {0, 0};
    program p = {0};
    machsym_plan_desc desc;
    machsym_plan *plan = NULL;
    machsym_part *part = NULL;
    machsym_part_info info;
    ABBREV(&p, 1, TAG_compile_unit, 1, AT_stmt_list, FORM_sec_offset, AT_low_pc, FORM_addr, AT_high_pc,
           FORM_data4, 0);
    ABBREV(&p, 2, TAG_subprogram, 0, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4, 0);
    abbrev_end(&p);
    for (unsigned i = 0; i < units; i++)
        add_unit(&p, i);
    p.macho.code_size = (uint64_t)units * UNIT_SIZE;
    machsym_image *image = program_open(&p);
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    desc.allocator.alloc = take;
    desc.allocator.free = give_back;
    desc.allocator.user = &memory;
    CHECK_EQ(machsym_plan_open(&desc, &plan, NULL), MACHSYM_OK);
    CHECK_EQ(machsym_plan_part_count(plan), 1);
    size_t before = memory.live;
    memory.most = before;
    CHECK_EQ(machsym_part_build(plan, 0, &part, NULL), MACHSYM_OK);
    machsym_part_get_info(part, &info);
    CHECK(info.unit_count == units && info.damaged_units == 0);
    machsym_part_close(part);
    machsym_plan_close(plan);
    CHECK_EQ(memory.live, 0);
    machsym_image_close(image);
    program_free(&p);
    return memory.most - before;
}

int main(void)
{
    size_t few = most_of_part(FEW);
    size_t many = most_of_part(MANY);
    CHECK(few >= DECODED); /* a unit is decoded whole */
    CHECK(many < few + (MANY - FEW) * (size_t)DECODED / 4);
    if (getenv("VERBOSE") != NULL)
        printf("%u units: %zu bytes, %u units: %zu bytes\n", (unsigned)FEW, few, (unsigned)MANY, many);
    return test_done();
}
