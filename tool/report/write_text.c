/* Reports as Apple's classic text: what Xcode shows for an .ips. */
#include "write.h"

#include <string.h>

/* ---- The header ---- */

static void put_text_key(text *t, const char *key)
{
    size_t at = t->len;
    text_c(t, key);
    text_char(t, ':');
    do
        text_char(t, ' ');
    while (t->len - at < 23);
}

static void put_text_fact(text *t, const report *r, const char *key, report_fact fact)
{
    if (r->facts[fact].len == 0)
        return;
    put_text_key(t, key);
    text_shown(t, r->facts[fact]);
    text_char(t, '\n');
}

static void put_text_process(text *t, const report *r)
{
    if (r->facts[FACT_PROCESS].len == 0)
        return;
    put_text_key(t, "Process");
    text_shown(t, r->facts[FACT_PROCESS]);
    if (r->facts[FACT_PID].len > 0) {
        text_c(t, " [");
        text_shown(t, r->facts[FACT_PID]);
        text_char(t, ']');
    }
    text_char(t, '\n');
}

static void put_text_exception(text *t, const report *r)
{
    if (r->facts[FACT_EXCEPTION].len > 0) {
        put_text_key(t, "Exception Type");
        text_shown(t, r->facts[FACT_EXCEPTION]);
        if (r->facts[FACT_SIGNAL].len > 0) {
            text_c(t, " (");
            text_shown(t, r->facts[FACT_SIGNAL]);
            text_char(t, ')');
        }
        text_char(t, '\n');
    }
    put_text_fact(t, r, "Exception Subtype", FACT_SUBTYPE);
    put_text_fact(t, r, "Exception Codes", FACT_CODES);
    put_text_fact(t, r, "Exception Note", FACT_NOTE);
    if (r->facts[FACT_TERMINATION].len > 0) {
        put_text_key(t, "Termination Reason");
        text_c(t, "Namespace ");
        text_shown(t, r->facts[FACT_TERMINATION]);
        if (r->facts[FACT_TERMINATION_CODE].len > 0) {
            text_c(t, ", Code ");
            text_shown(t, r->facts[FACT_TERMINATION_CODE]);
        }
        text_char(t, '\n');
    }
    put_text_fact(t, r, "Termination Description", FACT_DESCRIPTION);
    put_text_fact(t, r, "Triggered by Thread", FACT_CRASHED_THREAD);
}

static void put_text_header(text *t, const report *r)
{
    put_text_fact(t, r, "Incident Identifier", FACT_INCIDENT);
    put_text_fact(t, r, "CrashReporter Key", FACT_REPORTER);
    put_text_fact(t, r, "Hardware Model", FACT_HARDWARE);
    put_text_process(t, r);
    put_text_fact(t, r, "Path", FACT_PATH);
    put_text_fact(t, r, "Identifier", FACT_IDENTIFIER);
    put_text_fact(t, r, "Version", FACT_VERSION);
    put_text_fact(t, r, "Code Type", FACT_CODE_TYPE);
    put_text_fact(t, r, "Role", FACT_ROLE);
    put_text_fact(t, r, "Parent Process", FACT_PARENT);
    text_char(t, '\n');
    put_text_fact(t, r, "Date/Time", FACT_DATE);
    put_text_fact(t, r, "Launch Time", FACT_LAUNCH);
    put_text_fact(t, r, "OS Version", FACT_OS);
    put_text_key(t, "Report Version");
    text_c(t, "104\n\n");
    put_text_exception(t, r);
    text_char(t, '\n');
    if (r->facts[FACT_APP_INFO].len > 0) {
        text_c(t, "Application Specific Information:\n");
        machsym_str rest = r->facts[FACT_APP_INFO];
        machsym_str line;
        while (str_take_line(&rest, &line)) {
            text_shown(t, line);
            text_char(t, '\n');
        }
        text_char(t, '\n');
    }
}

/* ---- Stacks ---- */

static void put_text_frame(text *t, const report *r, const report_frame *frame, uint32_t index)
{
    machsym_str image = frame->image != REPORT_NONE ? r->images[frame->image].name : frame->image_name;
    size_t at = t->len;
    text_dec(t, index);
    do
        text_char(t, ' ');
    while (t->len - at < 4);
    text_shown(t, image.len > 0 ? image : str_c("???"));
    do
        text_char(t, ' ');
    while (t->len - at < 38);
    text_c(t, "0x");
    text_hex(t, frame->addr, 16);
    text_char(t, ' ');
}

static void put_text_call(text *t, const report_call *call, const write_options *how)
{
    size_t from = t->len;
    text_str(t, call->name);
    if (!call->is_inline) {
        text_c(t, " + ");
        text_dec(t, call->offset);
    }
    if (call->has_line) {
        text_c(t, " (");
        text_call_place(t, call, how->full_path);
        text_char(t, ')');
    }
    if (call->owner.len > 0) {
        text_c(t, " [");
        text_str(t, call->owner);
        text_char(t, ']');
    }
    text_c(t, call->is_inline ? " [inlined]" : "");
    text_end_line(t, from);
}

