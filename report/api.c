/* Whole reports for a program; see api.h. */
#include "api.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/text.h"
#include "look/look.h"
#include "look/stackcheck.h"
#include "model/redact.h"
#include "model/report.h"
#include "model/status.h"
#include "model/tables.h"
#include "tell/signature.h"
#include "tell/summary.h"
#include "walk.h"
#include "write/brief.h"
#include "write/call.h"
#include "write/write.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory ---- */

/* Header of an allocated block; its memory follows. All blocks are linked, so that they can be freed when
 * memory runs out. */
typedef struct api_block {
    struct api_block *next;
    struct api_block **link; /* the pointer that points to this block */
    size_t size;             /* including this header */
    size_t unused_padding;
} api_block;

/* The source of all memory. A failed request jumps to `home`, which is set by the public function that is
 * running. */
typedef struct api_memory {
    mem_source source;
    machsym_allocator allocator;
    api_block *blocks;
    jmp_buf *home;
    bool has_failed;
} api_memory;

struct machsym_report {
    machsym_reports *all;
    const report *r;
    const resolve_counts *counts; /* NULL: nothing is looked up yet */
};

/* An image whose code stacks are checked by. */
typedef struct api_code {
    const machsym_image *file;
    machsym_session *session;       /* of its own names; NULL: not opened yet */
    struct api_code *opened_before; /* of those that opened their session; others of their file use it */
} api_code;

/* The code of a report whose stacks are checked. */
typedef struct api_check {
    const report *r;
    api_code *images; /* one for each of the report */
    api_code *opened; /* the last one that opened its session */
    uint32_t at;      /* the image that symbols.find was asked for last; REPORT_NONE: none */
} api_check;

struct machsym_reports {
    api_memory memory;
    api_check check;
    machsym_reports_desc desc;
    redactor redact;
    write_options how;
    text same;
    text written;      /* last output of machsym_report_write */
    double left;       /* bytes that names may still take */
    bool lacks_memory; /* an answer of a session ran out of memory */
    bool has_found;    /* symbols.find returned true, and symbols.leave was not called yet */
    uint32_t answered;
    uint32_t failed;
};

#ifndef MACHSYM_NO_OS
static void *api_malloc(void *user, size_t size)
{
    (void)user;
    return malloc(size);
}

static void api_libc_free(void *user, void *memory, size_t size)
{
    (void)user;
    (void)size;
    free(memory);
}
#endif

static void api_give(mem_source *source, void *array)
{
    api_memory *m = (api_memory *)source;
    if (array == NULL)
        return;
    api_block *block = (api_block *)array - 1;
    *block->link = block->next;
    if (block->next != NULL)
        block->next->link = block->link;
    m->allocator.free(m->allocator.user, block, block->size);
}

static void *api_resize(mem_source *source, void *array, size_t size)
{
    api_memory *m = (api_memory *)source;
    api_block *block = size < SIZE_MAX - sizeof *block
                           ? (api_block *)m->allocator.alloc(m->allocator.user, sizeof *block + size)
                           : NULL;
    if (block == NULL) {
        m->has_failed = true;
        longjmp(*m->home, 1);
    }
    block->size = sizeof *block + size;
    block->next = m->blocks;
    block->link = &m->blocks;
    m->blocks = block;
    if (block->next != NULL)
        block->next->link = &block->next;
    if (array != NULL) {
        size_t old = ((api_block *)array - 1)->size - sizeof *block;
        memcpy(block + 1, array, old < size ? old : size);
        api_give(source, array);
    }
    return block + 1;
}

static void api_give_all(api_memory *m)
{
    while (m->blocks != NULL)
        api_give(&m->source, m->blocks + 1);
}

/* ---- Symbols ---- */

static void api_tell_image(const report_image *image, machsym_report_image *out)
{
    memset(out, 0, sizeof *out);
    out->name = image->name;
    out->path = image->path;
    out->arch = image->arch;
    out->version = image->version;
    out->uuid = image->uuid;
    out->has_uuid = image->has_uuid;
    out->is_system = image->is_system;
    out->is_text_exec = image->is_text_exec;
    out->base = image->base;
    out->end = image->end;
    out->frames = image->frame_count;
    out->missing = image->missing;
}

