#ifndef ms_ROOM_macho_eh_frame
#define ms_ROOM_macho_eh_frame
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "pieces.h"

/* ==== >>eh_frame ===========================================================================================
 * Job:    reads the entries of an __eh_frame or a __debug_frame: CIEs and FDEs.
 * Offers: ms_eh_frames, ms_eh_of_file, ms_eh_entry_at, ms_eh_cie_at, ms_eh_range.
 * Never:  runs their programs. */

/* Pointer encodings (LSB 10.5.1): the low half is the size, the next bits what it is relative to. */
enum { ms_EH_PCREL = 0x10, ms_EH_BASE = 0x70 };
enum { ms_EH_SHORT = 96 }; /* bytes of an entry with its length; most have 24 to 80 */

/* A section of entries. */
typedef struct ms_eh_frames {
    ms_piece_source source;
    unsigned word;  /* bytes of an address */
    bool is_debug;  /* a __debug_frame (DWARF5 6.4.1) */
    uint64_t slide; /* of a __debug_frame, which has the addresses of its file */
} ms_eh_frames;

static ms_eh_frames ms_eh_of_file(ms_span bytes, uint64_t addr, unsigned word)
{
    ms_eh_frames frames;
    frames.source = ms_piece_of_file(bytes, addr);
    frames.word = word;
    frames.is_debug = false;
    frames.slide = 0;
    return frames;
}

/* An entry, and its bytes where they are not in a file. */
typedef struct ms_eh_entry {
    uint64_t at;   /* offset of what follows the field that leads to the CIE */
    uint64_t next; /* where the next entry begins */
    uint64_t cie;  /* offset of the CIE; UINT64_MAX: it is before the section */
    bool is_cie;   /* this is one */
    ms_rd body;    /* what follows the field */
    uint8_t room[MACHSYM_MAX_FRAME_ENTRY];
} ms_eh_entry;

/* What a CIE says. */
typedef struct ms_eh_cie {
    unsigned encoding; /* of addresses in its FDEs */
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_register;
    bool has_data;  /* its FDEs have augmentation data ('z') */
    bool is_signal; /* their callers were interrupted, and called nothing ('S') */
    ms_rd program;
} ms_eh_cie;

/* Reads the field after the length: the distance back to the CIE, or in a __debug_frame the CIE's offset.
 * is_long: the length has 64 bits. The field of an __eh_frame has 32 bits all the same (LSB 10.6.1.1). */
static void ms_eh_link(const ms_eh_frames *frames, bool is_long, uint64_t off, ms_eh_entry *out)
{
    bool is_wide = frames->is_debug && is_long;
    uint64_t link = is_wide ? ms_rd_u64(&out->body) : ms_rd_u32(&out->body);
    out->is_cie = link == (!frames->is_debug ? 0 : is_wide ? UINT64_MAX : UINT32_MAX);
    out->cie = frames->is_debug ? link : link <= off ? off - link : UINT64_MAX;
    out->at = off + (is_wide ? 8 : 4);
}

/* A short entry of a process, with its length, by one read: a read may be a system call. Returns: NULL for
 * other entries, and where memory or the section ends soon. */
static const uint8_t *ms_eh_short_entry(const ms_piece_source *source, uint64_t off, uint8_t *room)
{
    const uint8_t *head = source->read != NULL ? ms_piece_at(source, off, ms_EH_SHORT, room) : NULL;
    uint32_t len = head != NULL ? ms_rd_raw_u32(head) : 0;
    return len != 0 && len <= ms_EH_SHORT - 4 ? head : NULL;
}

/* Returns: false at the end of the section, and for an entry that reaches out of it. In a process an entry
 * may be as long as its room. */
static bool ms_eh_entry_at(const ms_eh_frames *frames, uint64_t off, ms_eh_entry *out)
{
    const ms_piece_source *source = &frames->source;
    const uint8_t *head = ms_eh_short_entry(source, off, out->room);
    if (head != NULL) {
        uint32_t size = ms_rd_raw_u32(head);
        out->next = off + 4 + size;
        out->body = ms_rd_make(ms_span_make(head + 4, size));
        ms_eh_link(frames, false, off + 4, out);
        return true;
    }
    head = ms_piece_at(source, off, 4, out->room);
    uint64_t len = head != NULL ? ms_rd_raw_u32(head) : 0;
    bool is_long = len == 0xffffffff;
    if (is_long) {
        off += 8;
        head = ms_piece_at(source, off - 4, 8, out->room);
        len = head != NULL ? ms_rd_raw_u64(head) : 0;
    }
    off += 4;
    if (len == 0 || len > SIZE_MAX || (source->read != NULL && len > sizeof out->room) ||
        !ms_add_ok(off, len, &out->next))
        return false;
    head = ms_piece_at(source, off, (size_t)len, out->room);
    if (head == NULL)
        return false;
    out->body = ms_rd_make(ms_span_make(head, (size_t)len));
    ms_eh_link(frames, is_long, off, out);
    return true;
}

