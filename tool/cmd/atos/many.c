/* machsym atos: many addresses at once, by several threads. */
#include "many.h"
#include "../../../report/base/digits.h"
#include "../../../report/base/memory.h"
#include "../../base/machine.h"
#include "../../base/out.h"
#include "../../base/posix.h"
#include "../../base/room.h"
#include "../../base/say.h"
#include "lines.h"
#include "../../symbols/source.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    READ_SIZE = 1 << 16,
    BATCH_BYTES = 8 << 20,
    MAX_THREADS = 16,
    PRINT_BYTES = 1 << 18,
    PRINT_WORDS = 1024,    /* that a thread prints before it is the turn of another: about as many bytes */
    TAKE = 512,            /* lookups that a thread answers before it looks who needs help, at most */
    TAKES = 64,            /* that few lookups are divided into */
    LEAST_TAKE = 8,        /* lookups */
    HELP_WORTH = 4 * TAKE, /* lookups that a thread has left: another thread takes half of them */
    HELP_BYTES =
        4 << 20, /* bytes of debug info for which it does so of fewer. With less both would decode one unit */
    ROOM_WORTH = 1 << 16, /* bytes of words: what is done with fewer takes little memory */
    WORD_BYTES = 8,       /* that most words have */
    THREAD_WORTH =
        4096, /* addresses from which all threads work: a thread takes as long to start as fewer do */
    THREAD_BYTES = 1 << 19, /* bytes of debug info for each thread of fewer addresses */
    ALONE_BYTES = 1 << 14,  /* bytes of debug info that take as long as one function found by its name */
    FETCH_AHEAD = 8,        /* prefetch distance in words */
    BATCH_CACHE = 1 << 20 /* bytes of decoded units that a helping thread keeps: its addresses are sorted, and
                             memory that is touched for the first time takes longer than decoding into it */
};

static bool many_is_space(char c)
{
    return (unsigned char)c <= ' ' && (c == ' ' || (c >= '\t' && c <= '\r'));
}

/* Where the answer of a word is: the number of its first line, and in common.share_bits below it that of the
 * thread that answered. NO_LINE: the word is for no target. */
typedef uint32_t place;

/* A word that is a number. Its high bits are the low half of the number, its low bits are which word it
 * is. */
typedef uint64_t lookup;

/* All words of a batch. */
typedef struct batch {
    machsym_str input;
    room *room;      /* for all that is below; NULL: there are few */
    lookup *lookups; /* in the order of addresses, once they are sorted */
    size_t lookup_count;
    uint32_t *highs; /* high halves of numbers, by word; NULL: all are the same */
    uint32_t high;   /* of the first number */
    place *places;   /* by word */
    size_t count;    /* of words */
    size_t cap;
} batch;

/* The next word from an index on; at the end an empty one. */
static machsym_str many_next_word(machsym_str input, size_t at)
{
    while (at < input.len && many_is_space(input.ptr[at]))
        at++;
    size_t start = at;
    while (at < input.len && !many_is_space(input.ptr[at]))
        at++;
    return str_make(input.ptr + start, at - start);
}

/* Reads a number that is written as most are: 0x and 1 to 16 digits. Returns where it ends; NULL when it is
 * written otherwise. */
static const char *many_read_address(const char *p, const char *end, uint64_t *number)
{
    const char *start = p;
    uint64_t so_far = 0;
    int digit;
    if (end - p < 3 || p[0] != '0' || p[1] != 'x')
        return NULL;
    for (p += 2; p < end && (digit = hex_digit(*p)) >= 0; p++)
        so_far = so_far << 4 | (unsigned)digit;
    *number = so_far;
    return p - start > 2 && p - start <= 18 && (p == end || many_is_space(*p)) ? p : NULL;
}

static uint64_t many_number_of(const batch *b, lookup l)
{
    return (uint64_t)(b->highs != NULL ? b->highs[(uint32_t)l] : b->high) << 32 | l >> 32;
}

/* Makes room for one more word. */
static void many_make_room(batch *b)
{
    size_t cap = b->cap;
    if (b->count < cap)
        return;
    b->lookups = room_double(b->room, b->lookups, &b->cap, sizeof *b->lookups);
    if (b->highs != NULL)
        b->highs = room_double(b->room, b->highs, &cap, sizeof *b->highs);
}

