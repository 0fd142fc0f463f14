/* machsym atos: many addresses at once, by several threads. */
#include "cmd_atos.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    READ_SIZE = 1 << 16,
    BATCH_BYTES = 8 << 20,
    MAX_THREADS = 16,
    PRINT_BYTES = 1 << 18,
    THREAD_WORTH = 4096,  /* addresses: fewer are answered before a thread has started to help */
    BATCH_CACHE = 4 << 20 /* bytes of decoded units that a helping thread keeps: its addresses are sorted */
};

static bool is_space(char c)
{
    return (unsigned char)c <= ' ' && (c == ' ' || (c >= '\t' && c <= '\r'));
}

static size_t split(const char *input, size_t len, token **tokens)
{
    size_t count = 0;
    size_t cap = 0;
    for (size_t i = 0; i < len;) {
        size_t start;
        while (i < len && is_space(input[i]))
            i++;
        for (start = i; i < len && !is_space(input[i]);)
            i++;
        if (i == start)
            break;
        *tokens = tool_room(*tokens, count, &cap, sizeof **tokens);
        token *t = &(*tokens)[count++];
        t->at = start;
        t->len = i - start;
        t->number = 0;
        t->is_number = parse_hex(input + start, t->len, &t->number);
    }
    return count;
}

/* Sorts by number, 11 bits at a time from the lowest; room holds as many. Addresses agree in most bits, which
 * takes no pass: several times faster than qsort. */
static void sort_by_number(token **v, size_t count, token **room)
{
    enum { BITS = 11, DIGITS = 1 << BITS };
    uint64_t differ = 0;
    for (size_t i = 0; i < count; i++)
        differ |= v[i]->number ^ v[0]->number;
    for (unsigned shift = 0; shift < 64; shift += BITS) {
        size_t starts[DIGITS + 1] = {0};
        if ((differ >> shift & (DIGITS - 1)) == 0)
            continue;
        for (size_t i = 0; i < count; i++)
            starts[(v[i]->number >> shift & (DIGITS - 1)) + 1]++;
        for (size_t i = 0; i < DIGITS; i++)
            starts[i + 1] += starts[i];
        for (size_t i = 0; i < count; i++)
            room[starts[v[i]->number >> shift & (DIGITS - 1)]++] = v[i];
        memcpy(v, room, count * sizeof *v);
    }
}

/* ---- What one thread answers ---- */

/* A line of an answer. Answers share the lines of the frames that they have in common, from the outermost on. */
typedef struct answer_line {
    size_t at; /* in the share's text */
    size_t len;
    uint32_t outer; /* number of the line behind it; 0: it is the last */
} answer_line;

/* A frame of the last answer, and its line. */
typedef struct answer_frame {
    machsym_frame frame;
    uint32_t line;
} answer_frame;

/* What one thread answers of many addresses. */
typedef struct share {
    atos *a;
    const char *input;
    token **order;
    size_t count;
    uint8_t number;
    text answers;
    answer_line *lines; /* line number n at n - 1 */
    uint32_t line_count;
    size_t line_cap;
    answer_frame last[MAX_FRAMES]; /* outermost first */
    size_t last_count;
    const target *last_target;
    unsigned last_trims; /* of its source: names of frames before are gone */
    pthread_t thread;
} share;

/* Makes a line of what was added to the text. Returns its number. */
static uint32_t add_line(share *s, size_t from, uint32_t outer)
{
    s->lines = tool_room(s->lines, s->line_count, &s->line_cap, sizeof *s->lines);
    s->lines[s->line_count++] = (answer_line){from, s->answers.len - from, outer};
    return s->line_count;
}

static bool same_text(machsym_str a, machsym_str b)
{
    return a.ptr == b.ptr && a.len == b.len;
}

/* Whether two frames have the same line. Texts are where they stand: comparing them would take longer. */
static bool same_line(const machsym_frame *a, const machsym_frame *b)
{
    return a->line == b->line && same_text(a->linkage_name, b->linkage_name) && same_text(a->name, b->name) &&
           same_text(a->file.name, b->file.name) && same_text(a->file.dir, b->file.dir) &&
           same_text(a->file.comp_dir, b->file.comp_dir) && a->name_source == b->name_source;
}

/* Adds the lines of an answer that the last one does not have. Returns the number of the first. */
static uint32_t add_lines(share *s, const finding *found, const token *word)
{
    const machsym_frame *outermost = &s->a->frames[found->count - 1];
    unsigned trims = symbol_source_trims(found->t->source);
    size_t same = 0;
    if (found->t != s->last_target || trims != s->last_trims)
        s->last_count = 0;
    while (same < found->count && same < s->last_count && same_line(&s->last[same].frame, outermost - same))
        same++;
    for (size_t i = same; i < found->count; i++) {
        size_t from = s->answers.len;
        atos_print_line(s->a, &s->answers, found, word, found->count - 1 - i);
        s->last[i].frame = *(outermost - i);
        s->last[i].line = add_line(s, from, i > 0 ? s->last[i - 1].line : 0);
    }
    s->last_count = found->count;
    s->last_target = found->t;
    s->last_trims = trims;
    return s->last[found->count - 1].line;
}

