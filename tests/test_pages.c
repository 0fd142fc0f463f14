/* Pages of a map that a callback reads: each is read once, and the ones that were needed last are kept. */
#define TEST_ROOM <rooms/src/symmap/pages.h>
#include "test.h"

enum { PAGES = 100, FILE_BYTES = PAGES * ms_PG_BYTES };

static uint8_t file[FILE_BYTES];
static uint8_t sums[8 * PAGES];

static size_t read_file(void *user, uint64_t offset, void *out, size_t len)
{
    *(uint64_t *)user += 1;
    memcpy(out, file + offset, len);
    return len;
}

/* Needs a byte of a page. Returns: how many reads that took. */
static uint64_t need(ms_pg *sh, uint64_t *calls, uint64_t page)
{
    uint64_t before = *calls, at = page * ms_PG_BYTES + page;
    const uint8_t *found = ms_pg_at(sh, at, 1);
    CHECK(found != NULL && *found == file[at]);
    return *calls - before;
}

int main(void)
{
    ms_pg sh;
    uint64_t calls = 0, again = 0;
    machsym_io io = {read_file, &calls, FILE_BYTES};
    machsym_io_stats reads;
    memset(&reads, 0, sizeof reads);
    for (size_t i = 0; i < FILE_BYTES; i++)
        file[i] = (uint8_t)(i * 7 + i / 251);
    for (uint64_t i = 0; i < PAGES; i++) {
        uint64_t sum = ms_pg_sum_at(ms_span_make(file, FILE_BYTES), i);
        for (unsigned k = 0; k < 8; k++)
            sums[8 * i + k] = (uint8_t)(sum >> 8 * k);
    }
    CHECK(ms_pg_open(&sh, ms_span_make(file, 0), &io, 0, ms_span_make(sums, sizeof sums),
                     ms_arena_default((machsym_allocator){0}), &reads));
    CHECK_EQ(need(&sh, &calls, 0), 1);
    for (uint64_t page = 1; page < PAGES; page++) { /* the first one is needed between all others */
        CHECK_EQ(need(&sh, &calls, page), 1);
        again += need(&sh, &calls, 0);
    }
    CHECK_EQ(again, 0);
    for (uint64_t page = PAGES - (MACHSYM_KEPT_PAGES - 1); page < PAGES; page++)
        again += need(&sh, &calls, page);
    CHECK_EQ(again, 0);                                         /* the last ones are all there */
    CHECK_EQ(need(&sh, &calls, PAGES - MACHSYM_KEPT_PAGES), 1); /* the one before them is not */
    CHECK_EQ(reads.count, calls);
    CHECK_EQ(reads.lost, 0);
    ms_arena_free(&sh.arena);
    return test_done();
}
