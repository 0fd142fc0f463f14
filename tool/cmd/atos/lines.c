/* Answers of many addresses; see lines.h. */
#include "lines.h"
#include "../../../report/base/memory.h"
#include "../../base/say.h"
#include "../../symbols/frames.h"
#include "../../symbols/source.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCKS_AT_ONCE = 16,
    FILES_AT_ONCE = 16,
    COPIES_AT_ONCE = 1 << 18, /* bytes of copies in a room */
    TEXT_BYTES = 256,         /* of most answers that are kept as text: room is taken at once, */
    TEXTS_AT_ONCE = 1 << 16,  /* for this many: memory that is never touched costs nothing but addresses */
    IMAGE_BYTES = 32,         /* that the text about the image mostly fits in */
    DIGITS = 10,              /* of a number of 32 bits */
    FETCH_BYTES = 64,         /* that memory gives at once */
    FETCH_MOST = 256          /* of a text */
};

/* Whether lines can be made of parts. */
static bool lines_can_refer(const atos *a)
{
    return a->target_count == 1 && a->targets[0].images == NULL && !a->style.full_path &&
           answer_prints_lines(a);
}

static atos_line *lines_take_block(const atos_lines *lines)
{
    return room_take(lines->room, LINES_OF_BLOCK * sizeof(atos_line));
}

void lines_start(atos_lines *lines, atos *a, size_t answers, room *shared)
{
    memset(lines, 0, offsetof(atos_lines, last));
    lines->last_count = 0;
    lines->last_target = NULL;
    lines->last_trims = 0;
    lines->a = a;
    lines->delimiter = str_c(a->delimiter);
    lines->room = shared;
    lines->block_cap = BLOCKS_AT_ONCE;
    lines->blocks = mem_alloc(lines->block_cap * sizeof *lines->blocks);
    lines->blocks[0] = lines_take_block(lines);
    lines->count = NO_LINE + 1;
    lines->files = mem_alloc(FILES_AT_ONCE * sizeof *lines->files);
    lines->file_count = FIRST_FILE;
    lines->file_cap = FILES_AT_ONCE;
    if (lines_can_refer(a)) {
        text_room(&lines->in_image, IMAGE_BYTES);
        text_c(&lines->in_image, " (in ");
        text_str(&lines->in_image, a->targets[0].file.info.name);
        text_c(&lines->in_image, ") ");
        if (!text_is_plain(str_make(lines->in_image.v, lines->in_image.len)))
            text_free(&lines->in_image);
    }
    if (lines->in_image.len == 0 && answers > 0) {
        text_room(&lines->kept, (answers < TEXTS_AT_ONCE ? answers : TEXTS_AT_ONCE) * TEXT_BYTES);
    }
}

static inline const atos_line *lines_line_at(const atos_lines *lines, uint32_t number)
{
    return &lines->blocks[number >> LINE_BITS][number % LINES_OF_BLOCK];
}

/* ---- Making lines ---- */

void lines_too_many(void)
{
    say_message("too many frames at once");
    exit(TOOL_ERROR);
}

/* The number for one more, of a known count. */
static uint32_t lines_next_number(size_t count)
{
    if (count > UINT32_MAX)
        lines_too_many();
    return (uint32_t)count;
}

static uint32_t lines_push(atos_lines *lines, atos_line line)
{
    size_t block = lines->count >> LINE_BITS;
    if (lines->count % LINES_OF_BLOCK == 0) {
        lines->blocks = mem_room(lines->blocks, block, &lines->block_cap, sizeof *lines->blocks);
        lines->blocks[block] = lines_take_block(lines);
    }
    lines->blocks[block][lines->count % LINES_OF_BLOCK] = line;
    return lines_next_number(lines->count++);
}

/* Makes a line of what is kept from a place on. */
static uint32_t lines_push_text(atos_lines *lines, size_t from, uint32_t outer)
{
    return lines_push(
        lines, (atos_line){{.at = from}, lines_next_number(lines->kept.len - from), KEPT_TEXT, 0, outer});
}

/* Copies a text to where it stays. */
static machsym_str lines_copy(atos_lines *lines, machsym_str from)
{
    if (lines->room == NULL || from.len > COPIES_AT_ONCE)
        return pool_copy(&lines->few_copies, from.ptr, from.len);
    if (lines->copy_left < from.len) {
        lines->copy_at = room_take(lines->room, COPIES_AT_ONCE);
        lines->copy_left = COPIES_AT_ONCE;
    }
    machsym_str to = str_make(lines->copy_at, from.len);
    memcpy(lines->copy_at, from.ptr, from.len);
    lines->copy_at += from.len;
    lines->copy_left -= from.len;
    return to;
}