/* Adds a word. Numbers of one image have their high halves in common: these are kept once they differ. */
static void many_add_word(batch *b, bool is_number, uint64_t number)
{
    uint32_t high = (uint32_t)(number >> 32);
    if (is_number && b->lookup_count == 0)
        b->high = high;
    if (is_number && b->highs == NULL && high != b->high) {
        b->highs = room_take(b->room, b->cap * sizeof *b->highs);
        for (size_t i = 0; i < b->count; i++)
            b->highs[i] = b->high;
    }
    if (b->highs != NULL)
        b->highs[b->count] = high;
    if (is_number)
        b->lookups[b->lookup_count++] = number << 32 | b->count;
    b->count++;
}

static void many_split(batch *b)
{
    const char *end = b->input.ptr + b->input.len;
    b->cap = b->input.len / WORD_BYTES + 1;
    b->lookups = room_take(b->room, b->cap * sizeof *b->lookups);
    for (const char *p = b->input.ptr;;) {
        uint64_t number = 0;
        while (p < end && many_is_space(*p))
            p++;
        if (p == end)
            break;
        const char *past = many_read_address(p, end, &number);
        bool is_number = past != NULL;
        if (!is_number) {
            machsym_str word = many_next_word(b->input, (size_t)(p - b->input.ptr));
            is_number = parse_hex(word.ptr, word.len, &number);
            past = word.ptr + word.len;
        }
        many_make_room(b);
        many_add_word(b, is_number, number);
        p = past;
    }
}

/* Sorts by number, 12 bits at a time from the lowest that differs. Addresses agree in most bits, which takes
 * no pass: several times faster than qsort. */
static void many_sort_by_number(batch *b)
{
    enum { BITS = 12, DIGITS = 1 << BITS };
    lookup *from = b->lookups;
    lookup *to = room_take(b->room, b->cap * sizeof *to);
    uint64_t differ = 0;
    for (size_t i = 0; i < b->lookup_count; i++)
        differ |= many_number_of(b, from[i]) ^ many_number_of(b, from[0]);
    unsigned shift = 0;
    while (differ != 0 && (differ >> shift & 1) == 0)
        shift++;
    for (; shift < 64; shift += BITS) {
        uint32_t starts[DIGITS + 1] = {0};
        if ((differ >> shift & (DIGITS - 1)) == 0)
            continue;
        for (size_t i = 0; i < b->lookup_count; i++)
            starts[(many_number_of(b, from[i]) >> shift & (DIGITS - 1)) + 1]++;
        for (size_t i = 0; i < DIGITS; i++)
            starts[i + 1] += starts[i];
        for (size_t i = 0; i < b->lookup_count; i++)
            to[starts[many_number_of(b, from[i]) >> shift & (DIGITS - 1)]++] = from[i];
        lookup *sorted = to;
        to = from;
        from = sorted;
    }
    room_give(b->room, to, b->cap * sizeof *to);
    b->lookups = from;
}

/* ---- What one thread answers ---- */

/* What threads have in common. */
typedef struct common {
    const batch *batch;
    struct share *shares;
    size_t count;         /* of them */
    unsigned share_bits;  /* that their numbers have */
    size_t working;       /* the first ones, which have a thread */
    uint64_t info_bytes;  /* of debug info that the lookups may need */
    size_t take;          /* lookups that a thread takes at once */
    pthread_mutex_t lock; /* guards which lookups a share has left, and whose turn it is */
    pthread_cond_t moved; /* the turn */
    size_t turn;          /* the block of words that is printed now */
} common;

/* What one thread answers of many addresses. */
typedef struct share {
    atos *a;
    common *common;
    uint32_t number;
    size_t first; /* of the lookups that are left to it */
    size_t end;
    atos_lines lines;
    pthread_t thread;
} share;

/* How many bytes of debug info this number of lookups may need. */
static uint64_t many_bytes_of(const common *c, size_t lookups)
{
    return c->info_bytes / (c->batch->lookup_count + 1) * lookups;
}

/* Takes the last half of what another thread has left, or all of a share that has no thread. */
static void many_help(share *s)
{
    const common *c = s->common;
    share *most = c->shares;
    for (size_t i = 0; i < c->count; i++) {
        share *other = &c->shares[i];
        bool has_more = other->end - other->first > most->end - most->first;
        if (i >= c->working ? other->first < other->end : has_more)
            most = other;
    }
    size_t left = most->end - most->first;
    if (most < c->shares + c->working && left < HELP_WORTH && many_bytes_of(c, left) < HELP_BYTES)
        return;
    s->end = most->end;
    s->first = most->end = most < c->shares + c->working ? most->first + left / 2 : most->first;
}

