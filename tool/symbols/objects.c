/* Object files of debug maps; see objects.h. */
#include "objects.h"
#include "../../report/base/memory.h"
#include "../../report/base/text.h"
#include "../base/posix.h"
#include "../base/say.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAID_OF_A_PLAN = 10 };

static bool object_take_prefix(void *field, const char *value)
{
    object_options *to = field;
    const char *equals = strchr(value, '=');
    if (equals == NULL || to->prefix_count == MAX_OSO) {
        say_message(equals == NULL ? "--oso-prefix wants FROM=TO" : "at most %d --oso-prefix", MAX_OSO);
        return false;
    }
    size_t len = (size_t)(equals - value);
    char *from = mem_alloc(len + 1); /* lives as long as the program: options are read once */
    memcpy(from, value, len);
    from[len] = 0;
    to->prefixes[to->prefix_count].from = from;
    to->prefixes[to->prefix_count++].to = equals + 1;
    return true;
}

static bool object_take_dir(void *field, const char *value)
{
    object_options *to = field;
    bool ok = to->dir_count < MAX_OSO;
    if (ok)
        to->dirs[to->dir_count++] = value;
    else
        say_message("at most %d --oso-dir", MAX_OSO);
    return ok;
}

const option object_option_table[] = {
    {"oso-prefix", "FROM=TO", "a program without dSYM: its object files moved from FROM to TO; may repeat", 0,
     object_take_prefix},
    {"oso-dir", "DIR", "... look for them under DIR too, by the end of their paths; may repeat", 0,
     object_take_dir},
    {"oso-any-time", NULL, "... take them although they changed after the program was linked",
     offsetof(object_options, any_time), NULL},
    {"no-objects", NULL, "... do not look for them: only symbols answer", offsetof(object_options, none),
     NULL},
    {0},
};

void object_options_apply(const object_options *from, machsym_open_desc *desc)
{
    desc->oso_prefixes = from->prefixes;
    desc->oso_prefix_count = from->prefix_count;
    desc->oso_dirs = from->dirs;
    desc->oso_dir_count = from->dir_count;
    desc->flags |=
        (from->any_time ? MACHSYM_OPEN_ANY_TIME : 0u) | (from->none ? MACHSYM_OPEN_NO_OBJECTS : 0u);
}

/* ---- Messages ---- */

static void object_text_time(text *t, uint64_t seconds)
{
    char written[32] = "unknown";
    time_t when = (time_t)seconds;
    struct tm parts;
    if (seconds != 0 && gmtime_r(&when, &parts) != NULL)
        strftime(written, sizeof written, "%Y-%m-%d %H:%M:%S", &parts);
    text_c(t, written);
}

static void object_text(text *t, const machsym_object_file *file)
{
    text_str(t, file->path);
    if (file->member.len == 0)
        return;
    text_char(t, '(');
    text_str(t, file->member);
    text_char(t, ')');
}

bool object_say(const machsym_object_file *file)
{
    text t = {0};
    if (file->status == MACHSYM_OBJECT_FOUND || file->status == MACHSYM_OBJECT_UNTRIED)
        return false;
    object_text(&t, file);
    switch (file->status) {
    case MACHSYM_OBJECT_MISSING:
        text_c(&t, ": this object file with the debug info is not there or cannot be read; name "
                   "where it is with --oso-prefix FROM=TO or --oso-dir DIR");
        break;
    case MACHSYM_OBJECT_NO_MEMBER:
        text_c(&t, ": the archive has no such member any more; link the program again");
        break;
    case MACHSYM_OBJECT_CHANGED:
        text_c(&t, ": changed after the program was linked (");
        object_text_time(&t, file->found_time);
        text_c(&t, " UTC, linked was ");
        object_text_time(&t, file->time);
        text_c(&t, "); link the program again, or pass --oso-any-time if the code is the same");
        break;
    case MACHSYM_OBJECT_NO_DWARF:
        text_c(&t, ": compiled without debug info; compile it with -g and link again");
        break;
    case MACHSYM_OBJECT_CUT_SHORT:
        text_c(&t, ": cut short: the file ends before its parts do; compile it again");
        break;
    case MACHSYM_OBJECT_OVER_BUDGET:
        text_c(&t, ": left out, because the program names the same few files again and again");
        break;
    default:
        text_c(&t, ": no object file for the program's architecture; name where the right one is with "
                   "--oso-prefix FROM=TO or --oso-dir DIR");
        break;
    }
    say_message("%.*s. Its functions are named by the symbol table, without lines.", (int)t.len, t.v);
    text_free(&t);
    return true;
}

void object_say_new(const machsym_session *session, machsym_cursor *at)
{
    machsym_object_file file;
    while (session != NULL && machsym_session_next_object_file(session, at, &file))
        object_say(&file);
}

void object_say_plan(const machsym_plan *plan)
{
    machsym_cursor at = {0, 0};
    machsym_object_file file;
    size_t said = 0;
    size_t more = 0;
    while (machsym_plan_next_object_file(plan, &at, &file)) {
        if (said < SAID_OF_A_PLAN)
            said += object_say(&file);
        else
            more += file.status != MACHSYM_OBJECT_FOUND;
    }
    if (more > 0)
        say_message("... and %zu more object files", more);
}
