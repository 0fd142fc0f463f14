/* machsym atos --stack; see trace.h. */
#include "trace.h"
#include "../../../report/base/digits.h"
#include "../../../report/base/memory.h"
#include "../../symbols/source.h"

#include <stdlib.h>
#include <string.h>

/* Neighbours on the stack that one file answers. */
typedef struct trace_run {
    machsym_stack_addr *pcs;
    machsym_stack_answer *calls;
    machsym_frame *frames;
    size_t cap; /* of frames */
    size_t count;
} trace_run;

/* Looks a run up, with as much room for frames as it needs. */
static void trace_look_up(trace_run *run, symbol_source *source)
{
    size_t total;
    while ((total = symbol_source_stack(source, run->pcs, run->count, run->calls, run->frames, run->cap)) >
           run->cap) {
        run->frames = mem_grow(run->frames, mem_product(total, sizeof *run->frames));
        run->cap = total;
    }
}

/* Prints one address of a run. */
static void trace_print(atos *a, text *out, const trace_run *run, size_t index, target *t,
                        const machsym_str *word)
{
    const machsym_stack_answer *call = &run->calls[index];
    token asked = {.len = word->len};
    finding found = {t, run->pcs[index].addr - run->pcs[index].is_return, call->count};
    found.count = found.count < MAX_FRAMES ? found.count : MAX_FRAMES;
    memcpy(a->frames, run->frames + call->first, found.count * sizeof *a->frames);
    asked.is_number = parse_hex(word->ptr, word->len, &asked.number);
    a->is_decided = call->is_decided;
    answer_settle(a, &found, &asked);
    answer_print(a, out, &found, &asked, word->ptr);
}

void trace_answer(atos *a, text *out, const machsym_str *words, size_t count)
{
    target **targets = mem_alloc(mem_product(count, sizeof *targets));
    trace_run run = {0};
    run.pcs = mem_alloc(mem_product(count, sizeof *run.pcs));
    run.calls = mem_alloc(mem_product(count, sizeof *run.calls));
    for (size_t i = 0; i < count; i++) {
        uint64_t number;
        run.pcs[i] = (machsym_stack_addr){0, i > 0};
        targets[i] = parse_hex(words[i].ptr, words[i].len, &number)
                         ? answer_target_of(a, number, &run.pcs[i].addr)
                         : NULL;
    }
    machsym_stack_addr *pcs = run.pcs;
    machsym_stack_answer *calls = run.calls;
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && targets[end] == targets[first];)
            end++;
        run.pcs = pcs + first;
        run.calls = calls + first;
        run.count = end - first;
        if (targets[first] != NULL)
            trace_look_up(&run, targets[first]->source);
        for (size_t i = 0; i < run.count; i++) {
            token word = {.len = words[first + i].len};
            finding none = {NULL, 0, 0};
            if (targets[first] != NULL)
                trace_print(a, out, &run, i, targets[first], &words[first + i]);
            else
                answer_print(a, out, &none, &word, words[first + i].ptr);
            a->unresolved |= targets[first] == NULL;
        }
    }
    free(targets);
    free(pcs);
    free(calls);
    free(run.frames);
}
