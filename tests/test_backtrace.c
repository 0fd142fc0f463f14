/* The example that names its own stack: its walk does not trust the stack, and its names are the file's. */
#include "test.h"

#define MACHSYM_IMPLEMENTED /* it is linked */
#define main                backtrace_main
int backtrace_main(int argc, char **argv);
#include "../examples/backtrace.c"
#undef main

enum { SLOTS = 64 };

/* Frames in a stack of SLOTS words; links[i] is the slot that the frame in slot i leads to. */
static size_t walk_slots(const uintptr_t *stack, size_t from, uintptr_t *pcs, size_t cap)
{
    stack_bounds bounds = {(uintptr_t)stack, (uintptr_t)(stack + SLOTS)};
    return walk(&bounds, (uintptr_t)(stack + from), pcs, cap);
}

static void test_walk(void)
{
    uintptr_t stack[SLOTS + 2]; /* two more, which are outside */
    uintptr_t pcs[SLOTS];
    memset(stack, 0, sizeof stack);
    for (size_t i = 0; i < SLOTS; i += 4) {
        stack[i] = (uintptr_t)(stack + i + 4);
        stack[i + 1] = 1000 + i;
    }
    CHECK_EQ(walk_slots(stack, 0, pcs, SLOTS), SLOTS / 4); /* the last one leads out of the stack */
    CHECK_EQ(pcs[0], 1000);
    CHECK_EQ(pcs[SLOTS / 4 - 1], 1000 + SLOTS - 4);
    CHECK_EQ(walk_slots(stack, 0, pcs, 3), 3);
    CHECK_EQ(walk_slots(stack, SLOTS - 1, pcs, SLOTS), 0); /* half a frame */
    CHECK_EQ(walk_slots(stack, SLOTS, pcs, SLOTS), 0);

    stack_bounds bounds = {(uintptr_t)stack, (uintptr_t)(stack + SLOTS)};
    CHECK_EQ(walk(&bounds, (uintptr_t)stack + 1, pcs, SLOTS), 0); /* not aligned */
    CHECK_EQ(walk(&bounds, (uintptr_t)stack - sizeof(uintptr_t), pcs, SLOTS), 0);
    CHECK_EQ(walk(&bounds, 0, pcs, SLOTS), 0);
    CHECK_EQ(walk(&bounds, UINTPTR_MAX - 7, pcs, SLOTS), 0);

    stack[8] = (uintptr_t)(stack + 8); /* to itself */
    CHECK_EQ(walk_slots(stack, 0, pcs, SLOTS), 3);
    stack[8] = (uintptr_t)stack; /* back */
    CHECK_EQ(walk_slots(stack, 0, pcs, SLOTS), 3);
    stack[8] = (uintptr_t)(stack + 12) + 4; /* not aligned */
    CHECK_EQ(walk_slots(stack, 0, pcs, SLOTS), 3);
    stack[8] = UINTPTR_MAX;
    CHECK_EQ(walk_slots(stack, 0, pcs, SLOTS), 3);
    stack[8] = (uintptr_t)(stack + 12);
    stack[13] = 0; /* nowhere to return to */
    CHECK_EQ(walk_slots(stack, 0, pcs, SLOTS), 3);
}

/* The images of a process, in any order of loading. */
static void test_images(void)
{
    static const char *const paths[] = {"tests/fixtures/bin/frames-x86_64",
                                        "tests/fixtures/bin/stubs-arm64-small",
                                        "tests/fixtures/bin/exports-arm64-chained-strip.dylib"};
    uint8_t *memory[3];
    for (size_t i = 0; i < 3; i++) {
        size_t len = 0;
        uint8_t *file = read_file(paths[i], &len);
        size_t size = lay_out(file, len, NULL);
        CHECK(size > len / 2);
        memory[i] = (uint8_t *)calloc(1, size);
        CHECK_EQ(lay_out(file, len, memory[i]), size);
        CHECK(add_image(memory[i], size, paths[i]));
        test_begin();
        for (size_t cut = 0; cut < len; cut += 101)
            CHECK(lay_out(file, cut, NULL) <= size);
        test_end(paths[i]);
        free(file);
    }
    CHECK_EQ(image_count, 3);
    for (size_t i = 1; i < 3; i++)
        CHECK(loaded[i].lo > loaded[i - 1].lo);
    for (size_t i = 0; i < 3; i++) {
        const machsym_loaded *in =
            machsym_loaded_from_pc(loaded, image_count, (uint64_t)(uintptr_t)memory[i] + 0x10);
        CHECK(in != NULL && in->user == &images[i]);
        CHECK(strcmp(images[i].name, strrchr(paths[i], '/') + 1) == 0);
    }
    close_images();
    for (size_t i = 0; i < 3; i++)
        free(memory[i]);
}

int main(void)
{
    test_walk();
    test_images();
    return test_done();
}
