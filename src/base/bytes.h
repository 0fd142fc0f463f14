#ifndef ms_ROOM_base_bytes
#define ms_ROOM_base_bytes
#include "../api/options.h"
#include "../api/api.h"

/* ==== >>bytes ==============================================================================================
 * Job:    the plain tools that every room needs: bytes, texts, sorting, errors.
 * Offers: ms_span, ms_span_sub, ms_str_*, ms_copy, ms_zero, ms_equal, ms_add_ok, ms_key, ms_sort,
 *         ms_upper_bound, ms_lower_bound, ms_fail, ms_once_get, ms_once_put, ms_NOINLINE,
 *         ms_SMALL_CODE, ms_SHARED, ms_INLINE.
 * Never:  allocates; touches a byte outside its arguments. */

/* In front of small functions with many callers that are rarely run: copies of them in all callers take
 * compilers a tenth of their time. */
#if defined(__GNUC__) || defined(__clang__)
#define ms_NOINLINE __attribute__((noinline))
#elif defined(_MSC_VER)
#define ms_NOINLINE __declspec(noinline)
#else
#define ms_NOINLINE
#endif

/* 1 where the compiler is asked for small code (-Os): then ways that only save time are left out. */
#if defined(__OPTIMIZE_SIZE__)
#define ms_SMALL_CODE 1
#else
#define ms_SMALL_CODE 0
#endif

/* In front of functions with many callers that run often: small code has them once. */
#if ms_SMALL_CODE
#define ms_SHARED ms_NOINLINE
#else
#define ms_SHARED inline
#endif

/* In front of functions that a loop runs once a step: its numbers stay in registers when all of it is one
 * function. Compilers do not make one of it by themselves. */
#if ms_SMALL_CODE
#define ms_INLINE ms_NOINLINE
#elif defined(__GNUC__)
#define ms_INLINE inline __attribute__((always_inline))
#else
#define ms_INLINE inline
#endif

#ifdef MACHSYM_NO_OS
static void ms_copy(void *to, const void *from, size_t len)
{
    unsigned char *t = (unsigned char *)to;
    const unsigned char *f = (const unsigned char *)from;
    for (size_t i = 0; i < len; i++)
        t[i] = f[i];
}

#if !defined(MACHSYM_NO_SWIFT) || !defined(MACHSYM_NO_RUST) /* for names in Punycode */
/* Copies len bytes. The two places may overlap. */
static void ms_move(void *to, const void *from, size_t len)
{
    unsigned char *t = (unsigned char *)to;
    const unsigned char *f = (const unsigned char *)from;
    for (size_t i = 0; i < len; i++) {
        size_t at = t > f ? len - 1 - i : i;
        t[at] = f[at];
    }
}
#endif

static void ms_zero(void *ptr, size_t len)
{
    unsigned char *p = (unsigned char *)ptr;
    for (size_t i = 0; i < len; i++)
        p[i] = 0;
}

static bool ms_equal(const void *a, const void *b, size_t len)
{
    const unsigned char *x = (const unsigned char *)a;
    const unsigned char *y = (const unsigned char *)b;
    for (size_t i = 0; i < len; i++) {
        if (x[i] != y[i])
            return false;
    }
    return true;
}

static const void *ms_find_byte(const void *ptr, size_t len, unsigned char byte)
{
    const unsigned char *p = (const unsigned char *)ptr;
    for (size_t i = 0; i < len; i++) {
        if (p[i] == byte)
            return p + i;
    }
    return NULL;
}
#else
#include <string.h>

#if !defined(MACHSYM_NO_SWIFT) || !defined(MACHSYM_NO_RUST) /* for names in Punycode */
static void ms_move(void *to, const void *from, size_t len)
{
    if (len != 0)
        memmove(to, from, len);
}
#endif

/* memcpy and its like must not see NULL, even for no bytes (C99 7.21.1). */
static void ms_copy(void *to, const void *from, size_t len)
{
    MACHSYM_COUNT_WORK(len / 64);
    if (len != 0)
        memcpy(to, from, len);
}