static void *answer_share(void *argument)
{
    share *s = argument;
    for (size_t i = 0; i < s->count; i++) {
        token *t = s->order[i];
        size_t from = s->answers.len;
        finding found = atos_find(s->a, t);
        t->share = s->number;
        if (atos_has_plain_lines(s->a, &found)) {
            t->line = add_lines(s, &found, t);
        } else {
            atos_print(s->a, &s->answers, &found, t, s->input + t->at);
            t->line = add_line(s, from, 0);
        }
    }
    return NULL;
}

/* ---- All threads ---- */

/* What the options say, for another thread: with lookups of its own. */
static atos *clone_atos(const atos *a)
{
    atos *copy = tool_alloc(sizeof *copy);
    *copy = *a;
    copy->targets = tool_alloc(a->target_count * sizeof *copy->targets);
    memcpy(copy->targets, a->targets, a->target_count * sizeof *copy->targets);
    for (size_t i = 0; i < a->target_count; i++)
        copy->targets[i].source = symbol_source_open(&copy->targets[i].file, a->session_flags, BATCH_CACHE);
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

/* Prints all answers in the order of the words, many at a time: a call of the system for every 4 KB, which
 * stdout gathers, would take a tenth as long as answering. */
static void print_answers(const share *shares, const token *tokens, size_t count)
{
    text out = {0};
    for (size_t i = 0; i < count; i++) {
        const share *s = &shares[tokens[i].share];
        for (uint32_t at = tokens[i].line; at != 0; at = s->lines[at - 1].outer)
            text_add(&out, s->answers.v + s->lines[at - 1].at, s->lines[at - 1].len);
        if (out.len >= PRINT_BYTES || i + 1 == count)
            out_text(&out);
    }
    out_flush();
    text_free(&out);
}

/* Answers the words by so many threads. Each takes words whose addresses follow each other. Of many words each
 * has lookups of its own, which keep less: units are asked one after the other. */
static void answer_words(atos *a, share *shares, size_t threads, const char *input, token **order,
                         size_t count)
{
    bool has_own = threads > 1;
    for (size_t i = 0; i < threads; i++) {
        size_t first = count * i / threads;
        memset(&shares[i], 0, sizeof shares[i]);
        shares[i].a = has_own ? clone_atos(a) : a;
        shares[i].input = input;
        shares[i].order = order + first;
        shares[i].count = count * (i + 1) / threads - first;
        shares[i].number = (uint8_t)i;
    }
    for (size_t i = 1; i < threads; i++) {
        if (pthread_create(&shares[i].thread, NULL, answer_share, &shares[i]) != 0) {
            tool_say("no thread can be made");
            exit(TOOL_ERROR);
        }
    }
    answer_share(&shares[0]);
    for (size_t i = 1; i < threads; i++)
        pthread_join(shares[i].thread, NULL);
    for (size_t i = 0; i < threads && has_own; i++)
        close_clone(a, shares[i].a);
}

/* Answers the words of input in the order of their addresses, so that every unit is decoded once, and prints
 * them in the order given. */
static void atos_answer_all(atos *a, const char *input, size_t len)
{
    token *tokens = NULL;
    size_t count = split(input, len, &tokens);
    size_t threads = thread_count(a, count);
    token **order = tool_alloc(2 * count * sizeof *order);
    share *shares = tool_alloc(threads * sizeof *shares);
    for (size_t i = 0; i < count; i++)
        order[i] = &tokens[i];
    sort_by_number(order, count, order + count);
    answer_words(a, shares, threads, input, order, count);
    free(order);
    print_answers(shares, tokens, count);
    for (size_t i = 0; i < threads; i++) {
        text_free(&shares[i].answers);
        free(shares[i].lines);
    }
    free(shares);
    free(tokens);
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

/* Answers what is whole as it comes. A writer that fills the pipe is given a moment to go on: many addresses
 * at once are cheaper. One that asks a line at a time gets its answer at once. */
int atos_answer_stream(atos *a, int fd)
{
    text input = {0};
    char *chunk = tool_alloc(READ_SIZE);
    ssize_t got = 0;
    size_t fresh = 0; /* bytes at the end of the input that were not looked at yet */
    while (!out_failed() && (got = read(fd, chunk, READ_SIZE)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            tool_say("the addresses cannot be read: %s", strerror(errno));
            break;
        }
        text_add(&input, chunk, (size_t)got);
        fresh += (size_t)got;
        if (got >= 4096 && input.len < BATCH_BYTES && more_soon(fd))
            continue;
        atos_answer_part(a, &input, fresh);
        fresh = 0;
    }
    atos_answer_all(a, input.v, input.len);
    text_free(&input);
    free(chunk);
    return got < 0 ? TOOL_ERROR : TOOL_OK;
}
