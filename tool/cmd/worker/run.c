/* machsym worker: lines in, answers out, by several threads; with --host, questions to the host and what
 * it answers. */
#include "run.h"
#include "../../../report/base/json.h"
#include "../../../report/base/json_put.h"
#include "../../../report/base/memory.h"
#include "../../base/machine.h"
#include "../../base/out.h"
#include "../../base/posix.h"
#include "../../base/say.h"
#include "answer.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    READ_SIZE = 1 << 16,
    AHEAD = 4,            /* answers of each thread that wait for one before them */
    KEEP_BYTES = 1 << 20, /* a buffer that grew beyond goes after its request */
    /* What is read of requests that stand before the answer to a need. A pipe holds 64 KB, and a host may
     * have begun a longer line. */
    PENDING_BYTES = 16 << 20,
    HEAD_BYTES = 4096 /* of a line that is too long: enough for the key of a need */
};

/* Standard input, line by line. */
typedef struct line_reader {
    char *v; /* READ_SIZE */
    size_t at;
    size_t len;
    text line;       /* the next one, as far as it was read, and the bytes that follow it */
    size_t line_len; /* of the line itself, when has_line */
    uint64_t left;   /* bytes that follow the line, and were not read yet */
    bool has_begun;
    bool has_line;
    bool is_long;
    bool has_failed;
} line_reader;

typedef enum line_kind { LINE_NONE = 0, LINE_WHOLE, LINE_TOO_LONG, LINE_NOT_YET } line_kind;

/* A request that no thread works on yet. */
typedef struct pending_line {
    text line;       /* with the bytes that follow it */
    size_t line_len; /* of the line itself */
    line_kind kind;
    uint64_t number;
} pending_line;

typedef enum slot_state { SLOT_FREE = 0, SLOT_TAKEN, SLOT_DONE } slot_state;

/* A request from when a thread takes it until its answer is written. */
typedef struct worker_slot {
    pending_line request;
    text answer;
    bool is_refused;
    slot_state state;
} worker_slot;

/* What a thread waits for; on its stack. */
typedef struct worker_need {
    struct worker_need *next;
    machsym_str key;
    text *value;
    text *why;
    chunk_got got;
    bool is_done;
} worker_need;

/* The loop. A thread that waits for a line reads, one at a time, so that no thread is there only to read.
 * The lock of the worker guards what follows `in`. `writing` is held while something is written; who reads
 * never takes it, so the host may write as long as a need is open, whatever it has not read yet. */
struct worker_run {
    worker *w;
    pthread_mutex_t writing;
    pthread_cond_t moved; /* for who waits for a request or a slot */
    pthread_cond_t found; /* for who waits for a need */
    line_reader in;       /* of the thread that reads */
    bool is_reading;
    bool has_ended;        /* the input */
    bool is_unread;        /* the answers are not read any more */
    uint64_t lines;        /* that were read */
    pending_line *pending; /* a ring */
    size_t pending_cap;
    size_t pending_first;
    size_t pending_count;
    uint64_t pending_bytes;
    worker_need *needs;
    worker_slot *slots; /* in order: slot number % slot_count is that of a request */
    size_t slot_count;
    uint64_t taken;
    uint64_t written;
};

/* ---- Lines; without the lock ---- */

