#ifndef ms_ROOM_symmap_sheets
#define ms_ROOM_symmap_sheets
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"

/* ==== >>sheets ===========================================================================================
 * Job:    gives bytes of a map to one thread, and compares each sheet of them with its checksum before.
 * Offers: ms_sh, ms_sh_sum, ms_sh_sum_at, ms_sh_open, ms_sh_at.
 * Never:  knows what the bytes say; gives bytes of a damaged sheet, or asks for such a sheet again. */

enum {
    /* Bytes of a sheet, which has a checksum of its own. A cold lookup touches five; the checksum of one
     * takes 4 microseconds. Their checksums are 0.05 % of a map. */
    ms_SH_BYTES = 16384,
    /* When a read ends so near the end of its sheet, the next sheet is read with it. A run or a block of
     * text, which begins there, most often ends within this many bytes. */
    ms_SH_AHEAD = 2048
};

/* What is known of a sheet. */
enum { ms_SH_UNKNOWN = 0, ms_SH_WHOLE, ms_SH_DAMAGED };

/* A sheet that was read. */
typedef struct ms_sh_slot {
    uint64_t sheet;
    uint64_t used; /* when it was needed last */
    uint8_t v[ms_SH_BYTES];
} ms_sh_slot;

/* A map as one thread sees it. */
typedef struct ms_sh {
    ms_span bytes; /* that are in memory: the begin of the file, up to the end of a sheet, or all of it */
    machsym_reader read; /* for what is not; its size is the file's */
    uint64_t base;       /* where the first sheet begins */
    uint64_t here;       /* how many bytes from there on are in memory */
    ms_span sums;        /* u64 for each sheet */
    ms_arena arena;
    uint8_t *states; /* by sheet */
    ms_sh_slot *slots[MACHSYM_KEPT_SHEETS];
    size_t slot_count;
    uint64_t clock;  /* counts what is needed */
    uint8_t *joined; /* the sheets that were read last, and those that bytes were needed from together */
    size_t joined_cap;
    machsym_reads *reads;
} ms_sh;

/* Four lanes of multiply and rotate over 32 bytes at a time; the tail is padded with zeros. Finds damage,
 * proves nothing against an attacker: lookups do not rely on it. */
static uint64_t ms_sh_sum(ms_span bytes)
{
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    uint64_t lane[4] = {1, 2, 3, bytes.len};
    size_t at = 0;
    for (; at + 32 <= bytes.len; at += 32) {
        for (unsigned i = 0; i < 4; i++) {
            lane[i] = (lane[i] ^ ms_rd_raw_u64(bytes.ptr + at + 8 * i)) * odd;
            lane[i] ^= lane[i] >> 29;
        }
    }
    uint8_t tail[32];
    ms_zero(tail, sizeof tail);
    if (at < bytes.len) /* of no bytes at all there is no pointer to add to */
        ms_copy(tail, bytes.ptr + at, bytes.len - at);
    uint64_t sum = 0;
    for (unsigned i = 0; i < 4; i++) {
        lane[i] = (lane[i] ^ ms_rd_raw_u64(tail + 8 * i)) * odd;
        sum = (sum ^ lane[i] ^ lane[i] >> 32) * odd;
    }
    return sum ^ sum >> 29;
}

/* The sum of a sheet of those that all is divided into. */
static uint64_t ms_sh_sum_at(ms_span all, uint64_t sheet)
{
    uint64_t left = all.len - sheet * ms_SH_BYTES;
    return ms_sh_sum(
        ms_span_sub(all, sheet * ms_SH_BYTES, left < ms_SH_BYTES ? left : (uint64_t)ms_SH_BYTES));
}

/* The first bytes of a file, and how the others are got: read.size is that of the file, and read.call is not
 * asked when all are there. Their sheets begin at base. Returns false when memory is out. */
static bool ms_sh_open(ms_sh *sh, ms_span bytes, const machsym_reader *read, uint64_t base, ms_span sums,
                       machsym_allocator allocator, machsym_reads *reads)
{
    ms_zero(sh, sizeof *sh);
    sh->bytes = bytes;
    sh->read = *read;
    sh->base = base;
    sh->here = ms_span_from(bytes, base).len;
    sh->sums = sums;
    sh->reads = reads;
    sh->arena = ms_arena_make(allocator);
    sh->states = (uint8_t *)ms_arena_zeroed(&sh->arena, sums.len / 8, 1);
    return sh->states != NULL;
}