static bool api_find(void *context, const report_image *image, image_status *status)
{
    machsym_reports *all = (machsym_reports *)context;
    machsym_report_image told;
    machsym_report_found found;
    memset(&found, 0, sizeof found);
    memset(status, 0, sizeof *status);
    api_tell_image(image, &told);
    bool is_there =
        all->desc.symbols.find != NULL && all->desc.symbols.find(all->desc.symbols.user, &told, &found);
    if (found.path == NULL) /* there is no file that has another UUID */
        found.lack = MACHSYM_REPORT_NO_FILE;
    status->found = is_there                                  ? IMAGE_FOUND
                    : found.lack == MACHSYM_REPORT_OTHER_UUID ? IMAGE_OTHER_UUID
                    : found.lack == MACHSYM_REPORT_UNPROVEN   ? IMAGE_UNPROVEN
                                                              : IMAGE_MISSING;
    status->uuid = found.uuid;
    status->path = is_there && found.path == NULL ? "" : found.path;
    status->has_dwarf = is_there && found.has_dwarf;
    all->has_found = is_there;
    return is_there;
}

static void api_leave(void *context)
{
    machsym_reports *all = (machsym_reports *)context;
    bool is_called = all->has_found && all->desc.symbols.leave != NULL;
    all->has_found = false;
    if (is_called)
        all->desc.symbols.leave(all->desc.symbols.user);
}

static uint64_t api_addr_of(const machsym_reports *all, const report_image *image, uint64_t pc, bool *holds)
{
    machsym_report_image told;
    api_tell_image(image, &told);
    return all->desc.symbols.addr(all->desc.symbols.user, &told, pc, holds);
}

static bool api_holds(void *context, const report_image *image, uint64_t addr)
{
    bool holds = true;
    api_addr_of((const machsym_reports *)context, image, addr, &holds);
    return holds;
}

static uint64_t api_addr(void *context, const report_image *image, uint64_t addr)
{
    bool holds = true;
    return api_addr_of((const machsym_reports *)context, image, addr, &holds);
}

static size_t api_stack(void *context, const machsym_stack_addr *pcs, size_t count,
                        machsym_stack_answer *calls, machsym_frame *frames, size_t cap)
{
    machsym_reports *all = (machsym_reports *)context;
    size_t total = all->desc.symbols.stack(all->desc.symbols.user, pcs, count, calls, frames, cap);
    all->lacks_memory |= total > 0 && cap > 0 && frames[0].lacks_memory;
    return total;
}

static size_t api_frames(void *context, uint64_t addr, machsym_frame *frames, size_t cap, size_t *sharing)
{
    const machsym_stack_addr pc = {addr, false};
    machsym_stack_answer call;
    memset(&call, 0, sizeof call);
    call.function_count = 1;
    size_t count = api_stack(context, &pc, 1, &call, frames, cap);
    if (sharing != NULL)
        *sharing = call.function_count;
    return count < cap ? count : cap;
}

static size_t api_next_folded(void *context, uint64_t addr, machsym_cursor *at, machsym_frame *frames,
                              size_t cap)
{
    const machsym_reports *all = (const machsym_reports *)context;
    if (all->desc.symbols.next_folded == NULL)
        return 0;
    return all->desc.symbols.next_folded(all->desc.symbols.user, addr, at, frames, cap);
}

static void api_put_name(void *context, const machsym_frame *frame, text *t)
{
    const machsym_reports *all = (const machsym_reports *)context;
    uint32_t flags = all->desc.flags & MACHSYM_REPORT_FULL_NAMES ? 0 : MACHSYM_DEMANGLE_SIMPLIFIED;
    text_name(t, frame->linkage_name.len != 0 ? frame->linkage_name : frame->name, flags);
}

static const char *api_lacks(void *context)
{
    const machsym_reports *all = (const machsym_reports *)context;
    return all->lacks_memory ? "memory ran out while names were looked up" : NULL;
}

