/* Lines of the people policy in programs by chance: functions of one piece or two, calls inlined into each other, entries
 * that a compiler made or another unit states, files without a name, and rows of every kind. Truth: the rule of docs/lines.md,
 * read out byte by byte from what the program was made of. Sessions in three orders and a map are held against it. */
#define TEST_ROOM <rooms/src/answer/near.h>
#include "dwarf.h"
#include "maps.h"

enum {
    BASE = 0x1000,
    CODE = 0x400, /* bytes */
    FILES = 6,
    ORIGINS = 12,
    BLOCKS = 64,
    DEPTH = 4, /* calls in each other */
    NO_BLOCK = BLOCKS,
    ELSEWHERE = 0xffff, /* the file of a declaration in another unit */
    MOST_LINE = 0x7fffffff
};

/* What an entry says of where its function was written. */
typedef struct place_of {
    uint32_t file; /* 0: not stated */
    uint32_t line; /* 0: not stated */
    bool is_artificial;
    bool is_elsewhere; /* of an origin: in the other unit */
    size_t die_at;
    char name[8];
} place_of;

/* A function or a call that is inlined. */
typedef struct block_of {
    unsigned parent; /* NO_BLOCK: a function */
    unsigned depth;
    place_of decl; /* of a function */
    unsigned origin;
    uint32_t lo[2]; /* offsets; an empty second piece does not count */
    uint32_t hi[2];
    uint32_t call_file;
    uint32_t call_line;
    char name[8];
} block_of;

/* The row of a byte. */
typedef struct row_of {
    uint32_t file; /* 0: none */
    uint32_t line;
    unsigned sequence;
} row_of;

typedef struct chance {
    uint64_t state;
    unsigned
        folded; /* as many times more the rows are there: linkers leave those of each function that they fold */
    bool is_new; /* DWARF 5: files count from 0, and the first is there twice */
    const char *files[FILES + 1];
    place_of origins[ORIGINS];
    block_of blocks[BLOCKS];
    unsigned count;
    unsigned char owner[CODE]; /* the innermost block */
    unsigned char function[CODE];
    row_of rows[CODE];
    program p;
} chance;

static unsigned below(chance *c, unsigned n)
{
    return (unsigned)(next_random(&c->state) >> 20) % n;
}

static bool one_in(chance *c, unsigned n)
{
    return below(c, n) == 0;
}

/* ---- A program by chance ---- */

static uint32_t any_file(chance *c)
{
    return one_in(c, 3) ? 1 + below(c, FILES) : 1;
}

static uint32_t any_line(chance *c)
{
    return one_in(c, 3) ? 0 : one_in(c, 40) ? 0x80000000u + below(c, 9) : 1 + below(c, 60);
}

static void choose_decl(chance *c, place_of *decl)
{
    decl->line = one_in(c, 6) ? 0 : one_in(c, 30) ? 0x80000005u : 1 + below(c, 30);
    decl->file = one_in(c, 8) ? 0 : any_file(c);
    decl->is_artificial = one_in(c, 8);
}

/* Takes a piece out of the code of a parent, or of what is left. Returns false when there is no room. */
static bool choose_piece(chance *c, uint32_t from, uint32_t to, uint32_t *lo, uint32_t *hi)
{
    if (to < from + 2)
        return false;
    *lo = from + (one_in(c, 3) ? 0 : below(c, (to - from) / 2));
    *hi = one_in(c, 4) ? to : *lo + 1 + below(c, to - *lo);
    return true;
}

static void choose_calls(chance *c, unsigned parent)
{
    for (unsigned piece = 0; piece < 2; piece++) {
        uint32_t at = c->blocks[parent].lo[piece];
        uint32_t end = c->blocks[parent].hi[piece];
        while (c->count < BLOCKS && c->blocks[parent].depth < DEPTH && !one_in(c, 3)) {
            block_of *b = &c->blocks[c->count];
            memset(b, 0, sizeof *b);
            b->parent = parent;
            b->depth = c->blocks[parent].depth + 1;
            if (!choose_piece(c, at, end, &b->lo[0], &b->hi[0]))
                break;
            at = b->hi[0];
            if (one_in(c, 4) && choose_piece(c, at, end, &b->lo[1], &b->hi[1]))
                at = b->hi[1];
            b->origin = below(c, ORIGINS);
            b->call_file = one_in(c, 8) ? 0 : any_file(c);
            b->call_line = any_line(c);
            c->count++;
        }
    }
}

