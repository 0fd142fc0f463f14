/* machsym atos: answers as text, as JSON, and how they came about. */
#include "answer.h"
#include "../../../report/base/json_put.h"
#include "../../../report/base/names.h"
#include "../../../report/look/shared.h"
#include "../../base/say.h"
#include "../../symbols/folded.h"
#include "../../symbols/frames.h"

#include <string.h>

/* ---- Answers in atos's format ---- */

static void answer_print_in_image(text *out, const target *t)
{
    text_c(out, " (in ");
    text_str(out, t->file.info.name);
    text_char(out, ')');
}

static void answer_print_offset(text *out, uint64_t addr, const machsym_frame *frame)
{
    text_c(out, " + ");
    text_dec(out, addr - frame->function_start);
}

/* With --nearest: the name below code that has none. */
static void answer_print_nearest(const atos *a, text *out, const target *t, uint64_t addr)
{
    machsym_str name;
    uint64_t start;
    if (t->below == NULL || !nearest_find(t->below, addr, &name, &start))
        return;
    text_c(out, ", nearest name below: ");
    if (a->style.raw_names)
        text_str(out, name);
    else
        text_name(out, name, a->style.demangle_flags);
    text_c(out, " + ");
    text_dec(out, addr - start);
}

/* No name: the address itself, and how far it is from the start of its function when that is known. */
static void answer_print_bare(const atos *a, text *out, const target *t, uint64_t given, uint64_t addr,
                              const machsym_frame *frame)
{
    text_c(out, "0x");
    text_hex(out, given, t->file.info.address_size * 2);
    answer_print_in_image(out, t);
    if (frame != NULL && frame->name_source == MACHSYM_SOURCE_FUNCTION_STARTS)
        answer_print_offset(out, addr, frame);
    answer_print_nearest(a, out, t, addr);
}

/* Whose code it is, where a rule knows. */
static void answer_print_owner(text *out, const target *t, uint64_t addr, const machsym_frame *frame)
{
    machsym_str owner = t->owned != NULL ? owners_find(t->owned, addr, frame) : (machsym_str){NULL, 0};
    if (owner.len == 0)
        return;
    text_c(out, " [");
    text_str(out, owner);
    text_char(out, ']');
}

/* With --folded: the names of the functions that share the code, after that of the function. */
static void answer_put_folded(const atos *a, text *out, const target *t, uint64_t addr,
                              const machsym_frame *frame)
{
    shared_list list = {0};
    if (!a->folded || a->is_decided || a->dedup || frame->is_inline)
        return;
    folded_find(t->source, addr, frame, &a->style, &list);
    shared_put(out, &list);
    shared_free(&list);
}

static void answer_print_frame(const atos *a, text *out, const target *t, uint64_t given, uint64_t addr,
                               const machsym_frame *frame)
{
    size_t from = out->len;
    if (frame->linkage_name.len == 0 && frame->name.len == 0) {
        answer_print_bare(a, out, t, given, addr, frame);
    } else {
        if (frame->name_source == MACHSYM_SOURCE_STUB)
            text_c(out, "DYLD-STUB$$");
        frame_put_name(out, frame, &a->style);
        answer_put_folded(a, out, t, addr, frame);
        answer_print_in_image(out, t);
        if (!frame_has_line(frame))
            answer_print_offset(out, addr, frame);
    }
    if (frame_has_line(frame)) {
        text_c(out, " (");
        frame_put_file(out, frame, a->style.full_path);
        text_char(out, ':');
        text_dec(out, frame->line);
        text_char(out, ')');
    }
    answer_print_owner(out, t, addr, frame);
    text_escape(out, from);
}

/* With -dedup: the other functions that share the code, each with its own line. */
static void answer_print_folded(const atos *a, text *out, const target *t, uint64_t given, uint64_t addr,
                                const machsym_frame *frame)
{
    shared_list list = {0};
    folded_find(t->source, addr, frame, &a->style, &list);
    for (size_t i = 0; i < list.count; i++) {
        text_c(out, a->delimiter);
        answer_print_frame(a, out, t, given, addr, &list.v[i].frame);
    }
    shared_free(&list);
}

