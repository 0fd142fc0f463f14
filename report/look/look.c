/* Lookups for a whole report; see look.h. */
#include "look.h"
#include "../base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { LOOK_MAX_FRAMES = MACHSYM_MAX_INLINE_DEPTH + 1 };

/* One lookup to do. */
typedef struct look_task {
    uint64_t addr;
    uint32_t frame;
    bool exact;
} look_task;

static int look_by_addr(const void *a, const void *b)
{
    const look_task *x = (const look_task *)a;
    const look_task *y = (const look_task *)b;
    MACHSYM_COUNT_WORK(1);
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    if (x->exact != y->exact)
        return x->exact ? -1 : 1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* A register, with the image that its value points into. */
typedef struct look_register {
    uint32_t image;
    uint32_t index;
} look_register;

/* The lookups of one report. */
typedef struct looking {
    report *r;
    const look_symbols *symbols;
    const look_options *how;
    const char *failure;      /* why the report must not be written; NULL: it may be */
    look_register *registers; /* of all threads, by image */
    uint32_t next_register;
    bool *shared; /* for each frame: whether several functions share its code */
} looking;

/* ---- Limits ---- */

/* Counts bytes that JSON, HTML or terminals write as others: all but printable ASCII, and " \ & < >. The loop
 * has a fixed length, and bytes of its own, so that compilers vectorize it. */
enum { ODD_BLOCK = 16, ODD_BLOCKS = 255 }; /* a byte can count the blocks */

static void look_count_odd(const char *block, uint8_t *counts)
{
    uint8_t bytes[ODD_BLOCK];
    uint8_t sums[ODD_BLOCK];
    memcpy(bytes, block, sizeof bytes);
    memcpy(sums, counts, sizeof sums);
    for (unsigned i = 0; i < ODD_BLOCK; i++) {
        uint8_t c = bytes[i];
        bool is_plain = (uint8_t)(c - ' ') < 0x5f;
        sums[i] += (uint8_t)(!is_plain | (c == '"') | (c == '\\') | (c == '&') | ((c | 2) == '>'));
    }
    memcpy(counts, sums, sizeof sums);
}

/* Upper bound for the bytes of a text as JSON, as HTML or with escapes: at most six for each byte. */
static uint64_t look_written_size(machsym_str s)
{
    uint64_t odd = 0;
    for (size_t at = 0; at < s.len;) {
        uint8_t counts[ODD_BLOCK] = {0};
        unsigned blocks = 0;
        for (; s.len - at >= ODD_BLOCK && blocks + 1 < ODD_BLOCKS; at += ODD_BLOCK, blocks++)
            look_count_odd(s.ptr + at, counts);
        if (s.len - at < ODD_BLOCK) {
            char last[ODD_BLOCK];
            memset(last, ' ', sizeof last);
            memcpy(last, s.ptr + at, s.len - at);
            look_count_odd(last, counts);
            at = s.len;
        }
        for (unsigned i = 0; i < ODD_BLOCK; i++)
            odd += counts[i];
    }
    MACHSYM_COUNT_WORK(s.len / 64);
    return s.len + 5 * odd;
}

/* Bytes around a call: the record itself, numbers, names of members, the name of the image. */
enum { CALL_COST = 512 };

static uint64_t look_call_cost(const report_call *call)
{
    return CALL_COST + look_written_size(call->link) + look_written_size(call->context) +
           look_written_size(call->name) + 2 * look_written_size(call->path) + look_written_size(call->owner);
}

/* Lines and objects of inlined calls begin as their frame does. */
static uint64_t look_frame_cost(const report_frame *frame, const report_call *call)
{
    bool is_copied = call->is_inline && frame->form != FORM_METRIC;
    return call->cost + (is_copied ? frame->end - frame->at : 0);
}

static void look_spend(looking *w, uint64_t bytes)
{
    const char *why = w->symbols->spend(w->symbols->asked.context, bytes);
    w->failure = w->failure != NULL ? w->failure : why;
}

static bool look_in_time(looking *w)
{
    if (w->failure == NULL)
        w->failure = w->symbols->is_late(w->symbols->asked.context);
    return w->failure == NULL;
}

static void look_fail(looking *w, const char *why)
{
    if (w->failure == NULL && why != NULL)
        w->failure = pool_copy_z(&w->r->strings, why, strlen(why));
}

/* ---- Lookups ---- */

uint64_t look_text_base(uint64_t base, bool is_text_exec, uint64_t text_addr, uint64_t text_exec_addr)
{
    return is_text_exec && text_exec_addr != 0 ? base + text_addr - text_exec_addr : base;
}

bool look_text_holds(uint64_t addr, bool is_text_exec, uint64_t text_addr, uint64_t text_size)
{
    return is_text_exec || text_size == 0 || addr - text_addr < text_size;
}

machsym_str look_keep(report *r, const redactor *redact, text *t)
{
    text plain = text_in(r->memory);
    text *shown = t;
    if (redact != NULL) {
        redact_users(redact, str_make(t->v, t->len), &plain);
        shown = &plain;
    }
    machsym_str kept = pool_copy(&r->strings, shown->v, shown->len);
    text_free(&plain);
    t->len = 0;
    return kept;
}

/* The path of the found file is shown like any other path. */
static void look_redact_status(looking *w, image_status *status)
{
    text plain = text_in(w->r->memory);
    if (w->how->redact == NULL || status->path == NULL)
        return;
    redact_users(w->how->redact, str_c(status->path), &plain);
    status->path = pool_copy_z(&w->r->strings, plain.v, plain.len);
    text_free(&plain);
}

static bool look_has_line(const machsym_frame *frame)
{
    return frame->line_source != MACHSYM_SOURCE_NONE && frame->file.name.len != 0;
}

static void look_add_call(looking *w, const machsym_frame *from, uint64_t file_addr, text *t)
{
    const look_symbols *symbols = w->symbols;
    report_call *call = report_add_call(w->r);
    symbols->asked.put_name(symbols->asked.context, from, t);
    call->name = look_keep(w->r, w->how->redact, t);
    symbols->set_place(symbols->asked.context, from, file_addr, call, t);
    call->has_line = look_has_line(from);
    if (call->has_line && symbols->set_source != NULL)
        symbols->set_source(symbols->asked.context, str_make(t->v, t->len), call);
    call->path = look_keep(w->r, w->how->redact, t);
    call->offset = file_addr - from->function_start;
    call->is_inline = from->is_inline;
    call->lacks_callers = from->lacks_callers;
    call->name_source = from->name_source;
    call->line_source = from->line_source;
    call->cost = look_call_cost(call);
}

/* Looks up the calls of one address, innermost first. Returns how many; 0 if the real function has no
 * name. */
static uint32_t look_add_calls(looking *w, const report_frame *frame, const machsym_frame *frames,
                               size_t count, uint64_t file_addr)
{
    const machsym_frame *real = &frames[count - 1];
    text t = text_in(w->r->memory);
    uint32_t added = 0;
    if (real->linkage_name.len == 0 && real->name.len == 0)
        return 0;
    for (size_t i = w->how->no_inline ? count - 1 : 0; i < count && w->failure == NULL; i++) {
        look_add_call(w, &frames[i], file_addr, &t);
        look_spend(w, look_frame_cost(frame, &w->r->calls[w->r->call_count - 1]));
        added++;
    }
    text_free(&t);
    return added;
}

/* A name that the device took from exported symbols is replaced only by a better one. */
static bool look_is_better(const report_frame *frame, const report_call *real)
{
    return frame->named != NAME_WEAK || real->has_line || real->name_source == MACHSYM_SOURCE_DWARF ||
           real->name_source == MACHSYM_SOURCE_SYMTAB;
}

/* Looks up one frame. Returns whether several functions share its code. */
static bool look_task_frame(looking *w, const look_task *task)
{
    machsym_frame frames[LOOK_MAX_FRAMES];
    report *r = w->r;
    const report_image *image = &r->images[r->frames[task->frame].image];
    report_frame *frame = &r->frames[task->frame];
    void *context = w->symbols->asked.context;
    uint64_t file_addr = w->symbols->addr(context, image, frame->addr);
    size_t sharing = 1;
    if (w->symbols->asks != NULL)
        w->symbols->asks(context, r, task->frame);
    size_t count = w->symbols->frames(context, file_addr - !task->exact, frames, LOOK_MAX_FRAMES,
                                      w->how->no_folded ? NULL : &sharing);
    look_fail(w, w->symbols->lacks(context));
    uint32_t first = r->call_count;
    uint32_t added = count > 0 ? look_add_calls(w, frame, frames, count, file_addr) : 0;
    if (added > 0 && look_is_better(frame, &r->calls[r->call_count - 1])) {
        frame->call = first;
        frame->call_count = added;
    }
    return sharing > 1 && frame->call_count > 0;
}

/* Copies the answer of the frame before, which has the same address. */
static void look_take_same(looking *w, report_frame *frame, const report_frame *before)
{
    frame->call = before->call;
    frame->call_count = before->call_count;
    for (uint32_t i = 0; i < frame->call_count; i++)
        look_spend(w, look_frame_cost(frame, &w->r->calls[frame->call + i]));
}

/* Looks up the values of registers, but only in images whose frames are looked up, so that no more files are
 * opened. lr holds a return address. */
static void look_registers(looking *w, uint32_t index)
{
    machsym_frame frames[LOOK_MAX_FRAMES];
    report *r = w->r;
    const report_image *image = &r->images[index];
    report_frame none;
    void *context = w->symbols->asked.context;
    memset(&none, 0, sizeof none);
    while (w->next_register < r->register_count && w->registers[w->next_register].image < index)
        w->next_register++;
    for (; w->next_register < r->register_count && w->registers[w->next_register].image == index &&
           look_in_time(w);
         w->next_register++) {
        report_register *one = &r->registers[w->registers[w->next_register].index];
        uint64_t addr = report_plain_addr(r, one->value);
        if (image->is_open && !w->symbols->holds(context, image, addr)) {
            one->image = REPORT_NONE;
            continue;
        }
        uint64_t file_addr = w->symbols->addr(context, image, addr);
        size_t count =
            w->symbols->frames(context, file_addr - str_is(one->name, "lr"), frames, LOOK_MAX_FRAMES, NULL);
        one->call = r->call_count;
        one->call_count = count > 0 ? look_add_calls(w, &none, frames, count, file_addr) : 0;
    }
}

/* ---- Functions that share their code ---- */

/* A run of frames of a stack, the innermost first. All but the last share their code. The last is their
 * caller, or shares its code, too. */
typedef struct look_run {
    machsym_stack_addr *pcs;
    machsym_stack_answer *calls;
    machsym_frame *frames;
    size_t cap; /* of pcs and calls */
    size_t frame_cap;
    size_t count;
} look_run;

/* Whether the next outer frame called this one, as far as the report knows. */
static bool look_calls(const report *r, uint32_t inner, uint32_t outer)
{
    const report_frame *a = &r->frames[inner];
    const report_frame *b = &r->frames[outer];
    return a->thread == b->thread && a->image == b->image && !a->given_inline && !b->given_inline &&
           a->depth == 0 && b->depth == 0 && r->threads[a->thread].path == 0;
}

/* Looks up the frames of a run, from `first` on. */
static void look_look_up_run(looking *w, look_run *run, uint32_t first, int step)
{
    const report *r = w->r;
    void *context = w->symbols->asked.context;
    if (run->count > run->cap) {
        run->cap = run->count * 2;
        run->pcs = (machsym_stack_addr *)mem_resize(r->memory, run->pcs,
                                                    mem_times(r->memory, run->cap, sizeof *run->pcs));
        run->calls = (machsym_stack_answer *)mem_resize(r->memory, run->calls,
                                                        mem_times(r->memory, run->cap, sizeof *run->calls));
    }
    for (size_t i = 0; i < run->count; i++) {
        const report_frame *frame = &r->frames[(int64_t)first + step * (int64_t)i];
        const report_image *image = &r->images[frame->image];
        run->pcs[i].addr = w->symbols->addr(context, image, frame->addr);
        run->pcs[i].is_return = !frame->exact && !w->how->raw_addresses;
    }
    size_t total;
    if (w->symbols->asks != NULL)
        w->symbols->asks(context, r, first);
    while ((total = w->symbols->stack(context, run->pcs, run->count, run->calls, run->frames,
                                      run->frame_cap)) > run->frame_cap) {
        run->frames = (machsym_frame *)mem_resize(r->memory, run->frames,
                                                  mem_times(r->memory, total, sizeof *run->frames));
        run->frame_cap = total;
    }
}

/* Gives a frame the function that its caller called. */
static void look_set_decided(looking *w, report_frame *frame, const machsym_frame *frames, size_t count,
                             uint64_t file_addr)
{
    uint32_t first = w->r->call_count;
    bool fits = count > 0 && count <= LOOK_MAX_FRAMES;
    uint32_t added = fits ? look_add_calls(w, frame, frames, count, file_addr) : 0;
    if (added == 0)
        return;
    frame->call = first;
    frame->call_count = added;
    w->r->calls[first + added - 1].is_decided = true;
}

/* Lists the other functions that a frame may be in. */
static void look_set_others(looking *w, const report_frame *frame, const machsym_frame *own, uint64_t lookup)
{
    report_call *call = &w->r->calls[frame->call + frame->call_count - 1];
    shared_list list;
    text names = text_in(w->r->memory);
    if (call->other_count > 0)
        return;
    memset(&list, 0, sizeof list);
    list.names = text_in(w->r->memory);
    shared_find(&w->symbols->asked, lookup, own, &list);
    for (size_t i = 0; i < list.count; i++) {
        if (list.v[i].is_namesake || memchr(list.v[i].shown.ptr, 0, list.v[i].shown.len) != NULL)
            continue;
        text_str(&names, list.v[i].shown);
        text_char(&names, '\0');
        call->other_count++;
    }
    call->others = pool_copy(&w->r->strings, names.v, names.len);
    call->cost += look_written_size(call->others);
    look_spend(w, look_frame_cost(frame, call));
    text_free(&names);
    shared_free(&list);
}

/* Resolves the frames of a run. */
static void look_settle_run(looking *w, const look_run *run, uint32_t first, int step)
{
    for (size_t i = 0; i < run->count && w->failure == NULL; i++) {
        uint32_t index = (uint32_t)((int64_t)first + step * (int64_t)i);
        const machsym_stack_answer *call = &run->calls[i];
        if (!w->shared[index] || call->count == 0)
            continue;
        const machsym_frame *frames = run->frames + call->first;
        w->shared[index] = false; /* done */
        if (call->is_decided)
            look_set_decided(w, &w->r->frames[index], frames, call->count, run->pcs[i].addr);
        else
            look_set_others(w, &w->r->frames[index], &frames[call->count - 1],
                            run->pcs[i].addr - run->pcs[i].is_return);
    }
}

/* Resolves an image's frames that share their code: if the caller does not decide, all candidates are
 * listed. */
static void look_shared(looking *w, uint32_t image)
{
    report *r = w->r;
    look_run run;
    memset(&run, 0, sizeof run);
    for (uint32_t i = 0; i < r->frame_count && look_in_time(w); i++) {
        bool callers_first = r->threads[r->frames[i].thread].callers_first;
        int step = callers_first ? -1 : 1;
        uint32_t first = i;
        if (!w->shared[i] || r->frames[i].image != image)
            continue;
        while (callers_first && first + 1 < r->frame_count && w->shared[first + 1] &&
               look_calls(r, first + 1, first))
            first++;
        int64_t last = first;
        while (last + step >= 0 && last + step < r->frame_count && w->shared[last] &&
               look_calls(r, (uint32_t)last, (uint32_t)(last + step)))
            last += step;
        run.count = (size_t)(last > first ? last - first : first - last) + 1;
        look_look_up_run(w, &run, first, step);
        look_settle_run(w, &run, first, step);
    }
    mem_give(w->r->memory, run.pcs);
    mem_give(w->r->memory, run.calls);
    mem_give(w->r->memory, run.frames);
}

/* Whether a frame has the address of the one before it, and takes its answer. */
static bool look_is_same(const looking *w, const look_task *tasks, size_t i)
{
    const report *r = w->r;
    return i > 0 && w->symbols->asks == NULL && tasks[i].addr == tasks[i - 1].addr &&
           tasks[i].exact == tasks[i - 1].exact &&
           r->frames[tasks[i - 1].frame].named == r->frames[tasks[i].frame].named;
}

/* Tells which addresses will be asked for. */
static void look_tell_ahead(looking *w, const report_image *image, const look_task *tasks, size_t count)
{
    const report *r = w->r;
    void *context = w->symbols->asked.context;
    size_t told = 0;
    if (w->symbols->ahead == NULL)
        return;
    uint64_t *addrs = (uint64_t *)mem_take(r->memory, mem_times(r->memory, count, sizeof *addrs));
    for (size_t i = 0; i < count; i++) {
        uint64_t addr = r->frames[tasks[i].frame].addr;
        if (!look_is_same(w, tasks, i) && (!image->is_open || w->symbols->holds(context, image, addr)))
            addrs[told++] = w->symbols->addr(context, image, addr) - !tasks[i].exact;
    }
    w->symbols->ahead(context, addrs, told, !w->how->no_folded);
    mem_give(r->memory, addrs);
}

/* Looks up the frames of one image by address: neighbours share decoded data. */
static void look_image(looking *w, uint32_t index, look_task *tasks, size_t count)
{
    report *r = w->r;
    report_image *image = &r->images[index];
    void *context = w->symbols->asked.context;
    image->looked_for = true;
    bool found = w->symbols->find(context, image, &image->status);
    look_redact_status(w, &image->status);
    look_fail(w, w->symbols->lacks(context));
    if (!found)
        return;
    bool has_shared = false;
    qsort(tasks, count, sizeof *tasks, look_by_addr);
    look_tell_ahead(w, image, tasks, count);
    for (size_t i = 0; i < count && look_in_time(w); i++) {
        const report_frame *before = i > 0 ? &r->frames[tasks[i - 1].frame] : NULL;
        report_frame *frame = &r->frames[tasks[i].frame];
        if (image->is_open && !w->symbols->holds(context, image, frame->addr))
            frame->image = REPORT_NONE;
        else if (look_is_same(w, tasks, i))
            look_take_same(w, frame, before);
        else
            w->shared[tasks[i].frame] = look_task_frame(w, &tasks[i]);
        if (before != NULL && frame->call_count > 0 && frame->call == before->call)
            w->shared[tasks[i].frame] = w->shared[tasks[i - 1].frame];
        has_shared |= w->shared[tasks[i].frame];
    }
    if (has_shared)
        look_shared(w, index);
    look_registers(w, index);
    w->symbols->leave(context);
    look_fail(w, w->symbols->lacks(context));
}

/* A frame below a signal handler was interrupted, not called. */
static void look_mark_interrupted(report *r)
{
    for (uint32_t i = 1; i < r->frame_count; i++) {
        uint32_t handler = r->threads[r->frames[i].thread].callers_first ? i : i - 1;
        uint32_t below = r->threads[r->frames[i].thread].callers_first ? i - 1 : i;
        if (r->frames[handler].thread == r->frames[below].thread &&
            str_is(r->frames[handler].name, "_sigtramp"))
            r->frames[below].exact = true;
    }
}

static bool look_is_inlined_in(const report_frame *inlined, const report_frame *frame)
{
    return inlined->given_inline && inlined->thread == frame->thread && inlined->addr == frame->addr;
}

/* A call that does not return may be the last instruction of its function. Tools that look up return
 * addresses unchanged, as Apple's do, then name the next function. Debug info knows better. */
static void look_doubt_next_functions(report *r)
{
    for (uint32_t i = 0; i < r->frame_count; i++) {
        report_frame *frame = &r->frames[i];
        if (!frame->given_start || frame->exact || frame->given_inline || frame->named != NAME_GIVEN)
            continue;
        bool has_inlined = (i > 0 && look_is_inlined_in(frame - 1, frame)) ||
                           (i + 1 < r->frame_count && look_is_inlined_in(frame + 1, frame));
        if (!has_inlined)
            frame->named = NAME_WEAK;
    }
}

static bool look_needs_lookup(const report *r, const report_frame *frame, const look_options *how)
{
    if (frame->image == REPORT_NONE || (frame->named == NAME_GIVEN && !how->all) || frame->given_inline)
        return false;
    if (frame->form == FORM_METRIC && frame->named == NAME_GIVEN)
        return false; /* only this tool puts names into MetricKit frames */
    const report_image *image = &r->images[frame->image];
    return image->has_uuid || image->name.len > 0;
}

static look_task look_task_of(const report_frame *frame, uint32_t index, const look_options *how)
{
    look_task task = {frame->addr, index, frame->exact || how->raw_addresses};
    return task;
}

/* Does all lookups, grouped by image. *starts receives where the lookups of each image begin, and then the
 * end of all. */
static look_task *look_collect_tasks(const report *r, const look_options *how, size_t *starts)
{
    look_task *tasks = (look_task *)mem_take(r->memory, r->frame_count * sizeof *tasks);
    memset(starts, 0, ((size_t)r->image_count + 2) * sizeof *starts);
    for (uint32_t i = 0; i < r->frame_count; i++) {
        if (look_needs_lookup(r, &r->frames[i], how))
            starts[r->frames[i].image + 2]++;
    }
    for (uint32_t i = 0; i < r->image_count; i++)
        starts[i + 2] += starts[i + 1];
    for (uint32_t i = 0; i < r->frame_count; i++) {
        const report_frame *frame = &r->frames[i];
        if (look_needs_lookup(r, frame, how))
            tasks[starts[frame->image + 1]++] = look_task_of(frame, i, how);
    }
    return tasks;
}

static int look_by_image(const void *a, const void *b)
{
    const look_register *x = (const look_register *)a;
    const look_register *y = (const look_register *)b;
    if (x->image != y->image)
        return x->image < y->image ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static look_register *look_sort_registers(const report *r)
{
    look_register *v = (look_register *)mem_take(r->memory, r->register_count * sizeof *v);
    for (uint32_t i = 0; i < r->register_count; i++) {
        v[i].image = r->registers[i].image;
        v[i].index = i;
    }
    if (r->register_count > 1)
        qsort(v, r->register_count, sizeof *v, look_by_image);
    return v;
}

const char *look_report(report *r, const look_symbols *symbols, const look_options *how,
                        resolve_counts *counts)
{
    looking w;
    memset(&w, 0, sizeof w);
    w.r = r;
    w.symbols = symbols;
    w.how = how;
    size_t *starts = (size_t *)mem_take(r->memory, ((size_t)r->image_count + 2) * sizeof *starts);
    w.registers = look_sort_registers(r);
    look_mark_interrupted(r);
    if (!how->raw_addresses)
        look_doubt_next_functions(r);
    look_task *tasks = look_collect_tasks(r, how, starts);
    w.shared = (bool *)mem_take(r->memory, r->frame_count * sizeof *w.shared);
    memset(w.shared, 0, r->frame_count * sizeof *w.shared);
    for (uint32_t i = 0; i < r->image_count && look_in_time(&w); i++) {
        if (starts[i] < starts[i + 1])
            look_image(&w, i, tasks + starts[i], starts[i + 1] - starts[i]);
    }
    mem_give(r->memory, tasks);
    mem_give(r->memory, starts);
    mem_give(r->memory, w.shared);
    mem_give(r->memory, w.registers);
    report_count_frames(r, counts);
    return w.failure;
}