static void choose_functions(chance *c)
{
    uint32_t at = 0;
    while (c->count < BLOCKS / 4 && at + 8 < CODE) {
        block_of *b = &c->blocks[c->count++];
        memset(b, 0, sizeof *b);
        b->parent = NO_BLOCK;
        choose_decl(c, &b->decl);
        snprintf(b->name, sizeof b->name, "f%u", c->count);
        at += one_in(c, 2) ? 0 : below(c, 12);
        b->lo[0] = at;
        at = b->hi[0] = at + 4 + below(c, 90);
        if (one_in(c, 3)) { /* a cold part, now and then right after the function */
            b->lo[1] = at += one_in(c, 4) ? 0 : 1 + below(c, 6);
            at = b->hi[1] = at + 1 + below(c, 40);
        }
        if (at > CODE) {
            c->count--;
            return;
        }
    }
}

static void choose_rows(chance *c)
{
    unsigned sequence = 0;
    for (uint32_t at = 0; at < CODE;) {
        uint32_t end = at + 20 + below(c, 250);
        row_of row = {0, 0, ++sequence};
        end = end < CODE ? end : CODE;
        for (uint32_t next = at; at < end; at++) {
            if (at == next) {
                row.file = any_file(c);
                row.line = any_line(c);
                next += 1 + below(c, 8);
            }
            c->rows[at] = row;
        }
        at += one_in(c, 2) ? 0 : below(c, 9);
    }
}

static void choose_all(chance *c)
{
    c->files[1] = "a.c"; /* twice in DWARF 5, as number 0 and 1 */
    c->files[2] = "b.c";
    c->files[3] = one_in(c, 2) ? "<compiler-generated>" : "d.c";
    c->files[4] = one_in(c, 3) ? "<compiler-generated>" : "<e.c>";
    c->files[5] = one_in(c, 3) ? "" : "f.c";
    c->files[6] = one_in(c, 2) ? "a.c" : "g.c";
    for (unsigned i = 0; i < ORIGINS; i++) {
        choose_decl(c, &c->origins[i]);
        c->origins[i].is_elsewhere = one_in(c, 4);
        snprintf(c->origins[i].name, sizeof c->origins[i].name, "o%u", i);
    }
    choose_functions(c);
    for (unsigned i = 0; i < c->count; i++)
        choose_calls(c, i);
    choose_rows(c);
    memset(c->owner, NO_BLOCK, sizeof c->owner);
    memset(c->function, NO_BLOCK, sizeof c->function);
    for (unsigned i = 0; i < c->count; i++) { /* callers come before what is inlined into them */
        const block_of *b = &c->blocks[i];
        for (unsigned piece = 0; piece < 2; piece++) {
            for (uint32_t at = b->lo[piece]; at < b->hi[piece]; at++) {
                c->owner[at] = (unsigned char)i;
                if (b->parent == NO_BLOCK)
                    c->function[at] = (unsigned char)i;
            }
        }
    }
}

/* ---- Its file ---- */

enum {
    A_UNIT = 1,
    A_OTHER,
    A_ORIGIN,
    A_ORIGIN_BARE,
    A_PIECE,
    A_PIECES,
    A_CALL,
    A_CALL_PIECES,
    A_FAR,
    A_FAR_PIECES
};

enum { AT_decl_file = 0x3a, AT_decl_line = 0x3b, AT_artificial = 0x34 };

#define WRITTEN AT_decl_file, FORM_udata, AT_decl_line, FORM_udata, AT_artificial, FORM_flag
#define CALLED  AT_call_file, FORM_udata, AT_call_line, FORM_udata