/* The line of a frame, with what stands after it. */
static void answer_put_line(const atos *a, text *out, const target *t, uint64_t given, uint64_t addr,
                            size_t count, size_t frame)
{
    answer_print_frame(a, out, t, given, addr, &a->frames[frame]);
    if (frame + 1 < count) {
        text_c(out, a->delimiter);
        return;
    }
    if (a->dedup)
        answer_print_folded(a, out, t, given, addr, &a->frames[frame]);
    text_char(out, '\n');
    if (a->inline_frames)
        text_char(out, '\n');
}

static void answer_print_text(const atos *a, text *out, const target *t, uint64_t given, uint64_t addr,
                              size_t count)
{
    size_t from = out->len;
    for (size_t i = a->inline_frames || count == 0 ? 0 : count - 1; i < count; i++)
        answer_put_line(a, out, t, given, addr, count, i);
    if (count > 0)
        return;
    answer_print_bare(a, out, t, given, addr, NULL);
    answer_print_owner(out, t, addr, NULL);
    text_escape(out, from);
    text_c(out, a->inline_frames ? "\n\n" : "\n");
}

/* ---- JSON ---- */

static void answer_put_nearest(text *out, const target *t, uint64_t addr, bool is_bare)
{
    machsym_str name;
    uint64_t start;
    if (!is_bare || t->below == NULL || !nearest_find(t->below, addr, &name, &start))
        return;
    json_put_str(out, "nearest", name);
    json_put_number(out, "nearest_offset", addr - start);
}

/* The functions that share the code of the real function. */
static void answer_put_json_folded(const atos *a, text *out, const target *t, uint64_t addr, size_t count)
{
    shared_list list = {0};
    if (count == 0)
        return;
    folded_find(t->source, addr, &a->frames[count - 1], &a->style, &list);
    folded_put_json(out, &list, addr, &a->style);
    shared_free(&list);
}

static void answer_print_json(const atos *a, text *out, const target *t, uint64_t given, uint64_t addr,
                              size_t count)
{
    json_begin(out, "atos");
    json_put_hex(out, "address", given);
    json_put_key(out, "image");
    text_json(out, t->file.info.name);
    json_put_uuid(out, "uuid", t->file.info.has_uuid ? &t->file.info.uuid : NULL);
    json_put_str(out, "arch", str_c(t->file.info.arch));
    machsym_str owner = {NULL, 0};
    if (t->owned != NULL)
        owner = owners_find(t->owned, addr, count > 0 ? &a->frames[0] : NULL);
    if (owner.len != 0)
        json_put_str(out, "owner", owner);
    answer_put_nearest(out, t, addr,
                       count == 0 || (a->frames[0].linkage_name.len == 0 && a->frames[0].name.len == 0));
    text_c(out, ",\"frames\":[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            text_char(out, ',');
        frame_put_json(out, &a->frames[i], addr, &a->style);
    }
    text_char(out, ']');
    if (a->is_decided)
        text_c(out, ",\"folded_by\":\"call-site\"");
    else if (a->folded || a->dedup)
        answer_put_json_folded(a, out, t, addr, count);
    text_c(out, "}\n");
}

static void answer_print_unknown(const atos *a, text *out, const char *written, size_t len)
{
    if (a->json) {
        json_begin(out, "atos");
        json_put_key(out, "address");
        text_json(out, (machsym_str){written, len});
        text_c(out, ",\"image\":null,\"uuid\":null,\"arch\":null,\"frames\":[]}");
    } else {
        text_shown(out, str_make(written, len));
    }
    text_char(out, '\n');
    if (a->inline_frames && !a->json)
        text_char(out, '\n');
}

/* ---- Explanation ---- */

static void answer_explain_row(text *out, const machsym_line *row, bool used)
{
    size_t from = out->len;
    text_c(out, used ? "  > 0x" : "    0x");
    text_hex(out, row->addr, 1);
    text_char(out, ' ');
    text_path(out, &row->file);
    text_char(out, ':');
    text_dec(out, row->line);
    text_char(out, ':');
    text_dec(out, row->column);
    text_c(out, row->is_stmt ? " is_stmt" : "");
    text_c(out, row->end_sequence ? " end_sequence" : "");
    text_end_line(out, from);
}

