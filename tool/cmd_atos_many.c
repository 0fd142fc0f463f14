/* machsym atos: many addresses at once, by several threads. */
#include "cmd_atos.h"
#include "room.h"

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
    THREAD_WORTH = 4096,       /* addresses: fewer are answered before a thread has started to help */
    FETCH_AHEAD = 8,           /* words: what so many more need is asked of memory while one is answered */
    FETCH_BYTES = 64,          /* that memory gives at once */
    ANSWER_BYTES = 256,        /* of most answers: room for them is taken at once, */
    ANSWERS_AT_ONCE = 1 << 16, /* for so many: memory that is never touched costs nothing but addresses */
    BATCH_CACHE = 4 << 20 /* bytes of decoded units that a helping thread keeps: its addresses are sorted */
};

/* Asks for a place of memory to be brought near. */
static void fetch(const void *place)
{
#ifdef __GNUC__
    __builtin_prefetch(place);
#else
    (void)place;
#endif
}

static bool is_space(char c)
{
    return (unsigned char)c <= ' ' && (c == ' ' || (c >= '\t' && c <= '\r'));
}

/* A word of the input, and where its answer is. */
typedef struct word {
    size_t at;
    size_t len;
    uint32_t answer; /* its number among those of the share */
    uint8_t share;   /* number of the thread that answered */
} word;

/* A word in the order of addresses. It has all that a lookup needs: the words are then far apart, and to wait
 * for each would take as long as a quick lookup. */
typedef struct lookup {
    uint64_t number;
    uint32_t word; /* its number */
    bool is_number;
} lookup;

/* All words of a batch. */
typedef struct batch {
    const char *input;
    word *words;
    lookup *lookups;
    size_t count;
    size_t word_cap;
    size_t lookup_cap;
} batch;

static void split(batch *b, size_t len)
{
    const char *input = b->input;
    for (size_t i = 0; i < len;) {
        size_t start;
        uint64_t number = 0;
        while (i < len && is_space(input[i]))
            i++;
        for (start = i; i < len && !is_space(input[i]);)
            i++;
        if (i == start)
            break;
        b->words = tool_room(b->words, b->count, &b->word_cap, sizeof *b->words);
        b->lookups = tool_room(b->lookups, b->count, &b->lookup_cap, sizeof *b->lookups);
        bool is_number = parse_hex(input + start, i - start, &number);
        b->words[b->count] = (word){start, i - start, 0, 0};
        b->lookups[b->count] = (lookup){number, (uint32_t)b->count, is_number};
        b->count++;
    }
}

/* Sorts by number, 11 bits at a time from the lowest. Addresses agree in most bits, which takes no pass:
 * several times faster than qsort. */