static void ms_zero(void *ptr, size_t len)
{
    MACHSYM_COUNT_WORK(len / 64);
    if (len != 0)
        memset(ptr, 0, len);
}

static bool ms_equal(const void *a, const void *b, size_t len)
{
    MACHSYM_COUNT_WORK(len / 64);
    return len == 0 || memcmp(a, b, len) == 0;
}

static const void *ms_find_byte(const void *ptr, size_t len, unsigned char byte)
{
    return len == 0 ? NULL : memchr(ptr, byte, len);
}
#endif

/* A piece of input. */
typedef struct ms_span {
    const uint8_t *ptr;
    size_t len;
} ms_span;

static ms_span ms_span_make(const void *ptr, size_t len)
{
    ms_span span;
    span.ptr = (const uint8_t *)ptr;
    span.len = len;
    return span;
}

/* The only way to a smaller span: empty when [off, off + len) is not wholly inside. */
static ms_span ms_span_sub(ms_span span, uint64_t off, uint64_t len)
{
    if (off > span.len || len > span.len - off || len == 0)
        return ms_span_make(NULL, 0);
    return ms_span_make(span.ptr + off, (size_t)len);
}

/* What is left of a span from off on; empty past the end. */
static ms_span ms_span_from(ms_span span, uint64_t off)
{
    if (off >= span.len)
        return ms_span_make(NULL, 0);
    return ms_span_make(span.ptr + off, span.len - (size_t)off);
}

static bool ms_add_ok(uint64_t a, uint64_t b, uint64_t *sum)
{
    *sum = a + b;
    return *sum >= a;
}

static machsym_str ms_str_make(const char *ptr, size_t len)
{
    machsym_str str;
    str.ptr = ptr;
    str.len = len;
    return str;
}

static machsym_str ms_str_empty(void)
{
    return ms_str_make(NULL, 0);
}

/* The text up to its NUL, or max bytes of it when there is none before. */
static machsym_str ms_str_bounded(const char *ptr, size_t max)
{
    const char *end = (const char *)ms_find_byte(ptr, max, 0);
    MACHSYM_COUNT_WORK((end != NULL ? (size_t)(end - ptr) : max) / 64);
    return ms_str_make(ptr, end != NULL ? (size_t)(end - ptr) : max);
}

static machsym_str ms_str_from_c(const char *text)
{
    size_t len = 0;
    while (text != NULL && text[len] != 0)
        len++;
    return ms_str_make(text, len);
}

/* FNV-1a over the length and both ends of a text, because in a hostile file many long texts share their
 * bytes. Different texts with one hash can be made. So each caller limits how many texts of one hash it
 * looks at. */
static uint64_t ms_str_hash(machsym_str str)
{
    uint64_t h = 0xcbf29ce484222325u ^ str.len;
    size_t end = str.len < MACHSYM_HASHED_ENDS ? str.len : (size_t)MACHSYM_HASHED_ENDS;
    size_t tail = str.len - end < MACHSYM_HASHED_ENDS ? end : str.len - MACHSYM_HASHED_ENDS;
    MACHSYM_COUNT_WORK((end + str.len - tail) / 64);
    for (size_t i = 0; i < end; i++)
        h = (h ^ (unsigned char)str.ptr[i]) * 0x100000001b3u;
    for (size_t i = tail; i < str.len; i++)
        h = (h ^ (unsigned char)str.ptr[i]) * 0x100000001b3u;
    return h;
}

static machsym_str ms_str_drop(machsym_str str, size_t count)
{
    return count >= str.len ? ms_str_empty() : ms_str_make(str.ptr + count, str.len - count);
}

static bool ms_str_equal(machsym_str a, machsym_str b)
{
    return a.len == b.len && ms_equal(a.ptr, b.ptr, a.len);
}

static bool ms_str_is(machsym_str str, const char *text)
{
    return ms_str_equal(str, ms_str_from_c(text));
}