static void answer_explain_unit(text *out, const machsym_explanation *e)
{
    static const char *const how[] = {"no unit covers it", "found by .debug_aranges",
                                      "found by the unit's own ranges",
                                      "found by its functions: it states no range, or another unit has it"};
    text_c(out, "  unit: ");
    text_c(out, how[e->unit_source]);
    if (e->unit_source != MACHSYM_UNIT_NONE) {
        text_c(out, ", .debug_info+0x");
        text_hex(out, e->unit_offset, 1);
        text_c(out, ", DWARF ");
        text_dec(out, e->unit_version);
        text_c(out, ", ");
        text_shown(out, e->unit_name);
        text_c(out, "\n  producer: ");
        text_shown(out, e->unit_producer);
    }
    if (e->object_path.len != 0) {
        text_c(out, "\n  object: ");
        text_shown(out, e->object_path);
        text_c(out, e->object_member.len != 0 ? ", member " : "");
        text_shown(out, e->object_member);
    }
    text_char(out, '\n');
}

/* How far away the line is that a frame has. */
static void answer_explain_near(text *out, const machsym_explanation *e, uint64_t addr)
{
    static const char *const from[] = {"", ": of the nearest code before, ", ": of the nearest code after, ",
                                       ": of the call", ": of the declaration"};
    bool is_after = e->near_addr > addr;
    text_c(out, from[e->near_kind]);
    if (e->near_addr == addr)
        return;
    text_c(out, e->near_kind == MACHSYM_NEAR_CALL ? ", from code " : "");
    text_dec(out, is_after ? e->near_addr - addr : addr - e->near_addr);
    text_c(out,
           e->near_kind == MACHSYM_NEAR_CALL ? (is_after ? " bytes after" : " bytes before") : " bytes away");
}

/* near: what is known of the frame's line when it is one near by; NULL: nothing. */
static void answer_explain_frame(const atos *a, text *out, const machsym_frame *frame,
                                 const machsym_explanation *near, uint64_t addr)
{
    size_t from = out->len;
    text_c(out, frame->is_inline ? "  inlined: " : "  function: ");
    frame_put_name(out, frame, &a->style);
    if (frame->die_offset != 0) {
        text_c(out, ", entry at .debug_info+0x");
        text_hex(out, frame->die_offset, 1);
    }
    if (!frame->is_inline) { /* of a call only the function around it is known */
        text_c(out, ", 0x");
        text_hex(out, frame->function_start, 1);
        text_c(out, " + ");
        text_dec(out, frame->function_size);
        text_c(out, " bytes");
    }
    text_c(out, ", name from ");
    text_c(out, machsym_source_name(frame->name_source));
    text_c(out, ", line from ");
    text_c(out, machsym_source_name(frame->line_source));
    if (near != NULL)
        answer_explain_near(out, near, addr);
    text_end_line(out, from);
    text_c(out, frame->lacks_callers ? "  left out: the calls between this one and the function\n" : "");
}

static bool answer_is_near(const machsym_explanation *e, size_t frame)
{
    return e->near_kind != MACHSYM_NEAR_NONE && e->near_frame == frame;
}

/* What in the file speaks against the answer. */
static void answer_explain_doubts(text *out, const machsym_explanation *e)
{
    if (e->symbol_differs) {
        text_c(out, "  doubt: the symbol table has another name or another start for this function\n");
        text_c(out, "  passed over: the symbol ");
        text_shown(out, e->symbol.name);
        text_c(out, "; --names=symtab takes the one at the function's begin\n");
    }
    if (e->rival_count > 0) {
        text_c(out, "  doubt: other units have a function here too: ");
        text_dec(out, e->rival_count);
        text_c(out, "; the first one answers\n");
    }
    if (e->is_damaged)
        text_c(out, "  doubt: the unit is damaged; what could not be read of it is missing\n");
}