static void put_abbrevs(program *p)
{
    ABBREV(p, A_UNIT, TAG_compile_unit, 1, AT_stmt_list, FORM_sec_offset, AT_low_pc, FORM_addr);
    ABBREV(p, A_OTHER, TAG_compile_unit, 1, AT_name, FORM_string);
    ABBREV(p, A_ORIGIN, TAG_subprogram, 0, AT_name, FORM_string, WRITTEN);
    ABBREV(p, A_ORIGIN_BARE, TAG_subprogram, 0, AT_name, FORM_string, AT_decl_line, FORM_udata, AT_artificial,
           FORM_flag);
    ABBREV(p, A_PIECE, TAG_subprogram, 1, AT_name, FORM_string, WRITTEN, AT_low_pc, FORM_addr, AT_high_pc,
           FORM_data4);
    ABBREV(p, A_PIECES, TAG_subprogram, 1, AT_name, FORM_string, WRITTEN, AT_ranges, FORM_sec_offset);
    ABBREV(p, A_CALL, TAG_inlined_subroutine, 1, AT_abstract_origin, FORM_ref4, CALLED, AT_low_pc, FORM_addr,
           AT_high_pc, FORM_data4);
    ABBREV(p, A_CALL_PIECES, TAG_inlined_subroutine, 1, AT_abstract_origin, FORM_ref4, CALLED, AT_ranges,
           FORM_sec_offset);
    ABBREV(p, A_FAR, TAG_inlined_subroutine, 1, AT_abstract_origin, FORM_ref_addr, CALLED, AT_low_pc,
           FORM_addr, AT_high_pc, FORM_data4);
    ABBREV(p, A_FAR_PIECES, TAG_inlined_subroutine, 1, AT_abstract_origin, FORM_ref_addr, CALLED, AT_ranges,
           FORM_sec_offset);
    abbrev_end(p);
}

/* The number that the debug info has for a file; 0 stays none where files count from 1. */
static uint32_t number_of(const chance *c, uint32_t file)
{
    return c->is_new ? (file == 0 ? 77 : file == 1 ? file - file % 2 : file) : file;
}

static void put_origins(chance *c, bool elsewhere)
{
    for (unsigned i = 0; i < ORIGINS; i++) {
        place_of *o = &c->origins[i];
        if (o->is_elsewhere != elsewhere)
            continue;
        o->die_at = die(&c->p, o->file == 0 ? A_ORIGIN_BARE : A_ORIGIN);
        put_str(&c->p.info, o->name);
        if (o->file != 0)
            put_uleb(&c->p.info, number_of(c, o->file));
        put_uleb(&c->p.info, o->line);
        put8(&c->p.info, o->is_artificial);
    }
}

static void put_pieces(chance *c, const block_of *b)
{
    bytes *info = &c->p.info;
    bytes *ranges = c->is_new ? &c->p.rnglists : &c->p.ranges;
    if (b->hi[1] == 0) {
        put64(info, BASE + b->lo[0]);
        put32(info, b->hi[0] - b->lo[0]);
        return;
    }
    put32(info, ranges->len);
    for (unsigned piece = 0; piece < 2; piece++) {
        if (c->is_new)
            put8(ranges, 6); /* DW_RLE_start_end */
        put64(ranges, BASE + b->lo[piece]);
        put64(ranges, BASE + b->hi[piece]);
    }
    put_zeros(ranges, c->is_new ? 1 : 16);
}

static void put_block(chance *c, unsigned at)
{
    const block_of *b = &c->blocks[at];
    bool is_split = b->hi[1] != 0;
    if (b->parent == NO_BLOCK) {
        die(&c->p, is_split ? A_PIECES : A_PIECE);
        put_str(&c->p.info, b->name);
        put_uleb(&c->p.info, number_of(c, b->decl.file));
        put_uleb(&c->p.info, b->decl.line);
        put8(&c->p.info, b->decl.is_artificial);
    } else {
        const place_of *o = &c->origins[b->origin];
        die(&c->p, (o->is_elsewhere ? A_FAR : A_CALL) + is_split);
        put32(&c->p.info, o->is_elsewhere ? o->die_at : local(&c->p, o->die_at));
        put_uleb(&c->p.info, number_of(c, b->call_file));
        put_uleb(&c->p.info, b->call_line);
    }
    put_pieces(c, b);
    for (unsigned i = at + 1; i < c->count; i++) {
        if (c->blocks[i].parent == at)
            put_block(c, i);
    }
    put8(&c->p.info, 0);
}

static void put_files(chance *c)
{
    bytes *line = &c->p.line;
    if (!c->is_new) {
        put8(line, 0);
        for (unsigned i = 1; i <= FILES; i++) {
            put_str(line, c->files[i][0] != 0 ? c->files[i] : "?");
            put_zeros(line, 3);
        }
        put8(line, 0);
        return;
    }
    put(line, "\1\1\x08\1", 4); /* a path as a string; one folder */
    put_str(line, "src");
    put(line, "\1\1\x08", 3);
    put_uleb(line, FILES + 1);
    put_str(line, c->files[1]);
    for (unsigned i = 1; i <= FILES; i++)
        put_str(line, c->files[i]);
}