/* A pointer: addr is that of the field itself, word the bytes of an address. */
static uint64_t ms_eh_pointer(ms_rd *rd, unsigned encoding, uint64_t addr, unsigned word)
{
    uint64_t value;
    switch (encoding & 0xf) {
    case 0x0: value = ms_rd_uint(rd, word); break;
    case 0x2: value = ms_rd_u16(rd); break;
    case 0x3: value = ms_rd_u32(rd); break;
    case 0xa: value = (uint64_t)(int64_t)(int16_t)ms_rd_u16(rd); break;
    case 0xb: value = (uint64_t)(int64_t)(int32_t)ms_rd_u32(rd); break;
    case 0x4:
    case 0xc: value = ms_rd_u64(rd); break;
    default: ms_rd_fail(rd); return 0;
    }
    if ((encoding & ms_EH_BASE) == ms_EH_PCREL)
        value += addr;
    return word == 8 ? value : value & 0xffffffff;
}

/* The augmentation's data, by its letters. An unknown one hides those after it. */
static void ms_eh_cie_data(ms_eh_cie *cie, ms_rd data, machsym_str letters, unsigned word)
{
    for (size_t i = 1; i < letters.len; i++) {
        switch (letters.ptr[i]) {
        case 'R': cie->encoding = ms_rd_u8(&data); break;
        case 'L': ms_rd_u8(&data); break;
        case 'P': {
            unsigned encoding = ms_rd_u8(&data);
            ms_eh_pointer(&data, encoding, 0, word);
            break;
        }
        case 'S': cie->is_signal = true; break;
        case 'B': break; /* arm64: signed by key B */
        default: return;
        }
    }
}

/* rd: what follows the field of a CIE. Without 'z' the augmentation has no data. Version 4 has the sizes of
 * addresses and of segment selectors, which Mach-O lacks. */
static void ms_eh_read_cie(ms_rd rd, unsigned word, ms_eh_cie *cie)
{
    unsigned version = ms_rd_u8(&rd);
    ms_span text = ms_rd_span(&rd, ms_rd_left(&rd) < 16 ? ms_rd_left(&rd) : 16);
    machsym_str letters = ms_str_bounded((const char *)text.ptr, text.len);
    ms_zero(cie, sizeof *cie);
    if (letters.len == text.len) {
        ms_rd_fail(&rd); /* too long for any that is known */
    } else {
        rd.p -= text.len - letters.len - 1;
    }
    if (version >= 4 && (ms_rd_u8(&rd) != word || ms_rd_u8(&rd) != 0))
        ms_rd_fail(&rd);
    cie->code_align = ms_rd_uleb(&rd);
    cie->data_align = ms_rd_sleb(&rd);
    cie->return_register = version == 1 ? ms_rd_u8(&rd) : ms_rd_uleb(&rd);
    cie->has_data = letters.len != 0 && letters.ptr[0] == 'z';
    if (cie->has_data) {
        ms_rd data = ms_rd_make(ms_rd_span(&rd, ms_rd_uleb(&rd)));
        ms_eh_cie_data(cie, data, letters, word);
    }
    cie->program = rd;
}

/* The CIE of an FDE. room: where its bytes are kept. Returns: false where there is none. */
static bool ms_eh_cie_at(const ms_eh_frames *frames, const ms_eh_entry *fde, ms_eh_entry *room,
                         ms_eh_cie *cie)
{
    if (!ms_eh_entry_at(frames, fde->cie, room) || !room->is_cie)
        return false;
    ms_eh_read_cie(room->body, frames->word, cie);
    return true;
}

/* The addresses of an FDE's function. Returns: false where they cannot be read. */
static bool ms_eh_range(const ms_eh_frames *frames, ms_eh_entry *fde, const ms_eh_cie *cie, uint64_t *lo,
                        uint64_t *size)
{
    *lo = ms_eh_pointer(&fde->body, cie->encoding, frames->source.addr + fde->at, frames->word);
    *lo += frames->slide;
    *size = ms_eh_pointer(&fde->body, cie->encoding & 0xf, 0, frames->word);
    return !fde->body.failed;
}

#endif /* ms_ROOM_macho_eh_frame */