static void api_set_place(void *context, const machsym_frame *from, uint64_t file_addr, report_call *call,
                          text *path)
{
    (void)context;
    (void)file_addr;
    call->line = from->line;
    call->column = from->column;
    text_path(path, &from->file);
}

/* Passes on what is asked for next. */
static void api_asks(void *context, const report *r, uint32_t index)
{
    machsym_reports *all = (machsym_reports *)context;
    const machsym_report told = {all, r, NULL};
    const report_frame *frame = &r->frames[index];
    const report_thread *thread = &r->threads[frame->thread];
    machsym_report_asked asked;
    memset(&asked, 0, sizeof asked);
    asked.thread = thread->number;
    asked.is_crashed = thread->crashed;
    asked.frame = index - thread->first;
    asked.is_exact = frame->exact;
    asked.registers = thread->register_count;
    asked.first_register.a = thread->first_register;
    asked.first_register.b = frame->thread;
    all->desc.symbols.asks(all->desc.symbols.user, &told, &asked);
}

/* ---- Tables of images, for dumps ---- */

static void api_tell_mapped(const tables_image *image, machsym_report_image *out)
{
    const machsym_uuid none = {{0}};
    memset(out, 0, sizeof *out);
    out->uuid = image->uuid;
    out->has_uuid = memcmp(&image->uuid, &none, sizeof none) != 0;
    out->path = image->path;
    out->name = str_base_name(image->path);
    out->arch = image->arch;
    out->base = image->base;
    out->end = image->end;
}

static const machsym_image *api_find_table(void *context, const machsym_uuid *uuid, machsym_str path,
                                           machsym_str arch)
{
    const machsym_reports *all = (const machsym_reports *)context;
    const tables_image image = {*uuid, path, arch, 0, 0};
    machsym_report_image told;
    if (all->desc.symbols.file == NULL)
        return NULL;
    api_tell_mapped(&image, &told);
    return all->desc.symbols.file(all->desc.symbols.user, &told);
}

static bool api_read_image(void *context, const tables_image *image, uint64_t addr, void *out, size_t len)
{
    const machsym_reports *all = (const machsym_reports *)context;
    machsym_report_image told;
    if (all->desc.symbols.read == NULL)
        return false;
    api_tell_mapped(image, &told);
    return all->desc.symbols.read(all->desc.symbols.user, &told, addr, out, len);
}

/* ---- Code, for checked stacks ---- */

#ifndef MACHSYM_REPORT_NO_CHECKS
enum { API_HAS_CHECKS = 1 };

static bool api_code_open(void *context, uint32_t index, const machsym_image **file)
{
    machsym_reports *all = (machsym_reports *)context;
    machsym_report_image told;
    if (all->desc.symbols.file == NULL)
        return false;
    api_tell_image(&all->check.r->images[index], &told);
    *file = all->check.images[index].file = all->desc.symbols.file(all->desc.symbols.user, &told);
    return *file != NULL;
}

static uint64_t api_code_addr(void *context, uint32_t index, uint64_t addr)
{
    const api_check *check = &((const machsym_reports *)context)->check;
    return machsym_image_addr_of_pc(check->images[index].file, check->r->images[index].base, addr);
}

static machsym_session *api_code_session(void *context, uint32_t index)
{
    machsym_reports *all = (machsym_reports *)context;
    api_code *code = &all->check.images[index];
    machsym_session_desc how;
    for (const api_code *one = all->check.opened; one != NULL && code->session == NULL;
         one = one->opened_before)
        code->session = one->file == code->file ? one->session : NULL;
    if (code->session != NULL)
        return code->session;
    memset(&how, 0, sizeof how);
    how.image = code->file;
    how.allocator = all->memory.allocator;
    if (machsym_session_open(&how, &code->session, NULL) == MACHSYM_ERR_MEMORY)
        all->lacks_memory = true;
    if (code->session != NULL) {
        code->opened_before = all->check.opened;
        all->check.opened = code;
    }
    return code->session;
}

