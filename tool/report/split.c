/* Where one report of a file ends and the next one begins; see split.h. A report is cut off only when it is
 * complete, and only at what Apple's reports begin with: the metadata of an .ips, or the header of a text. */
#include "split.h"
#include "plcrash.h"

#include <string.h>

/* What was seen of a report. */
typedef struct split_state {
    bool has_metadata; /* the line ahead of an .ips */
    bool has_document; /* and the JSON that follows it */
    bool has_exception;
    bool has_stacks;
    bool is_translated; /* the .ips that the text is of follows */
} split_state;

static bool is_complete(const split_state *seen)
{
    return (seen->has_metadata && seen->has_document) || (seen->has_exception && seen->has_stacks);
}

/* The metadata have a few hundred bytes. Longer lines are whole documents. */
enum { MAX_METADATA = 8192 };

static bool is_metadata(machsym_str line)
{
    return line.len < MAX_METADATA && line.len > 1 && line.ptr[0] == '{' && line.ptr[line.len - 1] == '}' &&
           str_find(line, "\"bug_type\"") < line.len &&
           (str_find(line, "\"os_version\"") < line.len || str_find(line, "\"timestamp\"") < line.len);
}

static bool is_header(machsym_str line)
{
    return str_starts(line, "Incident Identifier:") || str_starts(line, "Process:") ||
           str_starts(line, "Translated Report (");
}

/* Whether another report begins with the line; else takes note of it. */
static bool begins_next(split_state *seen, machsym_str line)
{
    bool is_new = is_metadata(line);
    if (seen->is_translated && is_new)
        *seen = (split_state){true, false, false, false, false};
    else if ((is_new || is_header(line)) && is_complete(seen))
        return true;
    else if (is_new)
        seen->has_metadata = true;
    else
        seen->has_document |= seen->has_metadata && str_starts(line, "{"); /* iOS 14 writes text there */
    seen->has_exception |= str_starts(line, "Exception Type:");
    seen->has_stacks |= str_starts(line, "Thread ") || str_starts(line, "Binary Images:");
    seen->is_translated |= str_is(line, "Full Report");
    return false;
}

static machsym_str without_return(machsym_str line)
{
    while (line.len > 0 && (line.ptr[line.len - 1] == '\r' || line.ptr[line.len - 1] == ' '))
        line.len--;
    return line;
}

size_t report_first_len(machsym_str s)
{
    split_state seen = {false, false, false, false, false};
    size_t rule = SIZE_MAX; /* where the line of dashes ahead of "Translated Report" begins */
    for (size_t at = 0; at < s.len && !plcrash_is(s);) {
        const char *end = memchr(s.ptr + at, '\n', s.len - at);
        size_t next = end != NULL ? (size_t)(end - s.ptr) + 1 : s.len;
        machsym_str line = without_return((machsym_str){s.ptr + at, next - at - (end != NULL)});
        MACHSYM_COUNT_WORK(1 + (next - at) / 64);
        if (begins_next(&seen, line))
            return rule != SIZE_MAX && str_starts(line, "Translated") ? rule : at;
        rule = str_starts(line, "-----") ? at : SIZE_MAX;
        at = next;
    }
    return s.len;
}