/* A text as lines refer to it; empty when it has to be shown otherwise. */
static machsym_str lines_as_shown(atos_lines *lines, machsym_str shown, bool stays)
{
    if (shown.len == 0 || shown.len > UINT32_MAX || !text_is_plain(shown))
        return str_make(NULL, 0);
    return stays ? shown : lines_copy(lines, shown);
}

/* Where in a table of recent texts one is. Those of one function come again and again. */
static size_t lines_recent_at(machsym_str whole, size_t count)
{
    return ((uintptr_t)whole.ptr ^ (uintptr_t)whole.ptr >> 10) % count;
}

static bool lines_same_text(machsym_str a, machsym_str b)
{
    return a.ptr == b.ptr && a.len == b.len;
}

/* The name of a frame. Readable names go when there are too many, those of a map when it is trimmed. */
static machsym_str lines_name_of(atos_lines *lines, const target *t, const machsym_frame *frame)
{
    machsym_str name = frame->linkage_name.len != 0 ? frame->linkage_name : frame->name;
    atos_recent_name *r = &lines->recent_names[lines_recent_at(name, RECENT_NAMES)];
    if (lines_same_text(r->whole, name))
        return r->shown;
    r->whole = name;
    if (lines->a->style.raw_names)
        return r->shown = lines_as_shown(lines, name, t->file.map == NULL);
    machsym_str shown = symbol_source_shown(t->source, frame, &lines->a->style);
    if (shown.len != 0)
        return r->shown = lines_as_shown(lines, shown, symbol_source_is_for_many(t->source));
    lines->spelled.len = 0;
    frame_put_name(&lines->spelled, frame, &lines->a->style);
    return r->shown = lines_as_shown(lines, str_make(lines->spelled.v, lines->spelled.len), false);
}

/* The number of a frame's file; 0 when it has to be shown otherwise. */
static uint32_t lines_file_of(atos_lines *lines, const target *t, machsym_str file)
{
    atos_recent_file *r = &lines->recent_files[lines_recent_at(file, RECENT_FILES)];
    if (lines_same_text(r->whole, file))
        return r->number;
    r->whole = file;
    machsym_str shown = lines_as_shown(lines, str_base_name(file), t->file.map == NULL);
    if (shown.len == 0)
        return r->number = 0;
    lines->files = mem_room(lines->files, lines->file_count, &lines->file_cap, sizeof *lines->files);
    lines->files[lines->file_count] = shown;
    return r->number = lines_next_number(lines->file_count++);
}

/* Makes a line that refers to the texts of a frame. Returns NO_LINE when it cannot. */
static uint32_t lines_refer(atos_lines *lines, const target *t, const machsym_frame *frame, uint64_t offset,
                            uint32_t outer)
{
    bool has_line = frame_has_line(frame);
    if (lines->in_image.len == 0 || frame->name_source == MACHSYM_SOURCE_STUB)
        return NO_LINE;
    machsym_str name = lines_name_of(lines, t, frame);
    uint32_t file = has_line ? lines_file_of(lines, t, frame->file.name) : (uint32_t)NO_FILE;
    if (name.len == 0 || (has_line ? file == 0 : offset > UINT32_MAX))
        return NO_LINE;
    return lines_push(
        lines,
        (atos_line){
            {.name = name.ptr}, (uint32_t)name.len, file, has_line ? frame->line : (uint32_t)offset, outer});
}

/* Whether two frames have the same line. Texts are where they stand: comparing them would take longer. */
static bool lines_same(const machsym_frame *a, const machsym_frame *b)
{
    return a->line == b->line && lines_same_text(a->linkage_name, b->linkage_name) &&
           lines_same_text(a->name, b->name) && lines_same_text(a->file.name, b->file.name) &&
           lines_same_text(a->file.dir, b->file.dir) && lines_same_text(a->file.comp_dir, b->file.comp_dir) &&
           a->name_source == b->name_source;
}

/* Forgets the last answer when its texts may stand elsewhere now. */
static void lines_look_at_target(atos_lines *lines, const target *t)
{
    unsigned trims = symbol_source_trims(t->source);
    if (t == lines->last_target && trims == lines->last_trims)
        return;
    memset(lines->recent_names, 0, sizeof lines->recent_names);
    memset(lines->recent_files, 0, sizeof lines->recent_files);
    lines->last_count = 0;
    lines->last_target = t;
    lines->last_trims = trims;
}

/* Whether any other address with this frame has the same line for it. */
static bool lines_is_plain(const machsym_frame *frame)
{
    return frame_has_line(frame) && (frame->linkage_name.len != 0 || frame->name.len != 0);
}