/* Symbols know most functions; stubs, and what symbols lack, are in the file that has the code. */
static size_t api_code_frames(void *context, uint32_t index, uint64_t addr, machsym_frame *frames, size_t cap)
{
    machsym_reports *all = (machsym_reports *)context;
    if (all->check.at != index) {
        image_status status;
        api_leave(all);
        all->check.at = index;
        api_find(all, &all->check.r->images[index], &status);
    }
    size_t count = all->has_found ? api_frames(all, addr, frames, cap, NULL) : 0;
    machsym_session *own = count == 0 ? api_code_session(all, index) : NULL;
    if (own == NULL)
        return count;
    count = machsym_session_frames_at_addr(own, addr, frames, cap);
    all->lacks_memory |= count > 0 && frames[0].lacks_memory;
    return count < cap ? count : cap;
}

static void api_code_put_name(void *context, uint32_t index, const machsym_frame *frame, text *t)
{
    (void)index;
    api_put_name(context, frame, t);
}

/* Ends what a check left open. */
static void api_check_end(machsym_reports *all)
{
    api_check *check = &all->check;
    api_leave(all);
    for (const api_code *one = check->opened; one != NULL; one = one->opened_before)
        machsym_session_close(one->session);
    check->opened = NULL;
    mem_give(&all->memory.source, check->images);
    check->images = NULL;
}

static void api_check_stacks(machsym_reports *all, report *r)
{
    const stackcheck_asked asked = {
        all, false, api_code_open, api_code_addr, api_code_frames, api_code_session, api_code_put_name};
    api_code *images = (api_code *)mem_take(r->memory, mem_times(r->memory, r->image_count, sizeof *images));
    memset(images, 0, r->image_count * sizeof *images);
    all->check.r = r;
    all->check.images = images;
    all->check.opened = NULL;
    all->check.at = REPORT_NONE;
    stackcheck_report(r, &asked);
    api_check_end(all);
}
#else
enum { API_HAS_CHECKS = 0 };

static void api_check_end(machsym_reports *all)
{
    api_leave(all);
}

static void api_check_stacks(machsym_reports *all, report *r)
{
    (void)all;
    (void)r;
}
#endif

/* ---- Limits ---- */

static const char *api_spend(void *context, uint64_t bytes)
{
    machsym_reports *all = (machsym_reports *)context;
    all->left -= (double)bytes;
    return all->left < 0 ? "its names take more memory than is allowed" : NULL;
}

static const char *api_is_late(void *context)
{
    const machsym_reports *all = (const machsym_reports *)context;
    return all->left < 0 ? "its names take more memory than is allowed" : NULL;
}

/* ---- The symbols of files ---- */

/* Returns the path of a file with the image's name. It is only for people: its symbols are not used. */
static void api_file_note_other(const machsym_report_image *image, const machsym_image_info *info,
                                machsym_report_found *found)
{
    machsym_str name = image->path.len > 0 ? str_base_name(image->path) : image->name;
    if (found->lack != MACHSYM_REPORT_NO_FILE || !str_equal(name, info->name))
        return;
    found->lack = image->has_uuid ? MACHSYM_REPORT_OTHER_UUID : MACHSYM_REPORT_UNPROVEN;
    found->uuid = info->slice.uuid;
    found->path = info->path;
}

static bool api_file_is_of(const machsym_report_image *image, const machsym_image_info *info)
{
    return image->has_uuid && info->slice.has_uuid &&
           memcmp(&info->slice.uuid, &image->uuid, sizeof image->uuid) == 0;
}

static bool api_file_find(void *user, const machsym_report_image *image, machsym_report_found *found)
{
    machsym_report_files *files = (machsym_report_files *)user;
    machsym_image_info info;
    bool is_there = false;
    for (size_t i = 0; i < files->count; i++) {
        machsym_image_get_info(files->v[i].image, &info);
        if (!api_file_is_of(image, &info)) {
            if (!is_there)
                api_file_note_other(image, &info, found);
            continue;
        }
        if (is_there && !info.has_dwarf)
            continue;
        is_there = true;
        files->at = &files->v[i];
        found->path = info.path;
        found->has_dwarf = info.has_dwarf;
        if (info.has_dwarf)
            break;
    }
    return is_there;
}

