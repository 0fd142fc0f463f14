/* See facts.h. */
#include "facts.h"
#include "../base/digits.h"
#include "../base/json_put.h"
#include "../model/stack.h"
#include "exception.h"
#include "machsym.h"
#include "termination.h"

#include <string.h>

const char *facts_cause_name(facts_cause cause)
{
    static const char *const names[] = {
#define FACTS_CAUSE_NAME(cause, name) name,
        FACTS_CAUSES(FACTS_CAUSE_NAME)
#undef FACTS_CAUSE_NAME
    };
    return names[cause];
}

static bool facts_says(const report *r, const char *name)
{
    machsym_str exception = r->facts[FACT_EXCEPTION];
    machsym_str signal = r->facts[FACT_SIGNAL];
    return str_find(exception, name) < exception.len || str_find(signal, name) < signal.len;
}

static facts_cause facts_cause_of_signal(const report *r)
{
    static const struct {
        const char *name;
        facts_cause cause;
    } causes[] = {{"EXC_GUARD", FACTS_GUARD},
                  {"EXC_RESOURCE", FACTS_RESOURCE},
                  {"EXC_BREAKPOINT", FACTS_TRAP},
                  {"SIGTRAP", FACTS_TRAP},
                  {"EXC_BAD_INSTRUCTION", FACTS_INSTRUCTION},
                  {"SIGILL", FACTS_INSTRUCTION},
                  {"EXC_ARITHMETIC", FACTS_ARITHMETIC},
                  {"SIGFPE", FACTS_ARITHMETIC},
                  {"SIGABRT", FACTS_ABORT},
                  {"SIGKILL", FACTS_TERMINATION},
                  {"SIG", FACTS_SIGNAL}};
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        if (facts_says(r, causes[i].name))
            return causes[i].cause;
    }
    return FACTS_UNKNOWN;
}

/* Whether the termination explains what happened. */
static bool facts_is_ended(const report *r)
{
    text words = text_in(r->memory);
    bool is_ended = ending_explain(&words, r);
    text_free(&words);
    return is_ended;
}

void facts_find(const report *r, facts *out)
{
    memset(out, 0, sizeof *out);
    access_find(r, &out->fault);
    said_find(r, &out->words);
    guard_find(r, &out->broken);
    if (r->kind == REPORT_PANIC)
        out->cause = FACTS_PANIC;
    else if (r->kind == REPORT_STACKSHOT || r->kind == REPORT_STACKLESS || !stack_is_crash(r))
        out->cause = FACTS_EVENT;
    else if (out->fault.kind != ACCESS_NONE)
        out->cause = FACTS_ACCESS;
    else if (out->words.kind == SAID_THROWN || out->words.kind == SAID_REASON || out->words.kind == SAID_CXX)
        out->cause = FACTS_EXCEPTION;
    else if (out->words.kind != SAID_NOTHING && out->words.kind != SAID_OTHER)
        out->cause = FACTS_LIBRARY;
    else if (out->broken.type != GUARD_NONE)
        out->cause = FACTS_GUARD;
    else
        out->cause = facts_is_ended(r) ? FACTS_TERMINATION : facts_cause_of_signal(r);
}

/* Returns the first line that says more than the title; the title if no line does. */
static machsym_str facts_telling_line(machsym_str words)
{
    static const char *const others[] = {"EXC_CRASH code: ", "the report says: "};
    machsym_str title;
    machsym_str line;
    if (!str_take_line(&words, &title))
        return words;
    while (str_take_line(&words, &line)) {
        line = str_trim(line);
        if (line.len > 0 && !str_starts(line, others[0]) && !str_starts(line, others[1]))
            return line;
    }
    return title;
}

void facts_put_sentence(text *t, const report *r)
{
    facts found;
    text words = text_in(r->memory);
    facts_find(r, &found);
    if (found.words.kind != SAID_NOTHING && found.words.kind != SAID_OTHER)
        said_put(&words, &found.words);
    else if (found.fault.kind != ACCESS_NONE)
        access_put(&words, &found.fault);
    if (words.len > 0) {
        text_add(t, words.v, words.len - 1);
    } else {
        exception_put(&words, r);
        text_str(t, facts_telling_line(str_make(words.v, words.len)));
    }
    text_free(&words);
}

