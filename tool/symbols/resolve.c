/* Lookups for a whole report; see resolve.h. */
#include "resolve.h"
#include "../../report/base/memory.h"
#include "../../report/base/text.h"
#include "../../report/look/look.h"
#include "../../report/look/stackcheck.h"
#include "../base/machine.h"
#include "ahead.h"
#include "frames.h"

#include <string.h>

/* ---- Limits ---- */

void resolve_budget_begin(resolve_budget *left, const resolve_limit *limit, size_t input_len)
{
    double usual = (double)RESOLVE_BYTES + (double)RESOLVE_FACTOR * (double)input_len;
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

/* ---- Answers ---- */

/* The lookups of one report. */
typedef struct resolving {
    report *r;
    image_pool *all;
    const resolve_options *how;
    resolve_budget *left;
    image_loan loan; /* the image at hand */
    ahead *ahead;    /* a second thread that answers for it; NULL: there is none */
    frame_style style;
    context_cache source;
    text why; /* an answer is not all that there is; empty: it is */
    bool is_unread;
    bool is_unreached;
} resolving;

/* Notes that chunks could not be reached. What they hold is unknown, so the report fails as a whole. */
static void resolve_note_unreached(resolving *w, const char *why)
{
    if (w->why.len == 0)
        text_c(&w->why, why);
    w->is_unreached = true;
}

/* Notes that a file of symbols could not be read. */
static void resolve_note_unread(resolving *w, const char *why)
{
    if (w->why.len == 0) {
        text_c(&w->why, symbol_unread);
        text_c(&w->why, why);
    }
    w->is_unread = true;
}

static bool resolve_borrow(image_pool *all, const resolve_options *how, const report_image *image,
                           image_loan *loan, image_status *status)
{
    machsym_str file =
        image->path.len > 0 ? str_base_name(image->path) : image->name; /* the name may be a bundle's */
    image_key key = {image->uuid, image->has_uuid, image->is_named || how->no_uuid, false, image->arch, file};
    return images_borrow(all, &key, loan, status);
}

static bool resolve_find(void *context, const report_image *image, image_status *status)
{
    resolving *w = context;
    bool found = resolve_borrow(w->all, w->how, image, &w->loan, status);
    if (status->found == IMAGE_UNREACHED)
        resolve_note_unreached(w, status->failure);
    if (status->unread != NULL)
        resolve_note_unread(w, status->unread);
    if (found) {
        w->style = w->how->style;
        w->style.source = loan_source(&w->loan);
    }
    return found;
}

static void resolve_leave(void *context)
{
    resolving *w = context;
    ahead_end(w->ahead);
    w->ahead = NULL;
    if (loan_lacked_memory(&w->loan))
        resolve_note_unread(w, "memory ran out");
    images_return(w->all, &w->loan);
}

static bool resolve_holds(void *context, const report_image *image, uint64_t addr)
{
    const resolving *w = context;
    return loan_holds(&w->loan, image->base, image->is_text_exec, addr);
}

static uint64_t resolve_addr(void *context, const report_image *image, uint64_t addr)
{
    const resolving *w = context;
    return loan_addr(&w->loan, image->base, image->is_text_exec, addr);
}

static size_t resolve_frames(void *context, uint64_t addr, machsym_frame *frames, size_t cap, size_t *sharing)
{
    resolving *w = context;
    symbol_source *source = loan_source(&w->loan);
    size_t count;
    if (w->ahead != NULL && ahead_frames(w->ahead, addr, frames, cap, &count, sharing)) {
        loan_unhide(&w->loan, frames, count);
        return count;
    }
    count = sharing != NULL ? symbol_source_shared_frames(source, addr, frames, cap, sharing)
                            : symbol_source_frames(source, addr, frames, cap);
    loan_unhide(&w->loan, frames, count);
    if (loan_failure(&w->loan) != NULL)
        resolve_note_unreached(w, loan_failure(&w->loan));
    return count;
}

/* Has a second thread answer a part of the addresses that will be asked for. */
static void resolve_ahead(void *context, const uint64_t *addrs, size_t count, bool asks_sharing)
{
    resolving *w = context;
    if (w->how->has_helper && ahead_worth(loan_file(&w->loan), count))
        w->ahead = ahead_begin(loan_second_source(&w->loan), addrs, count, asks_sharing);
}

static size_t resolve_stack(void *context, const machsym_stack_addr *pcs, size_t count,
                            machsym_stack_answer *calls, machsym_frame *frames, size_t cap)
{
    const resolving *w = context;
    size_t total = symbol_source_stack(loan_source(&w->loan), pcs, count, calls, frames, cap);
    loan_unhide(&w->loan, frames, total < cap ? total : cap);
    return total;
}

static size_t resolve_next_folded(void *context, uint64_t addr, machsym_cursor *at, machsym_frame *frames,
                                  size_t cap)
{
    const resolving *w = context;
    return symbol_source_next_folded(loan_source(&w->loan), addr, at, frames, cap);
}

static void resolve_put_name(void *context, const machsym_frame *frame, text *t)
{
    const resolving *w = context;
    frame_put_name(t, frame, &w->style);
}

static const char *resolve_lacks(void *context)
{
    resolving *w = context;
    return w->why.len > 0 ? text_z(&w->why) : NULL;
}

/* The frame's path, and its line and column: of the C# that il2cpp made it from where that is known. Whose code it
 * is. */
static void resolve_set_place(void *context, const machsym_frame *from, uint64_t file_addr, report_call *call,
                              text *t)
{
    const resolving *w = context;
    machsym_str path;
    uint32_t line;
    machsym_str owner = loan_owner(&w->loan, file_addr, from);
    call->owner = pool_copy(&w->r->strings, owner.ptr, owner.len);
    call->line = from->line;
    call->column = from->column;
    text_path(t, &from->file);
    if (w->how->csharp == NULL ||
        !line_map_find(w->how->csharp, str_make(t->v, t->len), from->line, &path, &line))
        return;
    t->len = 0;
    text_str(t, path);
    call->line = line;
    call->column = 0;
}

/* What leads to the line, and what stands there. */
static void resolve_set_source(void *context, machsym_str path, report_call *call)
{
    resolving *w = context;
    const resolve_options *how = w->how;
    text t = {0};
    if (links_put(&how->links, w->r, path, call->line, call->column, &t))
        call->link = look_keep(w->r, how->redact, &t);
    if (how->sources.folder != NULL &&
        context_find(&how->sources, path, call->line, &w->source, &t, &call->context_first))
        call->context = look_keep(w->r, how->redact, &t);
    text_free(&t);
}

static const char *resolve_spend(void *context, uint64_t bytes)
{
    const resolving *w = context;
    resolve_budget_spend(w->left, bytes);
    return w->left->failure;
}

static const char *resolve_is_late(void *context)
{
    const resolving *w = context;
    resolve_budget_in_time(w->left);
    return w->left->failure;
}

/* What follows in the file would be another one, too. */
static void resolve_keep_failure(resolve_budget *left, const char *why)
{
    size_t len = strlen(why);
    len = len < sizeof left->kept ? len : sizeof left->kept - 1;
    memcpy(left->kept, why, len);
    left->kept[len] = 0;
    left->failure = left->kept;
}

/* ---- Code, for checked stacks ---- */

/* The loans of a report whose stacks are checked. A report may list an image a million times: it is lent once. */
typedef struct resolve_code {
    report *r;
    image_pool *all;
    const resolve_options *how;
    image_loan *loans;
    uint32_t *first;   /* of a loan: the image that it was made for */
    uint32_t *loan_of; /* by image */
    uint32_t loan_count;
} resolve_code;

/* Whether one file answers for two images. */
static bool resolve_is_one_file(const report_image *a, const report_image *b)
{
    return a->has_uuid == b->has_uuid && a->is_named == b->is_named &&
           memcmp(&a->uuid, &b->uuid, sizeof a->uuid) == 0 && str_equal(a->arch, b->arch) &&
           str_equal(a->path, b->path) && str_equal(a->name, b->name);
}

static bool resolve_code_open(void *context, uint32_t index, const machsym_image **file)
{
    resolve_code *code = context;
    const report_image *image = &code->r->images[index];
    image_status status;
    uint32_t at = 0;
    while (at < code->loan_count && !resolve_is_one_file(&code->r->images[code->first[at]], image))
        at++;
    if (at == code->loan_count) {
        if (!resolve_borrow(code->all, code->how, image, &code->loans[at], &status))
            return false;
        code->first[code->loan_count++] = index;
    }
    code->loan_of[index] = at;
    *file = loan_image(&code->loans[at]);
    return true;
}

static image_loan *resolve_code_loan(const resolve_code *code, uint32_t index)
{
    return &code->loans[code->loan_of[index]];
}

static uint64_t resolve_code_addr(void *context, uint32_t index, uint64_t addr)
{
    const resolve_code *code = context;
    return loan_addr(resolve_code_loan(code, index), code->r->images[index].base, false, addr);
}

static size_t resolve_code_frames(void *context, uint32_t index, uint64_t addr, machsym_frame *frames,
                                  size_t cap)
{
    const resolve_code *code = context;
    return symbol_source_frames(loan_source(resolve_code_loan(code, index)), addr, frames, cap);
}

static machsym_session *resolve_code_session(void *context, uint32_t index)
{
    const resolve_code *code = context;
    return symbol_source_session(loan_source(resolve_code_loan(code, index)));
}

static void resolve_code_put_name(void *context, uint32_t index, const machsym_frame *frame, text *t)
{
    const resolve_code *code = context;
    frame_style style = code->how->style;
    style.source = loan_source(resolve_code_loan(code, index));
    symbol_spell(t, frame, &style);
}

static void resolve_check_stacks(report *r, image_pool *all, const resolve_options *how)
{
    resolve_code code = {r,
                         all,
                         how,
                         mem_alloc(mem_product(r->image_count, sizeof *code.loans)),
                         mem_alloc(mem_product(r->image_count, sizeof *code.first)),
                         mem_alloc(mem_product(r->image_count, sizeof *code.loan_of)),
                         0};
    const stackcheck_asked asked = {&code,
                                    how->no_uuid,
                                    resolve_code_open,
                                    resolve_code_addr,
                                    resolve_code_frames,
                                    resolve_code_session,
                                    resolve_code_put_name};
    stackcheck_report(r, &asked);
    for (uint32_t i = 0; i < code.loan_count; i++)
        images_return(all, &code.loans[i]);
    mem_to_heap(code.loans);
    mem_to_heap(code.first);
    mem_to_heap(code.loan_of);
}

/* ---- Files for dumps ---- */

static const machsym_image *resolve_find_file(void *context, const machsym_uuid *uuid, machsym_str path,
                                              machsym_str arch)
{
    resolve_files *files = context;
    image_key key = {*uuid, !symbol_uuid_is_none(uuid), files->how->no_uuid, true, arch, str_base_name(path)};
    image_loan loan;
    image_status status;
    if (!images_borrow(files->all, &key, &loan, &status))
        return NULL;
    *(image_loan *)mem_push(&files->loans, &files->loan_count, &files->loan_cap, sizeof loan) = loan;
    return loan_tables(&loan);
}

static void resolve_leave_files(void *context)
{
    resolve_files *files = context;
    for (uint32_t i = 0; i < files->loan_count; i++)
        images_return(files->all, &files->loans[i]);
    mem_to_heap(files->loans);
    files->loans = NULL;
    files->loan_count = files->loan_cap = 0;
}

void resolve_files_begin(resolve_files *files, image_pool *all, const resolve_options *how)
{
    memset(files, 0, sizeof *files);
    files->tables.context = files;
    files->tables.find = resolve_find_file;
    files->tables.leave = resolve_leave_files;
    files->all = all;
    files->how = how;
}

const char *resolve_report(report *r, image_pool *all, const resolve_options *how, resolve_counts *counts)
{
    resolve_budget own;
    resolving w = {.r = r, .all = all, .how = how, .left = how->shared != NULL ? how->shared : &own};
    const look_symbols symbols = {{&w, resolve_next_folded, resolve_put_name},
                                  resolve_find,
                                  resolve_leave,
                                  resolve_holds,
                                  resolve_addr,
                                  resolve_frames,
                                  resolve_stack,
                                  resolve_lacks,
                                  resolve_set_place,
                                  resolve_set_source,
                                  resolve_spend,
                                  resolve_is_late,
                                  NULL,
                                  resolve_ahead};
    const look_options options = {how->all, how->raw_addresses, how->no_inline, how->no_folded, how->redact};
    if (how->shared == NULL)
        resolve_budget_begin(&own, &how->limit, r->input.len);
    if (how->check_stack)
        resolve_check_stacks(r, all, how);
    const char *failure = look_report(r, &symbols, &options, counts);
    counts->is_unreached = w.is_unreached;
    counts->is_unread = w.is_unread;
    if (failure != NULL && w.left->failure == NULL)
        resolve_keep_failure(w.left, failure);
    context_close(&w.source);
    text_free(&w.why);
    return failure;
}
