/* Reads a trace of tests/unwind/steps.py, and asks machsym for the caller at each of its steps. The file that includes
 * this has machsym. */
#ifndef MACHSYM_TRACE_H
#define MACHSYM_TRACE_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRACE_RANGES = 2, TRACE_REGISTERS = 33, TRACE_HOWS = 8, TRACE_BETWEEN = 8 };

typedef struct trace_part {
    uint64_t addr;
    uint64_t len;
    uint8_t *v;
} trace_part;

typedef struct trace {
    uint8_t *bytes;
    size_t at, len;
    machsym_unwind_desc desc;
    machsym_unwind_image image;
    trace_part parts[TRACE_RANGES + 1]; /* the image, and the stack */
    uint64_t v[TRACE_REGISTERS];        /* of the frame; each step has those that changed */
    uint64_t want[TRACE_REGISTERS];     /* of its caller, or of one above */
    uint64_t between[TRACE_BETWEEN];    /* pcs of the frames before that one */
    uint64_t between_count;
    unsigned pc, sp;
    unsigned long reads;
    unsigned long fails_at; /* this read fails, and all after it; 0: none */
    unsigned long steps, wrong, how[TRACE_HOWS];
} trace;

static bool trace_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
    trace *t = (trace *)ctx;
    t->reads++;
    if (t->fails_at != 0 && t->reads >= t->fails_at)
        return false;
    for (size_t i = 0; i < TRACE_RANGES + 1; i++) {
        const trace_part *part = &t->parts[i];
        if (addr >= part->addr && addr - part->addr <= part->len && len <= part->len - (addr - part->addr)) {
            memcpy(buf, part->v + (addr - part->addr), len);
            return true;
        }
    }
    return false;
}

static uint64_t trace_number(trace *t, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)(t->at < t->len ? t->bytes[t->at++] : 0) << 8 * i;
    return value;
}

static bool trace_part_read(trace *t, size_t i, uint64_t addr, uint64_t len)
{
    trace_part *part = &t->parts[i];
    part->addr = addr;
    part->len = len;
    part->v = (uint8_t *)realloc(part->v, (size_t)len + 1);
    if (part->v == NULL || len > t->len - t->at)
        return false;
    memcpy(part->v, t->bytes + t->at, (size_t)len);
    t->at += (size_t)len;
    return true;
}

/* A trace is a zlib stream after its size in 4 bytes. */
static bool trace_inflate(trace *t, const char *path)
{
    FILE *file = fopen(path, "rb");
    long packed = file != NULL && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
    uint8_t *in = (uint8_t *)malloc((size_t)packed + 4);
    size_t used, len = 0;
    if (packed > 4 && in != NULL && fseek(file, 0, SEEK_SET) == 0) {
        len = fread(in, 1, (size_t)packed, file);
        t->len = in[0] | (size_t)in[1] << 8 | (size_t)in[2] << 16 | (size_t)in[3] << 24;
        t->bytes = (uint8_t *)malloc(t->len + 1);
    }
    machsym_bytes stream = {in + 4, len - 4};
    bool is_there = t->bytes != NULL && machsym_inflate(MACHSYM_DEFLATE_ZLIB, stream, t->bytes, t->len, &t->len, &used,
                                                        NULL) == MACHSYM_OK;
    free(in);
    if (file != NULL)
        fclose(file);
    return is_there;
}

static bool trace_open(trace *t, const char *path)
{
    memset(t, 0, sizeof *t);
    if (!trace_inflate(t, path))
        return false;
    t->desc.read = trace_read;
    t->desc.ctx = t;
    t->desc.images = &t->image;
    t->desc.image_count = 1;
    t->desc.cputype = (uint32_t)trace_number(t, 4);
    t->image.load_addr = trace_number(t, 8);
    t->image.size = trace_number(t, 8);
    t->image.unwind_info.addr = trace_number(t, 8);
    t->image.unwind_info.size = trace_number(t, 8);
    t->image.eh_frame.addr = trace_number(t, 8);
    t->image.eh_frame.size = trace_number(t, 8);
    bool is_arm64 = t->desc.cputype == 0x100000c;
    t->pc = is_arm64 ? 32 : 16;
    t->sp = is_arm64 ? 31 : 7;
    return trace_part_read(t, 0, t->image.load_addr, t->image.size);
}

