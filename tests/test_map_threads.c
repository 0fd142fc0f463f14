/* A plan is shared by 8 threads that build its parts, and the map by 8 that look up, at once: run it under
 * ThreadSanitizer. Every thread gets the answers that one thread got. */
#define TEST_ROOM <rooms/src/image/image.h>
#include "maps.h"

#include <pthread.h>

enum { THREADS = 8, ADDRESSES = 400, ROUNDS = 3 };

/* What the threads share. */
typedef struct work {
    const machsym_plan *plan;
    machsym_part **parts;
    size_t count;
    const machsym_map *map;
    const uint64_t *addrs;
    const uint64_t *sums; /* of the answers */
} work;

/* One thread's share, and what it found wrong. */
typedef struct share {
    const work *w;
    pthread_t thread;
    size_t index;
    size_t wrong;
    map_answer answer;
} share;

static uint64_t hash_text(uint64_t hash, machsym_str text)
{
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (uint8_t)text.ptr[i]) * 1099511628211u;
    return hash;
}

static uint64_t sum_of(const machsym_map *map, uint64_t addr, map_answer *room)
{
    uint64_t hash = 14695981039346656037u;
    ask_map(map, addr, room);
    for (size_t i = 0; i < room->count && i < MAPS_FRAMES; i++) {
        const machsym_frame *frame = &room->frames[i];
        hash = hash_text(hash_text(hash, frame->linkage_name), frame->name);
        hash = hash_text(hash, frame->file.name) ^ frame->line ^ frame->function_start << 20;
    }
    return hash ^ room->count;
}

static void *build_share(void *user)
{
    share *s = (share *)user;
    for (size_t i = s->index; i < s->w->count; i += THREADS)
        s->wrong += machsym_part_build(s->w->plan, i, &s->w->parts[i], NULL) != MACHSYM_OK;
    return NULL;
}

/* Every thread asks for all addresses, each beginning elsewhere. */
static void *look_up_share(void *user)
{
    share *s = (share *)user;
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < ADDRESSES; i++) {
            size_t at = (i + s->index * ADDRESSES / THREADS) % ADDRESSES;
            s->wrong += sum_of(s->w->map, s->w->addrs[at], &s->answer) != s->w->sums[at];
        }
        machsym_cursor cursor = {0, 0};
        machsym_map_range range;
        uint64_t end = 0;
        while (machsym_map_next(s->w->map, &cursor, &range)) {
            s->wrong += range.lo < end;
            end = range.hi;
        }
    }
    return NULL;
}

static void run_threads(const work *w, share *shares, void *(*run)(void *))
{
    size_t wrong = 0;
    for (size_t i = 0; i < THREADS; i++) {
        shares[i].w = w;
        shares[i].index = i;
        shares[i].wrong = 0;
        CHECK_EQ(pthread_create(&shares[i].thread, NULL, run, &shares[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(shares[i].thread, NULL);
        wrong += shares[i].wrong;
    }
    CHECK_EQ(wrong, 0);
}

static void check_file(const char *path, const char *arch)
{
    static share shares[THREADS];
    static uint64_t addrs[ADDRESSES];
    static uint64_t sums[ADDRESSES];
    machsym_open_desc open;
    machsym_plan_desc desc;
    machsym_plan *plan = NULL;
    machsym_map *map = NULL;
    work w;
    uint64_t random = 77;
    memset(&open, 0, sizeof open);
    memset(&desc, 0, sizeof desc);
    memset(&w, 0, sizeof w);
    open.path = path;
    open.arch = arch;
    machsym_image *image = test_open_desc(&open);
    machsym_map *alone = build_map(image, MACHSYM_LINES_ATOS, 0);
    desc.image = image;
    CHECK_EQ(machsym_plan_open(&desc, &plan, NULL), MACHSYM_OK);
    w.plan = plan;
    w.count = machsym_plan_part_count(plan);
    w.parts = (machsym_part **)calloc(w.count + 1, sizeof(machsym_part *));
    run_threads(&w, shares, build_share);
    CHECK_EQ(machsym_map_merge(plan, w.parts, w.count, &map, NULL), MACHSYM_OK);
    CHECK(map != NULL && same_bytes(map, alone));
    w.map = map;
    w.addrs = addrs;
    w.sums = sums;
    for (size_t i = 0; i < ADDRESSES; i++) {
        const ms_range *code = &image->dw.code[i % image->dw.code_count];
        addrs[i] = code->lo + next_random(&random) % (code->hi - code->lo);
        sums[i] = sum_of(alone, addrs[i], &shares[0].answer);
    }
    run_threads(&w, shares, look_up_share);
    free(w.parts);
    machsym_map_close(alone);
    machsym_map_close(map);
    machsym_plan_close(plan);
    machsym_image_close(image);
}

int main(void)
{
    check_file("tests/fixtures/bin/demo.app.dSYM", NULL);
    check_file("tests/fixtures/bin/cross-x86_64-d4-14.dwarf", NULL);
    check_file("tests/fixtures/bin/inline-fat.dwarf", "arm64");
    check_file("tests/fixtures/bin/inline-x86_64-d5-O0-22.dwarf", NULL);
    check_file("tests/fixtures/bin/symbols-x86_64", NULL);
    return test_done();
}
