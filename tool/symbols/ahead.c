/* Answers before they are asked for; see ahead.h. */
#include "ahead.h"
#include "../../report/base/memory.h"
#include "../base/machine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    AHEAD_FRAMES = MACHSYM_MAX_INLINE_DEPTH + 1,
    AHEAD_LEAST = 8, /* addresses: fewer are answered before a thread has started and listed the symbols */
    AHEAD_BYTES = 4 << 20, /* bytes of debug info: of less, both threads would decode the same units */
    AHEAD_PASSED = 4       /* addresses that may be left out, one after the other */
};

/* What was found at one address. */
typedef struct ahead_answer {
    machsym_frame *frames;
    size_t count;
    size_t sharing;
    bool is_done;
    bool has_failed; /* it is to be asked again */
} ahead_answer;

struct ahead {
    symbol_source *source;
    uint64_t *addrs;
    ahead_answer *answers;
    size_t count;
    bool asks_sharing;
    pthread_mutex_t lock; /* guards the fields below, and whether an answer is done */
    pthread_cond_t done;
    size_t first; /* the next one that is asked for */
    size_t end;   /* the thread has taken this one, and all that follow */
    pthread_t thread;
};

bool ahead_worth(const symbol_file *file, size_t count)
{
    return count >= AHEAD_LEAST && file->map == NULL && file->chunks == NULL && file->info.has_dwarf &&
           symbol_file_info_bytes(file) >= AHEAD_BYTES && machine_threads(0, 2) > 1;
}

/* Takes the last address that is not taken yet. Returns false when none is left. */
static bool ahead_take(ahead *a, size_t *at)
{
    pthread_mutex_lock(&a->lock);
    bool is_left = a->first < a->end;
    a->end -= is_left;
    *at = a->end;
    pthread_mutex_unlock(&a->lock);
    return is_left;
}

static void ahead_answer_one(ahead *a, uint64_t addr, ahead_answer *answer)
{
    machsym_frame frames[AHEAD_FRAMES];
    answer->sharing = 1;
    answer->count = a->asks_sharing
                        ? symbol_source_shared_frames(a->source, addr, frames, AHEAD_FRAMES, &answer->sharing)
                        : symbol_source_frames(a->source, addr, frames, AHEAD_FRAMES);
    answer->has_failed = symbol_source_failure(a->source) != NULL;
    answer->frames = mem_alloc((answer->count + 1) * sizeof *frames);
    memcpy(answer->frames, frames, answer->count * sizeof *frames);
}

static void *ahead_work(void *argument)
{
    ahead *a = argument;
    for (size_t at; ahead_take(a, &at);) {
        ahead_answer_one(a, a->addrs[at], &a->answers[at]);
        pthread_mutex_lock(&a->lock);
        a->answers[at].is_done = true;
        pthread_cond_broadcast(&a->done);
        pthread_mutex_unlock(&a->lock);
    }
    return NULL;
}

static void ahead_free(ahead *a)
{
    for (size_t i = 0; i < a->count; i++)
        free(a->answers[i].frames);
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->done);
    free(a->answers);
    free(a->addrs);
    free(a);
}

ahead *ahead_begin(symbol_source *source, const uint64_t *addrs, size_t count, bool asks_sharing)
{
    ahead *a = mem_alloc(sizeof *a);
    memset(a, 0, sizeof *a);
    a->source = source;
    a->count = a->end = count;
    a->asks_sharing = asks_sharing;
    a->addrs = mem_alloc(count * sizeof *addrs);
    memcpy(a->addrs, addrs, count * sizeof *addrs);
    a->answers = mem_alloc(count * sizeof *a->answers);
    memset(a->answers, 0, count * sizeof *a->answers);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->done, NULL);
    if (pthread_create(&a->thread, NULL, ahead_work, a) == 0)
        return a;
    ahead_free(a);
    return NULL;
}

/* Moves on to an address. Returns false when it is not one of the next ones. */
static bool ahead_find(ahead *a, uint64_t addr, size_t *at)
{
    for (*at = a->first; *at < a->count && *at - a->first <= AHEAD_PASSED; ++*at) {
        if (a->addrs[*at] == addr)
            return true;
    }
    return false;
}

bool ahead_frames(ahead *a, uint64_t addr, machsym_frame *frames, size_t cap, size_t *count, size_t *sharing)
{
    size_t at;
    pthread_mutex_lock(&a->lock);
    bool is_there = ahead_find(a, addr, &at);
    if (is_there)
        a->first = at + 1;
    is_there = is_there && at >= a->end;
    while (is_there && !a->answers[at].is_done)
        pthread_cond_wait(&a->done, &a->lock);
    pthread_mutex_unlock(&a->lock);
    if (!is_there || a->answers[at].has_failed || (sharing != NULL) != a->asks_sharing)
        return false;
    const ahead_answer *answer = &a->answers[at];
    *count = answer->count < cap ? answer->count : cap;
    memcpy(frames, answer->frames, *count * sizeof *frames);
    if (sharing != NULL)
        *sharing = answer->sharing;
    return true;
}

void ahead_end(ahead *a)
{
    if (a == NULL)
        return;
    pthread_mutex_lock(&a->lock);
    a->first = a->count;
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    ahead_free(a);
}