/* Takes lookups for a thread to answer. Returns false when none are left. */
static bool many_take(share *s, size_t *first, size_t *end)
{
    pthread_mutex_lock(&s->common->lock);
    if (s->first == s->end)
        many_help(s);
    *first = s->first;
    *end = s->end - s->first < s->common->take ? s->end : s->first + s->common->take;
    s->first = *end;
    pthread_mutex_unlock(&s->common->lock);
    return *first < *end;
}

/* How many lookups are left to a thread. */
static size_t many_left_of(const share *s)
{
    pthread_mutex_lock(&s->common->lock);
    size_t left = s->end - s->first;
    pthread_mutex_unlock(&s->common->lock);
    return left;
}

static place many_place_of(const share *s, uint32_t line)
{
    uint64_t at = (uint64_t)line << s->common->share_bits | s->number;
    if (at > UINT32_MAX)
        lines_too_many();
    return (place)at;
}

static void *many_answer_share(void *argument)
{
    share *s = argument;
    const batch *b = s->common->batch;
    size_t end;
    lines_start(&s->lines, s->a, many_left_of(s), b->room);
    for (size_t i; many_take(s, &i, &end);) {
        for (; i < end; i++) {
            if (i + FETCH_AHEAD < end)
                room_fetch(&b->places[(uint32_t)b->lookups[i + FETCH_AHEAD]]);
            token t = {many_number_of(b, b->lookups[i]), 0, true};
            finding found = answer_find(s->a, &t);
            if (found.t != NULL)
                b->places[(uint32_t)b->lookups[i]] = many_place_of(s, lines_add(&s->lines, &found, &t));
        }
    }
    return NULL;
}

/* ---- What one thread prints ---- */

/* The lines of the answer at a place, and which of them is the first. */
static const atos_lines *many_lines_at(const common *c, place p, uint32_t *line)
{
    *line = p >> c->share_bits;
    return &c->shares[p & ((1u << c->share_bits) - 1)].lines;
}

/* Prefetches the data of the next answers. They are stored by address, so printing in input order misses the
 * cache. */
static void many_fetch_ahead(const common *c, size_t i)
{
    static void (*const steps[])(const atos_lines *lines,
                                 uint32_t line) = {lines_fetch_texts, lines_fetch_outer, lines_fetch_first};
    for (size_t step = 0; step < 3 && i + (step + 1) * FETCH_AHEAD < c->batch->count; step++) {
        uint32_t line;
        const atos_lines *lines = many_lines_at(c, c->batch->places[i + (step + 1) * FETCH_AHEAD], &line);
        if (line != NO_LINE)
            steps[step](lines, line);
    }
}

/* Prints text once it is the turn of its block: what is before it has to be printed first. Returns with the
 * turn. */
static void many_print_in_turn(common *c, size_t block, text *out)
{
    pthread_mutex_lock(&c->lock);
    while (c->turn != block)
        pthread_cond_wait(&c->moved, &c->lock);
    pthread_mutex_unlock(&c->lock);
    out_text(out);
}

static void many_pass_turn(common *c)
{
    pthread_mutex_lock(&c->lock);
    c->turn++;
    pthread_cond_broadcast(&c->moved);
    pthread_mutex_unlock(&c->lock);
}

/* How many threads print. */
static size_t many_printers(common *c)
{
    pthread_mutex_lock(&c->lock);
    size_t count = c->working;
    pthread_mutex_unlock(&c->lock);
    return count;
}

/* Prints a thread's blocks of words, many at a time: a call of the system for every 4 KB, which stdout
 * gathers, would take a tenth as long as answering. */
static void *many_print_share(void *argument)
{
    const share *s = argument;
    common *c = s->common;
    const batch *b = c->batch;
    text out = {0};
    machsym_str word = str_make(b->input.ptr, 0);
    size_t passed = 0; /* words up to this one */
    size_t step = many_printers(c);
    for (size_t block = s->number; block * PRINT_WORDS < b->count; block += step) {
        size_t end = b->count - block * PRINT_WORDS < PRINT_WORDS ? b->count : (block + 1) * PRINT_WORDS;
        for (size_t i = block * PRINT_WORDS; i < end; i++) {
            uint32_t line;
            const atos_lines *lines = many_lines_at(c, b->places[i], &line);
            many_fetch_ahead(c, i);
            if (line != NO_LINE) {
                lines_print(lines, line, &out);
            } else {
                for (; passed <= i; passed++)
                    word = many_next_word(b->input, (size_t)(word.ptr - b->input.ptr) + word.len);
                finding none = {NULL, 0, 0};
                token t = {0, word.len, false};
                answer_print(s->a, &out, &none, &t, word.ptr);
            }
            if (out.len >= PRINT_BYTES || i + 1 == end)
                many_print_in_turn(c, block, &out);
        }
        many_pass_turn(c);
    }
    text_free(&out);
    return NULL;
}

