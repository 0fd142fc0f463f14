/* The room table, against plain arrays: keys, texts, keys and texts made to collide, memory that runs out. */
#define TEST_ROOM <rooms/src/base/table.h>
#include "test.h"

static machsym_allocator usual(void)
{
    machsym_allocator none = {NULL, NULL, NULL};
    return ms_arena_default(none);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Few different pairs, asked for again and again: each has the value that it was given first. */
static void test_pairs(void)
{
    static uint32_t want[64][64];
    ms_arena arena = ms_arena_make(usual());
    ms_tab t;
    uint64_t state = 88172645463325252u;
    uint32_t count = 0;
    size_t wrong = 0;
    ms_zero(&t, sizeof t);
    t.arena = &arena;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t r = next_random(&state);
        uint64_t a = r % 64;
        uint64_t b = r >> 8 & 63;
        ms_tab_slot *slot = ms_tab_get(&t, a << 58, b);
        wrong += !ms_tab_has(&t, slot) || slot->value != want[a][b];
        if (want[a][b] == 0)
            slot->value = want[a][b] = ++count;
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(t.count, count);
    CHECK(count > 4000 && 4 * t.count <= 3 * t.cap);
    ms_arena_free(&arena);
}

/* A table that is made larger keeps its pairs, and grows no more until its new room is used up. */
static void test_enlarge(void)
{
    ms_arena arena = ms_arena_make(usual());
    ms_tab t;
    size_t wrong = 0;
    ms_zero(&t, sizeof t);
    t.arena = &arena;
    for (uint32_t i = 1; i <= 100; i++)
        ms_tab_get(&t, i, 7)->value = i;
    CHECK(ms_tab_enlarge(&t, 1024));
    CHECK_EQ(t.cap, 1024);
    for (uint32_t i = 1; i <= 768; i++) {
        ms_tab_slot *slot = ms_tab_get(&t, i, 7);
        wrong += slot->value != (i <= 100 ? i : 0);
        slot->value = i;
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(t.count, 768);
    CHECK_EQ(t.cap, 1024);
    ms_arena_free(&arena);
}

/* Keys with one hash: those within the limit are found, the others are new each time and take no slot. */
static void test_colliding_pairs(void)
{
    ms_arena arena = ms_arena_make(usual());
    ms_tab t;
    size_t known = 0;
    size_t outside = 0;
    ms_zero(&t, sizeof t);
    t.arena = &arena;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint64_t b = 1; b <= 2 * MACHSYM_MAX_PROBES; b++) {
            ms_tab_slot *slot = ms_tab_get(&t, b * 0x9e3779b97f4a7c15u, b); /* a ^ b * K is 0 */
            if (slot->value != 0)
                known++;
            else if (!ms_tab_has(&t, slot))
                outside++;
            slot->value = (uint32_t)b;
        }
    }
    CHECK_EQ(known, MACHSYM_MAX_PROBES);
    CHECK_EQ(outside, 2 * MACHSYM_MAX_PROBES);
    ms_arena_free(&arena);
}

/* The number of a text, from 1 on; 0 when it is left out. */
static uint32_t number_of(ms_tab *t, machsym_str *texts, uint32_t *count, ms_tab_text search)
{
    for (ms_tab_slot *slot; (slot = ms_tab_next_text(t, &search)) != NULL;) {
        if (slot->value == 0) {
            texts[*count] = search.text;
            slot->value = ++*count;
        }
        if (ms_str_equal(texts[slot->value - 1], search.text))
            return slot->value;
    }
    return 0;
}

enum { TEXTS = 3000, LENGTH = 520 };

/* Texts that differ in bytes which the short hash does not take in, each asked for twice. */
static void test_texts(void)
{
    static char bytes[TEXTS][LENGTH];
    static machsym_str kept[TEXTS];
    ms_arena arena = ms_arena_make(usual());
    ms_tab t;
    uint32_t count = 0;
    size_t wrong = 0;
    ms_zero(&t, sizeof t);
    t.arena = &arena;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < TEXTS; i++) {
            memset(bytes[i], 'a', LENGTH);
            snprintf(bytes[i] + 256, 9, "%08u", i);
            bytes[i][264] = 'a';
            machsym_str text = ms_str_make(bytes[i], LENGTH - i % 2 * 500);
            wrong +=
                number_of(&t, kept, &count, ms_tab_text_of(text)) != (i % 2 == 0 ? i / 2 + 1 + (i > 0) : 2);
        }
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(count, TEXTS / 2 + 1); /* the short ones are all the same */
    ms_arena_free(&arena);
}

/* One hash for everything: as many texts as the limit allows are told apart, the others are left out. */
static void test_colliding_texts(void)
{
    static machsym_str kept[100];
    static char bytes[100];
    ms_arena arena = ms_arena_make(usual());
    ms_tab t;
    uint32_t count = 0;
    uint32_t known = 0;
    ms_zero(&t, sizeof t);
    t.arena = &arena;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < 100; i++) {
            bytes[i] = (char)i;
            ms_tab_text search = {ms_str_make(&bytes[i], 1), 1, 2}; /* both hashes were tried */
            known += number_of(&t, kept, &count, search) == i + 1;
        }
    }
    CHECK_EQ(count, MACHSYM_MAX_EQUAL_HASHES - 2);
    CHECK_EQ(known, 2 * count);
    ms_arena_free(&arena);
}

/* No memory: no slot, and no harm to what is there. */
static void test_failure(void)
{
    ms_arena arena = ms_arena_make(usual());
    ms_tab t;
    ms_zero(&t, sizeof t);
    t.arena = &arena;
    for (uint32_t i = 1; i <= 192; i++)
        ms_tab_get(&t, i, i)->value = i;
    CHECK_EQ(t.cap, 256);
    arena.oom = true;
    ms_tab_text search = ms_tab_text_of(ms_str_from_c("text"));
    CHECK(ms_tab_get(&t, 193, 193) == NULL && ms_tab_next_text(&t, &search) == NULL);
    CHECK(!ms_tab_has(&t, NULL));
    CHECK_EQ(t.count, 192);
    const ms_tab_place *place = ms_tab_find(&t, ms_tab_hash(192, 192), 192, 192);
    CHECK(place != NULL && place->number == 192 && t.v[191].value == 192);
    ms_arena_free(&arena);
}

int main(void)
{
    test_pairs();
    test_enlarge();
    test_colliding_pairs();
    test_texts();
    test_colliding_texts();
    test_failure();
    return test_done();
}