static void put_row(bytes *line, const chance *c, const row_of *row, uint32_t *file, uint32_t *at_line)
{
    if (number_of(c, row->file) != *file) {
        put8(line, 4);
        put_uleb(line, *file = number_of(c, row->file));
    }
    put8(line, 3);
    put_sleb(line, (int64_t)row->line - *at_line);
    *at_line = row->line;
    put8(line, 1);
}

static void put_rows(chance *c)
{
    bytes *line = &c->p.line;
    unsigned sequence = 0;
    uint32_t file = 1, at_line = 1;
    for (uint32_t at = 0; at <= CODE; at++) {
        const row_of *row = at < CODE ? &c->rows[at] : NULL;
        const row_of *before = at > 0 ? &c->rows[at - 1] : NULL;
        unsigned next = row != NULL ? row->sequence : 0;
        if (at > 0 && sequence != 0) {
            put(line, "\2\1", 2); /* a byte on */
            if (next != sequence)
                put(line, "\0\1\1", 3);
        }
        if (next != sequence && next != 0) {
            put(line, "\0\x9\2", 3);
            put64(line, BASE + at);
            file = at_line = 1;
        }
        bool is_same = next == sequence && before != NULL && row != NULL && before->file == row->file &&
                       before->line == row->line;
        sequence = next;
        if (next != 0 && !is_same) {
            if (at % 5 == 0) { /* the last of several rows of an address counts */
                row_of other = {2, 9, 0};
                put_row(line, c, &other, &file, &at_line);
            }
            put_row(line, c, row, &file, &at_line);
        }
    }
}

static void put_lines(chance *c)
{
    bytes *line = &c->p.line;
    size_t at = begin_length(&c->p, line);
    put16(line, c->is_new ? 5 : 4);
    if (c->is_new)
        put16(line, 8); /* no segments */
    put32(line, 0);
    size_t head = line->len;
    put(line, "\1\1\1\0\1\x0a\0\1\1\1\1\0\0\0\1", 15);
    put_files(c);
    patch(line, head - 4, line->len - head, 4);
    put_rows(c);
    for (unsigned i = 0; i < c->folded; i++)
        put_rows(c);
    end_length(&c->p, line, at);
}

static void put_all(chance *c)
{
    program *p = &c->p;
    encoding enc = c->is_new ? dwarf5 : dwarf4;
    put_abbrevs(p);
    unit_begin(p, enc, 1, 0);
    die(p, A_OTHER);
    put_str(&p->info, "other.c");
    put_origins(c, true);
    put8(&p->info, 0);
    unit_end(p);
    if (c->is_new) {
        put32(&p->rnglists, 0);
        put(&p->rnglists, "\5\0\x8\0\0\0\0\0", 8);
    }
    unit_begin(p, enc, 1, 0);
    die(p, A_UNIT);
    put32(&p->info, 0);
    put64(&p->info, 0);
    put_origins(c, false);
    for (unsigned i = 0; i < c->count; i++) {
        if (c->blocks[i].parent == NO_BLOCK)
            put_block(c, i);
    }
    put8(&p->info, 0);
    unit_end(p);
    if (c->is_new)
        patch(&p->rnglists, 0, p->rnglists.len - 4, 4);
    put_lines(c);
}

/* ---- The rule, byte by byte ---- */

/* A line and where it is from. */
typedef struct told {
    uint32_t file; /* 0: none */
    uint32_t line;
    bool is_near;
} told;

static const char *file_name(const chance *c, uint32_t file)
{
    const char *name = file <= FILES && file != 0 ? c->files[file] : "";
    return name[0] == 0 && file != 0 && file <= FILES && !c->is_new ? "?" : name;
}

static bool is_written(const chance *c, uint32_t file, uint32_t line)
{
    const char *name = file_name(c, file);
    return line != 0 && name[0] != 0 && strcmp(name, "<compiler-generated>") != 0;
}