/* ---- JSON ---- */

static void facts_put_main(text *t, const report *r)
{
    text words = text_in(r->memory);
    facts_put_sentence(&words, r);
    json_put_str(t, "sentence", str_make(words.v, words.len));
    text_free(&words);
}

static void facts_put_fault(text *t, const access_fault *fault)
{
    const char *access = access_name(fault->access);
    json_put_key(t, "fault");
    text_c(t, "{\"kind\":");
    text_json(t, str_c(access_kind_name(fault->kind)));
    if (fault->has_address)
        json_put_hex(t, "address", fault->address);
    if (access != NULL)
        json_put_str(t, "access", str_c(access));
    if (fault->size > 0)
        json_put_number(t, "size", fault->size);
    if (fault->region.len > 0)
        json_put_str(t, "region", fault->region);
    if (fault->has_tag)
        json_put_number(t, "tag", fault->tag);
    text_char(t, '}');
}

static void facts_put_said(text *t, const said *what)
{
    json_put_key(t, "said");
    text_c(t, "{\"kind\":");
    text_json(t, str_c(said_kind_name(what->kind)));
    if (what->name.len > 0)
        json_put_str(t, "name", what->name);
    if (what->words.len > 0)
        json_put_str(t, "words", what->words);
    if (what->file.len > 0)
        json_put_str(t, "file", what->file);
    if (what->line > 0)
        json_put_number(t, "line", what->line);
    text_char(t, '}');
}

static void facts_put_guard(text *t, const guard *what)
{
    const char *flavor = guard_flavor_name(what);
    json_put_key(t, "guard");
    text_c(t, "{\"type\":");
    text_json(t, str_c(guard_type_name(what->type)));
    if (flavor != NULL)
        json_put_str(t, "flavor", str_c(flavor));
    json_put_number(t, "target", what->target);
    json_put_hex(t, "id", what->id);
    text_char(t, '}');
}

/* Writes the namespace, the code (hexadecimal, however the report writes it), and the report's own reason. */
static void facts_put_ending(text *t, const report *r)
{
    uint64_t code;
    machsym_str why = ending_why(r);
    json_put_key(t, "termination");
    text_c(t, "{\"namespace\":");
    text_json(t, r->facts[FACT_TERMINATION]);
    if (str_number_after(r->facts[FACT_TERMINATION_CODE], "", &code))
        json_put_hex(t, "code", code);
    if (why.len > 0)
        json_put_str(t, "why", why);
    text_char(t, '}');
}

static void facts_put_words(text *t, const report *r)
{
    text words = text_in(r->memory);
    machsym_str line;
    const char *between = "";
    exception_put(&words, r);
    machsym_str rest = {words.v, words.len};
    json_put_key(t, "words");
    text_char(t, '[');
    while (str_take_line(&rest, &line)) {
        text_c(t, between);
        text_json(t, str_trim(line));
        between = ",";
    }
    text_char(t, ']');
    text_free(&words);
}

void facts_put_json(text *t, const report *r)
{
    facts found;
    facts_find(r, &found);
    text_c(t, ",\n\"facts\":{\"cause\":");
    text_json(t, str_c(facts_cause_name(found.cause)));
    facts_put_main(t, r);
    if (found.fault.kind != ACCESS_NONE)
        facts_put_fault(t, &found.fault);
    if (r->facts[FACT_TAGS].len > 0)
        json_put_str(t, "memory_tags", r->facts[FACT_TAGS]);
    if (found.words.kind != SAID_NOTHING)
        facts_put_said(t, &found.words);
    if (found.broken.type != GUARD_NONE)
        facts_put_guard(t, &found.broken);
    if (r->facts[FACT_TERMINATION].len > 0)
        facts_put_ending(t, r);
    facts_put_words(t, r);
    text_char(t, '}');
}
