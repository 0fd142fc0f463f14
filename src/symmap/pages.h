#ifndef ms_ROOM_symmap_pages
#define ms_ROOM_symmap_pages
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"

/* ==== >>pages ===========================================================================================
 * Job:    gives bytes of a map to one thread, and compares each page of them with its checksum before.
 * Offers: ms_pg, ms_pg_sum, ms_pg_sum_at, ms_pg_open, ms_pg_at.
 * Never:  knows what the bytes say; gives bytes of a damaged page, or asks for such a page again. */

enum {
    /* Bytes of a page, which has a checksum of its own. A cold lookup touches five; the checksum of one
     * takes 4 microseconds. Their checksums are 0.05 % of a map. */
    ms_PG_BYTES = 16384,
    /* When a read ends so near the end of its page, the next page is read with it. A run or a block of
     * text, which begins there, most often ends within this many bytes. */
    ms_PG_AHEAD = 2048
};

/* What is known of a page. */
enum { ms_PG_UNKNOWN = 0, ms_PG_WHOLE, ms_PG_DAMAGED };

/* A page that was read. */
typedef struct ms_pg_slot {
    uint64_t page;
    uint64_t used; /* when it was needed last */
    uint8_t v[ms_PG_BYTES];
} ms_pg_slot;

/* A map as one thread sees it. */
typedef struct ms_pg {
    ms_span bytes; /* that are in memory: the begin of the file, up to the end of a page, or all of it */
    machsym_io io; /* for what is not; its size is the file's */
    uint64_t base; /* where the first page begins */
    uint64_t here; /* how many bytes from there on are in memory */
    ms_span sums;  /* u64 for each page */
    ms_arena arena;
    uint8_t *states; /* by page */
    ms_pg_slot *slots[MACHSYM_KEPT_PAGES];
    size_t slot_count;
    uint64_t clock;  /* counts what is needed */
    uint8_t *joined; /* the pages that were read last, and those that bytes were needed from together */
    size_t joined_cap;
    machsym_io_stats *reads;
} ms_pg;

/* Four lanes of multiply and rotate over 32 bytes at a time; the tail is padded with zeros. Finds damage,
 * proves nothing against an attacker: lookups do not rely on it. */
static uint64_t ms_pg_sum(ms_span bytes)
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

/* The sum of a page of those that all is divided into. */
static uint64_t ms_pg_sum_at(ms_span all, uint64_t page)
{
    uint64_t left = all.len - page * ms_PG_BYTES;
    return ms_pg_sum(ms_span_sub(all, page * ms_PG_BYTES, left < ms_PG_BYTES ? left : (uint64_t)ms_PG_BYTES));
}

/* The first bytes of a file, and how the others are got: io.size is that of the file, and io.read is not
 * asked when all are there. Their pages begin at base. Returns false when memory is out. */
static bool ms_pg_open(ms_pg *sh, ms_span bytes, const machsym_io *io, uint64_t base, ms_span sums,
                       machsym_allocator allocator, machsym_io_stats *reads)
{
    ms_zero(sh, sizeof *sh);
    sh->bytes = bytes;
    sh->io = *io;
    sh->base = base;
    sh->here = ms_span_from(bytes, base).len;
    sh->sums = sums;
    sh->reads = reads;
    sh->arena = ms_arena_make(allocator);
    sh->states = (uint8_t *)ms_arena_zeroed(&sh->arena, sums.len / 8, 1);
    return sh->states != NULL;
}

/* Counts a page as lost. */
static void ms_pg_lose(ms_pg *sh, uint64_t page)
{
    sh->states[page] = ms_PG_DAMAGED;
    if (sh->reads->lost++ == 0)
        sh->reads->lost_at = sh->base + page * ms_PG_BYTES;
}

/* Whether bytes are those that a page was written with. */
static bool ms_pg_is_right(const ms_pg *sh, uint64_t page, ms_span bytes)
{
    return ms_pg_sum(bytes) == ms_rd_raw_u64(sh->sums.ptr + 8 * page);
}

/* Where a page ends in the file: the last one may be shorter. */
static uint64_t ms_pg_end(const ms_pg *sh, uint64_t page)
{
    uint64_t at = sh->base + page * ms_PG_BYTES;
    return sh->io.size - at < ms_PG_BYTES ? sh->io.size : at + ms_PG_BYTES;
}

/* A page that lies in memory; NULL when it is damaged. */
static const uint8_t *ms_pg_in_memory(ms_pg *sh, uint64_t page)
{
    uint64_t at = sh->base + page * ms_PG_BYTES;
    if (sh->states[page] == ms_PG_UNKNOWN) {
        sh->states[page] = ms_PG_WHOLE;
        if (!ms_pg_is_right(sh, page, ms_span_sub(sh->bytes, at, ms_pg_end(sh, page) - at)))
            ms_pg_lose(sh, page);
    }
    return sh->states[page] == ms_PG_WHOLE ? sh->bytes.ptr + at : NULL;
}

/* A page that is at hand; NULL when it is not, or is damaged. */
static const uint8_t *ms_pg_at_hand(ms_pg *sh, uint64_t page)
{
    if (ms_pg_end(sh, page) <= sh->bytes.len)
        return ms_pg_in_memory(sh, page);
    for (size_t i = 0; i < sh->slot_count; i++) {
        if (sh->slots[i]->page == page) {
            sh->slots[i]->used = ++sh->clock;
            return sh->slots[i]->v;
        }
    }
    return NULL;
}

/* Keeps a page, in place of the one that was not needed for longest once there are MACHSYM_KEPT_PAGES. It
 * is not kept when memory is out. */