/* Counts a sheet as lost. */
static void ms_sh_lose(ms_sh *sh, uint64_t sheet)
{
    sh->states[sheet] = ms_SH_DAMAGED;
    if (sh->reads->lost++ == 0)
        sh->reads->lost_at = sh->base + sheet * ms_SH_BYTES;
}

/* Whether bytes are those that a sheet was written with. */
static bool ms_sh_is_right(const ms_sh *sh, uint64_t sheet, ms_span bytes)
{
    return ms_sh_sum(bytes) == ms_rd_raw_u64(sh->sums.ptr + 8 * sheet);
}

/* Where a sheet ends in the file: the last one may be shorter. */
static uint64_t ms_sh_end(const ms_sh *sh, uint64_t sheet)
{
    uint64_t at = sh->base + sheet * ms_SH_BYTES;
    return sh->read.size - at < ms_SH_BYTES ? sh->read.size : at + ms_SH_BYTES;
}

/* A sheet that lies in memory; NULL when it is damaged. */
static const uint8_t *ms_sh_in_memory(ms_sh *sh, uint64_t sheet)
{
    uint64_t at = sh->base + sheet * ms_SH_BYTES;
    if (sh->states[sheet] == ms_SH_UNKNOWN) {
        sh->states[sheet] = ms_SH_WHOLE;
        if (!ms_sh_is_right(sh, sheet, ms_span_sub(sh->bytes, at, ms_sh_end(sh, sheet) - at)))
            ms_sh_lose(sh, sheet);
    }
    return sh->states[sheet] == ms_SH_WHOLE ? sh->bytes.ptr + at : NULL;
}

/* A sheet that is at hand; NULL when it is not, or is damaged. */
static const uint8_t *ms_sh_at_hand(ms_sh *sh, uint64_t sheet)
{
    if (ms_sh_end(sh, sheet) <= sh->bytes.len)
        return ms_sh_in_memory(sh, sheet);
    for (size_t i = 0; i < sh->slot_count; i++) {
        if (sh->slots[i]->sheet == sheet) {
            sh->slots[i]->used = ++sh->clock;
            return sh->slots[i]->v;
        }
    }
    return NULL;
}

/* Keeps a sheet, in place of the one that was not needed for longest once there are MACHSYM_KEPT_SHEETS. It
 * is not kept when memory is out. */
static void ms_sh_keep(ms_sh *sh, uint64_t sheet, ms_span bytes)
{
    ms_sh_slot *slot = sh->slot_count > 0 ? sh->slots[0] : NULL;
    if (sh->slot_count < MACHSYM_KEPT_SHEETS) {
        slot = (ms_sh_slot *)ms_arena_alloc(&sh->arena, 1, sizeof *slot);
        if (slot == NULL)
            return;
        sh->slots[sh->slot_count++] = slot;
    } else {
        for (size_t i = 1; i < sh->slot_count; i++)
            slot = sh->slots[i]->used < slot->used ? sh->slots[i] : slot;
    }
    slot->sheet = sheet;
    slot->used = ++sh->clock;
    ms_copy(slot->v, bytes.ptr, bytes.len);
}

/* Reads the sheets from first up to end at once. */
static void ms_sh_read(ms_sh *sh, uint64_t first, uint64_t end, uint8_t *to)
{
    uint64_t at = sh->base + first * ms_SH_BYTES;
    size_t len = (size_t)(ms_sh_end(sh, end - 1) - at);
    size_t got = sh->read.call(sh->read.user, at, to, len);
    sh->reads->count++;
    sh->reads->bytes += len;
    if (got < len)
        ms_zero(to + got, len - got); /* a sheet of zeros is damaged, unless it is one */
    for (uint64_t i = first; i < end; i++) {
        size_t from = (size_t)(i - first) * ms_SH_BYTES;
        ms_span sheet = ms_span_make(to + from, len - from < ms_SH_BYTES ? len - from : (size_t)ms_SH_BYTES);
        if (ms_sh_is_right(sh, i, sheet))
            ms_sh_keep(sh, i, sheet);
        else
            ms_sh_lose(sh, i);
    }
}