/* ---- All threads ---- */

/* What the options say, for another thread: with lookups of its own. */
static atos *many_clone_atos(const atos *a, room *memory)
{
    atos *copy = mem_alloc(sizeof *copy);
    *copy = *a;
    copy->targets = mem_alloc(a->target_count * sizeof *copy->targets);
    memcpy(copy->targets, a->targets, a->target_count * sizeof *copy->targets);
    for (size_t i = 0; i < a->target_count; i++)
        copy->targets[i].source =
            symbol_source_open_many(&copy->targets[i].file, a->session_flags, BATCH_CACHE, memory);
    return copy;
}

static void many_close_clone(atos *a, atos *copy)
{
    a->unresolved |= copy->unresolved;
    for (size_t i = 0; i < a->target_count; i++)
        symbol_source_close(copy->targets[i].source);
    free(copy->targets);
    free(copy);
}

/* How many bytes of debug info count lookups need, at most. Only the first words of an input find units that
 * are not decoded yet. */
static uint64_t many_bytes_to_decode(const atos *a, size_t count)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < a->target_count && !a->answered_many; i++)
        bytes += symbol_file_info_bytes(&a->targets[i].file);
    uint64_t alone = (uint64_t)count * ALONE_BYTES;
    return bytes < alone ? bytes : alone;
}

/* How many threads are worth it. Owners, explanations, object files and images of a cache keep state of their
 * own: one. */
static size_t many_thread_count(const atos *a, size_t count, uint64_t info_bytes)
{
    uint64_t worth = count < THREAD_WORTH ? info_bytes / THREAD_BYTES : MAX_THREADS;
    for (size_t i = 0; i < a->target_count; i++) {
        const target *t = &a->targets[i];
        if (t->images != NULL || (t->file.map == NULL && !t->file.info.has_dwarf))
            worth = 1;
    }
    bool is_alone = a->rules != NULL || a->explain || worth < 2;
    return is_alone ? 1 : machine_threads(0, worth < MAX_THREADS ? (size_t)worth : MAX_THREADS);
}

/* Makes the tables of symbols that all lookups of an image share. Most programs have code without debug info,
 * so that each thread would need the table at about the same time, and make its own. */
static void many_make_shared(const atos *a)
{
    for (size_t i = 0; i < a->target_count; i++) {
        machsym_session *session = symbol_source_session(a->targets[i].source);
        machsym_cursor at = {0, 0};
        machsym_symbol symbol;
        if (session != NULL)
            machsym_session_next_symbol(session, &at, &symbol);
    }
}

/* Gives each thread its words, whose addresses follow each other. Of many words each has lookups of its own,
 * which keep less: units are asked one after the other. */
static void many_divide(atos *a, common *c)
{
    for (size_t i = 0; i < c->count; i++) {
        share *s = &c->shares[i];
        s->a = c->count > 1 ? many_clone_atos(a, c->batch->room) : a;
        s->common = c;
        s->first = c->batch->lookup_count * i / c->count;
        s->end = c->batch->lookup_count * (i + 1) / c->count;
        s->number = (uint32_t)i;
    }
    if (c->count > 1 && c->batch->lookup_count >= THREAD_WORTH)
        many_make_shared(c->shares[0].a);
}

/* Has all threads do a piece of work, and waits for it. If pthread_create fails, the threads that exist do
 * all the work. They start once their number is known. */
static void many_do_shares(common *c, void *(*work)(void *share))
{
    pthread_mutex_lock(&c->lock);
    for (c->working = 1; c->working < c->count; c->working++) {
        share *s = &c->shares[c->working];
        if (pthread_create(&s->thread, NULL, work, s) != 0)
            break;
    }
    pthread_mutex_unlock(&c->lock);
    work(&c->shares[0]);
    for (size_t i = 1; i < c->working; i++)
        pthread_join(c->shares[i].thread, NULL);
}

/* Answers the words of input in the order of their addresses, so that every unit is decoded once, and prints
 * them in the order given. */