/* Adds the lines of an answer that the last one does not have. */
static uint32_t lines_add_frames(atos_lines *lines, const finding *found, const token *word, size_t shown)
{
    const machsym_frame *outermost = &lines->a->frames[found->count - 1];
    uint64_t offset = found->addr - outermost->function_start;
    size_t same = 0;
    while (same < shown && same < lines->last_count && lines_is_plain(outermost - same) &&
           lines_same(&lines->last[same].frame, outermost - same))
        same++;
    uint32_t line = same > 0 ? lines->last[same - 1].line : (uint32_t)NO_LINE;
    for (size_t i = same; i < shown; i++) {
        uint32_t inner = lines_refer(lines, found->t, outermost - i, offset, line);
        if (inner == NO_LINE) {
            size_t from = lines->kept.len;
            answer_print_line(lines->a, &lines->kept, found, word, found->count - 1 - i);
            inner = lines_push_text(lines, from, line);
        }
        lines->last[i].frame = *(outermost - i);
        lines->last[i].line = line = inner;
    }
    lines->last_count = shown;
    return line;
}

uint32_t lines_add(atos_lines *lines, const finding *found, const token *word)
{
    atos *a = lines->a;
    lines_look_at_target(lines, found->t);
    a->style.source = found->t->source;
    if (found->count > 0 && answer_prints_lines(a))
        return lines_add_frames(lines, found, word, a->inline_frames ? found->count : 1);
    size_t from = lines->kept.len;
    answer_print(a, &lines->kept, found, word, NULL);
    return lines_push_text(lines, from, NO_LINE);
}

/* ---- Printing ---- */

static char *lines_put(char *to, const char *ptr, size_t len)
{
    memcpy(to, ptr, len);
    return to + len;
}

/* There is room for all digits that a number may have. */
static char *lines_put_number(char *to, uint32_t number)
{
    char digits[2 * DIGITS] = {0};
    size_t at = DIGITS;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    memcpy(to, digits + at, DIGITS); /* a fixed number takes less than a call */
    return to + DIGITS - at;
}

/* What answer_print_line prints. */
static void lines_print_line(const atos_lines *lines, const atos_line *line, text *out)
{
    const machsym_str *file = &lines->files[line->file];
    size_t image_len = lines->in_image.len;
    size_t file_len = line->file != NO_FILE ? file->len : 0;
    size_t most = line->len + image_len + IMAGE_BYTES + file_len + DIGITS + 5 + lines->delimiter.len;
    char *start = text_room(out, most);
    char *p = lines_put(start, line->text.name, line->len);
    if (image_len <= IMAGE_BYTES)
        memcpy(p, lines->in_image.v, IMAGE_BYTES); /* as above */
    else
        memcpy(p, lines->in_image.v, image_len);
    p += image_len;
    if (line->file != NO_FILE) {
        *p++ = '(';
        p = lines_put(p, file->ptr, file_len);
        *p++ = ':';
        p = lines_put_number(p, line->number);
        *p++ = ')';
    } else {
        *p++ = '+';
        *p++ = ' ';
        p = lines_put_number(p, line->number);
    }
    if (line->outer != NO_LINE) {
        p = lines_put(p, lines->delimiter.ptr, lines->delimiter.len);
    } else {
        *p++ = '\n';
        if (lines->a->inline_frames)
            *p++ = '\n';
    }
    out->len += (size_t)(p - start);
}

void lines_print(const atos_lines *lines, uint32_t number, text *out)
{
    for (const atos_line *line; number != NO_LINE; number = line->outer) {
        line = lines_line_at(lines, number);
        if (line->file != KEPT_TEXT)
            lines_print_line(lines, line, out);
        else
            text_add(out, lines->kept.v + line->text.at, line->len);
    }
}

void lines_fetch_first(const atos_lines *lines, uint32_t number)
{
    room_fetch(lines_line_at(lines, number));
}

void lines_fetch_outer(const atos_lines *lines, uint32_t number)
{
    room_fetch(lines_line_at(lines, lines_line_at(lines, number)->outer));
}

void lines_fetch_texts(const atos_lines *lines, uint32_t number)
{
    for (const atos_line *line; number != NO_LINE; number = line->outer) {
        line = lines_line_at(lines, number);
        const char *p = line->file != KEPT_TEXT ? line->text.name : lines->kept.v + line->text.at;
        for (size_t at = 0; at < line->len && at < FETCH_MOST; at += FETCH_BYTES)
            room_fetch(p + at);
    }
}

void lines_free(atos_lines *lines)
{
    for (size_t i = 0; i < lines->count; i += LINES_OF_BLOCK)
        room_give(lines->room, lines->blocks[i >> LINE_BITS], LINES_OF_BLOCK * sizeof(atos_line));
    free(lines->blocks);
    free(lines->files);
    text_free(&lines->kept);
    text_free(&lines->in_image);
    text_free(&lines->spelled);
    pool_free(&lines->few_copies);
}
