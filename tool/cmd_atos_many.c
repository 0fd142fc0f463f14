/* machsym atos: many addresses at once, by several threads. */
#include "cmd_atos_lines.h"
#include "room.h"

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
    TAKE = 512,            /* lookups that a thread answers before it looks who needs help */
    HELP_WORTH = 4 * TAKE, /* of fewer lookups none are taken over: two threads would decode the same unit */
    ROOM_WORTH = 1 << 16,  /* bytes of words: what is done with fewer takes little memory */
    WORD_BYTES = 8,        /* that most words have */
    THREAD_WORTH = 4096,   /* addresses: fewer are answered before a thread has started to help */
    FETCH_AHEAD = 8,       /* words: what so many more need is asked of memory while one is answered */
    BATCH_CACHE = 1 << 20 /* bytes of decoded units that a helping thread keeps: its addresses are sorted, and
                             memory that is touched for the first time takes longer than decoding into it */
};

static bool is_space(char c)
{
    return (unsigned char)c <= ' ' && (c == ' ' || (c >= '\t' && c <= '\r'));
}

/* Where the answer of a word is. */
typedef struct place {
    uint32_t line;  /* its first; NO_LINE: the word is for no target */
    uint32_t share; /* number of the thread that answered */
} place;

/* A word in the order of addresses. */
typedef struct lookup {
    uint64_t number;
    uint32_t word; /* its number */
    bool is_number;
} lookup;

/* All words of a batch. */
typedef struct batch {
    machsym_str input;
    room *room; /* for all that is below; NULL: there are few */
    lookup *lookups;
    place *places; /* by word */
    size_t count;
    size_t cap;
} batch;

/* The next word from an index on; at the end an empty one. */
static machsym_str next_word(machsym_str input, size_t at)
{
    while (at < input.len && is_space(input.ptr[at]))
        at++;
    size_t start = at;
    while (at < input.len && !is_space(input.ptr[at]))
        at++;
    return str_make(input.ptr + start, at - start);
}

/* Reads a number that is written as most are: 0x and 1 to 16 digits. Returns where it ends; NULL when it is
 * written otherwise. */
static const char *read_address(const char *p, const char *end, uint64_t *number)
{
    const char *start = p;
    uint64_t so_far = 0;
    int digit;
    if (end - p < 3 || p[0] != '0' || p[1] != 'x')
        return NULL;
    for (p += 2; p < end && (digit = hex_digit(*p)) >= 0; p++)
        so_far = so_far << 4 | (unsigned)digit;
    *number = so_far;
    return p - start > 2 && p - start <= 18 && (p == end || is_space(*p)) ? p : NULL;
}

static void split(batch *b)
{
    const char *end = b->input.ptr + b->input.len;
    b->cap = b->input.len / WORD_BYTES + 1;
    b->lookups = room_take(b->room, b->cap * sizeof *b->lookups);
    for (const char *p = b->input.ptr;;) {
        while (p < end && is_space(*p))
            p++;
        if (p == end)
            break;
        if (b->count == b->cap)
            b->lookups = room_double(b->room, b->lookups, &b->cap, sizeof *b->lookups);
        lookup *l = &b->lookups[b->count];
        const char *past = read_address(p, end, &l->number);
        l->word = (uint32_t)b->count++;
        l->is_number = true;
        if (past == NULL) {
            machsym_str word = next_word(b->input, (size_t)(p - b->input.ptr));
            l->number = 0;
            l->is_number = parse_hex(word.ptr, word.len, &l->number);
            past = word.ptr + word.len;
        }
        p = past;
    }
}

/* Sorts by number, 12 bits at a time from the lowest that differs. Addresses agree in most bits, which takes no
 * pass: several times faster than qsort. */
