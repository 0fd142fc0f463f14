/* How a plan cuts debug info into parts: into few large ones, and at the end into small ones, so that threads that
 * build them end at about the same time. */
#include "dwarf.h"

enum { UNIT_SIZE = 100000, MEGABYTE = 1 << 20, CODE_SIZE = 64 };

/* A unit of UNIT_SIZE bytes: its root, and entries without attributes. */
static void add_unit(program *p, unsigned unit)
{
    size_t begin = p->info.len;
    unit_begin(p, dwarf4, 1, 0);
    die(p, 1);
    put64(&p->info, (uint64_t)MAKE_TEXT + (uint64_t)unit * CODE_SIZE);
    put32(&p->info, CODE_SIZE);
    while (p->info.len - begin < UNIT_SIZE)
        die(p, 2);
    put8(&p->info, 0);
    unit_end(p);
}

/* The busiest thread's bytes, if each of some threads takes the next part when it has built one. */
static uint64_t busiest(const machsym_plan *plan, size_t threads)
{
    uint64_t busy[4] = {0};
    uint64_t most = 0;
    for (size_t part = 0; part < machsym_plan_part_count(plan); part++) {
        size_t next = 0;
        for (size_t i = 1; i < threads; i++)
            next = busy[i] < busy[next] ? i : next;
        busy[next] += machsym_plan_part_size(plan, part);
        most = busy[next] > most ? busy[next] : most;
    }
    return most;
}

/* Checks the parts of a program with `units` units. */
static void check_parts(unsigned units, size_t most_parts)
{
    program p = {0};
    machsym_plan_desc desc;
    machsym_plan *plan = NULL;
    uint64_t total = 0;
    ABBREV(&p, 1, TAG_compile_unit, 1, AT_low_pc, FORM_addr, AT_high_pc, FORM_data4, 0);
    ABBREV(&p, 2, 0x24, 0, 0);
    abbrev_end(&p);
    for (unsigned i = 0; i < units; i++)
        add_unit(&p, i);
    p.macho.code_size = (uint64_t)units * CODE_SIZE;
    uint64_t bytes = p.info.len;
    machsym_image *image = program_open(&p);
    memset(&desc, 0, sizeof desc);
    desc.image = image;
    CHECK_EQ(machsym_plan_open(&desc, &plan, NULL), MACHSYM_OK);
    size_t count = machsym_plan_part_count(plan);
    CHECK(count > 0 && count <= most_parts);
    for (size_t i = 0; i < count; i++) {
        uint64_t size = machsym_plan_part_size(plan, i);
        total += size;
        CHECK(size <= 4 * MEGABYTE + UNIT_SIZE + 100);
        CHECK(i + 1 == count || size >= MEGABYTE);
    }
    CHECK_EQ(total, bytes);
    for (size_t threads = 1; threads <= 4 && count > 1; threads++)
        CHECK(busiest(plan, threads) <= bytes / threads + MEGABYTE + UNIT_SIZE + 100);
    machsym_plan_close(plan);
    machsym_image_close(image);
    program_free(&p);
}

int main(void)
{
    check_parts(1, 1);
    check_parts(40, 1); /* of less than 4 MB */
    check_parts(50, 5);
    check_parts(150, 9);
    check_parts(300, 13);
    check_parts(1000, 31);
    return test_done();
}