static void many_answer_all(atos *a, const char *input, size_t len)
{
    batch b = {0};
    b.input = str_make(input, len);
    b.room = len >= ROOM_WORTH ? room_open() : NULL;
    many_split(&b);
    common c = {.batch = &b, .lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};
    c.info_bytes = many_bytes_to_decode(a, b.lookup_count);
    c.count = many_thread_count(a, b.lookup_count, c.info_bytes);
    c.take = b.lookup_count / TAKES < LEAST_TAKE ? LEAST_TAKE : b.lookup_count / TAKES;
    c.take = c.take < TAKE ? c.take : TAKE;
    a->answered_many |= b.lookup_count > 0;
    while (c.count > (size_t)1 << c.share_bits)
        c.share_bits++;
    a->unresolved |= b.lookup_count < b.count;
    c.shares = mem_alloc(c.count * sizeof *c.shares);
    memset(c.shares, 0, c.count * sizeof *c.shares);
    many_sort_by_number(&b);
    b.places = room_take(b.room, b.count * sizeof *b.places);
    memset(b.places, 0, b.count * sizeof *b.places); /* NO_LINE */
    many_divide(a, &c);
    many_do_shares(&c, many_answer_share);
    room_give(b.room, b.lookups, b.cap * sizeof *b.lookups);
    room_give(b.room, b.highs, b.cap * sizeof *b.highs);
    many_do_shares(&c, many_print_share);
    out_flush();
    for (size_t i = 0; i < c.count; i++) {
        if (c.shares[i].a != a)
            many_close_clone(a, c.shares[i].a); /* lines refer to what it keeps */
        lines_free(&c.shares[i].lines);
    }
    free(c.shares);
    room_give(b.room, b.places, b.count * sizeof *b.places);
    room_close(b.room);
}

static bool many_more_soon(int fd)
{
    struct pollfd wait = {fd, POLLIN, 0};
    return poll(&wait, 1, 5) > 0;
}

/* Past the last byte from an index on that ends a piece; the index when there is none. */
static size_t many_last_end(const text *input, size_t from, bool (*ends)(char c))
{
    size_t at = input->len;
    while (at > from && !ends(input->v[at - 1]))
        at--;
    MACHSYM_COUNT_WORK(1 + (input->len - at) / 64);
    return at;
}

static bool many_is_newline(char c)
{
    return c == '\n';
}

/* How much of the input can be answered: whole lines, and whole words of a line that is longer than a batch.
 * Only new bytes are searched for a newline, so a long line is scanned once. */
static size_t many_whole_part(const text *input, size_t fresh)
{
    size_t from = input->len - fresh;
    size_t at = many_last_end(input, from, many_is_newline);
    if (at == from && input->len >= BATCH_BYTES)
        at = many_last_end(input, from, many_is_space);
    return at > from ? at : 0;
}

void many_answer_part(atos *a, text *input, size_t fresh)
{
    size_t whole = many_whole_part(input, fresh);
    if (whole == 0)
        return;
    many_answer_all(a, input->v, whole);
    MACHSYM_COUNT_WORK((input->len - whole) / 64);
    memmove(input->v, input->v + whole, input->len - whole);
    input->len -= whole;
}

/* How much of the input to read at once: all of a file that is not longer than a batch. */
static unsigned many_read_size(int fd)
{
    struct stat file;
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) || file.st_size < READ_SIZE)
        return READ_SIZE;
    return file.st_size < BATCH_BYTES ? (unsigned)file.st_size : (unsigned)BATCH_BYTES;
}

/* Takes the byte order mark away that editors put ahead of the addresses. */
static void many_skip_mark(text *input, size_t *fresh)
{
    size_t mark = str_mark_len((machsym_str){input->v, input->len});
    if (mark > 0)
        memmove(input->v, input->v + mark, input->len - mark);
    input->len -= mark;
    *fresh = input->len;
}

/* Answers what is whole as it comes. A writer that fills the pipe is given a moment to go on: many addresses
 * at once are cheaper. One that asks a line at a time gets its answer at once. */
int many_answer_stream(atos *a, int fd)
{
    text input = {0};
    ssize_t got = 0;
    bool is_begin = true;               /* a byte order mark may stand there */
    size_t fresh = 0;                   /* bytes at the end of the input that were not looked at yet */
    unsigned size = many_read_size(fd); /* Windows takes an unsigned */
    while (!out_failed() && (got = read(fd, text_room(&input, size), size)) != 0) {
        size = READ_SIZE;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            say_message("%s: the addresses cannot be read: %s",
                        a->input != NULL ? a->input : "standard input", strerror(errno));
            break;
        }
        input.len += (size_t)got;
        fresh += (size_t)got;
        if (is_begin && input.len >= 3) {
            many_skip_mark(&input, &fresh);
            is_begin = false;
        }
        if (got >= 4096 && input.len < BATCH_BYTES && many_more_soon(fd))
            continue;
        many_answer_part(a, &input, fresh);
        fresh = 0;
    }
    many_answer_all(a, input.v, input.len);
    text_free(&input);
    return got < 0 ? TOOL_ERROR : TOOL_OK;
}