/* Where a block's function was written: line 0 when a compiler made it. */
static told decl_of(const chance *c, unsigned block)
{
    const block_of *b = &c->blocks[block];
    const place_of *from = b->parent == NO_BLOCK ? &b->decl : &c->origins[b->origin];
    told decl = {ELSEWHERE, 0, false};
    if (from->is_artificial || from->line > MOST_LINE || from->line == 0)
        return decl;
    decl.line = from->line;
    if (b->parent != NO_BLOCK && (from->is_elsewhere || from->file == 0))
        return decl;
    decl.file = from->file;
    if (!is_written(c, decl.file, decl.line))
        decl.line = 0;
    return decl;
}

static bool is_right(const chance *c, uint32_t file, uint32_t line, told decl)
{
    return is_written(c, file, line) && line >= decl.line &&
           (decl.file == ELSEWHERE || strcmp(file_name(c, file), file_name(c, decl.file)) == 0);
}

/* Whether a block has a line at a byte: its own, or of the call that the byte is inlined through. */
static bool fits(const chance *c, unsigned block, uint32_t at, told decl, told *out)
{
    unsigned inner = c->owner[at];
    uint32_t file = c->rows[at].file, line = c->rows[at].line;
    while (inner != block) {
        if (inner == NO_BLOCK)
            return false;
        file = c->blocks[inner].call_file;
        line = c->blocks[inner].call_line;
        inner = c->blocks[inner].parent;
    }
    out->file = file;
    out->line = line;
    out->is_near = true;
    return is_right(c, file, line, decl);
}

static bool has_row(const chance *c, uint32_t at)
{
    return c->rows[at].sequence != 0 && file_name(c, c->rows[at].file)[0] != 0;
}

/* Whether a walk goes from one byte to one beside it: a piece of one function and sequence, in the bounds of the block. */
static bool goes(const chance *c, unsigned block, uint32_t from, uint32_t to)
{
    const block_of *b = &c->blocks[block];
    uint32_t hi = b->hi[1] > b->hi[0] ? b->hi[1] : b->hi[0];
    return to < CODE && c->function[to] == c->function[from] &&
           c->rows[to].sequence == c->rows[from].sequence && to >= b->lo[0] && to < hi;
}

static bool search(const chance *c, unsigned block, uint32_t addr, told decl, told *out)
{
    if (c->rows[addr].sequence == 0)
        return false;
    for (uint32_t at = addr; at > 0 && goes(c, block, at, at - 1); at--) {
        if (fits(c, block, at - 1, decl, out))
            return true;
    }
    for (uint32_t at = addr; goes(c, block, at, at + 1); at++) {
        if (fits(c, block, at + 1, decl, out))
            return true;
    }
    return false;
}

/* Whether a function has a line that somebody wrote, in whatever file. */
static bool has_lines(const chance *c, unsigned function)
{
    told any = {ELSEWHERE, 0, false};
    told found;
    for (unsigned piece = 0; piece < 2; piece++) {
        uint32_t at = c->blocks[function].lo[piece];
        if (c->blocks[function].hi[piece] == 0 || c->rows[at].sequence == 0)
            continue;
        for (; !fits(c, function, at, any, &found); at++) {
            if (!goes(c, function, at, at + 1))
                break;
        }
        if (fits(c, function, at, any, &found))
            return true;
    }
    return false;
}

/* The line near by of a block at a byte; file 0: none. */
static told near_line(const chance *c, unsigned block, uint32_t addr)
{
    told none = {0, 0, false}, found;
    told own = decl_of(c, block);
    unsigned root = c->function[addr];
    told whole = decl_of(c, root);
    if (own.line != 0 && search(c, block, addr, own, &found))
        return found;
    if (own.line == 0 && whole.line == 0)
        return none;
    for (unsigned at = block; at != root; at = c->blocks[at].parent) {
        const block_of *b = &c->blocks[at];
        told decl = decl_of(c, at);
        if ((at != block || own.line == 0) && search(c, at, addr, decl.line != 0 ? decl : whole, &found))
            return found;
        found.file = b->call_file;
        found.line = b->call_line;
        found.is_near = true;
        if (is_written(c, found.file, found.line))
            return found;
        addr = b->lo[0];
    }
    if (block != root && whole.line != 0 && search(c, root, addr, whole, &found))
        return found;
    own = whole.line != 0 && has_lines(c, root) ? whole : block != root && whole.line == 0 ? own : none;
    own.is_near = true;
    return own.line == 0 || own.file == ELSEWHERE ? none : own;
}

