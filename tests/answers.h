/* Answers as hashes, and the addresses that are asked for: what damage changes is seen by them. */
#ifndef MACHSYM_ANSWERS_H
#define MACHSYM_ANSWERS_H

#include "test.h"

enum { PROBES = 400, FRAMES = 16 };

/* One address's answer, as hashes of its parts. */
typedef struct answer {
    uint64_t shape;
    uint64_t names;
    uint64_t lines;
    size_t unit;   /* that gave it; SIZE_MAX: none */
    bool is_dwarf; /* some of it comes from debug info */
    bool has_die;  /* its function does */
} answer;

static inline void hash_bytes(uint64_t *h, const void *ptr, size_t len)
{
    const uint8_t *p = (const uint8_t *)ptr;
    for (size_t i = 0; i < len; i++)
        *h = (*h ^ p[i]) * 0x100000001b3u;
    *h = (*h ^ len) * 0x100000001b3u;
}

static inline void hash_number(uint64_t *h, uint64_t number)
{
    hash_bytes(h, &number, sizeof number);
}

static inline answer answer_at(machsym_session *session, uint64_t addr)
{
    machsym_frame v[FRAMES];
    answer a = {1, 1, 1, SIZE_MAX, false, false};
    size_t count = machsym_session_frames_at_addr(session, addr, v, FRAMES);
    hash_number(&a.shape, count);
    for (size_t i = 0; i < count && i < FRAMES; i++) {
        hash_number(&a.shape, v[i].function_start);
        hash_number(&a.shape, v[i].function_size);
        hash_number(&a.shape, v[i].is_inline);
        hash_bytes(&a.names, v[i].linkage_name.ptr, v[i].linkage_name.len);
        hash_bytes(&a.names, v[i].name.ptr, v[i].name.len);
        hash_bytes(&a.lines, v[i].file.comp_dir.ptr, v[i].file.comp_dir.len);
        hash_bytes(&a.lines, v[i].file.dir.ptr, v[i].file.dir.len);
        hash_bytes(&a.lines, v[i].file.name.ptr, v[i].file.name.len);
        hash_number(&a.lines, v[i].line);
        hash_number(&a.lines, v[i].column);
        a.has_die |= v[i].die_offset != 0;
        a.is_dwarf |= v[i].die_offset != 0 || v[i].line_source == MACHSYM_SOURCE_DWARF;
    }
    return a;
}

/* Addresses, each once. */
typedef struct probes {
    uint64_t v[PROBES];
    size_t count;
    size_t seen;   /* candidates so far */
    size_t stride; /* every stride-th one is taken */
} probes;

/* Adds an address, unless there are enough. */
static inline void probes_add(probes *list, uint64_t addr)
{
    if (list->seen++ % list->stride != 0)
        return;
    for (size_t i = 0; i < list->count; i++) {
        if (list->v[i] == addr)
            return;
    }
    if (list->count < PROBES)
        list->v[list->count++] = addr;
}

/* Adds where functions begin and end, what symbols name, and rows of lines. */
static inline void probes_add_all(probes *list, machsym_session *session)
{
    machsym_cursor at = {0, 0};
    machsym_function function;
    machsym_line line;
    machsym_symbol symbol;
    size_t rows = 0;
    while (machsym_session_next_function(session, &at, &function)) {
        probes_add(list, function.lo);
        probes_add(list, function.hi - 1);
        probes_add(list, function.hi);
    }
    memset(&at, 0, sizeof at);
    while (machsym_session_next_symbol(session, &at, &symbol))
        probes_add(list, symbol.lo + 1);
    memset(&at, 0, sizeof at);
    while (machsym_session_next_line(session, &at, &line)) {
        if (rows++ % 3 == 0)
            probes_add(list, line.addr);
    }
}

/* Chooses addresses all over the file. */
static inline void probes_choose(probes *list, machsym_session *session)
{
    memset(list, 0, sizeof *list);
    list->stride = 1;
    probes_add_all(list, session);
    size_t stride = list->seen / PROBES + 1;
    if (stride == 1)
        return;
    memset(list, 0, sizeof *list);
    list->stride = stride;
    probes_add_all(list, session);
}

#endif /* MACHSYM_ANSWERS_H */