/* Returns a file of the image: if one has unwind tables, that one. */
static const machsym_image *api_file_file(void *user, const machsym_report_image *image)
{
    const machsym_report_files *files = (const machsym_report_files *)user;
    const machsym_image *first = NULL;
    machsym_image_info info;
    machsym_unwind_image tables;
    for (size_t i = 0; i < files->count; i++) {
        machsym_image_get_info(files->v[i].image, &info);
        if (!api_file_is_of(image, &info))
            continue;
        memset(&tables, 0, sizeof tables);
        if (tables_of_file(files->v[i].image, info.slice.cputype, 0, &tables))
            return files->v[i].image;
        first = first != NULL ? first : files->v[i].image;
    }
    return first;
}

static uint64_t api_file_addr(void *user, const machsym_report_image *image, uint64_t pc, bool *holds)
{
    const machsym_report_files *files = (const machsym_report_files *)user;
    machsym_image_info info;
    machsym_image_get_info(files->at->image, &info);
    uint64_t base = look_text_base(image->base, image->is_text_exec, info.text_addr, info.text_exec_addr);
    uint64_t addr = machsym_image_addr_of_pc(files->at->image, base, pc);
    *holds = look_text_holds(addr, image->is_text_exec, info.text_addr, info.text_size);
    return addr;
}

static size_t api_file_stack(void *user, const machsym_stack_addr *pcs, size_t count,
                             machsym_stack_answer *calls, machsym_frame *frames, size_t cap)
{
    const machsym_report_files *files = (const machsym_report_files *)user;
    return machsym_session_frames_of_stack(files->at->session, pcs, count, calls, frames, cap);
}

static size_t api_file_next_folded(void *user, uint64_t addr, machsym_cursor *at, machsym_frame *frames,
                                   size_t cap)
{
    const machsym_report_files *files = (const machsym_report_files *)user;
    return machsym_session_next_folded_at_addr(files->at->session, addr, at, frames, cap);
}

machsym_report_symbols machsym_report_of_files(machsym_report_files *files)
{
    machsym_report_symbols symbols = {files,         api_file_find,  NULL,
                                      api_file_addr, api_file_stack, api_file_next_folded,
                                      NULL,          api_file_file,  NULL};
    return symbols;
}

/* ---- Reading ---- */

/* Memory may have run out in a callback. */
static void api_go_home(const machsym_reports *all)
{
    if (all->memory.has_failed)
        longjmp(*all->memory.home, 1);
}

static walk_step api_fail(machsym_reports *all, const report *r, const char *why, size_t at)
{
    all->failed++;
    if (all->desc.fails != NULL)
        all->desc.fails(all->desc.user, r->number, why, at);
    api_go_home(all);
    return WALK_BROKEN;
}

/* Returns why an input without stacks is not a report; NULL if it is one. */
static const char *api_why_none(const report *r)
{
    if (r->failure != NULL)
        return r->failure;
    if (r->kind == REPORT_UNKNOWN && r->facts[FACT_BUG_TYPE].len == 0 && r->facts[FACT_INCIDENT].len == 0 &&
        r->facts[FACT_EXCEPTION].len == 0 && r->facts[FACT_PROCESS].len == 0)
        return "no report: neither stacks nor what a report begins with";
    return NULL;
}