static told improve(const chance *c, unsigned block, uint32_t addr, told place)
{
    told found = {0, 0, false};
    if (!is_written(c, place.file, place.line))
        found = near_line(c, block, addr);
    if (found.file != 0)
        place = found;
    place.line = place.line < MOST_LINE ? place.line : MOST_LINE;
    return place;
}

/* ---- Both ---- */

static void check_frame(const chance *c, const machsym_frame *got, told want, uint32_t at, unsigned depth)
{
    const char *name = file_name(c, want.file);
    bool is_same = got->line == want.line && test_same(got->file.name, test_str(name)) &&
                   (got->line_source == MACHSYM_SOURCE_NEAR) == want.is_near;
    if (!is_same)
        printf("0x%x, frame %u: %.*s:%u%s, not %s:%u%s\n", BASE + at, depth, (int)got->file.name.len,
               got->file.name.ptr, got->line, got->line_source == MACHSYM_SOURCE_NEAR ? " near" : "", name,
               want.line, want.is_near ? " near" : "");
    CHECK(is_same);
}

static void check_answer(const chance *c, uint32_t at, const map_answer *answer)
{
    unsigned block = c->owner[at];
    told place = {0, 0, false};
    size_t depth = 0;
    if (block == NO_BLOCK)
        return; /* answers of code without a function are told elsewhere */
    if (has_row(c, at)) {
        place.file = c->rows[at].file;
        place.line = c->rows[at].line;
        place = improve(c, block, at, place);
    }
    for (; depth < answer->count && block != NO_BLOCK; depth++) {
        const block_of *b = &c->blocks[block];
        const char *name = b->parent == NO_BLOCK ? b->name : c->origins[b->origin].name;
        CHECK_STR(answer->frames[depth].name, name);
        check_frame(c, &answer->frames[depth], place, at, (unsigned)depth);
        place.file = b->call_file;
        place.line = b->call_line;
        place.is_near = false;
        if (b->parent != NO_BLOCK)
            place = improve(c, b->parent, b->lo[0], place);
        block = b->parent;
    }
    CHECK(block == NO_BLOCK && depth == answer->count);
}

static machsym_session *open_people(const machsym_image *image, bool is_small)
{
    machsym_session_desc how;
    machsym_session *session = NULL;
    memset(&how, 0, sizeof how);
    how.image = image;
    how.lines = MACHSYM_LINES_PEOPLE;
    how.cache_limit = is_small ? 1 : 0;
    CHECK_EQ(machsym_session_open(&how, &session, NULL), MACHSYM_OK);
    return session;
}

/* order: a step that meets each byte once. is_asked: as if many addresses had been asked before. */
static void check_session(const chance *c, const machsym_image *image, uint32_t step, bool is_small,
                          bool is_asked)
{
    machsym_session *session = open_people(image, is_small);
    session->near_walks = is_asked ? ms_NEAR_FEW : 0;
    for (uint32_t i = 0; i < CODE; i++) {
        map_answer answer;
        uint32_t at = i * step % CODE;
        ask_session(session, BASE + at, &answer);
        check_answer(c, at, &answer);
        if (is_small)
            machsym_session_trim(session);
    }
    machsym_session_close(session);
}

/* Lines of 32 bits are taken for damage, which a map is asked to have. */
static void check_map(const chance *c, const machsym_image *image)
{
    machsym_map *map = build_map(image, MACHSYM_LINES_PEOPLE, MACHSYM_MAP_DAMAGED);
    CHECK(map != NULL);
    for (uint32_t at = 0; map != NULL && at < CODE; at++) {
        map_answer answer;
        ask_map(map, BASE + at, &answer);
        check_answer(c, at, &answer);
    }
    machsym_map_close(map);
}

static void check_chance(uint64_t seed)
{
    chance *c = (chance *)calloc(1, sizeof *c);
    if (c == NULL)
        exit(1);
    c->state = seed * 0x9e3779b97f4a7c15u + 1;
    c->is_new = seed % 2 == 0;
    choose_all(c);
    put_all(c);
    machsym_image *image = program_open(&c->p);
    char title[64];
    snprintf(title, sizeof title, "program of seed %u", (unsigned)seed);
    test_begin();
    check_session(c, image, 1, false, false);
    check_session(c, image, 397, false, false);
    check_session(c, image, 397, false, true);
    check_session(c, image, CODE - 1, false, true); /* downwards */
    check_session(c, image, CODE - 1, true, false);
    check_map(c, image);
    test_end(title);
    machsym_image_close(image);
    program_free(&c->p);
    free(c);
}

