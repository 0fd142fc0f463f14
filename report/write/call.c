/* See call.h. */
#include "call.h"
#include "../base/json_put.h"
#include "machsym.h"

void call_put_place(text *t, const report_call *call, bool full_path)
{
    text_str(t, full_path ? call->path : str_base_name(call->path));
    text_char(t, ':');
    text_dec(t, call->line);
}

/* "NAME + 12"; inlined calls have no offset. */
void call_put_function(text *t, const report_call *call)
{
    text_str(t, call->name);
    if (!call->is_inline) {
        text_c(t, " + ");
        text_dec(t, call->offset);
    }
}

/* What stands at the very end of a line: " [OWNER]", " [callers left out]", " [inlined]". */
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
    text_json(t, rest); /* which may be empty */
    text_c(t, "]}");
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
    text_char(t, '}');
}