static walk_step api_look_up(void *context, report *r, resolve_counts *counts)
{
    machsym_reports *all = (machsym_reports *)context;
    uint32_t flags = all->desc.flags;
    machsym_report told = {all, r, NULL};
    const char *why = r->frame_count == 0 ? api_why_none(r) : NULL;
    if (why != NULL)
        return api_fail(all, r, why, r->failed_at);
    if (all->desc.begin != NULL && !all->desc.begin(all->desc.user, &told)) {
        api_go_home(all);
        return WALK_LEFT_OUT;
    }
    api_go_home(all);
    const look_symbols symbols = {{all, api_next_folded, api_put_name},
                                  api_find,
                                  api_leave,
                                  api_holds,
                                  api_addr,
                                  api_frames,
                                  api_stack,
                                  api_lacks,
                                  api_set_place,
                                  NULL,
                                  api_spend,
                                  api_is_late,
                                  all->desc.symbols.asks != NULL ? api_asks : NULL,
                                  NULL};
    const look_options options = {
        (flags & MACHSYM_REPORT_ALL) != 0, (flags & MACHSYM_REPORT_RAW_ADDRESSES) != 0,
        (flags & MACHSYM_REPORT_NO_INLINE) != 0, (flags & MACHSYM_REPORT_NO_FOLDED) != 0,
        all->desc.redact != NULL ? &all->redact : NULL};
    if (flags & MACHSYM_REPORT_CHECK_STACK)
        api_check_stacks(all, r);
    why = look_report(r, &symbols, &options, counts);
    if (all->lacks_memory) {
        all->memory.has_failed = true;
        api_go_home(all);
    }
    return why != NULL ? api_fail(all, r, why, 0) : WALK_ANSWER;
}

static bool api_answer(void *context, report *one, const resolve_counts *counts)
{
    machsym_reports *all = (machsym_reports *)context;
    machsym_report told = {all, one, counts};
    bool is_kept = all->desc.each == NULL || all->desc.each(all->desc.user, &told);
    all->answered += is_kept;
    api_go_home(all);
    return is_kept;
}

/* Returns false if memory ran out. */
static bool api_walk(machsym_reports *all)
{
    const report_tables tables = {all, api_find_table, NULL, api_read_image};
    report_walk walk;
    jmp_buf home;
    all->memory.home = &home;
    if (setjmp(home) != 0) {
        api_check_end(all);
        return false;
    }
    memset(&walk, 0, sizeof walk);
    walk.memory = &all->memory.source;
    walk.tables = &tables;
    walk.redact = all->desc.redact != NULL ? &all->redact : NULL;
    walk.same = all->desc.flags & MACHSYM_REPORT_SAME ? &all->how : NULL;
    walk.context = all;
    walk.look_up = api_look_up;
    walk.answer = api_answer;
    walk_all(&walk, all->desc.input, &all->same);
    return true;
}

static machsym_result api_refuse(machsym_result code, const char *what, machsym_error *err)
{
    if (err != NULL) {
        memset(err, 0, sizeof *err);
        err->code = code;
        err->what = what;
        err->where = "";
    }
    return code;
}

static machsym_allocator api_allocator_of(const machsym_reports_desc *desc)
{
    machsym_allocator allocator = desc->allocator;
#ifndef MACHSYM_NO_OS
    if (allocator.alloc == NULL) {
        allocator.alloc = api_malloc;
        allocator.free = api_libc_free;
        allocator.user = NULL;
    }
#endif
    return allocator;
}

/* Initializes the state for one input. */
static void api_begin(machsym_reports *all, const machsym_reports_desc *desc, machsym_allocator allocator)
{
    const double usual = 33554432 + 64 * (double)desc->input.len;
    memset(all, 0, sizeof *all);
    all->desc = *desc;
    if (desc->input.ptr == NULL)
        all->desc.input.ptr = "";
    all->memory.allocator = allocator;
    all->memory.source.resize = api_resize;
    all->memory.source.give = api_give;
    all->same = all->written = text_in(&all->memory.source);
    all->left = desc->max_bytes != 0 ? (double)desc->max_bytes : usual;
    all->how.full_path = (desc->flags & MACHSYM_REPORT_FULL_PATHS) != 0;
    all->how.all = (desc->flags & MACHSYM_REPORT_ALL) != 0;
    if (desc->redact != NULL)
        redact_open(&all->redact, desc->redact);
}

uint64_t machsym_report_abi(void)
{
    return MACHSYM_REPORT_ABI;
}