/* A function with more rows without a line than a search goes through; its first or last row has one. A session that was
 * asked before, and knows what it gave up, says what a new one does. */
static void check_far(bool is_first)
{
    chance *c = (chance *)calloc(1, sizeof *c);
    uint32_t near_by = 0;
    if (c == NULL)
        exit(1);
    for (unsigned i = 1; i <= FILES; i++)
        c->files[i] = i == 1 ? "a.c" : "b.c";
    block_of function = {NO_BLOCK, 0, {1, 5, false, false, 0, ""}, 0, {0, 0}, {CODE, 0}, 0, 0, "far"};
    c->blocks[c->count++] = function;
    for (uint32_t at = 0; at < CODE; at++) {
        row_of row = {1 + at % 2, at == (is_first ? 0 : CODE - 2) ? 50 : 0, 1};
        c->rows[at] = row;
    }
    put_all(c);
    machsym_image *image = program_open(&c->p);
    machsym_session *warm = open_people(image, false);
    test_begin();
    for (uint32_t i = 0; i < CODE; i++) {
        map_answer one, other;
        uint32_t at = is_first ? CODE - 1 - i : i;
        machsym_session *cold = open_people(image, false);
        ask_session(warm, BASE + at, &one);
        ask_session(cold, BASE + at, &other);
        CHECK(one.count == 1 && other.count == 1);
        CHECK_EQ(one.frames[0].line, other.frames[0].line);
        CHECK_EQ(one.frames[0].column, other.frames[0].column);
        near_by += one.frames[0].line == 50;
        machsym_session_close(cold);
    }
    CHECK(near_by > 200 && near_by < CODE - 200);
    test_end(is_first ? "a line far before" : "a line far after");
    machsym_session_close(warm);
    machsym_image_close(image);
    program_free(&c->p);
    free(c);
}

/* Three functions share code without a line. The line ahead of it is above the declaration of the second one, for which the line
 * after it counts. Both are above that of the third one. That holds whichever was asked for first. */
static void check_shared(void)
{
    static const char *const names[3] = {"one", "two", "six"};
    static const uint32_t declared[3] = {100, 200, 260};
    static const uint32_t lines[3] = {150, 250, 260};
    chance *c = (chance *)calloc(1, sizeof *c);
    if (c == NULL)
        exit(1);
    for (unsigned i = 1; i <= FILES; i++)
        c->files[i] = i == 1 ? "a.c" : "b.c";
    for (unsigned i = 0; i < 3; i++) {
        block_of function = {NO_BLOCK, 0, {1, declared[i], false, false, 0, ""}, 0, {0, 0}, {CODE, 0}, 0,
                             0,        ""};
        strcpy(function.name, names[i]);
        c->blocks[c->count++] = function;
    }
    for (uint32_t at = 0; at < CODE; at++) {
        row_of row = {1 + at % 2, at == 100 ? 150 : at == 300 ? 250 : 0, 1};
        c->rows[at] = row;
    }
    c->folded = 2;
    put_all(c);
    machsym_image *image = program_open(&c->p);
    machsym_session *session = open_people(image, false);
    test_begin();
    for (uint32_t at = 101; at < 300; at++) {
        machsym_cursor next = {0, 0};
        machsym_frame frame;
        unsigned seen = 0;
        while (machsym_session_next_folded_at_addr(session, BASE + at, &next, &frame, 1) == 1) {
            unsigned which = 0;
            while (which < 2 && !(frame.name.len == 3 && memcmp(frame.name.ptr, names[which], 3) == 0))
                which++;
            CHECK_EQ(frame.line, lines[which]);
            seen |= 1u << which;
        }
        CHECK_EQ(seen, 7);
    }
    test_end("shared code without lines");
    machsym_session_close(session);
    machsym_image_close(image);
    program_free(&c->p);
    free(c);
}

/* PROGRAMS in the environment: how many times as many. */
int main(void)
{
    size_t count = (test_is_quick() ? 12 : 40) * test_env("PROGRAMS");
    for (uint64_t seed = 1; seed <= count; seed++)
        check_chance(seed);
    check_far(true);
    check_far(false);
    check_shared();
    return test_done();
}
