/* How long the callers of 64 threads of 40 frames take, by eh_frame out of the process's memory, as in an extension.
 *     unwind CORE OUT: CORE is tests/stacks/arm64.core, whose frames are made 40; OUT gets a core file of the 64 threads */
#define main corpse_main
#include "../examples/corpse.c"
#undef main

#include <sys/resource.h>
#include <time.h>

enum { THREADS = 64, FRAMES = 40, ROUNDS = 50, SP = 31 };

static double now(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Returns the frames of a stack; sp of each. */
static unsigned walk(const corpse *c, machsym_unwind_state state, uint64_t *sp)
{
    machsym_unwind_desc desc = {c->read, c->ctx, c->images, c->image_count, c->cputype};
    unsigned count = 0;
    do
        sp[count++] = state.v[SP];
    while (count < MAX_DEPTH && machsym_unwind_next(&desc, &state));
    return count;
}

/* The segment with the stack. */
static uint8_t *stack_segment(uint64_t sp)
{
    size_t len;
    const uint8_t *p;
    for (uint64_t i = 0; (p = core_command(i, &len)) != NULL; i++) {
        if (get(p, 4) == 0x19 && sp >= get(p + 24, 8) && sp - get(p + 24, 8) < get(p + 48, 8))
            return core + (p - core);
    }
    return NULL;
}

static void put(uint8_t *p, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}

/* A pointer into what is moved moves along. */
static void move(uint8_t *word, uint64_t base, uint64_t size, uint64_t by)
{
    if (get(word, 8) - base < size)
        put(word, get(word, 8) - by, 8);
}

/* Repeats the frame of a recursive function, so that the stack has 40 frames. The stack is moved to the end of the file. */
static bool lengthen(const uint64_t *sp, unsigned count, uint8_t *registers)
{
    unsigned again = FRAMES - count, at = count - 3;
    uint64_t frame = sp[at + 1] - sp[at];
    uint8_t *segment = stack_segment(sp[0]);
    if (segment == NULL || count < 4 || count > FRAMES ||
        core_len + (again + 1) * frame + (1 << 20) > sizeof core)
        return false;
    uint64_t base = get(segment + 24, 8), len = get(segment + 48, 8), head = sp[at + 1] - base;
    const uint8_t *from = core + get(segment + 40, 8);
    uint8_t *to = core + core_len;
    put(segment + 24, base - again * frame, 8);
    put(segment + 32, len + again * frame, 8);
    put(segment + 40, core_len, 8);
    put(segment + 48, len + again * frame, 8);
    memcpy(to, from, head);
    for (unsigned i = 0; i < again; i++)
        memcpy(to + head + i * frame, from + head - frame, frame);
    memcpy(to + head + again * frame, from + head, len - head);
    for (uint64_t i = 0; i + 8 <= head; i += 8)
        move(to + i, base, head, again * frame);
    for (uint64_t i = 0; i < 33; i++)
        move(registers + 8 * i, base, head, again * frame);
    core_len += len + again * frame;
    return true;
}

/* Writes a core file with the thread 64 times. */
static bool write_core(const char *path, const uint8_t *thread, size_t thread_len)
{
    static const uint8_t zeros[8];
    size_t shift = (THREADS - 1) * thread_len, len, more = 0;
    const uint8_t *p;
    uint8_t header[32], command[72];
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return false;
    memcpy(header, core, sizeof header);
    put(header + 16, get(core + 16, 4) + THREADS - 1, 4);
    put(header + 20, get(core + 20, 4) + shift, 4);
    fwrite(header, 1, sizeof header, file);
    for (uint64_t i = 0; (p = core_command(i, &len)) != NULL; i++) {
        for (unsigned k = 0; k < (p == thread ? THREADS : 1); k++) {
            memcpy(command, p, len < sizeof command ? len : sizeof command);
            if (get(p, 4) == 0x19)
                put(command + 40, get(p + 40, 8) + shift, 8);
            if (get(p, 4) == 0x31)
                put(command + 24, get(p + 24, 8) + shift, 8);
            fwrite(get(p, 4) == 4 ? p : command, 1, len, file);
        }
        more += len;
        uint64_t note = get(p + 24, 8);
        if (get(p, 4) != 0x31 || memcmp(p + 8, "all image infos", 16) != 0)
            continue;
        for (uint64_t k = 0; k < get(core + note + 4, 4); k++)
            put(core + get(core + note + 8, 8) + 48 * k,
                get(core + get(core + note + 8, 8) + 48 * k, 8) + shift, 8);
        put(core + note + 8, get(core + note + 8, 8) + shift, 8);
    }
    fwrite(core + 32 + more, 1, core_len - 32 - more, file);
    fwrite(zeros, 1, sizeof zeros, file);
    return fclose(file) == 0;
}

int main(int argc, char **argv)
{
    static corpse c;
    static uint64_t sp[MAX_DEPTH];
    const uint8_t *p, *thread = NULL;
    size_t len, thread_len = 0;
    FILE *file = argc > 2 ? fopen(argv[1], "rb") : NULL;
    machsym_unwind_state state;
    struct rusage before, after;
    if (file == NULL)
        return 2;
    core_len = fread(core, 1, sizeof core, file);
    fclose(file);
    list_segments();
    c.read = read_core;
    c.cputype = CPU_ARM64;
    for (uint64_t i = 0; (p = core_command(i, &len)) != NULL; i++) {
        if (get(p, 4) == 0x31)
            add_core_images(&c, p);
        if (get(p, 4) == 4 && take_registers(c.cputype, p + 16, len - 16, &state)) {
            thread = p;
            thread_len = len;
        }
    }
    unsigned count = thread != NULL ? walk(&c, state, sp) : 0;
    if (count < 4 || !lengthen(sp, count, core + (thread - core) + 16))
        return 1;
    list_segments();
    if (!take_registers(c.cputype, thread + 16, thread_len - 16, &state))
        return 1;
    getrusage(RUSAGE_SELF, &before);
    if (walk(&c, state, sp) != FRAMES)
        return 1;
    double from = now();
    for (unsigned i = 0; i < ROUNDS * THREADS; i++) {
        if (walk(&c, state, sp) != FRAMES)
            return 1;
    }
    double took = (now() - from) / ROUNDS;
    getrusage(RUSAGE_SELF, &after);
    printf("64 threads of 40 frames: %.2f ms of CPU, %.2f microseconds a frame, %ld KB of memory more\n",
           took * 1000, took * 1e6 / (THREADS * FRAMES), after.ru_maxrss - before.ru_maxrss);
    return write_core(argv[2], thread, thread_len) ? 0 : 1;
}
