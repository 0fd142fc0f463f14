/* See call.h. */
#include "call.h"
#include "../base/json_put.h"
#include "machsym.h"

enum { CALL_NAMED = 3 }; /* others that are listed by name; of more, only the number is written */

void call_put_place(text *t, const report_call *call, bool full_path)
{
    text_str(t, full_path ? call->path : str_base_name(call->path));
    text_char(t, ':');
    text_dec(t, call->line);
}

void call_put_others(text *t, const report_call *call)
{
    machsym_str rest = call->others;
    machsym_str name;
    const char *between = " (or ";
    if (call->other_count > CALL_NAMED) {
        text_c(t, between);
        text_dec(t, call->other_count);
        text_c(t, " others)");
        return;
    }
    while (report_next_other(&rest, &name)) {
        text_c(t, between);
        text_str(t, name);
        between = ", ";
    }
    text_c(t, call->other_count > 0 ? ": one body)" : "");
}

void call_put_function(text *t, const report_call *call)
{
    text_str(t, call->name);
    call_put_others(t, call);
    if (!call->is_inline) {
        text_c(t, " + ");
        text_dec(t, call->offset);
    }
}

/* Writes the end of a line: " [OWNER]", " [callers left out]", " [inlined]". */
void call_put_tail(text *t, const report_call *call)
{
    if (call->owner.len > 0) {
        text_c(t, " [");
        text_str(t, call->owner);
        text_char(t, ']');
    }
    text_c(t, call->lacks_callers ? " [callers left out]" : "");
    text_c(t, call->is_inline ? " [inlined]" : "");
}

void call_put(text *t, const report_call *call, bool full_path)
{
    call_put_function(t, call);
    if (call->has_line) {
        text_c(t, " (");
        call_put_place(t, call, full_path);
        text_char(t, ')');
    }
    call_put_tail(t, call);
}

static void call_put_context(text *t, const report_call *call)
{
    machsym_str rest = call->context;
    size_t end;
    if (rest.len == 0)
        return;
    text_c(t, ",\"context\":{\"first\":");
    text_dec(t, call->context_first);
    text_c(t, ",\"lines\":[");
    while ((end = str_find(rest, "\n")) < rest.len) {
        text_json(t, str_make(rest.ptr, end));
        text_char(t, ',');
        rest = str_from(rest, end + 1);
    }
    text_json(t, rest); /* rest may be empty */
    text_c(t, "]}");
}

static void call_put_json_others(text *t, const report_call *call)
{
    machsym_str rest = call->others;
    machsym_str name;
    const char *between = ",\"folded\":[";
    while (report_next_other(&rest, &name)) {
        text_c(t, between);
        text_json(t, name);
        between = ",";
    }
    text_c(t, call->other_count > 0 ? "]" : "");
    text_c(t, call->is_decided ? ",\"folded_by\":\"call-site\"" : "");
}

void call_put_json(text *t, const report_call *call)
{
    text_c(t, "{\"name\":");
    text_json(t, call->name);
    json_put_str(t, "file", call->path);
    if (call->has_line) {
        json_put_number(t, "line", call->line);
        json_put_number(t, "column", call->column);
    } else {
        text_c(t, ",\"line\":null,\"column\":null");
    }
    json_put_number(t, "offset", call->offset);
    text_c(t, call->is_inline ? ",\"inline\":true" : ",\"inline\":false");
    text_c(t, call->lacks_callers ? ",\"callers_left_out\":true" : "");
    json_put_str(t, "name_source", str_c(machsym_source_name(call->name_source)));
    if (call->owner.len > 0)
        json_put_str(t, "owner", call->owner);
    json_put_str(t, "line_source", str_c(machsym_source_name(call->line_source)));
    if (call->link.len > 0)
        json_put_str(t, "link", call->link);
    call_put_context(t, call);
    call_put_json_others(t, call);
    text_char(t, '}');
}
