/* machsym worker: lines in, answers out, by several threads. */
#include "cmd_worker.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    READ_SIZE = 1 << 16,
    AHEAD = 4,           /* answers of each thread that wait for one before them */
    KEEP_BYTES = 1 << 20 /* a buffer that grew beyond goes after its request */
};

/* Standard input, line by line. */
typedef struct line_reader {
    char *v; /* READ_SIZE */
    size_t at;
    size_t len;
    bool has_failed;
} line_reader;

typedef enum line_kind { LINE_NONE = 0, LINE_WHOLE, LINE_TOO_LONG } line_kind;

typedef enum slot_state { SLOT_FREE = 0, SLOT_TAKEN, SLOT_DONE } slot_state;

/* A request from when it is read until its answer is written. */
typedef struct worker_slot {
    text line;
    text answer;
    line_kind kind;
    uint64_t number; /* of the line, from 1 on */
    bool is_refused;
    slot_state state;
} worker_slot;

/* The loop. One thread at a time reads; the lock of the worker guards the slots, and writing. */
typedef struct worker_run {
    worker *w;
    pthread_mutex_t reading;
    pthread_cond_t freed;
    line_reader in;
    uint64_t lines;     /* that were read; guarded by reading, like in */
    bool has_ended;     /* the same */
    worker_slot *slots; /* in order: slot number % slot_count is that of a request */
    size_t slot_count;
    uint64_t taken;
    uint64_t written;
} worker_run;

/* ---- Lines ---- */

/* Returns false at the end of the input. */
static bool fill(line_reader *in)
{
    ssize_t got;
    do
        got = read(STDIN_FILENO, in->v, READ_SIZE);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        tool_say("the requests cannot be read: %s", strerror(errno));
        in->has_failed = true;
    }
    in->at = 0;
    in->len = got > 0 ? (size_t)got : 0;
    return got > 0;
}

/* Reads a line without its end. Of one that is longer than max nothing is kept. The last one needs no
 * newline. */
static line_kind read_line(line_reader *in, text *line, uint64_t max)
{
    bool has_begun = false;
    bool is_long = false;
    line->len = 0;
    while (in->at < in->len || fill(in)) {
        const char *from = in->v + in->at;
        const char *end = memchr(from, '\n', in->len - in->at);
        size_t len = end != NULL ? (size_t)(end - from) : in->len - in->at;
        has_begun = true;
        is_long = is_long || len > max - line->len;
        if (is_long)
            line->len = 0;
        else
            text_add(line, from, len);
        in->at += len + (end != NULL);
        if (end != NULL)
            break;
    }
    return !has_begun ? LINE_NONE : is_long ? LINE_TOO_LONG : LINE_WHOLE;
}

/* Reads the next request. Returns false when there is none any more. */
static bool read_request(worker_run *run, worker_slot *slot)
{
    do {
        slot->kind = read_line(&run->in, &slot->line, run->w->options->max_request);
        slot->number = ++run->lines;
    } while (slot->kind == LINE_WHOLE && worker_is_blank((machsym_str){slot->line.v, slot->line.len}));
    return slot->kind != LINE_NONE;
}

/* ---- Slots; the lock is held ---- */

/* Where the next request goes; NULL: too many answers wait to be written. */
static worker_slot *free_slot(worker_run *run)
{
    worker_slot *slot = &run->slots[run->taken % run->slot_count];
    /* without an order there is a slot for each thread, so one of them is free */
    for (size_t i = 0; run->w->options->unordered && slot->state != SLOT_FREE && i < run->slot_count; i++)
        slot = &run->slots[i];
    return slot->state == SLOT_FREE ? slot : NULL;
}

static void empty(text *t)
{
    t->len = 0;
    if (t->cap > KEEP_BYTES)
        text_free(t);
}

static void write_slot(worker_run *run, worker_slot *slot)
{
    run->w->counts.requests++;
    run->w->counts.refused += slot->is_refused;
    out_text(&slot->answer);
    empty(&slot->answer);
    empty(&slot->line);
    slot->state = SLOT_FREE;
    run->written++;
}

/* Writes what can be written. Nobody waits for an answer that is there, so it leaves at once. */
static void write_done(worker_run *run, worker_slot *slot)
{
    slot->state = SLOT_DONE;
    if (run->w->options->unordered) {
        write_slot(run, slot);
    } else {
        while ((slot = &run->slots[run->written % run->slot_count])->state == SLOT_DONE)
            write_slot(run, slot);
    }
    out_flush();
    pthread_cond_broadcast(&run->freed);
}

/* ---- Threads ---- */

/* Takes the next request; NULL: there is none, or nobody would read its answer. */
static worker_slot *take_request(worker_run *run)
{
    worker_slot *slot;
    pthread_mutex_lock(&run->reading);
    pthread_mutex_lock(&run->w->lock);
    while ((slot = free_slot(run)) == NULL && !out_failed())
        pthread_cond_wait(&run->freed, &run->w->lock);
    run->has_ended |= out_failed();
    pthread_mutex_unlock(&run->w->lock);
    run->has_ended = run->has_ended || !read_request(run, slot);
    if (run->has_ended)
        slot = NULL;
    if (slot != NULL) {
        pthread_mutex_lock(&run->w->lock);
        slot->state = SLOT_TAKEN;
        run->taken++;
        pthread_mutex_unlock(&run->w->lock);
    }
    pthread_mutex_unlock(&run->reading);
    return slot;
}

static void *work(void *argument)
{
    worker_run *run = argument;
    worker_slot *slot;
    while ((slot = take_request(run)) != NULL) {
        machsym_str line = {slot->line.v, slot->line.len};
        slot->is_refused = slot->kind == LINE_TOO_LONG;
        if (slot->kind == LINE_TOO_LONG)
            worker_refuse_long(run->w, slot->number, &slot->answer);
        else
            slot->is_refused = !worker_answer(run->w, line, slot->number, &slot->answer);
        pthread_mutex_lock(&run->w->lock);
        write_done(run, slot);
        pthread_mutex_unlock(&run->w->lock);
    }
    return NULL;
}

/* The first job is this thread's. */
static void run_jobs(worker_run *run, unsigned jobs)
{
    pthread_t threads[MAX_JOBS];
    unsigned started = 0;
    while (started + 1 < jobs && pthread_create(&threads[started], NULL, work, run) == 0)
        started++;
    work(run);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

int worker_loop(worker *w)
{
    worker_run run;
    unsigned jobs = w->options->lookups.jobs;
    memset(&run, 0, sizeof run);
    run.w = w;
    run.in.v = tool_alloc(READ_SIZE);
    run.slot_count = w->options->unordered ? jobs : (size_t)jobs * AHEAD;
    run.slots = tool_alloc(run.slot_count * sizeof *run.slots);
    memset(run.slots, 0, run.slot_count * sizeof *run.slots);
    pthread_mutex_init(&run.reading, NULL);
    pthread_cond_init(&run.freed, NULL);
    run_jobs(&run, jobs);
    pthread_cond_destroy(&run.freed);
    pthread_mutex_destroy(&run.reading);
    for (size_t i = 0; i < run.slot_count; i++) {
        text_free(&run.slots[i].line);
        text_free(&run.slots[i].answer);
    }
    free(run.slots);
    free(run.in.v);
    return run.in.has_failed || w->counts.refused > 0 ? TOOL_ERROR : TOOL_OK;
}