static void sort_by_number(batch *b)
{
    enum { BITS = 11, DIGITS = 1 << BITS };
    lookup *from = b->lookups;
    lookup *to = tool_alloc(b->lookup_cap * sizeof *to);
    uint64_t differ = 0;
    for (size_t i = 0; i < b->count; i++)
        differ |= from[i].number ^ from[0].number;
    for (unsigned shift = 0; shift < 64; shift += BITS) {
        size_t starts[DIGITS + 1] = {0};
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
    free(to);
    b->lookups = from;
}

/* ---- What one thread answers ---- */

/* An answer: text of its own, up to where that of the next one begins, and behind that the end of another
 * answer's text, with what stands behind that. So answers share the lines of the frames that they have in
 * common, from the outermost on. */
typedef struct answer {
    size_t at;       /* in the share's text */
    size_t outer_at; /* what it shares begins there */
    uint32_t outer;  /* number of the answer that has it; NO_ANSWER: it shares nothing */
} answer;

enum { NO_ANSWER = 0 }; /* the first stands for none: no answer needs a text before its own */

/* A frame of the last answer. Its line and those behind it are what another answer may share. */
typedef struct answer_frame {
    machsym_frame frame;
    size_t at;       /* of the line, in the share's text */
    uint32_t answer; /* the one that has the line */
} answer_frame;

/* What one thread answers of many addresses. */
typedef struct share {
    atos *a;
    const batch *batch;
    size_t first; /* of its lookups */
    size_t end;
    uint8_t number;
    text text;
    answer *answers; /* one for each lookup behind NO_ANSWER, and one where the last ends */
    uint32_t count;
    answer_frame last[MAX_FRAMES]; /* outermost first */
    size_t last_count;
    const target *last_target;
    unsigned last_trims; /* of its source: names of frames before are gone */
    pthread_t thread;
} share;

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

/* Adds the lines of an answer that the last one does not have. */
static void add_lines(share *s, const finding *found, const token *t)
{
    const machsym_frame *outermost = &s->a->frames[found->count - 1];
    unsigned trims = symbol_source_trims(found->t->source);
    size_t same = 0;
    if (found->t != s->last_target || trims != s->last_trims)
        s->last_count = 0;
    while (same < found->count && same < s->last_count && same_line(&s->last[same].frame, outermost - same))
        same++;
    if (same > 0) {
        s->answers[s->count].outer = s->last[same - 1].answer;
        s->answers[s->count].outer_at = s->last[same - 1].at;
    }
    for (size_t i = found->count; i-- > same;) {
        s->last[i].frame = *(outermost - i);
        s->last[i].at = s->text.len;
        s->last[i].answer = s->count;
        atos_print_line(s->a, &s->text, found, t, found->count - 1 - i);
    }
    s->last_count = found->count;
    s->last_target = found->t;
    s->last_trims = trims;
}

static void *answer_share(void *argument)
{
    share *s = argument;
    size_t count = s->end - s->first;
    if (count > 0)
        text_room(&s->text, (count < ANSWERS_AT_ONCE ? count : ANSWERS_AT_ONCE) * ANSWER_BYTES);
    room_enlarge_pages(s->text.v, s->text.cap);
    s->answers = tool_alloc((count + 2) * sizeof *s->answers);
    s->answers[NO_ANSWER + 1].at = 0;
    for (size_t i = s->first; i < s->end; i++) {
        const lookup *l = &s->batch->lookups[i];
        if (i + FETCH_AHEAD < s->end)
            fetch(&s->batch->words[l[FETCH_AHEAD].word]);
        word *w = &s->batch->words[l->word];
        token t = {l->number, w->len, l->is_number};
        finding found = atos_find(s->a, &t);
        w->share = s->number;
        w->answer = ++s->count;
        s->answers[s->count].outer = NO_ANSWER;
        if (atos_has_plain_lines(s->a, &found))
            add_lines(s, &found, &t);
        else
            atos_print(s->a, &s->text, &found, &t, s->batch->input + w->at);
        s->answers[s->count + 1].at = s->text.len;
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
        copy->targets[i].source =
            symbol_source_open_many(&copy->targets[i].file, a->session_flags, BATCH_CACHE);
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

/* Asks memory for what the answers of words to come are made of: for the text of one, and for the place of
 * one that is twice as far. They lie in the order of addresses, and to wait for each would take longer than to
 * print it. */
static void fetch_ahead(const share *shares, const batch *b, size_t i)
{
    if (i + 2 * FETCH_AHEAD < b->count) {
        const word *w = &b->words[i + 2 * FETCH_AHEAD];
        fetch(&shares[w->share].answers[w->answer]);
    }
    if (i + FETCH_AHEAD < b->count) {
        const word *w = &b->words[i + FETCH_AHEAD];
        const share *s = &shares[w->share];
        const answer *own = &s->answers[w->answer];
        for (size_t at = 0; at < ANSWER_BYTES; at += FETCH_BYTES)
            fetch(s->text.v + own->at + at);
        if (own->outer != NO_ANSWER)
            fetch(s->text.v + own->outer_at);
    }
}

/* Adds the text of an answer, and what stands behind it. */
static void add_answer(text *out, const share *s, uint32_t number)
{
    size_t at = s->answers[number].at;
    for (uint32_t n = number; n != NO_ANSWER; n = s->answers[n].outer) {
        text_add(out, s->text.v + at, s->answers[n + 1].at - at);
        at = s->answers[n].outer_at;
    }
}

/* Prints all answers in the order of the words, many at a time: a call of the system for every 4 KB, which
 * stdout gathers, would take a tenth as long as answering. */
static void print_answers(const share *shares, const batch *b)
{
    text out = {0};
    for (size_t i = 0; i < b->count; i++) {
        const share *s = &shares[b->words[i].share];
        fetch_ahead(shares, b, i);
        add_answer(&out, s, b->words[i].answer);
        if (out.len >= PRINT_BYTES || i + 1 == b->count)
            out_text(&out);
    }
    out_flush();
    text_free(&out);
}

/* Answers the words by so many threads. Each takes words whose addresses follow each other. Of many words
 * each has lookups of its own, which keep less: units are asked one after the other. */
static void answer_words(atos *a, share *shares, size_t threads, const batch *b)
{
    bool has_own = threads > 1;
    for (size_t i = 0; i < threads; i++) {
        memset(&shares[i], 0, sizeof shares[i]);
        shares[i].a = has_own ? clone_atos(a) : a;
        shares[i].batch = b;
        shares[i].first = b->count * i / threads;
        shares[i].end = b->count * (i + 1) / threads;
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
    batch b = {0};
    b.input = input;
    split(&b, len);
    size_t threads = thread_count(a, b.count);
    share *shares = tool_alloc(threads * sizeof *shares);
    sort_by_number(&b);
    answer_words(a, shares, threads, &b);
    free(b.lookups);
    print_answers(shares, &b);
    for (size_t i = 0; i < threads; i++) {
        text_free(&shares[i].text);
        free(shares[i].answers);
    }
    free(shares);
    free(b.words);
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
