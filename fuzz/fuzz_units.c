/* Fuzzes unit headers and .debug_aranges: part 1 is .debug_info, the rest .debug_aranges; the abbreviations
 * are fixed. What a session says that has listed the units, one that is asked for a single address says too.
 * Run: build/fuzz/units -dict=fuzz/dwarf.dict fuzz/corpus/units */
#include "mutate.h"

enum { COMPARED = 20, ROOM = 16 };

static bool same_text(machsym_str a, machsym_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static machsym_session *open_cold(const bytes *file, machsym_image **image)
{
    machsym_open_desc desc;
    machsym_session_desc how;
    machsym_session *session;
    memset(&desc, 0, sizeof desc);
    memset(&how, 0, sizeof how);
    desc.bytes.ptr = file->v;
    desc.bytes.len = file->len;
    if (machsym_image_open(&desc, image, NULL) != MACHSYM_OK)
        abort();
    how.image = *image;
    if (machsym_session_open(&how, &session, NULL) != MACHSYM_OK)
        abort();
    return session;
}

static void compare_at(const bytes *file, machsym_session *warm, uint64_t addr)
{
    machsym_image *image;
    machsym_frame got[ROOM];
    machsym_frame want[ROOM];
    machsym_session *cold = open_cold(file, &image);
    size_t count = machsym_session_frames_at_addr(warm, addr, want, ROOM);
    if (machsym_session_frames_at_addr(cold, addr, got, ROOM) != count)
        abort();
    for (size_t i = 0; i < count && i < ROOM; i++) {
        if (!same_text(got[i].name, want[i].name) || !same_text(got[i].linkage_name, want[i].linkage_name) ||
            got[i].die_offset != want[i].die_offset || got[i].function_start != want[i].function_start ||
            got[i].function_size != want[i].function_size)
            abort();
    }
    machsym_session_close(cold);
    machsym_image_close(image);
}

static void compare_cold(const make_macho *m)
{
    bytes file = make_file(m);
    machsym_image *image;
    machsym_image_info info;
    machsym_cursor at = {0, 0};
    machsym_function function;
    machsym_session *warm = open_cold(&file, &image);
    machsym_image_count_damage(image, &info); /* lists the units */
    for (unsigned i = 0; i < COMPARED && machsym_session_next_function(warm, &at, &function); i++) {
        compare_at(&file, warm, function.lo);
        compare_at(&file, warm, function.hi);
    }
    machsym_session_close(warm);
    machsym_image_close(image);
    bytes_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    make_macho m;
    bytes abbrev = {NULL, 0, 0};
    bytes info = drive_part(&data, &size, false);
    bytes aranges = drive_part(&data, &size, true);
    memset(&m, 0, sizeof m);
    fuzz_abbrevs(&abbrev);
    make_add(&m, "__debug_info", &info);
    make_add(&m, "__debug_abbrev", &abbrev);
    make_add(&m, "__debug_aranges", &aranges);
    drive_made(&m);
    if (info.len != 0)
        compare_cold(&m);
    bytes_free(&info);
    bytes_free(&abbrev);
    bytes_free(&aranges);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    mutation m = mutate_begin(data, size, max, seed);
    size_t choice = mutate_random(&m, 8);
    if (size < 2 || choice < 2)
        return LLVMFuzzerMutate(data, size, max);
    mutate_open_part(&m, choice < 6);
    if (choice < 6) {
        bytes abbrev = {NULL, 0, 0};
        fuzz_abbrevs(&abbrev);
        mutate_info(&m, &abbrev);
        bytes_free(&abbrev);
    } else {
        mutate_words(&m, 8);
    }
    mutate_close_part(&m, choice < 6);
    return m.len;
}
