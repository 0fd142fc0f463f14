#ifndef ms_ROOM_unwind_path
#define ms_ROOM_unwind_path
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "registers.h"

/* ==== >>unwind-path ========================================================================================
 * Job:    the registers and stores of a frame that goes on in thought, a few instructions at a time.
 * Offers: ms_unp_path, ms_unp_kind, ms_unp_store, ms_unp_load.
 * Never:  writes to the process. */

#ifndef MACHSYM_NO_UNWIND

/* What an instruction does. */
typedef enum ms_unp_kind {
    ms_UNP_GOES_ON,  /* to the next instruction */
    ms_UNP_RETURNS,  /* the state is the caller's */
    ms_UNP_CALLS,    /* to come back to the next instruction */
    ms_UNP_JUMPS,    /* to the target */
    ms_UNP_BRANCHES, /* to the target, or to the next instruction */
    ms_UNP_LEAVES,   /* to where a register says: a tail call, or a case of a switch */
    ms_UNP_FAILS     /* a trap, or nothing that can be followed */
} ms_unp_kind;

enum { ms_UNP_STORES = 32 }; /* a prologue of arm64 saves 12 registers, one of x86_64 saves 6 */

/* A saved register. */
typedef struct ms_unp_saved {
    uint64_t addr;
    uint64_t value;
    bool known;
} ms_unp_saved;

/* A frame some instructions after it stopped. */
typedef struct ms_unp_path {
    const machsym_unwind_desc *desc;
    machsym_unwind_state s;
    uint64_t pc;
    ms_unp_saved stores[ms_UNP_STORES];
    unsigned store_count;
    bool makes_frame; /* the path set the frame pointer */
    bool undoes;      /* the path took a frame down, in part or whole, and made no other since */
    bool has_lr;      /* the path read the return address out of the stack */
} ms_unp_path;

/* Whether a store of the path is in some bytes. */
static bool ms_unp_is_stored(const ms_unp_path *path, uint64_t addr, size_t len)
{
    for (unsigned i = 0; i < path->store_count; i++) {
        uint64_t at = path->stores[i].addr;
        if (at - addr < len || addr - at < 8)
            return true;
    }
    return false;
}

/* Reads the process with the stores of the path. Several words that have a store fail: they are read one by
 * one then. ctx: the path. */
static bool ms_unp_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
    const ms_unp_path *path = (const ms_unp_path *)ctx;
    uint8_t *out = (uint8_t *)buf;
    if (len > 8 && ms_unp_is_stored(path, addr, len))
        return false;
    bool whole = path->desc->read(path->desc->ctx, addr, buf, len);
    for (unsigned i = 0; i < path->store_count; i++) {
        const ms_unp_saved *saved = &path->stores[i];
        if (addr == saved->addr && len == 8) { /* the stack may not have been that deep before */
            for (unsigned k = 0; k < 8; k++)
                out[k] = (uint8_t)(saved->value >> 8 * k);
            whole = saved->known;
        }
    }
    return whole;
}

/* Returns: false if the path saves more registers than functions do. */
static bool ms_unp_store(ms_unp_path *path, uint64_t addr, unsigned number)
{
    unsigned at = 0;
    while (at < path->store_count && path->stores[at].addr != addr)
        at++;
    if (at == ms_UNP_STORES)
        return false;
    path->store_count += at == path->store_count;
    path->stores[at].addr = addr;
    path->stores[at].known = number < 33 && ms_unr_knows(&path->s, number);
    path->stores[at].value = path->stores[at].known ? path->s.v[number] : 0;
    return true;
}

static void ms_unp_forget(ms_unp_path *path, unsigned number)
{
    path->s.known &= ~((uint64_t)1 << number);
}

static ms_NOINLINE void ms_unp_load(ms_unp_path *path, unsigned number, uint64_t addr)
{
    uint8_t raw[8];
    if (ms_unp_read(path, addr, raw, 8))
        ms_unr_set(&path->s, number, ms_rd_raw_u64(raw));
    else
        ms_unp_forget(path, number);
}

/* Sets a register to another one plus an offset, which is unknown if that one is. */
static ms_NOINLINE void ms_unp_set(ms_unp_path *path, unsigned number, unsigned from, uint64_t off)
{
    if (ms_unr_knows(&path->s, from))
        ms_unr_set(&path->s, number, path->s.v[from] + off);
    else
        ms_unp_forget(path, number);
}

#endif /* MACHSYM_NO_UNWIND */

#endif /* ms_ROOM_unwind_path */