static void sort_by_number(batch *b)
{
    enum { BITS = 12, DIGITS = 1 << BITS };
    lookup *from = b->lookups;
    lookup *to = room_take(b->room, b->cap * sizeof *to);
    uint64_t differ = 0;
    for (size_t i = 0; i < b->count; i++)
        differ |= from[i].number ^ from[0].number;
    unsigned shift = 0;
    while (differ != 0 && (differ >> shift & 1) == 0)
        shift++;
    for (; shift < 64; shift += BITS) {
        uint32_t starts[DIGITS + 1] = {0};
        if ((differ >> shift & (DIGITS - 1)) == 0)
            continue;
        for (size_t i = 0; i < b->count; i++)
            starts[(from[i].number >> shift & (DIGITS - 1)) + 1]++;
        for (size_t i = 0; i < DIGITS; i++)
            starts[i + 1] += starts[i];
        for (size_t i = 0; i < b->count; i++)
            to[starts[from[i].number >> shift & (DIGITS - 1)]++] = from[i];
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
    size_t working;       /* the first ones, which have a thread */
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

/* Takes the last half of what another thread has left, or all of a share that has no thread. */
static void help(share *s)
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
    if (most < c->shares + c->working && left < HELP_WORTH)
        return;
    s->end = most->end;
    s->first = most->end = most < c->shares + c->working ? most->first + left / 2 : most->first;
}

/* Takes lookups for a thread to answer. Returns false when none are left. */
static bool take(share *s, size_t *first, size_t *end)
{
    pthread_mutex_lock(&s->common->lock);
    if (s->first == s->end)
        help(s);
    *first = s->first;
    *end = s->end - s->first < TAKE ? s->end : s->first + TAKE;
    s->first = *end;
    pthread_mutex_unlock(&s->common->lock);
    return *first < *end;
}

/* How many lookups are left to a thread. */
static size_t left_of(const share *s)
{
    pthread_mutex_lock(&s->common->lock);
    size_t left = s->end - s->first;
    pthread_mutex_unlock(&s->common->lock);
    return left;
}

static void *answer_share(void *argument)
{
    share *s = argument;
    const batch *b = s->common->batch;
    size_t end;
    atos_lines_start(&s->lines, s->a, left_of(s), b->room);
    for (size_t i; take(s, &i, &end);) {
        for (; i < end; i++) {
            const lookup *l = &b->lookups[i];
            if (i + FETCH_AHEAD < end)
                room_fetch(&b->places[l[FETCH_AHEAD].word]);
            token t = {l->number, 0, l->is_number};
            finding found = atos_find(s->a, &t);
            place *where = &b->places[l->word];
            where->share = s->number;
            where->line = found.t != NULL ? atos_lines_add(&s->lines, &found, &t) : (uint32_t)NO_LINE;
        }
    }
    return NULL;
}

/* ---- What one thread prints ---- */

/* Asks memory for what the answers of words to come are made of. They lie in the order of addresses, and to
 * wait for each would take longer than to print it. */
static void fetch_ahead(const common *c, size_t i)
{
    static void (*const steps[])(const atos_lines *lines, uint32_t line) = {
        atos_lines_fetch_texts, atos_lines_fetch_outer, atos_lines_fetch_first};
    for (size_t step = 0; step < 3 && i + (step + 1) * FETCH_AHEAD < c->batch->count; step++) {
        place p = c->batch->places[i + (step + 1) * FETCH_AHEAD];
        if (p.line != NO_LINE)
            steps[step](&c->shares[p.share].lines, p.line);
    }
}

/* Prints text once it is the turn of its block: what is before it has to be printed first. Returns with the
 * turn. */
static void print_in_turn(common *c, size_t block, text *out)
{
    pthread_mutex_lock(&c->lock);
    while (c->turn != block)
        pthread_cond_wait(&c->moved, &c->lock);
    pthread_mutex_unlock(&c->lock);
    out_text(out);
}

static void pass_turn(common *c)
{
    pthread_mutex_lock(&c->lock);
    c->turn++;
    pthread_cond_broadcast(&c->moved);
    pthread_mutex_unlock(&c->lock);
}

/* How many threads print. */
static size_t printers(common *c)
{
    pthread_mutex_lock(&c->lock);
    size_t count = c->working;
    pthread_mutex_unlock(&c->lock);
    return count;
}

/* Prints a thread's blocks of words, many at a time: a call of the system for every 4 KB, which stdout
 * gathers, would take a tenth as long as answering. */
static void *print_share(void *argument)
{
    const share *s = argument;
    common *c = s->common;
    const batch *b = c->batch;
    text out = {0};
    machsym_str word = str_make(b->input.ptr, 0);
    size_t passed = 0; /* words up to this one */
    size_t step = printers(c);
    for (size_t block = s->number; block * PRINT_WORDS < b->count; block += step) {
        size_t end = b->count - block * PRINT_WORDS < PRINT_WORDS ? b->count : (block + 1) * PRINT_WORDS;
        for (size_t i = block * PRINT_WORDS; i < end; i++) {
            place p = b->places[i];
            fetch_ahead(c, i);
            if (p.line != NO_LINE) {
                atos_lines_print(&c->shares[p.share].lines, p.line, &out);
            } else {
                for (; passed <= i; passed++)
                    word = next_word(b->input, (size_t)(word.ptr - b->input.ptr) + word.len);
                finding none = {NULL, 0, 0};
                token t = {0, word.len, false};
                atos_print(s->a, &out, &none, &t, word.ptr);
            }
            if (out.len >= PRINT_BYTES || i + 1 == end)
                print_in_turn(c, block, &out);
        }
        pass_turn(c);
    }
    text_free(&out);
    return NULL;
}

/* ---- All threads ---- */

/* What the options say, for another thread: with lookups of its own. */
static atos *clone_atos(const atos *a, room *memory)
{
    atos *copy = tool_alloc(sizeof *copy);
    *copy = *a;
    copy->targets = tool_alloc(a->target_count * sizeof *copy->targets);
    memcpy(copy->targets, a->targets, a->target_count * sizeof *copy->targets);
    for (size_t i = 0; i < a->target_count; i++)
        copy->targets[i].source =
            symbol_source_open_many(&copy->targets[i].file, a->session_flags, BATCH_CACHE, memory);
    return copy;
}

static void close_clone(atos *a, atos *copy)
{
    a->unresolved |= copy->unresolved;
    for (size_t i = 0; i < a->target_count; i++)
        symbol_source_close(copy->targets[i].source);
    free(copy->targets);
    free(copy);
}

/* How many threads are worth it. Owners, explanations and object files keep state of their own: one. */
static size_t thread_count(const atos *a, size_t count)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = cores < 1 ? 1 : cores > MAX_THREADS ? MAX_THREADS : (size_t)cores;
    for (size_t i = 0; i < a->target_count; i++) {
        if (a->targets[i].file.map == NULL && !a->targets[i].file.info.has_dwarf)
            most = 1;
    }
    return a->rules != NULL || a->explain || count < THREAD_WORTH ? 1 : most;
}