static void ms_pg_keep(ms_pg *sh, uint64_t page, ms_span bytes)
{
    ms_pg_slot *slot = sh->slot_count > 0 ? sh->slots[0] : NULL;
    if (sh->slot_count < MACHSYM_KEPT_PAGES) {
        slot = (ms_pg_slot *)ms_arena_alloc(&sh->arena, 1, sizeof *slot);
        if (slot == NULL)
            return;
        sh->slots[sh->slot_count++] = slot;
    } else {
        for (size_t i = 1; i < sh->slot_count; i++)
            slot = sh->slots[i]->used < slot->used ? sh->slots[i] : slot;
    }
    slot->page = page;
    slot->used = ++sh->clock;
    ms_copy(slot->v, bytes.ptr, bytes.len);
}

/* Reads the pages from first up to end at once. */
static void ms_pg_read(ms_pg *sh, uint64_t first, uint64_t end, uint8_t *to)
{
    uint64_t at = sh->base + first * ms_PG_BYTES;
    size_t len = (size_t)(ms_pg_end(sh, end - 1) - at);
    size_t got = sh->io.read(sh->io.user, at, to, len);
    sh->reads->count++;
    sh->reads->bytes += len;
    if (got < len)
        ms_zero(to + got, len - got); /* a page of zeros is damaged, unless it is one */
    for (uint64_t i = first; i < end; i++) {
        size_t from = (size_t)(i - first) * ms_PG_BYTES;
        ms_span page = ms_span_make(to + from, len - from < ms_PG_BYTES ? len - from : (size_t)ms_PG_BYTES);
        if (ms_pg_is_right(sh, i, page))
            ms_pg_keep(sh, i, page);
        else
            ms_pg_lose(sh, i);
    }
}

/* Whether a page has to be read. */
static bool ms_pg_is_missing(ms_pg *sh, uint64_t page)
{
    return ms_pg_at_hand(sh, page) == NULL && sh->states[page] != ms_PG_DAMAGED;
}

/* Room for a number of pages one after the other. */
static uint8_t *ms_pg_room(ms_pg *sh, uint64_t pages)
{
    if (pages > SIZE_MAX / 4 / ms_PG_BYTES)
        return NULL;
    size_t need = (size_t)pages * ms_PG_BYTES;
    if (need > sh->joined_cap) {
        size_t cap = need > 2 * sh->joined_cap ? need : 2 * sh->joined_cap;
        sh->joined_cap = 0;
        sh->joined = (uint8_t *)ms_arena_alloc(&sh->arena, cap, 1);
        sh->joined_cap = sh->joined != NULL ? cap : 0;
    }
    return sh->joined;
}

/* Puts pages one after the other, and reads those that are missing, neighbours at once. ahead: the page
 * after the last is wanted soon. Returns NULL when one of them is damaged or memory is out. */
static const uint8_t *ms_pg_join(ms_pg *sh, uint64_t first, uint64_t last, bool ahead)
{
    uint64_t most = last + (ahead && last + 1 < sh->sums.len / 8 ? 2 : 1);
    uint8_t *room = ms_pg_room(sh, most - first);
    if (room == NULL)
        return NULL;
    for (uint64_t i = first, end; i <= last; i = end) {
        uint8_t *to = room + (size_t)(i - first) * ms_PG_BYTES;
        for (end = i; end < most && ms_pg_is_missing(sh, end);)
            end++;
        if (end > i) {
            ms_pg_read(sh, i, end, to);
            continue;
        }
        const uint8_t *from = ms_pg_at_hand(sh, i);
        if (from == NULL)
            return NULL;
        ms_copy(to, from, (size_t)(ms_pg_end(sh, i) - (sh->base + i * ms_PG_BYTES)));
        end = i + 1;
    }
    for (uint64_t i = first; i <= last; i++) {
        if (sh->states[i] == ms_PG_DAMAGED)
            return NULL;
    }
    return room;
}

/* Bytes of the file for which more has to be done than ms_pg_at does. */
static ms_NOINLINE const uint8_t *ms_pg_bring(ms_pg *sh, uint64_t at, uint64_t len)
{
    if (at < sh->base || len == 0 || at > sh->io.size || len > sh->io.size - at)
        return NULL;
    uint64_t first = (at - sh->base) / ms_PG_BYTES;
    uint64_t last = (at + len - 1 - sh->base) / ms_PG_BYTES;
    size_t from = (size_t)((at - sh->base) % ms_PG_BYTES);
    if (last >= sh->sums.len / 8)
        return NULL;
    if (at + len <= sh->bytes.len) {
        for (uint64_t i = first; i <= last; i++) {
            if (ms_pg_in_memory(sh, i) == NULL)
                return NULL;
        }
        return sh->bytes.ptr + at;
    }
    const uint8_t *page = first == last ? ms_pg_at_hand(sh, first) : NULL;
    if (page != NULL)
        return page + from;
    bool ahead = (at + len - sh->base) % ms_PG_BYTES > ms_PG_BYTES - ms_PG_AHEAD;
    page = ms_pg_join(sh, first, last, ahead);
    return page != NULL ? page + from : NULL;
}

/* Bytes of the file, until the next call. NULL when some of them are damaged, cannot be read, or do not lie
 * in the pages, or when memory is out. Most often they lie in one page, in memory, that was compared. */
static inline const uint8_t *ms_pg_at(ms_pg *sh, uint64_t at, uint64_t len)
{
    uint64_t from = at - sh->base; /* of bytes before the pages, more than any file has */
    uint64_t page = from / ms_PG_BYTES;
    if (!ms_SMALL_CODE && from < sh->here && len - 1 < sh->here - from && /* false also of no bytes */
        (from + len - 1) / ms_PG_BYTES == page && sh->states[page] == ms_PG_WHOLE)
        return sh->bytes.ptr + at;
    return ms_pg_bring(sh, at, len);
}

#endif /* ms_ROOM_symmap_pages */
