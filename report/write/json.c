/* Reports as one JSON object in machsym's schema. */
#include "write.h"
#include "../base/digits.h"
#include "../base/json_put.h"
#include "../model/stack.h"
#include "../model/status.h"
#include "../tell/blame.h"
#include "../tell/doubt.h"
#include "../tell/exception.h"
#include "../tell/facts.h"
#include "cpu.h"

/* calls: innermost first, the real function last; empty if nothing was found. given: the name in the
 * report. */
static void write_put_json_frame(text *t, const report *r, const report_thread *thread,
                                 const report_frame *frame)
{
    text_c(t, "{\"index\":");
    text_dec(t, frame->index);
    json_put_hex(t, "address", frame->addr);
    text_c(t, frame->exact ? ",\"return_address\":false" : ",\"return_address\":true");
    if (frame->image != REPORT_NONE)
        json_put_number(t, "image", frame->image);
    else
        text_c(t, ",\"image\":null");
    if (frame->samples > 0)
        json_put_number(t, "samples", frame->samples);
    if (thread->path > 0)
        json_put_number(t, "depth", frame->depth);
    if (frame->found_by != NULL)
        json_put_str(t, "found_by", str_c(frame->found_by));
    if (frame->form == FORM_INFERRED)
        text_c(t, ",\"inferred\":true");
    if (frame->doubt != NULL)
        json_put_str(t, "doubt", str_c(frame->doubt));
    json_put_str(t, "given", frame->name);
    json_put_str(t, "given_place", frame->where);
    text_c(t, ",\"calls\":[");
    for (uint32_t i = 0; i < frame->call_count; i++) {
        text_c(t, i > 0 ? "," : "");
        call_put_json(t, &r->calls[frame->call + i]);
    }
    text_c(t, "]}");
}

static void write_put_json_thread(text *t, const report *r, const report_thread *thread)
{
    text_c(t, "{\"kind\":");
    text_json(t, str_c(report_thread_kind_name(thread->kind)));
    json_put_number(t, "number", thread->number);
    json_put_str(t, "name", thread->name);
    json_put_str(t, "queue", thread->queue);
    if (thread->process.len > 0)
        json_put_str(t, "process", thread->process);
    text_c(t, thread->crashed ? ",\"crashed\":true" : ",\"crashed\":false");
    text_c(t, thread->callers_first ? ",\"callers_first\":true" : ",\"callers_first\":false");
    if (thread->borrowed != BORROWED_NONE)
        text_c(t, thread->borrowed == BORROWED_USED ? ",\"borrowed_images\":\"used\""
                                                    : ",\"borrowed_images\":\"refused\"");
    text_c(t, ",\"frames\":[");
    for (uint32_t i = 0; i < thread->count; i++) {
        text_c(t, i > 0 ? ",\n" : "\n");
        write_put_json_frame(t, r, thread, &r->frames[thread->first + i]);
    }
    text_char(t, ']');
    cpu_put_registers(t, r, thread);
    cpu_put_code(t, thread);
    text_char(t, '}');
}

static const char *write_image_state(const report_image *image)
{
    static const char *const states[] = {"found",
                                         "no file has this UUID",
                                         "a file of this name has another UUID",
                                         "the file cannot be opened",
                                         "several files of this name",
                                         "no UUID; a file of this name may be of another build"};
    return image->looked_for ? states[image->status.found] : "not needed";
}

/* What an image of a dump is, if it is no Mach-O file that was loaded: read/minidump has it as its version. */
static void write_put_image_kind(text *t, const report_image *image)
{
    static const char *const kinds[] = {"ELF", "PE", "unloaded"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (str_is(image->version, kinds[i]))
            json_put_str(t, "kind", image->version);
    }
}

static void write_put_json_image(text *t, const report_image *image)
{
    text_c(t, "{\"name\":");
    text_json(t, image->name);
    json_put_str(t, "path", image->path);
    json_put_str(t, "arch", image->arch);
    write_put_image_kind(t, image);
    json_put_uuid(t, "uuid", image->has_uuid ? &image->uuid : NULL);
    json_put_hex(t, "base", image->base);
    json_put_number(t, "frames", image->frame_count);
    json_put_number(t, "missing", image->missing);
    json_put_str(t, "status", str_c(write_image_state(image)));
    json_put_str(t, "symbols", image->status.path != NULL ? str_c(image->status.path) : str_make(NULL, 0));
    if (image->looked_for && image->status.found == IMAGE_FOUND) {
        if (image->status.why != NULL)
            json_put_str(t, "damage", str_c(image->status.why));
        text_c(t, image->status.has_dwarf ? ",\"has_debug_info\":true" : ",\"has_debug_info\":false");
    }
    if (image->no_code != NULL)
        json_put_str(t, "no_code", str_c(image->no_code));
    text_char(t, '}');
}

static const struct {
    const char *key;
    report_fact fact;
} json_facts[] = {
    {"process", FACT_PROCESS},         {"identifier", FACT_IDENTIFIER},
    {"version", FACT_VERSION},         {"os", FACT_OS},
    {"hardware", FACT_HARDWARE},       {"date", FACT_DATE},
    {"incident", FACT_INCIDENT},       {"bug_type", FACT_BUG_TYPE},
    {"exception", FACT_EXCEPTION},     {"signal", FACT_SIGNAL},
    {"subtype", FACT_SUBTYPE},         {"codes", FACT_CODES},
    {"termination", FACT_TERMINATION}, {"termination_code", FACT_TERMINATION_CODE},
    {"description", FACT_DESCRIPTION}, {"app_info", FACT_APP_INFO},
    {"reason", FACT_REASON},           {"event", FACT_EVENT},
    {"amount", FACT_AMOUNT},
};