static bool ms_str_begins(machsym_str str, const char *text)
{
    machsym_str head = ms_str_from_c(text);
    return str.len >= head.len && ms_equal(str.ptr, head.ptr, head.len);
}

static bool ms_str_ends(machsym_str str, const char *text)
{
    machsym_str tail = ms_str_from_c(text);
    return str.len >= tail.len && ms_equal(str.ptr + (str.len - tail.len), tail.ptr, tail.len);
}

/* What gets sorted: a key, and which item it belongs to. */
typedef struct ms_key {
    uint64_t key;
    uint64_t item;
} ms_key;

static bool ms_key_less(const ms_key *a, const ms_key *b)
{
    return a->key != b->key ? a->key < b->key : a->item < b->item;
}

static void ms_key_sift(ms_key *v, size_t root, size_t count)
{
    for (;;) {
        size_t child = 2 * root + 1;
        if (child >= count)
            return;
        if (child + 1 < count && ms_key_less(&v[child], &v[child + 1]))
            child++;
        if (!ms_key_less(&v[root], &v[child]))
            return;
        ms_key swap = v[root];
        v[root] = v[child];
        v[child] = swap;
        root = child;
    }
}

static void ms_key_heap_sort(ms_key *v, size_t count)
{
    MACHSYM_COUNT_WORK(count);
    for (size_t i = count / 2; i-- > 0;)
        ms_key_sift(v, i, count);
    for (size_t i = count; i-- > 1;) {
        ms_key swap = v[0];
        v[0] = v[i];
        v[i] = swap;
        ms_key_sift(v, 0, i);
    }
}

/* Sorts by insertion, which is fast when few keys stand far from their place. Returns false once that takes
 * more moves than the keys so far may have; the keys are all there then, and equal ones stay in order. */
static bool ms_key_insertion_sort(ms_key *v, size_t count, size_t per_key)
{
    size_t moves = MACHSYM_INSERTION_MOVES;
    for (size_t i = 1; i < count; i++) {
        moves += per_key;
        if (!ms_key_less(&v[i], &v[i - 1]))
            continue;
        ms_key moved = v[i];
        size_t stop = i > moves ? i - moves : 0;
        size_t j = i;
        do {
            v[j] = v[j - 1];
            j--;
        } while (j > stop && ms_key_less(&moved, &v[j - 1]));
        v[j] = moved;
        if (j == stop && j > 0)
            return false;
        moves -= i - j;
    }
    return true;
}

/* How many bits a radix pass sorts by, at most. A table of 8 KB fits the cache beside the keys. */
enum { ms_KEY_DIGIT = 11 };