/* A frame as the report has it: symbolLocation is kept where there is one. */
static void put_text_given(text *t, const report *r, const report_frame *frame)
{
    uint64_t offset;
    if (frame->form < FORM_IPS && frame->name.len > 0) {
        text_shown(t, str_make(r->shadow + frame->symbol_at, frame->symbol_end - frame->symbol_at));
    } else if (frame->name.len == 0) {
        uint64_t base = frame->image != REPORT_NONE ? r->images[frame->image].base : 0;
        text_c(t, "0x");
        text_hex(t, base, 1);
        text_c(t, " + ");
        text_dec(t, frame->addr - base);
    } else {
        text_shown(t, frame->name);
        if (frame->form == FORM_IPS && !frame->given_inline &&
            json_u64(&r->docs[frame->doc], json_get(&r->docs[frame->doc], frame->token, "symbolLocation"),
                     &offset)) {
            text_c(t, " + ");
            text_dec(t, offset);
        }
        if (frame->where.len > 0) {
            text_c(t, " (");
            text_shown(t, frame->where);
            text_char(t, ')');
        }
        text_c(t, frame->given_inline ? " [inlined]" : "");
    }
    text_char(t, '\n');
}

static void put_text_title(text *t, const report_thread *thread)
{
    if (thread->kind == THREAD_EXCEPTION) {
        text_c(t, "Last Exception Backtrace:\n");
        return;
    }
    text_c(t, thread->kind == THREAD_SPECIFIC ? "Application Specific Backtrace " : "Thread ");
    text_dec(t, thread->number);
    text_c(t, thread->crashed ? " Crashed:" : ":");
    if (thread->name.len + thread->queue.len > 0)
        text_char(t, ':');
    if (thread->name.len > 0) {
        text_char(t, ' ');
        text_shown(t, thread->name);
    }
    if (thread->queue.len > 0) {
        text_c(t, thread->name.len > 0 ? "  Dispatch queue: " : " Dispatch queue: ");
        text_shown(t, thread->queue);
    }
    text_char(t, '\n');
}

/* Inlined calls have the number of the frame they lie in. */
static void put_text_thread(text *t, const report *r, const report_thread *thread, const write_options *how)
{
    uint32_t number = 0;
    put_text_title(t, thread);
    for (uint32_t i = 0; i < thread->count; i++) {
        const report_frame *frame =
            &r->frames[thread->first + (thread->callers_first ? thread->count - 1 - i : i)];
        for (uint32_t layer = 0; layer < frame->call_count; layer++) {
            put_text_frame(t, r, frame, number);
            put_text_call(t, &r->calls[frame->call + layer], how);
        }
        if (frame->call_count == 0) {
            put_text_frame(t, r, frame, number);
            put_text_given(t, r, frame);
        }
        number += !frame->given_inline;
    }
    text_char(t, '\n');
}

/* ---- Images ---- */

/* "0x" and digits, 18 wide. */
static void put_text_address(text *t, uint64_t addr)
{
    unsigned digits = 1;
    while (digits < 16 && addr >> (4 * digits) != 0)
        digits++;
    for (unsigned i = digits; i < 16; i++)
        text_char(t, ' ');
    text_c(t, "0x");
    text_hex(t, addr, 1);
}

static void put_text_image(text *t, const report_image *image)
{
    put_text_address(t, image->base);
    text_c(t, " - ");
    if (image->end == UINT64_MAX)
        text_c(t, "               ???");
    else
        put_text_address(t, image->end - 1);
    text_char(t, ' ');
    text_shown(t, image->name.len > 0 ? image->name : str_c("???"));
    text_char(t, ' ');
    text_shown(t, image->arch.len > 0 ? image->arch : str_c("unknown"));
    text_c(t, "  <");
    for (size_t i = 0; i < 16; i++)
        text_hex(t, image->uuid.v[i], 2);
    text_c(t, "> ");
    text_shown(t, image->path);
    text_char(t, '\n');
}

/* ---- All together ---- */

/* A report that is text already stays as it is. */
void report_write_text(const report *r, const write_options *how, text *out)
{
    if (!r->has_json || r->main_doc == REPORT_NONE) {
        report_write_same(r, how, out);
        return;
    }
    put_text_header(out, r);
    for (uint32_t i = 0; i < r->thread_count; i++) {
        if (r->threads[i].count > 0)
            put_text_thread(out, r, &r->threads[i], how);
    }
    text_c(out, "Binary Images:\n");
    for (uint32_t i = 0; i < r->image_count; i++)
        put_text_image(out, &r->images[i]);
}