static void trace_close(trace *t)
{
    for (size_t i = 0; i < TRACE_RANGES + 1; i++)
        free(t->parts[i].v);
    free(t->bytes);
}

static void trace_registers(trace *t, uint64_t *v)
{
    uint64_t changed = trace_number(t, 8);
    for (unsigned i = 0; i < TRACE_REGISTERS; i++)
        if ((changed >> i & 1) != 0)
            v[i] = trace_number(t, 8);
}

/* Reads a step. Returns: false at the end. */
static bool trace_next(trace *t, machsym_unwind_state *s)
{
    if (t->at == t->len)
        return false;
    trace_registers(t, t->v);
    trace_registers(t, t->want);
    memset(s, 0, sizeof *s);
    memcpy(s->v, t->v, sizeof s->v);
    s->known = UINT64_MAX;
    t->between_count = trace_number(t, 1);
    if (t->between_count > TRACE_BETWEEN)
        return false;
    for (uint64_t i = 0; i < t->between_count; i++)
        t->between[i] = trace_number(t, 8);
    uint64_t ranges = trace_number(t, 1);
    for (unsigned i = 0; i < TRACE_RANGES; i++) {
        uint64_t addr = i < ranges ? trace_number(t, 8) : 0;
        if (!trace_part_read(t, i + 1, addr, i < ranges ? trace_number(t, 4) : 0))
            return false;
    }
    t->steps++;
    return true;
}

/* Returns: the registers that are not those of the caller, one bit each; all: there is no caller. */
static uint64_t trace_wrong(const trace *t, const machsym_unwind_state *s)
{
    const uint64_t kept = t->pc == 32 ? UINT64_C(0x1bff80000) : UINT64_C(0x1f0c8);
    uint64_t wrong = s->end == MACHSYM_UNWIND_GOES_ON ? 0 : kept;
    for (unsigned i = 0; i < TRACE_REGISTERS; i++)
        if ((kept >> i & 1) != 0 && ((s->known >> i & 1) == 0 || s->v[i] != t->want[i]))
            wrong |= (uint64_t)1 << i;
    return wrong;
}

/* Steps up to the frame that the trace tells. Returns: whether all frames before it are the trace's. */
static bool trace_up(trace *t, machsym_unwind_state *s)
{
    bool right = true;
    for (uint64_t i = 0; i < t->between_count; i++)
        right = machsym_unwind_next(&t->desc, s) && s->v[t->pc] == t->between[i] && right;
    machsym_unwind_next(&t->desc, s);
    return right;
}

/* Goes through a trace; prints up to most steps that are wrong. Returns: false where it cannot be read. */
static bool trace_run(trace *t, const char *path, unsigned long most)
{
    machsym_unwind_state s;
    if (!trace_open(t, path))
        return false;
    while (trace_next(t, &s)) {
        uint64_t at = s.v[t->pc];
        uint64_t wrong = trace_up(t, &s) ? 0 : UINT64_C(1) << t->pc;
        wrong |= trace_wrong(t, &s);
        t->how[(unsigned)s.how % TRACE_HOWS]++;
        if (wrong != 0 && t->wrong++ < most)
            printf("%#" PRIx64 ": end %d, how %d; sp %+" PRId64 ", pc %#" PRIx64 ", not %#" PRIx64 "; registers %#" PRIx64 "\n",
                   at, (int)s.end, (int)s.how, (int64_t)(s.v[t->sp] - t->want[t->sp]), s.v[t->pc], t->want[t->pc], wrong);
    }
    return true;
}

#endif
