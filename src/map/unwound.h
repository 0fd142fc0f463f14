#ifndef ms_ROOM_map_unwound
#define ms_ROOM_map_unwound
#include "../api/options.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../macho/macho.h"
#include "../macho/fixups.h"
#include "../macho/pieces.h"
#include "../macho/compact.h"

/* ==== >>unwound ==========================================================================================
 * Job:    gathers the unwind tables of an image for its map.
 * Offers: ms_mu_section, ms_mu_tables, ms_mu_gather.
 * Never:  changes a table: a map has the bytes of the file. */

enum {
    ms_MU_SECTIONS = 3,  /* __unwind_info, __eh_frame, __debug_frame */
    ms_MU_ROW_BYTES = 8, /* of a large frame: {u32 function, from __TEXT; u32 bytes} */
    /* compact_unwind_encoding.h: a frame without frame pointer whose size stands in its code */
    ms_MU_X86_INDIRECT = 0x03000000,
    ms_MU_MODE = 0x0f000000,
    ms_MU_CPU_I386 = 7 /* machine.h: CPU_TYPE_I386 */
};

/* A section of the file. */
typedef struct ms_mu_section {
    ms_span bytes;
    uint64_t addr;
} ms_mu_section;

/* The unwind tables of an image. */
typedef struct ms_mu_tables {
    ms_mu_section v[ms_MU_SECTIONS];
    uint8_t *frames; /* rows of large frames, by function */
    size_t frame_count;
    size_t frame_cap;
} ms_mu_tables;

/* A file whose tables are gathered. */
typedef struct ms_mu_file {
    ms_fx_data data;
    ms_arena *arena;
    ms_mu_tables *out;
    const ms_mo_section *code; /* that had the last size */
} ms_mu_file;

/* Reads the word at an address of code. Returns: false where the file has no code there. */
static bool ms_mu_code_word(ms_mu_file *f, uint64_t addr, uint32_t *word)
{
    const ms_mo *mo = f->data.mo;
    for (uint32_t i = 0; f->code == NULL || addr - f->code->addr >= f->code->size; i++) {
        MACHSYM_COUNT_WORK(1);
        if (i == mo->section_count)
            return false;
        f->code = &mo->sections[i];
    }
    ms_span bytes =
        f->code->is_code ? ms_span_sub(f->code->bytes, addr - f->code->addr, 4) : ms_span_make(NULL, 0);
    *word = bytes.ptr != NULL ? ms_rd_raw_u32(bytes.ptr) : 0;
    return bytes.ptr != NULL;
}

/* Adds a row if a function has a large frame. Functions ascend in a sound table; one that does not is left
 * out, because rows are searched. */
static void ms_mu_add_function(ms_mu_file *f, uint64_t lo, uint32_t encoding)
{
    ms_mu_tables *out = f->out;
    uint32_t size;
    if ((encoding & ms_MU_MODE) != ms_MU_X86_INDIRECT || lo > UINT32_MAX ||
        !ms_mu_code_word(f, f->data.mo->text_addr + lo + (encoding >> 16 & 0xff), &size))
        return;
    if (out->frame_count != 0 && ms_rd_raw_u32(out->frames + (out->frame_count - 1) * ms_MU_ROW_BYTES) >= lo)
        return;
    if (out->frame_count == out->frame_cap) {
        size_t cap = out->frame_cap != 0 ? 2 * out->frame_cap : 64;
        uint8_t *more = (uint8_t *)ms_arena_alloc(f->arena, cap, ms_MU_ROW_BYTES);
        if (more == NULL)
            return;
        ms_copy(more, out->frames, out->frame_count * ms_MU_ROW_BYTES);
        out->frames = more;
        out->frame_cap = cap;
    }
    uint8_t *row = out->frames + out->frame_count++ * ms_MU_ROW_BYTES;
    for (unsigned i = 0; i < 4; i++) {
        row[i] = (uint8_t)(lo >> 8 * i);
        row[4 + i] = (uint8_t)(size >> 8 * i);
    }
}

static void ms_mu_add_page(ms_mu_file *f, const ms_piece_source *info, const ms_unt_head *head, uint32_t off,
                           uint32_t base)
{
    ms_unt_page page;
    bool whole = ms_unt_page_at(info, off, base, &page);
    for (uint32_t i = 0; whole && i < page.count && ms_fx_spend(&f->data, 1); i++) {
        uint64_t entry = page.entries + (uint64_t)i * page.stride;
        uint32_t word, encoding;
        whole = ms_unt_words(info, entry, &word, 1);
        if (whole && (page.stride == 8 ? ms_unt_words(info, entry + 4, &encoding, 1)
                                       : ms_unt_numbered(info, head, &page, word >> 24, &encoding)))
            ms_mu_add_function(f, ms_unt_function(&page, word), encoding);
    }
}

/* Lists the large frames of a compact table. */
static void ms_mu_add_frames(ms_mu_file *f, const ms_mu_section *section)
{
    ms_piece_source info = ms_piece_of_file(section->bytes, section->addr);
    ms_unt_head head;
    uint32_t entry[2];
    if (!ms_unt_open(&info, &head))
        return;
    for (uint32_t i = 0; i < head.index_count; i++) {
        if (!ms_unt_words(&info, (uint64_t)head.index_off + (uint64_t)i * ms_UNT_INDEX_SIZE, entry, 2))
            return; /* ends with the section, whatever the count says */
        if (entry[1] != 0)
            ms_mu_add_page(f, &info, &head, entry[1], entry[0]);
    }
}

/* Takes the tables of the files of an image: of a program, and of its dSYM. A dSYM has no __unwind_info, and
 * what dsymutil copies of an __eh_frame still counts from where it stood in the program: only its
 * __debug_frame is taken. rests: what the image left unread, by file. */
static void ms_mu_gather(const ms_mo *mo, size_t mo_count, ms_fx_rest *rests, ms_arena *arena,
                         ms_mu_tables *out)
{
    static const char *const names[ms_MU_SECTIONS] = {"__unwind_info", "__eh_frame", "__debug_frame"};
    ms_mu_file f;
    for (size_t i = 0; i < mo_count; i++) {
        bool is_dsym = mo[i].slice.filetype == ms_MH_DSYM;
        ms_zero(&f, sizeof f);
        f.data.mo = &mo[i];
        f.data.rest = &rests[i];
        f.arena = arena;
        f.out = out;
        ms_fx_refill(&f.data);
        for (unsigned k = is_dsym ? 2 : 0; k < ms_MU_SECTIONS; k++) {
            const ms_mo_section *section = ms_mo_section_named(&mo[i], NULL, names[k]);
            if (section == NULL || out->v[k].bytes.len != 0)
                continue;
            out->v[k].bytes = ms_fx_bytes(&f.data, section);
            out->v[k].addr = section->addr;
            if (k == 0 && (mo->slice.cputype == ms_CPU_X86_64 || mo->slice.cputype == ms_MU_CPU_I386))
                ms_mu_add_frames(&f, &out->v[k]);
        }
    }
}

#endif /* ms_ROOM_map_unwound */