/* Makes the tables of symbols that all lookups of an image share. Most programs have code without debug info,
 * so that each thread would need the table at about the same time, and make its own. */
static void make_shared(const atos *a)
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
static void divide(atos *a, common *c)
{
    for (size_t i = 0; i < c->count; i++) {
        share *s = &c->shares[i];
        s->a = c->count > 1 ? clone_atos(a, c->batch->room) : a;
        s->common = c;
        s->first = c->batch->count * i / c->count;
        s->end = c->batch->count * (i + 1) / c->count;
        s->number = (uint32_t)i;
    }
    if (c->count > 1)
        make_shared(a);
}

/* Has all threads do a piece of work, and waits for it. Where no more threads can be made, fewer do it: they
 * wait for the lock until it is known how many there are. */
static void do_shares(common *c, void *(*work)(void *share))
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
static void atos_answer_all(atos *a, const char *input, size_t len)
{
    batch b = {0};
    b.input = str_make(input, len);
    b.room = len >= ROOM_WORTH ? room_open() : NULL;
    split(&b);
    common c = {.batch = &b, .lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};
    c.count = thread_count(a, b.count);
    c.shares = tool_alloc(c.count * sizeof *c.shares);
    memset(c.shares, 0, c.count * sizeof *c.shares);
    sort_by_number(&b);
    b.places = room_take(b.room, b.count * sizeof *b.places);
    divide(a, &c);
    do_shares(&c, answer_share);
    room_give(b.room, b.lookups, b.cap * sizeof *b.lookups);
    do_shares(&c, print_share);
    out_flush();
    for (size_t i = 0; i < c.count; i++) {
        if (c.shares[i].a != a)
            close_clone(a, c.shares[i].a); /* lines refer to what it keeps */
        atos_lines_free(&c.shares[i].lines);
    }
    free(c.shares);
    room_give(b.room, b.places, b.count * sizeof *b.places);
    room_close(b.room);
}

