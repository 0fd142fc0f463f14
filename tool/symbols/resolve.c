/* Lookups for a whole report; see resolve.h. */
#include "resolve.h"
#include "../../report/base/memory.h"
#include "../../report/base/text.h"
#include "../../report/model/status.h"
#include "../base/machine.h"
#include "folded.h"
#include "frames.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RESOLVE_MAX_FRAMES = MACHSYM_MAX_INLINE_DEPTH + 1 };

/* One lookup still to be done. */
typedef struct resolve_task {
    uint64_t addr;
    uint32_t frame;
    bool exact;
} resolve_task;

static int resolve_by_addr(const void *a, const void *b)
{
    const resolve_task *x = a;
    const resolve_task *y = b;
    MACHSYM_COUNT_WORK(1);
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    if (x->exact != y->exact)
        return x->exact ? -1 : 1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* ---- Limits ---- */

/* A register, by the image that it points into. */
typedef struct resolve_register {
    uint32_t image;
    uint32_t index;
} resolve_register;

/* The lookups of one report. */
typedef struct resolving {
    bool is_unread;
    bool is_unreached;
    report *r;
    image_pool *all;
    const resolve_options *how;
    resolve_budget left;
    context_cache source;
    resolve_register *registers; /* of all threads, by image */
    uint32_t next_register;
    bool *shared; /* by frame: several functions share its code */
} resolving;

/* Bytes that are written with others in JSON, in HTML or on a terminal: what is no printable ASCII, and
 * " \ & < >. Compilers make vector instructions of the loop, since it has a fixed length. */
enum { ODD_BLOCK = 16, ODD_BLOCKS = 255 }; /* a byte can count the blocks */

static void resolve_count_odd(const char *restrict block, uint8_t *restrict counts)
{
    for (unsigned i = 0; i < ODD_BLOCK; i++) {
        uint8_t c = (uint8_t)block[i];
        bool is_plain = (uint8_t)(c - ' ') < 0x5f;
        counts[i] += (uint8_t)(!is_plain | (c == '"') | (c == '\\') | (c == '&') | ((c | 2) == '>'));
    }
}

/* Bytes of a text as JSON, as HTML or with escapes: at most six for one. */
static uint64_t resolve_written_size(machsym_str s)
{
    uint64_t odd = 0;
    for (size_t at = 0; at < s.len;) {
        uint8_t counts[ODD_BLOCK] = {0};
        unsigned blocks = 0;
        for (; s.len - at >= ODD_BLOCK && blocks + 1 < ODD_BLOCKS; at += ODD_BLOCK, blocks++)
            resolve_count_odd(s.ptr + at, counts);
        if (s.len - at < ODD_BLOCK) {
            char last[ODD_BLOCK];
            memset(last, ' ', sizeof last);
            memcpy(last, s.ptr + at, s.len - at);
            resolve_count_odd(last, counts);
            at = s.len;
        }
        for (unsigned i = 0; i < ODD_BLOCK; i++)
            odd += counts[i];
    }
    MACHSYM_COUNT_WORK(s.len / 64);
    return s.len + 5 * odd;
}

/* What stands around a call: the record itself, numbers, the names of members, the name of the image. */
enum { CALL_COST = 512 };

static uint64_t resolve_call_cost(const report_call *call)
{
    return CALL_COST + resolve_written_size(call->link) + resolve_written_size(call->context) +
           resolve_written_size(call->name) + 2 * resolve_written_size(call->path) +
           resolve_written_size(call->owner);
}

/* Lines and objects of inlined calls begin as their frame's does. */
static uint64_t resolve_frame_cost(const report_frame *frame, const report_call *call)
{
    bool is_copied = call->is_inline && frame->form != FORM_METRIC;
    return call->cost + (is_copied ? frame->end - frame->at : 0);
}

void resolve_budget_begin(resolve_budget *left, const resolve_limit *limit, size_t input_len)
{
    double usual = RESOLVE_BYTES + (double)RESOLVE_FACTOR * (double)input_len;
    left->bytes = limit->bytes > 0 ? limit->bytes : usual;
    left->deadline = limit->seconds > 0 ? machine_seconds() + limit->seconds : 0;
    left->failure = NULL;
}

bool resolve_budget_spend(resolve_budget *left, uint64_t bytes)
{
    left->bytes -= (double)bytes;
    if (left->bytes < 0 && left->failure == NULL)
        left->failure = "its names take more memory than is allowed; --limit=SECONDS,MEGABYTES allows more";
    return left->failure == NULL;
}

bool resolve_budget_in_time(resolve_budget *left)
{
    if (left->deadline > 0 && left->failure == NULL && machine_seconds() > left->deadline)
        left->failure = "its lookups took longer than is allowed; --limit=SECONDS allows more";
    return left->failure == NULL;
}

/* ---- Lookups ---- */

/* Moves a name or path into the report's memory. */
static machsym_str resolve_keep_part(resolving *w, text *t)
{
    text plain = {0};
    text *shown = t;
    if (w->how->redact != NULL) {
        redact_users(w->how->redact, (machsym_str){t->v, t->len}, &plain);
        shown = &plain;
    }
    machsym_str kept = pool_copy(&w->r->strings, shown->v, shown->len);
    text_free(&plain);
    t->len = 0;
    return kept;
}

/* The file that was found is shown like any other path. */
static void resolve_redact_status(resolving *w, image_status *status)
{
    text plain = {0};
    if (w->how->redact == NULL || status->path == NULL)
        return;
    redact_users(w->how->redact, str_c(status->path), &plain);
    status->path = pool_copy_z(&w->r->strings, plain.v, plain.len);
    text_free(&plain);
}

/* The frame's path, and its line and column: of the C# that il2cpp made it from where that is known. */
static void resolve_set_place(const resolving *w, const machsym_frame *from, report_call *call, text *t)
{
    machsym_str path;
    uint32_t line;
    call->line = from->line;
    call->column = from->column;
    text_path(t, &from->file);
    if (w->how->csharp == NULL ||
        !line_map_find(w->how->csharp, (machsym_str){t->v, t->len}, from->line, &path, &line))
        return;
    t->len = 0;
    text_str(t, path);
    call->line = line;
    call->column = 0;
}

/* What leads to the line, and what stands there. */
static void resolve_add_source(resolving *w, machsym_str path, report_call *call)
{
    const resolve_options *how = w->how;
    text t = {0};
    if (links_put(&how->links, w->r, path, call->line, call->column, &t))
        call->link = resolve_keep_part(w, &t);
    if (how->sources.folder != NULL &&
        context_find(&how->sources, path, call->line, &w->source, &t, &call->context_first))
        call->context = resolve_keep_part(w, &t);
    text_free(&t);
}

static void resolve_add_call(resolving *w, const image_loan *loan, const machsym_frame *from,
                             uint64_t file_addr, const frame_style *style, text *t)
{
    report *r = w->r;
    report_call *call = report_add_call(r);
    frame_put_name(t, from, style);
    call->name = resolve_keep_part(w, t);
    resolve_set_place(w, from, call, t);
    if (frame_has_line(from))
        resolve_add_source(w, str_make(t->v, t->len), call);
    call->path = resolve_keep_part(w, t);
    machsym_str owner = loan_owner(loan, file_addr, from);
    call->owner = pool_copy(&r->strings, owner.ptr, owner.len);
    call->has_line = frame_has_line(from);
    call->offset = file_addr - from->function_start;
    call->is_inline = from->is_inline;
    call->lacks_callers = from->lacks_callers;
    call->name_source = from->name_source;
    call->line_source = from->line_source;
    call->cost = resolve_call_cost(call);
}

/* What chunks would have said is not known, so the whole report would be another one. */
static void resolve_fail_unreached(resolving *w, const char *why)
{
    if (w->left.failure == NULL)
        w->left.failure = pool_copy_z(&w->r->strings, why, strlen(why));
    w->is_unreached = true;
}

/* Nor is what a file says that could not be read. */
static void resolve_fail_unread(resolving *w, const char *why)
{
    text t = {0};
    text_c(&t, symbol_unread);
    text_c(&t, why);
    if (w->left.failure == NULL)
        w->left.failure = pool_copy_z(&w->r->strings, t.v, t.len);
    w->is_unread = true;
    text_free(&t);
}

/* The calls of one address, innermost first. Returns how many; 0 when the real function has no name. */
static uint32_t resolve_add_calls(resolving *w, const image_loan *loan, const report_frame *frame,
                                  const machsym_frame *frames, size_t count, uint64_t file_addr)
{
    const machsym_frame *real = &frames[count - 1];
    frame_style style = w->how->style;
    text t = {0};
    uint32_t added = 0;
    style.source = loan_source(loan);
    if (real->linkage_name.len == 0 && real->name.len == 0)
        return 0;
    for (size_t i = w->how->no_inline ? count - 1 : 0; i < count && w->left.failure == NULL; i++) {
        resolve_add_call(w, loan, &frames[i], file_addr, &style, &t);
        resolve_budget_spend(&w->left, resolve_frame_cost(frame, &w->r->calls[w->r->call_count - 1]));
        added++;
    }
    text_free(&t);
    return added;
}

/* A name looked up on the device among exported symbols gives way only to a better one. */
static bool resolve_is_better(const report_frame *frame, const report_call *real)
{
    return frame->named != NAME_WEAK || real->has_line || real->name_source == MACHSYM_SOURCE_DWARF ||
           real->name_source == MACHSYM_SOURCE_SYMTAB;
}

/* Looks up one frame. Returns whether several functions share its code. */
static bool resolve_task_frame(resolving *w, const image_loan *loan, const resolve_task *task)
{
    machsym_frame frames[RESOLVE_MAX_FRAMES];
    report *r = w->r;
    const report_image *image = &r->images[r->frames[task->frame].image];
    report_frame *frame = &r->frames[task->frame];
    uint64_t file_addr;
    size_t sharing = 1;
    size_t count = w->how->no_folded
                       ? loan_frames(loan, image->base, image->is_text_exec, frame->addr, !task->exact,
                                     frames, RESOLVE_MAX_FRAMES, &file_addr)
                       : loan_shared_frames(loan, image->base, image->is_text_exec, frame->addr, !task->exact,
                                            frames, RESOLVE_MAX_FRAMES, &file_addr, &sharing);
    if (loan_failure(loan) != NULL)
        resolve_fail_unreached(w, loan_failure(loan));
    uint32_t first = r->call_count;
    uint32_t added = count > 0 ? resolve_add_calls(w, loan, frame, frames, count, file_addr) : 0;
    if (added > 0 && resolve_is_better(frame, &r->calls[r->call_count - 1])) {
        frame->call = first;
        frame->call_count = added;
    }
    return sharing > 1 && frame->call_count > 0;
}

/* Copies the answer of the frame before, which has the same address. */
static void resolve_take_same(resolving *w, report_frame *frame, const report_frame *before)
{
    frame->call = before->call;
    frame->call_count = before->call_count;
    for (uint32_t i = 0; i < frame->call_count; i++)
        resolve_budget_spend(&w->left, resolve_frame_cost(frame, &w->r->calls[frame->call + i]));
}

/* What registers point to that point into an image whose frames are looked up: others open no file. lr holds
 * a return address. */
static void resolve_registers(resolving *w, const image_loan *loan, uint32_t index)
{
    machsym_frame frames[RESOLVE_MAX_FRAMES];
    report *r = w->r;
    const report_image *image = &r->images[index];
    static const report_frame none;
    uint64_t file_addr;
    while (w->next_register < r->register_count && w->registers[w->next_register].image < index)
        w->next_register++;
    for (; w->next_register < r->register_count && w->registers[w->next_register].image == index &&
           resolve_budget_in_time(&w->left);
         w->next_register++) {
        report_register *one = &r->registers[w->registers[w->next_register].index];
        uint64_t addr = report_plain_addr(r, one->value);
        if (image->is_open && !loan_holds(loan, image->base, image->is_text_exec, addr)) {
            one->image = REPORT_NONE;
            continue;
        }
        size_t count = loan_frames(loan, image->base, image->is_text_exec, addr, str_is(one->name, "lr"),
                                   frames, RESOLVE_MAX_FRAMES, &file_addr);
        one->call = r->call_count;
        one->call_count = count > 0 ? resolve_add_calls(w, loan, &none, frames, count, file_addr) : 0;
    }
}

/* ---- Functions that share their code ---- */

/* Frames of a stack one after the other, the innermost first. All but the last one share their code; the last
 * one is their caller, or shares it too. */
typedef struct resolve_run {
    machsym_pc *pcs;
    machsym_call *calls;
    machsym_frame *frames;
    size_t cap; /* of pcs and calls */
    size_t frame_cap;
    size_t count;
} resolve_run;

/* Whether a frame is called by the one that follows it outwards, as far as the report tells. */
static bool resolve_calls(const report *r, uint32_t inner, uint32_t outer)
{
    const report_frame *a = &r->frames[inner];
    const report_frame *b = &r->frames[outer];
    return a->thread == b->thread && a->image == b->image && !a->given_inline && !b->given_inline &&
           a->depth == 0 && b->depth == 0 && r->threads[a->thread].path == 0;
}

/* Looks up the frames of a run from first on. */
static void resolve_look_up_run(resolving *w, const image_loan *loan, resolve_run *run, uint32_t first,
                                int step)
{
    const report *r = w->r;
    if (run->count > run->cap) {
        run->cap = run->count * 2;
        run->pcs = mem_grow(run->pcs, mem_product(run->cap, sizeof *run->pcs));
        run->calls = mem_grow(run->calls, mem_product(run->cap, sizeof *run->calls));
    }
    for (size_t i = 0; i < run->count; i++) {
        const report_frame *frame = &r->frames[(int64_t)first + step * (int64_t)i];
        const report_image *image = &r->images[frame->image];
        run->pcs[i].addr = loan_addr(loan, image->base, image->is_text_exec, frame->addr);
        run->pcs[i].is_return = !frame->exact && !w->how->raw_addresses;
    }
    size_t total;
    while ((total = symbol_source_stack(loan_source(loan), run->pcs, run->count, run->calls, run->frames,
                                        run->frame_cap)) > run->frame_cap) {
        run->frames = mem_grow(run->frames, mem_product(total, sizeof *run->frames));
        run->frame_cap = total;
    }
    loan_unhide(loan, run->frames, total);
}

/* Gives a frame the function that its caller means. */
static void resolve_set_decided(resolving *w, const image_loan *loan, report_frame *frame,
                                const machsym_frame *frames, size_t count, uint64_t file_addr)
{
    uint32_t first = w->r->call_count;
    bool fits = count > 0 && count <= RESOLVE_MAX_FRAMES;
    uint32_t added = fits ? resolve_add_calls(w, loan, frame, frames, count, file_addr) : 0;
    if (added == 0)
        return;
    frame->call = first;
    frame->call_count = added;
    w->r->calls[first + added - 1].is_decided = true;
}

/* Says which other functions a frame may be in. */
static void resolve_set_others(resolving *w, const image_loan *loan, const report_frame *frame,
                               const machsym_frame *own, uint64_t lookup)
{
    report_call *call = &w->r->calls[frame->call + frame->call_count - 1];
    folded_list list = {0};
    text names = {0};
    frame_style style = w->how->style;
    style.source = loan_source(loan);
    if (call->other_count > 0)
        return;
    folded_find(style.source, lookup, own, &style, &list);
    for (size_t i = 0; i < list.count; i++) {
        if (list.v[i].is_namesake || memchr(list.v[i].shown.ptr, 0, list.v[i].shown.len) != NULL)
            continue;
        text_str(&names, list.v[i].shown);
        text_char(&names, '\0');
        call->other_count++;
    }
    call->others = pool_copy(&w->r->strings, names.v, names.len);
    call->cost += resolve_written_size(call->others);
    resolve_budget_spend(&w->left, resolve_frame_cost(frame, call));
    text_free(&names);
    folded_free(&list);
}

/* Settles the frames of a run. */
static void resolve_settle_run(resolving *w, const image_loan *loan, const resolve_run *run, uint32_t first,
                               int step)
{
    for (size_t i = 0; i < run->count && w->left.failure == NULL; i++) {
        uint32_t index = (uint32_t)((int64_t)first + step * (int64_t)i);
        const machsym_call *call = &run->calls[i];
        const machsym_frame *frames = run->frames + call->first;
        if (!w->shared[index] || call->count == 0)
            continue;
        w->shared[index] = false; /* done */
        if (call->is_decided)
            resolve_set_decided(w, loan, &w->r->frames[index], frames, call->count, run->pcs[i].addr);
        else
            resolve_set_others(w, loan, &w->r->frames[index], &frames[call->count - 1],
                               run->pcs[i].addr - run->pcs[i].is_return);
    }
}

/* Of an image's frames that share their code: what their callers say, else all functions that they may be
 * in. */
static void resolve_shared(resolving *w, const image_loan *loan, uint32_t image)
{
    report *r = w->r;
    resolve_run run = {0};
    for (uint32_t i = 0; i < r->frame_count && resolve_budget_in_time(&w->left); i++) {
        bool callers_first = r->threads[r->frames[i].thread].callers_first;
        int step = callers_first ? -1 : 1;
        uint32_t first = i;
        if (!w->shared[i] || r->frames[i].image != image)
            continue;
        while (callers_first && first + 1 < r->frame_count && w->shared[first + 1] &&
               resolve_calls(r, first + 1, first))
            first++;
        int64_t last = first;
        while (last + step >= 0 && last + step < r->frame_count && w->shared[last] &&
               resolve_calls(r, (uint32_t)last, (uint32_t)(last + step)))
            last += step;
        run.count = (size_t)(last > first ? last - first : first - last) + 1;
        resolve_look_up_run(w, loan, &run, first, step);
        resolve_settle_run(w, loan, &run, first, step);
    }
    free(run.pcs);
    free(run.calls);
    free(run.frames);
}

/* Lookups of one image, by address: neighbours share what is decoded. */
static void resolve_image(resolving *w, uint32_t index, resolve_task *tasks, size_t count)
{
    report *r = w->r;
    report_image *image = &r->images[index];
    machsym_str file =
        image->path.len > 0 ? str_base_name(image->path) : image->name; /* the name may be a bundle's */
    image_key key = {image->uuid, image->has_uuid, image->is_named || w->how->no_uuid, image->arch, file};
    image_loan loan;
    image->looked_for = true;
    bool found = images_borrow(w->all, &key, &loan, &image->status);
    resolve_redact_status(w, &image->status);
    if (image->status.found == IMAGE_UNREACHED)
        resolve_fail_unreached(w, image->status.failure);
    if (image->status.unread != NULL)
        resolve_fail_unread(w, image->status.unread);
    if (!found)
        return;
    bool has_shared = false;
    qsort(tasks, count, sizeof *tasks, resolve_by_addr);
    for (size_t i = 0; i < count && resolve_budget_in_time(&w->left); i++) {
        const report_frame *before = i > 0 ? &r->frames[tasks[i - 1].frame] : NULL;
        report_frame *frame = &r->frames[tasks[i].frame];
        if (image->is_open && !loan_holds(&loan, image->base, image->is_text_exec, frame->addr))
            frame->image = REPORT_NONE;
        else if (before != NULL && tasks[i].addr == tasks[i - 1].addr &&
                 tasks[i].exact == tasks[i - 1].exact && before->named == frame->named)
            resolve_take_same(w, frame, before);
        else
            w->shared[tasks[i].frame] = resolve_task_frame(w, &loan, &tasks[i]);
        if (before != NULL && frame->call_count > 0 && frame->call == before->call)
            w->shared[tasks[i].frame] = w->shared[tasks[i - 1].frame];
        has_shared |= w->shared[tasks[i].frame];
    }
    if (has_shared)
        resolve_shared(w, &loan, index);
    resolve_registers(w, &loan, index);
    if (loan_lacked_memory(&loan))
        resolve_fail_unread(w, "memory ran out");
    images_return(w->all, &loan);
}

/* A frame below a signal handler was interrupted, not called. */
static void resolve_mark_interrupted(report *r)
{
    for (uint32_t i = 1; i < r->frame_count; i++) {
        uint32_t handler = r->threads[r->frames[i].thread].callers_first ? i : i - 1;
        uint32_t below = r->threads[r->frames[i].thread].callers_first ? i - 1 : i;
        if (r->frames[handler].thread == r->frames[below].thread &&
            str_is(r->frames[handler].name, "_sigtramp"))
            r->frames[below].exact = true;
    }
}

static bool resolve_is_inlined_in(const report_frame *inlined, const report_frame *frame)
{
    return inlined->given_inline && inlined->thread == frame->thread && inlined->addr == frame->addr;
}

/* A call that does not return may be the last of its function. Who looks return addresses up as they are, as
 * Apple does, then names the function after it: debug info knows better. */
static void resolve_doubt_next_functions(report *r)
{
    for (uint32_t i = 0; i < r->frame_count; i++) {
        report_frame *frame = &r->frames[i];
        if (!frame->given_start || frame->exact || frame->given_inline || frame->named != NAME_GIVEN)
            continue;
        bool has_inlined = (i > 0 && resolve_is_inlined_in(frame - 1, frame)) ||
                           (i + 1 < r->frame_count && resolve_is_inlined_in(frame + 1, frame));
        if (!has_inlined)
            frame->named = NAME_WEAK;
    }
}

static bool resolve_needs_lookup(const report *r, const report_frame *frame, const resolve_options *how)
{
    if (frame->image == REPORT_NONE || (frame->named == NAME_GIVEN && !how->all) || frame->given_inline)
        return false;
    if (frame->form == FORM_METRIC && frame->named == NAME_GIVEN)
        return false; /* only this tool gives MetricKit frames names */
    const report_image *image = &r->images[frame->image];
    return image->has_uuid || image->name.len > 0;
}

/* All lookups, those of an image together. *starts becomes where each image's begin, and after the last one
 * their end. */
static resolve_task *resolve_collect_tasks(const report *r, const resolve_options *how, size_t *starts)
{
    resolve_task *tasks = mem_alloc(r->frame_count * sizeof *tasks);
    memset(starts, 0, ((size_t)r->image_count + 2) * sizeof *starts);
    for (uint32_t i = 0; i < r->frame_count; i++) {
        if (resolve_needs_lookup(r, &r->frames[i], how))
            starts[r->frames[i].image + 2]++;
    }
    for (uint32_t i = 0; i < r->image_count; i++)
        starts[i + 2] += starts[i + 1];
    for (uint32_t i = 0; i < r->frame_count; i++) {
        const report_frame *frame = &r->frames[i];
        if (resolve_needs_lookup(r, frame, how))
            tasks[starts[frame->image + 1]++] =
                (resolve_task){frame->addr, i, frame->exact || how->raw_addresses};
    }
    return tasks;
}

static int resolve_by_image(const void *a, const void *b)
{
    const resolve_register *x = a;
    const resolve_register *y = b;
    if (x->image != y->image)
        return x->image < y->image ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static resolve_register *resolve_sort_registers(const report *r)
{
    resolve_register *v = mem_alloc(r->register_count * sizeof *v);
    for (uint32_t i = 0; i < r->register_count; i++)
        v[i] = (resolve_register){r->registers[i].image, i};
    if (r->register_count > 1)
        qsort(v, r->register_count, sizeof *v, resolve_by_image);
    return v;
}

const char *resolve_report(report *r, image_pool *all, const resolve_options *how, resolve_counts *counts)
{
    resolving w = {.r = r, .all = all, .how = how};
    resolve_budget own;
    resolve_budget *budget = how->shared != NULL ? how->shared : &own;
    size_t *starts = mem_alloc(((size_t)r->image_count + 2) * sizeof *starts);
    if (how->shared == NULL)
        resolve_budget_begin(budget, &how->limit, r->input.len);
    w.left = *budget;
    w.registers = resolve_sort_registers(r);
    resolve_mark_interrupted(r);
    if (!how->raw_addresses)
        resolve_doubt_next_functions(r);
    resolve_task *tasks = resolve_collect_tasks(r, how, starts);
    w.shared = mem_alloc(r->frame_count * sizeof *w.shared);
    memset(w.shared, 0, r->frame_count * sizeof *w.shared);
    for (uint32_t i = 0; i < r->image_count && resolve_budget_in_time(&w.left); i++) {
        if (starts[i] < starts[i + 1])
            resolve_image(&w, i, tasks + starts[i], starts[i + 1] - starts[i]);
    }
    free(tasks);
    free(starts);
    free(w.shared);
    free(w.registers);
    context_close(&w.source);
    report_count_frames(r, counts);
    counts->is_unreached = w.is_unreached;
    counts->is_unread = w.is_unread;
    *budget = w.left;
    return w.left.failure;
}