/* One stable radix pass, by some bits of the keys from shift on. */
static void ms_key_pass(const ms_key *from, ms_key *to, size_t count, unsigned shift, unsigned bits)
{
    uint32_t start[1u << ms_KEY_DIGIT];
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    uint32_t sum = 0;
    ms_zero(start, sizeof *start << bits);
    for (size_t i = 0; i < count; i++)
        start[from[i].key >> shift & mask]++;
    for (size_t i = 0; i <= mask; i++) {
        uint32_t here = start[i];
        start[i] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        to[start[from[i].key >> shift & mask]++] = from[i];
}

/* Sorts by the varying bits from low on up. Keys that are equal in these bits keep their order. Returns where
 * the keys are then: in v or in room. */
static ms_key *ms_key_radix_sort(ms_key *v, size_t count, ms_key *room, uint64_t varying, unsigned low)
{
    ms_key *from = v;
    ms_key *to = room;
    while (low < 64 && varying >> low != 0) {
        if ((varying >> low & 1) == 0) {
            low++;
            continue;
        }
        unsigned bits = 1;
        while (bits < ms_KEY_DIGIT && low + bits < 64 && varying >> low >> bits != 0)
            bits++;
        ms_key_pass(from, to, count, low, bits);
        low += bits;
        ms_key *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

/* Enough of the highest varying bits to tell most of count keys apart: returns the lowest of these bits. */
static unsigned ms_key_low_bit(size_t count, uint64_t varying)
{
    unsigned wanted = 2; /* then a key has four places, and most have one to themselves */
    unsigned low = 64;
    for (; count != 0; count >>= 1)
        wanted++;
    while (low > 0 && wanted > 0) {
        low--;
        wanted -= (unsigned)(varying >> low & 1);
    }
    return low;
}

/* Sorts by key, then by item. Items of equal keys must ascend in the input. Lists that are nearly in order
 * are sorted by insertion. Others need room for count keys: radix passes put them in order by their highest
 * bits, and insertion does the rest. Where many keys share those bits, passes go over all bits. Without room
 * (NULL), or with more keys than 32 bits count, it sorts by a heap. */
static void ms_sort(ms_key *v, size_t count, ms_key *room)
{
    MACHSYM_COUNT_WORK(count);
    if (ms_key_insertion_sort(v, count, MACHSYM_INSERTION_MOVES_PER_KEY))
        return;
    if (room == NULL || count > UINT32_MAX) {
        ms_key_heap_sort(v, count);
        return;
    }
    uint64_t varying = 0;
    for (size_t i = 1; i < count; i++)
        varying |= v[i].key ^ v[0].key;
    ms_key *at = ms_key_radix_sort(v, count, room, varying, ms_key_low_bit(count, varying));
    if (!ms_key_insertion_sort(at, count, MACHSYM_INSERTION_MOVES_LATER))
        at = ms_key_radix_sort(at, count, at == v ? room : v, varying, 0);
    if (at != v)
        ms_copy(v, at, count * sizeof *v);
}

/* How many of count sorted records have a key at or below this one. keys points to the uint64_t key of the
 * first record; the next record's key lies stride bytes further. */
static inline size_t ms_upper_bound(const void *keys, size_t count, size_t stride, uint64_t key)
{
    const char *at = (const char *)keys;
    size_t lo = 0;
    while (count > 0) {
        size_t half = count / 2;
        const uint64_t *middle = (const uint64_t *)(const void *)(at + (lo + half) * stride);
        if (*middle <= key) {
            lo += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return lo;
}

/* How many of them have a key below this one. */
static inline size_t ms_lower_bound(const void *keys, size_t count, size_t stride, uint64_t key)
{
    return key == 0 ? 0 : ms_upper_bound(keys, count, stride, key - 1);
}

/* Lowers *hi to addr: the answer holds only for addresses below both. */
static inline void ms_lower_to(uint64_t *hi, uint64_t addr)
{
    if (addr < *hi)
        *hi = addr;
}

/* Raises *most to a value that is larger. */
static inline void ms_raise_to(uint64_t *most, uint64_t value)
{
    if (value > *most)
        *most = value;
}

/* ---- Errors ---- */

static ms_NOINLINE machsym_result ms_fail(machsym_error *err, machsym_result code, const char *what,
                                          const char *where, uint64_t offset)
{
    if (err != NULL) {
        err->code = code;
        err->os_errno = 0;
        err->what = what;
        err->where = where;
        err->offset = offset;
    }
    return code;
}

/* Damage found so far. */
typedef struct ms_damage {
    uint32_t count;
    machsym_damage first; /* what NULL: none */
    machsym_cut cut;      /* the first part that lacks bytes; missing is that of all */
} ms_damage;

/* Counts a damaged part, and keeps the first one. */
static void ms_damage_note(ms_damage *damage, const char *what, const char *where, uint64_t offset)
{
    if (damage->count++ != 0)
        return;
    damage->first.what = what;
    damage->first.where = where;
    damage->first.offset = offset;
}

/* Counts a damaged part that runs past the end of what holds it. */
static void ms_damage_note_cut(ms_damage *damage, const char *what, const char *where, uint64_t offset)
{
    ms_damage_note(damage, what, where, offset);
    damage->first.is_cut_short = true;
}

/* Counts a part that contradicts the rest of the file, so that answers may be wrong. It is kept before parts
 * that only cost answers. */
static void ms_damage_note_wrong(ms_damage *damage, const char *what, const char *where, uint64_t offset)
{
    uint32_t count = damage->count;
    if (!damage->first.is_misleading)
        damage->count = 0;
    ms_damage_note(damage, what, where, offset);
    damage->first.is_misleading = true;
    damage->count = count + 1;
}

/* Keeps the first part that lacks bytes, and how many the file lacks. */
static void ms_damage_keep_cut(ms_damage *damage, const machsym_cut *cut)
{
    uint64_t missing = damage->cut.missing > cut->missing ? damage->cut.missing : cut->missing;
    if (damage->cut.size == 0)
        damage->cut = *cut;
    damage->cut.missing = missing;
}

/* Adds the damage that another reader found. */
static void ms_damage_add(ms_damage *damage, const ms_damage *more)
{
    bool is_cut_short = damage->first.is_cut_short || more->first.is_cut_short;
    if (damage->count == 0 || (more->first.is_misleading && !damage->first.is_misleading))
        damage->first = more->first;
    damage->first.is_cut_short = is_cut_short;
    damage->count += more->count;
    ms_damage_keep_cut(damage, &more->cut);
}

static machsym_result ms_fail_memory(machsym_error *err)
{
    return ms_fail(err, MACHSYM_ERR_MEMORY, "the allocator has no memory left", "", 0);
}

/* A slot for what threads share and one of them makes: NULL until it is published, and never changed after
 * that. A thread that gets it sees all that was written to it before. Where the compiler has no such access,
 * there are no threads that share: bytes-only builds on small machines. */
#if defined(__clang__) || (defined(__GCC_ATOMIC_POINTER_LOCK_FREE) && __GCC_ATOMIC_POINTER_LOCK_FREE == 2)
#define ms_ATOMIC_LOAD(slot) __atomic_load_n(slot, __ATOMIC_ACQUIRE)
#define ms_ATOMIC_SWAP(slot, old, made)                                                                      \
    __atomic_compare_exchange_n(slot, old, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
#elif defined(_MSC_VER)
#include <intrin.h>
#define ms_ATOMIC_LOAD(slot) _InterlockedCompareExchangePointer((void *volatile *)(slot), NULL, NULL)
#define ms_ATOMIC_SWAP(slot, old, made)                                                                      \
    ((*(old) = _InterlockedCompareExchangePointer((void *volatile *)(slot), made, NULL)) == NULL)
#else
#define ms_ATOMIC_LOAD(slot)            (*(slot))
#define ms_ATOMIC_SWAP(slot, old, made) ((*(old) = *(slot)) == NULL && (*(slot) = (made)) != NULL)
#endif

static inline void *ms_once_get(void *const *slot)
{
    return ms_ATOMIC_LOAD(slot);
}

/* Publishes what was made. Returns what is in the slot then: another thread's, if that was first. */
static void *ms_once_put(void **slot, void *made)
{
    void *old = NULL;
    return ms_ATOMIC_SWAP(slot, &old, made) ? made : old;
}

/* How many low bits of a number that is not 0 are 0. */
static inline unsigned ms_low_zeros(uint64_t number)
{
#ifdef __GNUC__
    return (unsigned)__builtin_ctzll(number);
#else
    unsigned zeros = 0;
    for (; (number & 1) == 0; number >>= 1)
        zeros++;
    return zeros;
#endif
}

/* Asks for a place of memory to be brought into the cache, where the compiler offers that. seen: GCC 12 drops
 * calls of a function that does nothing else, as without effect, unless it has some assembly, if empty. */
static inline void ms_fetch(const void *ptr)
{
#ifdef __GNUC__
    __builtin_prefetch(ptr);
    __asm__ __volatile__("");
#else
    (void)ptr;
#endif
}

#endif /* ms_ROOM_base_bytes */