/* Text has the number after the name: "demo [412]". */
static bool write_find_pid(const report *r, uint64_t *pid)
{
    machsym_str process = r->facts[FACT_PROCESS];
    size_t at = process.len;
    while (at > 0 && process.ptr[at - 1] != '[')
        at--;
    return str_number_after(r->facts[FACT_PID], "", pid) ||
           (at > 0 && process.ptr[process.len - 1] == ']' &&
            str_number_after(str_from(process, at), "", pid));
}

/* Writes what the program told its reporter, one string for each "KEY: VALUE". */
static void write_put_notes(text *out, const report *r)
{
    machsym_str rest = r->facts[FACT_NOTES];
    machsym_str line;
    if (rest.len == 0)
        return;
    text_c(out, ",\"annotations\":");
    for (bool is_first = true; str_take_line(&rest, &line); is_first = false) {
        text_char(out, is_first ? '[' : ',');
        text_json(out, str_trim(str_after(line, ":")));
    }
    text_char(out, ']');
}

bool write_fact(const report *r, size_t index, const char **name, machsym_str *value)
{
    if (index >= sizeof json_facts / sizeof json_facts[0])
        return false;
    *name = json_facts[index].key;
    *value = r->facts[json_facts[index].fact];
    return true;
}

static void write_put_facts(text *out, const report *r)
{
    const char *name;
    machsym_str value;
    uint64_t pid;
    for (size_t i = 0; write_fact(r, i, &name, &value); i++) {
        if (value.len > 0)
            json_put_str(out, name, value);
    }
    if (write_find_pid(r, &pid))
        json_put_number(out, "pid", pid);
    write_put_notes(out, r);
}

static void write_put_part(text *out, const report *r)
{
    if (r->number > 0)
        json_put_number(out, "part", r->number);
    if (r->cut_at > 0)
        json_put_number(out, "cut_at", r->cut_at);
}

static void write_put_counts(text *out, const resolve_counts *counts)
{
    text_c(out, ",\n\"counts\":{\"frames\":");
    text_dec(out, counts->frames);
    json_put_number(out, "given", counts->given);
    json_put_number(out, "with_line", counts->dwarf);
    json_put_number(out, "name_only", counts->symbols);
    json_put_number(out, "missing", counts->missing);
    text_char(out, '}');
}

static void write_put_images(text *out, const report *r)
{
    text_c(out, ",\n\"images\":[");
    for (uint32_t i = 0; i < r->image_count; i++) {
        text_c(out, i > 0 ? ",\n" : "\n");
        write_put_json_image(out, &r->images[i]);
    }
    text_char(out, ']');
}

void write_json_images(const report *r, text *out)
{
    size_t from = out->len;
    write_put_images(out, r);
    json_one_line(out, from);
}

/* Writes what happened, one string for each sentence. */
static void write_put_explanation(text *out, const report *r)
{
    text words = text_in(r->memory);
    machsym_str line;
    bool is_first = true;
    exception_put(&words, r);
    machsym_str rest = {words.v, words.len};
    text_c(out, ",\"explanation\":[");
    while (str_take_line(&rest, &line)) {
        text_c(out, is_first ? "" : ",");
        text_json(out, str_trim(line));
        is_first = false;
    }
    text_char(out, ']');
    text_free(&words);
}

/* With --owners: writes who is responsible. */
static void write_put_blame(text *out, const report *r)
{
    blame who;
    text place = text_in(r->memory);
    bool is_owned = blame_find(r, &who, &place);
    if (r->rules == NULL)
        return;
    json_put_key(out, "blame");
    if (is_owned) {
        text_c(out, "{\"owner\":");
        text_json(out, who.owner);
        json_put_str(out, "image", who.image);
        json_put_str(out, "name", who.name);
        json_put_str(out, "place", who.place);
        text_char(out, '}');
    } else {
        text_c(out, "null");
    }
    text_free(&place);
}

void write_summary_json(const report *r, const char *label, const resolve_counts *counts, text *out)
{
    const report_thread *thread = stack_main(r);
    size_t from = out->len;
    json_begin(out, "crash-summary");
    json_put_str(out, "report", str_c(label));
    write_put_part(out, r);
    write_put_facts(out, r);
    write_put_explanation(out, r);
    facts_put_json(out, r);
    write_put_blame(out, r);
    write_put_counts(out, counts);
    doubt_put_json(out, r);
    json_put_key(out, "thread");
    if (thread != NULL)
        write_put_json_thread(out, r, thread);
    else
        text_c(out, "null");
    write_put_images(out, r);
    text_char(out, '}');
    json_one_line(out, from);
}

void write_json(const report *r, const write_options *how, const resolve_counts *counts, text *out)
{
    size_t from = out->len;
    /* paths are always complete here */
    json_begin(out, "crash");
    json_put_str(out, "machsym", str_c(MACHSYM_VERSION));
    json_put_str(out, "format", str_c(report_kind_name(r->kind)));
    write_put_part(out, r);
    write_put_facts(out, r);
    facts_put_json(out, r);
    write_put_counts(out, counts);
    doubt_put_json(out, r);
    text_c(out, ",\n\"threads\":[");
    const char *between = "\n";
    for (uint32_t i = 0; i < r->thread_count; i++) {
        if (r->threads[i].is_echo)
            continue;
        text_c(out, between);
        write_put_json_thread(out, r, &r->threads[i]);
        between = ",\n";
    }
    text_char(out, ']');
    write_put_images(out, r);
    text_c(out, "}\n");
    if (how->one_line)
        json_one_line(out, from);
}