#undef machsym_reports_open
machsym_result machsym_reports_open(const machsym_reports_desc *desc, machsym_reports **out,
                                    machsym_error *err)
{
    if (out != NULL)
        *out = NULL;
    if (desc == NULL || out == NULL || (desc->input.ptr == NULL && desc->input.len > 0) ||
        (desc->symbols.find != NULL && (desc->symbols.addr == NULL || desc->symbols.stack == NULL)))
        return api_refuse(MACHSYM_ERR_ARGUMENT, "an input, or what symbols are asked of, is missing", err);
    if (!API_HAS_CHECKS && (desc->flags & MACHSYM_REPORT_CHECK_STACK) != 0)
        return api_refuse(MACHSYM_ERR_ARGUMENT, "stacks are not checked: MACHSYM_REPORT_NO_CHECKS", err);
    machsym_allocator allocator = api_allocator_of(desc);
    machsym_reports *all =
        allocator.alloc != NULL ? (machsym_reports *)allocator.alloc(allocator.user, sizeof *all) : NULL;
    if (all == NULL)
        return api_refuse(MACHSYM_ERR_MEMORY, "memory ran out", err);
    api_begin(all, desc, allocator);
    if (!api_walk(all)) {
        machsym_reports_close(all);
        return api_refuse(MACHSYM_ERR_MEMORY, "memory ran out", err);
    }
    *out = all;
    return api_refuse(MACHSYM_OK, "", err);
}

uint32_t machsym_reports_count(const machsym_reports *reports, uint32_t *failed)
{
    if (failed != NULL)
        *failed = reports->failed;
    return reports->answered;
}

machsym_str machsym_reports_same(const machsym_reports *reports)
{
    return str_make(reports->same.v, reports->same.len);
}

void machsym_reports_close(machsym_reports *reports)
{
    if (reports == NULL)
        return;
    machsym_allocator allocator = reports->memory.allocator;
    api_give_all(&reports->memory);
    allocator.free(allocator.user, reports, sizeof *reports);
}

/* ---- One report ---- */

void machsym_report_get_info(const machsym_report *of, machsym_report_info *out)
{
    memset(out, 0, sizeof *out);
    out->kind = report_kind_name(of->r->kind);
    out->number = of->r->number;
    out->cut_at = of->r->cut_at;
    out->frames = of->r->frame_count;
    if (of->counts != NULL) {
        out->frames = of->counts->frames;
        out->named = of->counts->given + of->counts->dwarf + of->counts->symbols;
        out->missing = of->counts->missing;
    }
}

bool machsym_report_next_image(const machsym_report *of, machsym_cursor *at, machsym_report_image *out)
{
    if (at->a >= of->r->image_count)
        return false;
    api_tell_image(&of->r->images[at->a++], out);
    return true;
}

bool machsym_report_next_frame(const machsym_report *of, machsym_cursor *at, machsym_report_frame *out)
{
    const struct report *r = of->r;
    if (at->a >= r->frame_count)
        return false;
    const report_frame *frame = &r->frames[at->a];
    const report_call *call = at->b < frame->call_count ? &r->calls[frame->call + at->b] : NULL;
    memset(out, 0, sizeof *out);
    out->addr = frame->addr;
    out->thread = r->threads[frame->thread].number;
    out->is_crashed = r->threads[frame->thread].crashed;
    out->image = frame->image != REPORT_NONE ? r->images[frame->image].name : frame->image_name;
    out->name = call != NULL ? call->name : frame->name;
    out->is_inline = call != NULL ? call->is_inline : frame->given_inline;
    out->is_inferred = frame->form == FORM_INFERRED;
    if (frame->doubt != NULL)
        out->doubt = str_c(frame->doubt);
    if (call != NULL) {
        out->path = call->path;
        out->line = call->has_line ? call->line : 0;
        out->offset = call->offset;
    }
    if (++at->b >= frame->call_count) {
        at->a++;
        at->b = 0;
    }
    return true;
}