static bool more_soon(int fd)
{
    struct pollfd wait = {fd, POLLIN, 0};
    return poll(&wait, 1, 5) > 0;
}

/* Past the last byte from an index on that ends a piece; the index when there is none. */
static size_t last_end(const text *input, size_t from, bool (*ends)(char c))
{
    size_t at = input->len;
    while (at > from && !ends(input->v[at - 1]))
        at--;
    MACHSYM_COUNT_WORK(1 + (input->len - at) / 64);
    return at;
}

static bool is_newline(char c)
{
    return c == '\n';
}

/* How much of the input can be answered: whole lines, and of a line longer than a batch whole words. Only
 * what is fresh is looked at: no newline stands before it. So a long line is looked at once, however small
 * the pieces are that it comes in. */
static size_t whole_part(const text *input, size_t fresh)
{
    size_t from = input->len - fresh;
    size_t at = last_end(input, from, is_newline);
    if (at == from && input->len >= BATCH_BYTES)
        at = last_end(input, from, is_space);
    return at > from ? at : 0;
}

void atos_answer_part(atos *a, text *input, size_t fresh)
{
    size_t whole = whole_part(input, fresh);
    if (whole == 0)
        return;
    atos_answer_all(a, input->v, whole);
    MACHSYM_COUNT_WORK((input->len - whole) / 64);
    memmove(input->v, input->v + whole, input->len - whole);
    input->len -= whole;
}

/* How much of the input to read at once: all of a file that is not longer than a batch. */
static unsigned read_size(int fd)
{
    struct stat file;
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) || file.st_size < READ_SIZE)
        return READ_SIZE;
    return file.st_size < BATCH_BYTES ? (unsigned)file.st_size : (unsigned)BATCH_BYTES;
}

/* Answers what is whole as it comes. A writer that fills the pipe is given a moment to go on: many addresses
 * at once are cheaper. One that asks a line at a time gets its answer at once. */
int atos_answer_stream(atos *a, int fd)
{
    text input = {0};
    ssize_t got = 0;
    size_t fresh = 0;              /* bytes at the end of the input that were not looked at yet */
    unsigned size = read_size(fd); /* Windows takes an unsigned */
    while (!out_failed() && (got = read(fd, text_room(&input, size), size)) != 0) {
        size = READ_SIZE;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            tool_say("the addresses cannot be read: %s", strerror(errno));
            break;
        }
        input.len += (size_t)got;
        fresh += (size_t)got;
        if (got >= 4096 && input.len < BATCH_BYTES && more_soon(fd))
            continue;
        atos_answer_part(a, &input, fresh);
        fresh = 0;
    }
    atos_answer_all(a, input.v, input.len);
    text_free(&input);
    return got < 0 ? TOOL_ERROR : TOOL_OK;
}