static struct timespec loop_timespec_of(double seconds)
{
    return (struct timespec){(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
}

/* Conditions that are waited for until a time of that clock. Apple's and MinGW's have only the clock that
 * is set, but wait for a number of seconds. */
#if defined(__APPLE__) || defined(_WIN32)
static void loop_begin_condition(pthread_cond_t *c)
{
    pthread_cond_init(c, NULL);
}

static void loop_wait_until(pthread_cond_t *c, pthread_mutex_t *lock, double until)
{
    double left = until - machine_seconds();
    struct timespec then = loop_timespec_of(left > 0 ? left : 0);
    pthread_cond_timedwait_relative_np(c, lock, &then);
}
#else
static void loop_begin_condition(pthread_cond_t *c)
{
    pthread_condattr_t how;
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(c, &how);
    pthread_condattr_destroy(&how);
}

static void loop_wait_until(pthread_cond_t *c, pthread_mutex_t *lock, double until)
{
    struct timespec then = loop_timespec_of(until);
    pthread_cond_timedwait(c, lock, &then);
}
#endif

/* Waits for input until then; 0: as long as it takes. Returns false when there is none. */
static bool loop_wait_input(double until)
{
    struct pollfd wait = {STDIN_FILENO, POLLIN, 0};
    double left = until - machine_seconds();
    return until == 0 || (left > 0 && poll(&wait, 1, (int)(left * 1000) + 1) != 0);
}

/* Returns false at the end of the input. */
static bool loop_fill(line_reader *in)
{
    ssize_t got;
    do
        got = read(STDIN_FILENO, in->v, READ_SIZE);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        say_message("the requests cannot be read: %s", strerror(errno));
        in->has_failed = true;
    }
    in->at = 0;
    in->len = got > 0 ? (size_t)got : 0;
    return got > 0;
}

/* Takes more of the line that was begun, of one that is longer than max only its head. Returns whether it
 * ended. */
static bool loop_take_bytes(line_reader *in, uint64_t max)
{
    const char *from = in->v + in->at;
    const char *end = memchr(from, '\n', in->len - in->at);
    size_t len = end != NULL ? (size_t)(end - from) : in->len - in->at;
    in->has_begun = true;
    in->at += len + (end != NULL);
    if (!in->is_long && len > max - in->line.len) {
        in->is_long = true;
        text_add(&in->line, from, in->line.len < HEAD_BYTES ? (len < HEAD_BYTES ? len : HEAD_BYTES) : 0);
        in->line.len = in->line.len < HEAD_BYTES ? in->line.len : HEAD_BYTES;
    } else if (!in->is_long) {
        text_add(&in->line, from, len);
    }
    return end != NULL;
}

/* How many bytes follow a line: its first member says so. */
static uint64_t loop_count_bytes(machsym_str line)
{
    static const char key[] = "\"bytes\"";
    uint64_t count = 0;
    line = str_trim(line);
    if (line.len == 0 || line.ptr[0] != '{')
        return 0;
    line = str_trim((machsym_str){line.ptr + 1, line.len - 1});
    if (!str_starts(line, key))
        return 0;
    line = str_trim((machsym_str){line.ptr + sizeof key - 1, line.len - (sizeof key - 1)});
    if (line.len == 0 || line.ptr[0] != ':')
        return 0;
    line = str_trim((machsym_str){line.ptr + 1, line.len - 1});
    for (size_t i = 0; i < line.len && line.ptr[i] >= '0' && line.ptr[i] <= '9'; i++)
        count = count > UINT64_MAX / 10 - 1 ? count : count * 10 + (uint64_t)(line.ptr[i] - '0');
    return count;
}

/* The line has ended. Its bytes count as part of it. */
static void loop_begin_bytes(line_reader *in, uint64_t max, bool has_bytes)
{
    in->has_line = true;
    in->line_len = in->line.len;
    in->left = has_bytes ? loop_count_bytes((machsym_str){in->line.v, in->line.len}) : 0;
    in->is_long = in->is_long || in->left > max - in->line.len;
}

/* Takes some of the bytes that follow the line; of a request that is too long none is kept. */
static void loop_take_following(line_reader *in)
{
    size_t len = in->len - in->at;
    len = len > in->left ? (size_t)in->left : len;
    if (!in->is_long)
        text_add(&in->line, in->v + in->at, len);
    in->at += len;
    in->left -= len;
}

/* Reads the next line into in->line, without its end, and the bytes that follow it. The last line needs no
 * newline. After NOT_YET it goes on where it stopped. */
static line_kind loop_read_line(line_reader *in, uint64_t max, bool has_bytes, double until)
{
    while (!in->has_line || in->left > 0) {
        if (in->at == in->len && !loop_wait_input(until))
            return LINE_NOT_YET;
        if (in->at == in->len && !loop_fill(in))
            break;
        if (in->has_line)
            loop_take_following(in);
        else if (loop_take_bytes(in, max))
            loop_begin_bytes(in, max, has_bytes);
    }
    line_kind kind = !in->has_begun ? LINE_NONE : in->is_long ? LINE_TOO_LONG : LINE_WHOLE;
    if (!in->has_line)
        in->line_len = in->line.len;
    in->left = 0;
    in->has_begun = in->has_line = in->is_long = false;
    return kind;
}

static void loop_empty(text *t)
{
    t->len = 0;
    if (t->cap > KEEP_BYTES)
        text_free(t);
}

/* ---- Needs ---- */

/* What the host says of a key. */
typedef struct host_answer {
    text key;
    text value;
    text why;
    chunk_got got;
} host_answer;

/* Whether a line is one: its first member is the need. */
static bool loop_is_need(machsym_str line)
{
    line = str_trim(line);
    if (line.len == 0 || line.ptr[0] != '{')
        return false;
    return str_starts(str_trim((machsym_str){line.ptr + 1, line.len - 1}), "\"need\"");
}

static void loop_take_value(const json *doc, host_answer *out)
{
    uint32_t value = json_get(doc, 0, "value");
    uint32_t why = json_get(doc, 0, "error");
    out->got = CHUNK_FAILED;
    if (json_is(doc, why, JSON_STRING)) {
        json_unescape(&out->why, json_raw(doc, why));
    } else if (json_is(doc, value, JSON_LITERAL) && str_is(json_raw(doc, value), "null")) {
        out->got = CHUNK_NOT_THERE;
    } else if (json_is(doc, value, JSON_STRING)) {
        text_str(&out->value, json_raw(doc, value)); /* base64 has no escapes */
        out->got = text_from_base64(&out->value) ? CHUNK_GOT : CHUNK_FAILED;
        text_c(&out->why, out->got == CHUNK_GOT ? "" : "the host's value is no base64");
    } else {
        text_c(&out->why, "the host's answer has neither a value, which is base64 or null, nor an error");
    }
}

static void loop_free_answer(host_answer *h)
{
    text_free(&h->key);
    text_free(&h->value);
    text_free(&h->why);
}

/* Returns false when the line does not even have a key: then it is answered like any line that is wrong. */
static bool loop_take_need(const text *line, uint64_t max, line_kind kind, host_answer *out)
{
    json doc = {0};
    json_error err;
    machsym_str raw = {line->v, line->len};
    memset(out, 0, sizeof *out);
    if (kind == LINE_TOO_LONG) { /* the key is in what there is of it */
        size_t at = str_find(raw, ":");
        if (at == raw.len || !json_parse(NULL, &doc, raw.ptr, raw.len, at + 1, &err))
            return false;
        text_c(&out->why, "the host's answer has more than ");
        text_dec(&out->why, max >> 20);
        text_c(&out->why, " MB; --max-request=MEGABYTES allows more");
        out->got = CHUNK_FAILED;
        if (json_is(&doc, 0, JSON_STRING))
            json_unescape(&out->key, json_raw(&doc, 0));
    } else if (json_parse(NULL, &doc, raw.ptr, raw.len, 0, &err)) {
        uint32_t key = json_get(&doc, 0, "need");
        if (json_is(&doc, key, JSON_STRING))
            json_unescape(&out->key, json_raw(&doc, key));
        if (out->key.len > 0)
            loop_take_value(&doc, out);
    }
    json_free(&doc);
    if (out->key.len == 0)
        loop_free_answer(out);
    return out->key.len > 0;
}

/* Hands it to all who wait for the key. The lock is held. */
static void loop_deliver(worker_run *run, const host_answer *h)
{
    bool is_wanted = false;
    for (worker_need *need = run->needs; need != NULL; need = need->next) {
        if (need->is_done || !str_equal(need->key, (machsym_str){h->key.v, h->key.len}))
            continue;
        text_add(need->value, h->value.v, h->value.len);
        text_add(need->why, h->why.v, h->why.len);
        need->got = h->got;
        need->is_done = is_wanted = true;
    }
    run->w->counts.late += !is_wanted;
}

/* ---- Reading; the lock is held where not said otherwise ---- */

/* The memory that it takes: short lines take more than their bytes. */
static uint64_t loop_pending_size(const pending_line *line)
{
    return sizeof *line + line->line.cap;
}

static void loop_add_pending(worker_run *run, line_kind kind)
{
    if (run->pending_count == run->pending_cap) {
        size_t cap = run->pending_cap * 2 + 1;
        pending_line *v = mem_alloc(cap * sizeof *v);
        memset(v, 0, cap * sizeof *v);
        for (size_t i = 0; i < run->pending_count; i++)
            v[i] = run->pending[(run->pending_first + i) % run->pending_cap];
        free(run->pending);
        run->pending = v;
        run->pending_cap = cap;
        run->pending_first = 0;
    }
    pending_line *to = &run->pending[(run->pending_first + run->pending_count++) % run->pending_cap];
    *to = (pending_line){run->in.line, run->in.line_len, kind, run->lines};
    memset(&run->in.line, 0, sizeof run->in.line);
    run->pending_bytes += loop_pending_size(to);
}

/* Tells the waiting threads that answers are not read any more. */
static void loop_wake(worker_run *run)
{
    pthread_cond_signal(&run->moved);
    if (run->needs != NULL)
        pthread_cond_broadcast(&run->found);
}

/* Reads a line, until then at most, and gives it to its request. The caller saw: no other thread reads. */
static void loop_read_one(worker_run *run, double until)
{
    const worker_options *o = run->w->options;
    host_answer h;
    run->is_reading = true;
    pthread_mutex_unlock(&run->w->lock);
    line_kind kind = loop_read_line(&run->in, o->max_request, run->w->protocol->has_bytes, until);
    machsym_str line = {run->in.line.v, run->in.line_len};
    bool is_answer = o->host && (kind == LINE_WHOLE || kind == LINE_TOO_LONG) && loop_is_need(line) &&
                     loop_take_need(&run->in.line, o->max_request, kind, &h);
    pthread_mutex_lock(&run->w->lock);
    run->is_reading = false;
    run->lines += kind != LINE_NOT_YET;
    if (kind == LINE_NONE) {
        run->has_ended = true;
        pthread_cond_broadcast(&run->moved);
    } else if (is_answer) {
        loop_deliver(run, &h);
        loop_free_answer(&h);
    } else if (kind == LINE_TOO_LONG || (kind == LINE_WHOLE && !reply_is_blank(line))) {
        if (kind == LINE_TOO_LONG)
            text_free(&run->in.line);
        loop_add_pending(run, kind);
    }
    if (kind != LINE_NOT_YET)
        loop_empty(&run->in.line);
    loop_wake(run);
}

/* Without the lock. Returns false when it is not read any more. */
static bool loop_say_need(worker_run *run, machsym_str key)
{
    text line = {0};
    json_begin(&line, "need");
    json_put_str(&line, "need", key);
    text_c(&line, "}\n");
    pthread_mutex_lock(&run->writing);
    out_text(&line);
    out_flush();
    bool is_read = !out_failed();
    pthread_mutex_unlock(&run->writing);
    text_free(&line);
    return is_read;
}

/* Waits until the need is answered, reading what comes. The lock is held. */
static void loop_wait_need(worker_run *run, worker_need *need)
{
    double until = machine_seconds() + run->w->options->need_seconds;
    while (!need->is_done && !run->has_ended && !run->is_unread && machine_seconds() < until) {
        if (!run->is_reading && run->pending_bytes < PENDING_BYTES)
            loop_read_one(run, until);
        else
            loop_wait_until(&run->found, &run->w->lock, until);
    }
    if (need->is_done)
        return;
    need->got = CHUNK_FAILED;
    text_c(need->why, run->has_ended ? "the host's input ended before it answered"
                                     : "the host did not answer in time; --need-seconds=SECONDS allows more");
}

chunk_got loop_get(void *user, machsym_str key, text *value, text *why)
{
    worker_run *run = ((worker *)user)->run;
    worker_need need = {NULL, key, value, why, CHUNK_FAILED, false};
    bool is_asked = false;
    pthread_mutex_lock(&run->w->lock);
    for (const worker_need *other = run->needs; other != NULL; other = other->next)
        is_asked = is_asked || (!other->is_done && str_equal(other->key, key));
    need.next = run->needs;
    run->needs = &need;
    run->w->counts.needs++;
    pthread_mutex_unlock(&run->w->lock);
    bool is_read = is_asked || loop_say_need(run, key);
    pthread_mutex_lock(&run->w->lock);
    if (!is_read) {
        run->is_unread = true;
        pthread_cond_broadcast(&run->moved);
        pthread_cond_broadcast(&run->found);
    }
    loop_wait_need(run, &need);
    worker_need **at = &run->needs;
    while (*at != &need)
        at = &(*at)->next;
    *at = need.next;
    run->w->counts.needs_failed += need.got == CHUNK_FAILED;
    pthread_mutex_unlock(&run->w->lock);
    return need.got;
}

/* ---- Slots; the lock is held where not said otherwise ---- */

/* Where the next request goes; NULL: too many answers wait to be written. */
static worker_slot *loop_free_slot(worker_run *run)
{
    worker_slot *slot = &run->slots[run->taken % run->slot_count];
    /* without an order there is a slot for each thread, so one of them is free */
    for (size_t i = 0; run->w->options->unordered && slot->state != SLOT_FREE && i < run->slot_count; i++)
        slot = &run->slots[i];
    return slot->state == SLOT_FREE ? slot : NULL;
}

/* Which answer is to be written next; NULL: it is not there yet. done: of the thread that asks. */
static worker_slot *loop_next_done(worker_run *run, worker_slot *done)
{
    worker_slot *slot = run->w->options->unordered ? done : &run->slots[run->written % run->slot_count];
    return slot != NULL && slot->state == SLOT_DONE ? slot : NULL;
}

/* Writes what can be written. An answer that is there does not wait for others. Without the
 * lock. */
static void loop_write_done(worker_run *run, worker_slot *done)
{
    pthread_mutex_t *lock = &run->w->lock;
    worker_slot *slot;
    pthread_mutex_lock(lock);
    done->state = SLOT_DONE;
    pthread_mutex_unlock(lock);
    pthread_mutex_lock(&run->writing);
    pthread_mutex_lock(lock);
    while ((slot = loop_next_done(run, done)) != NULL) {
        run->w->counts.requests++;
        run->w->counts.refused += slot->is_refused;
        pthread_mutex_unlock(lock);
        out_text(&slot->answer);
        out_flush();
        loop_empty(&slot->answer);
        text_free(&slot->request.line);
        pthread_mutex_lock(lock);
        slot->state = SLOT_FREE;
        run->written++;
        run->is_unread = out_failed();
        loop_wake(run);
    }
    if (run->is_unread)
        pthread_cond_broadcast(&run->moved);
    pthread_mutex_unlock(lock);
    pthread_mutex_unlock(&run->writing);
}

/* ---- Threads ---- */

static void loop_take_pending(worker_run *run, worker_slot *slot)
{
    pending_line *first = &run->pending[run->pending_first];
    slot->request = *first;
    slot->state = SLOT_TAKEN;
    run->pending_bytes -= loop_pending_size(first);
    memset(first, 0, sizeof *first);
    run->pending_first = (run->pending_first + 1) % run->pending_cap;
    run->pending_count--;
    run->taken++;
    loop_wake(run);
}

/* Takes the next request; NULL: there is none, or its answer would not be read. */
static worker_slot *loop_take_request(worker_run *run)
{
    worker_slot *slot;
    pthread_mutex_lock(&run->w->lock);
    while (true) {
        slot = run->is_unread ? NULL : loop_free_slot(run);
        if (run->is_unread || (run->has_ended && run->pending_count == 0)) {
            slot = NULL;
            break;
        }
        if (slot != NULL && run->pending_count > 0) {
            loop_take_pending(run, slot);
            break;
        }
        if (slot != NULL && !run->is_reading)
            loop_read_one(run, 0);
        else
            pthread_cond_wait(&run->moved, &run->w->lock);
    }
    pthread_mutex_unlock(&run->w->lock);
    return slot;
}

static bool loop_answer(worker *w, const pending_line *request, text *out)
{
    if (request->kind == LINE_TOO_LONG)
        return w->protocol->refuse_long(w, request->number, out);
    machsym_str line = {request->line.v, request->line_len};
    machsym_str bytes = {request->line.v + request->line_len, request->line.len - request->line_len};
    return w->protocol->answer(w, line, bytes, request->number, out);
}

static void *loop_work(void *argument)
{
    worker_run *run = argument;
    worker_slot *slot;
    while ((slot = loop_take_request(run)) != NULL) {
        slot->is_refused = !loop_answer(run->w, &slot->request, &slot->answer);
        loop_write_done(run, slot);
    }
    return NULL;
}

/* The first job is this thread's. */
static void loop_run_jobs(worker_run *run, unsigned jobs)
{
    pthread_t threads[MAX_JOBS];
    unsigned started = 0;
    while (started + 1 < jobs && pthread_create(&threads[started], NULL, loop_work, run) == 0)
        started++;
    loop_work(run);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

int loop_run(worker *w)
{
    worker_run run;
    unsigned jobs = w->options->lookups.jobs;
    memset(&run, 0, sizeof run);
    run.w = w;
    w->run = &run;
    run.in.v = mem_alloc(READ_SIZE);
    run.slot_count = w->options->unordered ? jobs : (size_t)jobs * AHEAD;
    run.slots = mem_alloc(run.slot_count * sizeof *run.slots);
    memset(run.slots, 0, run.slot_count * sizeof *run.slots);
    pthread_mutex_init(&run.writing, NULL);
    pthread_cond_init(&run.moved, NULL);
    loop_begin_condition(&run.found);
    loop_run_jobs(&run, jobs);
    pthread_cond_destroy(&run.moved);
    pthread_cond_destroy(&run.found);
    pthread_mutex_destroy(&run.writing);
    for (size_t i = 0; i < run.slot_count; i++) {
        text_free(&run.slots[i].request.line);
        text_free(&run.slots[i].answer);
    }
    for (size_t i = 0; i < run.pending_cap; i++)
        text_free(&run.pending[i].line);
    text_free(&run.in.line);
    free(run.pending);
    free(run.slots);
    free(run.in.v);
    return run.in.has_failed || w->counts.refused > 0 ? TOOL_ERROR : TOOL_OK;
}
