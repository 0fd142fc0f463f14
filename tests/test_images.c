/* The images that threads share: which one is closed when another needs its place, whose memory goes first, and what is counted. Truth: a list
 * of a few lines that drops the one that was used the longest ago, of those that are not borrowed. */
#include "test.h"

#include "../tool/symbols/images.h"
#include "../tool/symbols/store.h"

enum { IMAGES = 6, LOANS = 4, STEPS = 600 };

static const char *const files[IMAGES] = {
    "tests/fixtures/bin/demo",
    "tests/fixtures/bin/inline-arm64-d5-22.dSYM/Contents/Resources/DWARF/inline-arm64-d5-22",
    "tests/fixtures/bin/deep-arm64-d4.dwarf",
    "tests/fixtures/bin/map-arm64-d4-O0/program.dwarf",
    "tests/fixtures/bin/map-x86_64-d5-O0/program.dwarf",
    "tests/fixtures/bin/cold-arm64-d5-22.dwarf",
};

/* What is open, the one that was used the longest ago first. */
typedef struct model {
    unsigned v[IMAGES];
    unsigned count;
    unsigned borrowed[IMAGES];
    uint64_t idle[IMAGES][LOANS]; /* of the seats that are not used: the memory of each */
    unsigned idle_count[IMAGES];
    images_counts want;
} model;

static unsigned place_in(const model *m, unsigned image)
{
    unsigned at = 0;
    while (at < m->count && m->v[at] != image)
        at++;
    return at;
}

static void drop(model *m, unsigned at)
{
    m->count--;
    memmove(m->v + at, m->v + at + 1, (m->count - at) * sizeof *m->v);
}

static void take_seat(model *m, unsigned image)
{
    m->want.bytes -= m->idle[image][--m->idle_count[image]];
}

static void use(model *m, unsigned image, unsigned most)
{
    unsigned at = place_in(m, image);
    m->want.asked++;
    m->borrowed[image]++;
    if (m->idle_count[image] > 0)
        take_seat(m, image);
    if (at < m->count) {
        drop(m, at);
        m->v[m->count++] = image;
        return;
    }
    m->want.opened++;
    for (at = 0; m->count >= most && at < m->count;) {
        if (m->borrowed[m->v[at]] > 0) {
            at++;
            continue;
        }
        while (m->idle_count[m->v[at]] > 0)
            take_seat(m, m->v[at]);
        drop(m, at);
        m->want.closed++;
    }
    m->v[m->count++] = image;
}

/* A seat comes back. While seats that are not used take too much, one of the image that was used the longest ago goes. */
static void give_back(model *m, unsigned image, uint64_t memory, uint64_t bytes)
{
    m->borrowed[image]--;
    m->idle[image][m->idle_count[image]++] = memory;
    m->want.bytes += memory;
    for (unsigned at = 0; m->want.bytes > bytes && at < m->count;) {
        if (m->idle_count[m->v[at]] == 0) {
            at++;
            continue;
        }
        take_seat(m, m->v[at]);
        m->want.forgotten++;
    }
}

static machsym_uuid uuid_of(const char *path)
{
    machsym_open_desc desc;
    machsym_image *image;
    machsym_error err;
    machsym_uuid uuid;
    memset(&desc, 0, sizeof desc);
    memset(&uuid, 0, sizeof uuid);
    desc.path = path;
    CHECK_EQ(machsym_image_open(&desc, &image, &err), MACHSYM_OK);
    machsym_image_info info;
    machsym_image_get_info(image, &info);
    uuid = info.slice.uuid;
    machsym_image_close(image);
    return uuid;
}

static void check_counts(image_pool *all, const model *m)
{
    images_counts got = images_count(all);
    CHECK_EQ(got.asked, m->want.asked);
    CHECK_EQ(got.opened, m->want.opened);
    CHECK_EQ(got.closed, m->want.closed);
    CHECK_EQ(got.open, m->count);
    CHECK_EQ(got.bytes, m->want.bytes);
    CHECK_EQ(got.forgotten, m->want.forgotten);
}

static unsigned next_below(uint32_t *seed, unsigned limit)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % limit;
}

/* Borrows and returns by chance, at most LOANS at once, so that there is a moment with nothing to close. Returns the most memory
 * that a seat took. */
static uint64_t test_order(const store *s, const machsym_uuid *uuids, unsigned most, uint64_t bytes)
{
    images_options how;
    model m;
    image_loan loans[LOANS];
    unsigned of[LOANS];
    unsigned count = 0;
    uint32_t seed = most;
    uint64_t largest = 0;
    memset(&how, 0, sizeof how);
    memset(&m, 0, sizeof m);
    how.store = s;
    how.jobs = LOANS;
    how.max_open = most;
    how.max_bytes = bytes;
    image_pool *all = images_open(&how);
    test_begin();
    for (unsigned step = 0; step < STEPS; step++) {
        if (count == LOANS || (count > 0 && next_below(&seed, 2) == 0)) {
            unsigned at = next_below(&seed, count);
            machsym_frame frames[MACHSYM_MAX_INLINE_DEPTH + 1];
            uint64_t addr;
            const symbol_info *info = loan_info(&loans[at]);
            loan_frames(&loans[at], info->text_addr, false, info->text_addr + info->text_size / 2, false,
                        frames, MACHSYM_MAX_INLINE_DEPTH + 1, &addr);
            uint64_t memory = symbol_source_memory(loan_source(&loans[at]));
            largest = memory > largest ? memory : largest;
            images_return(all, &loans[at]);
            give_back(&m, of[at], memory, bytes);
            count--;
            loans[at] = loans[count];
            of[at] = of[count];
        } else {
            image_key key;
            image_status status;
            memset(&key, 0, sizeof key);
            memset(&status, 0, sizeof status);
            of[count] = next_below(&seed, IMAGES);
            key.uuid = uuids[of[count]];
            key.has_uuid = true;
            CHECK(images_borrow(all, &key, &loans[count], &status));
            CHECK_EQ(status.found, IMAGE_FOUND);
            use(&m, of[count++], most);
        }
        check_counts(all, &m);
        CHECK(images_count(all).bytes <= bytes);
    }
    CHECK(bytes < (uint64_t)1 << 40 ? m.want.forgotten > 20 : m.want.forgotten == 0);
    CHECK(m.want.closed > 20 || most == IMAGES);
    while (count > 0)
        images_return(all, &loans[--count]);
    images_close(all);
    test_end("images");
    return largest;
}

int main(void)
{
    store_options how;
    machsym_uuid uuids[IMAGES];
    memset(&how, 0, sizeof how);
    store *s = store_open(&how);
    for (unsigned i = 0; i < IMAGES; i++) {
        uuids[i] = uuid_of(files[i]);
        CHECK(store_add(s, files[i], false));
    }
    store_finish(s);
    for (unsigned most = 1; most <= IMAGES; most++) {
        test_order(s, uuids, most, 1);
        uint64_t seat = test_order(s, uuids, most, (uint64_t)1 << 40);
        test_order(s, uuids, most, 2 * seat + 1);
    }
    store_close(s);
    return test_done();
}