/* Whether a sheet has to be read. */
static bool ms_sh_is_missing(ms_sh *sh, uint64_t sheet)
{
    return ms_sh_at_hand(sh, sheet) == NULL && sh->states[sheet] != ms_SH_DAMAGED;
}

/* Room for a number of sheets one after the other. */
static uint8_t *ms_sh_room(ms_sh *sh, uint64_t sheets)
{
    if (sheets > SIZE_MAX / 4 / ms_SH_BYTES)
        return NULL;
    size_t need = (size_t)sheets * ms_SH_BYTES;
    if (need > sh->joined_cap) {
        size_t cap = need > 2 * sh->joined_cap ? need : 2 * sh->joined_cap;
        sh->joined_cap = 0;
        sh->joined = (uint8_t *)ms_arena_alloc(&sh->arena, cap, 1);
        sh->joined_cap = sh->joined != NULL ? cap : 0;
    }
    return sh->joined;
}

/* Puts sheets one after the other, and reads those that are missing, neighbours at once. ahead: the sheet
 * after the last is wanted soon. Returns NULL when one of them is damaged or memory is out. */
static const uint8_t *ms_sh_join(ms_sh *sh, uint64_t first, uint64_t last, bool ahead)
{
    uint64_t most = last + (ahead && last + 1 < sh->sums.len / 8 ? 2 : 1);
    uint8_t *room = ms_sh_room(sh, most - first);
    if (room == NULL)
        return NULL;
    for (uint64_t i = first, end; i <= last; i = end) {
        uint8_t *to = room + (size_t)(i - first) * ms_SH_BYTES;
        for (end = i; end < most && ms_sh_is_missing(sh, end);)
            end++;
        if (end > i) {
            ms_sh_read(sh, i, end, to);
            continue;
        }
        const uint8_t *from = ms_sh_at_hand(sh, i);
        if (from == NULL)
            return NULL;
        ms_copy(to, from, (size_t)(ms_sh_end(sh, i) - (sh->base + i * ms_SH_BYTES)));
        end = i + 1;
    }
    for (uint64_t i = first; i <= last; i++) {
        if (sh->states[i] == ms_SH_DAMAGED)
            return NULL;
    }
    return room;
}

/* Bytes of the file for which more has to be done than ms_sh_at does. */
static ms_NOINLINE const uint8_t *ms_sh_bring(ms_sh *sh, uint64_t at, uint64_t len)
{
    if (at < sh->base || len == 0 || at > sh->read.size || len > sh->read.size - at)
        return NULL;
    uint64_t first = (at - sh->base) / ms_SH_BYTES;
    uint64_t last = (at + len - 1 - sh->base) / ms_SH_BYTES;
    size_t from = (size_t)((at - sh->base) % ms_SH_BYTES);
    if (last >= sh->sums.len / 8)
        return NULL;
    if (at + len <= sh->bytes.len) {
        for (uint64_t i = first; i <= last; i++) {
            if (ms_sh_in_memory(sh, i) == NULL)
                return NULL;
        }
        return sh->bytes.ptr + at;
    }
    const uint8_t *sheet = first == last ? ms_sh_at_hand(sh, first) : NULL;
    if (sheet != NULL)
        return sheet + from;
    bool ahead = (at + len - sh->base) % ms_SH_BYTES > ms_SH_BYTES - ms_SH_AHEAD;
    sheet = ms_sh_join(sh, first, last, ahead);
    return sheet != NULL ? sheet + from : NULL;
}

/* Bytes of the file, until the next call. NULL when some of them are damaged, cannot be read, or do not lie
 * in the sheets, or when memory is out. Most often they lie in one sheet, in memory, that was compared. */
static inline const uint8_t *ms_sh_at(ms_sh *sh, uint64_t at, uint64_t len)
{
    uint64_t from = at - sh->base; /* of bytes before the sheets, more than any file has */
    uint64_t sheet = from / ms_SH_BYTES;
    if (!ms_SMALL_CODE && from < sh->here && len - 1 < sh->here - from && /* false also of no bytes */
        (from + len - 1) / ms_SH_BYTES == sheet && sh->states[sheet] == ms_SH_WHOLE)
        return sh->bytes.ptr + at;
    return ms_sh_bring(sh, at, len);
}

#endif /* ms_ROOM_symmap_sheets */