bool machsym_report_next_thread(const machsym_report *of, machsym_cursor *at, machsym_report_thread *out)
{
    if (at->a >= of->r->thread_count)
        return false;
    const report_thread *thread = &of->r->threads[at->a++];
    memset(out, 0, sizeof *out);
    out->number = thread->number;
    out->name = thread->name;
    out->queue = thread->queue;
    out->process = thread->process;
    out->is_crashed = thread->crashed;
    out->is_callers_first = thread->callers_first;
    out->frames = thread->count;
    out->registers = thread->register_count;
    return true;
}

/* Returns the thread that has a register; the thread of the register before is tried first. REPORT_NONE: no
 * thread. */
static uint32_t api_thread_of(const report *r, uint64_t index, uint32_t hint)
{
    for (uint32_t i = 0; i < r->thread_count; i++) {
        uint32_t at = hint + i < r->thread_count ? hint + i : hint + i - r->thread_count;
        const report_thread *thread = &r->threads[at];
        if (index >= thread->first_register && index - thread->first_register < thread->register_count)
            return at;
    }
    return REPORT_NONE;
}

bool machsym_report_next_register(const machsym_report *of, machsym_cursor *at, machsym_report_register *out)
{
    const struct report *r = of->r;
    while (at->a < r->register_count) {
        const report_register *one = &r->registers[at->a];
        uint32_t thread = api_thread_of(r, at->a++, at->b < r->thread_count ? (uint32_t)at->b : 0);
        if (thread == REPORT_NONE)
            continue;
        at->b = thread;
        out->thread = r->threads[thread].number;
        out->name = one->name;
        out->value = one->value;
        return true;
    }
    return false;
}

bool machsym_report_next_fact(const machsym_report *of, machsym_cursor *at, machsym_report_fact *out)
{
    while (write_fact(of->r, (size_t)at->a, &out->name, &out->value)) {
        at->a++;
        if (out->value.len > 0)
            return true;
    }
    return false;
}

/* A report is labelled with the name of its input, and with its number if the input has several. */
static void api_put_brief(const machsym_report *of, text *out)
{
    text label = text_in(out->memory);
    if (of->all->desc.name != NULL)
        text_c(&label, of->all->desc.name);
    if (label.len > 0 && of->r->number > 0) {
        text_char(&label, '#');
        text_dec(&label, of->r->number);
    }
    brief_put(of->r, of->counts, str_make(label.v, label.len), NULL, out);
    text_free(&label);
}

static void api_put(const machsym_report *of, machsym_report_form form, text *out)
{
    const struct report *r = of->r;
    write_options how = of->all->how;
    signature s;
    switch (form) {
    case MACHSYM_REPORT_AS_TEXT: write_text(r, &how, out); break;
    case MACHSYM_REPORT_AS_APPLE:
        how.is_apple = true;
        write_text(r, &how, out);
        break;
    case MACHSYM_REPORT_AS_JSON:
        how.one_line = true;
        write_json(r, &how, of->counts, out);
        break;
    case MACHSYM_REPORT_AS_BRIEF: api_put_brief(of, out); break;
    case MACHSYM_REPORT_AS_SUMMARY: summary_put(out, r, of->counts, false); break;
    case MACHSYM_REPORT_AS_SIGNATURE:
        signature_of(r, NULL, &s);
        text_hex(out, s.hash, 16);
        text_c(out, "  ");
        text_add(out, s.words.v, s.words.len);
        text_char(out, '\n');
        text_free(&s.words);
        break;
    }
}

machsym_result machsym_report_write(machsym_report *of, machsym_report_form form, machsym_str *out)
{
    api_memory *memory = &of->all->memory;
    jmp_buf *outer = memory->home;
    jmp_buf home;
    *out = str_make(NULL, 0);
    if (of->counts == NULL)
        return MACHSYM_ERR_ARGUMENT;
    if (memory->has_failed)
        return MACHSYM_ERR_MEMORY;
    memory->home = &home;
    of->all->written.len = 0;
    if (setjmp(home) == 0)
        api_put(of, form, &of->all->written);
    memory->home = outer;
    if (memory->has_failed)
        return MACHSYM_ERR_MEMORY;
    *out = str_make(of->all->written.v, of->all->written.len);
    return MACHSYM_OK;
}