static void answer_explain(const atos *a, text *out, const target *t, uint64_t addr, size_t count)
{
    machsym_explanation e;
    size_t from = out->len;
    text_c(out, "  slice: ");
    text_c(out, t->file.info.arch);
    text_c(out, " of ");
    text_c(out, t->file.info.path != NULL ? t->file.info.path : "memory");
    text_c(out, ", file address 0x");
    text_hex(out, addr, 1);
    text_end_line(out, from);
    if (t->file.map == NULL) {
        machsym_session_explain_addr(symbol_source_session(t->source), addr, &e);
        answer_explain_unit(out, &e);
    }
    for (size_t i = 0; i < count; i++)
        answer_explain_frame(a, out, &a->frames[i], t->file.map == NULL && answer_is_near(&e, i) ? &e : NULL,
                             addr);
    if (t->file.info.is_damaged)
        text_c(out, t->file.map != NULL ? "  doubt: the map was made of a damaged file"
                                        : "  doubt: the file is damaged");
    text_c(out, t->file.info.is_damaged ? "; names, lines and calls may be missing\n" : "");
    if (t->file.map != NULL)
        return;
    text_c(out, e.row_count > 0 ? "  line rows:\n" : "  line rows: none at this address\n");
    for (unsigned i = 0; i < e.row_count; i++)
        answer_explain_row(out, &e.rows[i], i == e.row_used);
    text_c(out, "  nearest symbol: ");
    if (e.has_symbol) {
        text_shown(out, e.symbol.name);
        text_c(out, " 0x");
        text_hex(out, e.symbol.lo, 1);
        text_c(out, " to 0x");
        text_hex(out, e.symbol.hi, 1);
        text_c(out, ", from ");
        text_c(out, machsym_source_name(e.symbol.source));
    } else {
        text_c(out, "none");
    }
    text_char(out, '\n');
    answer_explain_doubts(out, &e);
}

/* ---- One address ---- */

const bcsymbolmap *answer_hidden_names(target *t)
{
    if (t->seeks_names)
        t->names = bcsymbolmap_find(t->file.info.path, &t->file.info.uuid, NULL, 0);
    t->seeks_names = false;
    return t->names;
}

/* Says that calls are left out between the lines of an address: atos has no line for that, and one would be
 * taken for a frame. Objects and explanations say it where it is. */
static void answer_say_left_out(const atos *a, const token *word, size_t count)
{
    if (count == MAX_FRAMES && a->frames[count - 2].lacks_callers && a->inline_frames && !a->json)
        say_message(
            "0x%llx: more than %d calls are inlined into each other; those between the innermost %d and the "
            "function around them are left out",
            (unsigned long long)word->number, MACHSYM_MAX_INLINE_DEPTH, MACHSYM_MAX_INLINE_DEPTH);
}

void answer_settle(atos *a, const finding *found, const token *word)
{
    target *t = found->t;
    bool may_hide = t->seeks_names || t->names != NULL;
    for (size_t i = 0; i < found->count && may_hide; i++) {
        if (bcsymbolmap_hides(&a->frames[i]))
            bcsymbolmap_unhide(answer_hidden_names(t), &a->frames[i]);
    }
    object_say_new(symbol_source_session(t->source), &t->objects);
    answer_say_left_out(a, word, found->count);
    const machsym_frame *outer = found->count > 0 ? &a->frames[found->count - 1] : NULL;
    a->unresolved |= outer == NULL || (outer->linkage_name.len == 0 && outer->name.len == 0);
}

finding answer_find(atos *a, const token *word)
{
    finding found = {NULL, 0, 0};
    if (word->is_number)
        found.t = answer_target_of(a, word->number, &found.addr);
    if (found.t != NULL) {
        found.count = symbol_source_frames(found.t->source, found.addr, a->frames, MAX_FRAMES);
        answer_settle(a, &found, word);
    }
    a->unresolved |= found.t == NULL;
    return found;
}

void answer_print(atos *a, text *out, const finding *found, const token *word, const char *written)
{
    if (found->t == NULL) {
        answer_print_unknown(a, out, written, word->len);
        return;
    }
    a->style.source = found->t->source;
    if (a->json)
        answer_print_json(a, out, found->t, word->number, found->addr, found->count);
    else
        answer_print_text(a, out, found->t, word->number, found->addr, found->count);
    if (a->explain)
        answer_explain(a, out, found->t, found->addr, found->count);
}

bool answer_prints_lines(const atos *a)
{
    return !a->json && !a->dedup && !a->folded && !a->explain && a->rules == NULL;
}

void answer_print_line(atos *a, text *out, const finding *found, const token *word, size_t frame)
{
    a->style.source = found->t->source;
    answer_put_line(a, out, found->t, word->number, found->addr, found->count, frame);
}

void answer_word(atos *a, text *out, const token *word, const char *written)
{
    finding found = answer_find(a, word);
    answer_print(a, out, &found, word, written);
}
