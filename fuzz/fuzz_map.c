/* Fuzzes symbol maps: the input is a map file, whose magic, version and size are made right first and whose
 * checksum is not compared, so that the damage gets as far as lookups, names and iteration. Run:
 * build/fuzz/map -dict=fuzz/map.dict fuzz/corpus/map */
#include "drive.h"

enum {
    HEAD = 256,
    MAX_RANGES = 300,
    MAX_FRAMES = 64,
    TEXT = 1 << 16,
    MAX_MEMORY = 1 << 21,
    MAX_FUNCTIONS = 32
};

/* Magic and version as a map of this version has them: asked for once. */
static const uint8_t *head_begin(void)
{
    static uint8_t begin[12];
    machsym_map_info info;
    machsym_writer_desc desc;
    machsym_writer *writer;
    machsym_map *empty;
    if (begin[0] != 0)
        return begin;
    memset(&info, 0, sizeof info);
    memset(&desc, 0, sizeof desc);
    desc.info = &info;
    if (machsym_writer_open(&desc, &writer, NULL) != MACHSYM_OK ||
        machsym_writer_finish(writer, &empty, NULL) != MACHSYM_OK)
        abort();
    memcpy(begin, machsym_map_bytes(empty).ptr, sizeof begin);
    machsym_map_close(empty);
    return begin;
}

static void repair(uint8_t *bytes, size_t len)
{
    memcpy(bytes, head_begin(), 12);
    for (unsigned i = 0; i < 8; i++)
        bytes[64 + i] = (uint8_t)((uint64_t)len >> (8 * i));
}

static void drive_frames(const machsym_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        drive_text(frames[i].linkage_name);
        drive_text(frames[i].name);
        drive_text(frames[i].file.comp_dir);
        drive_text(frames[i].file.dir);
        drive_path(&frames[i].file);
    }
}

/* The functions that share the code at an address, and a stack of it and the address before. */
static void ask_shared(machsym_session *session, uint64_t addr)
{
    static uint64_t before;
    machsym_frame frames[MAX_FRAMES];
    machsym_cursor at = {0, 0};
    machsym_stack_addr pcs[2] = {{addr, false}, {before, true}};
    machsym_stack_answer calls[2];
    size_t functions = 0;
    size_t count;
    while (functions < MAX_FUNCTIONS &&
           (count = machsym_session_next_folded_at_addr(session, addr, &at, frames, MAX_FRAMES)) != 0) {
        drive_frames(frames, count < MAX_FRAMES ? count : MAX_FRAMES);
        functions++;
    }
    count = machsym_session_frames_of_stack(session, pcs, 2, calls, frames, MAX_FRAMES);
    drive_frames(frames, count < MAX_FRAMES ? count : MAX_FRAMES);
    if (calls[0].is_decided && calls[0].function_count < 2)
        abort(); /* there is nothing to decide */
    before = addr;
}

static void ask(const machsym_map *map, machsym_session *session, uint64_t addr)
{
    static char text[TEXT];
    machsym_map_frame found[MAX_FRAMES];
    machsym_frame frames[MAX_FRAMES];
    size_t count = machsym_map_frames_at_addr(map, addr, found, MAX_FRAMES);
    if (machsym_map_frames_at_addr(map, addr, NULL, 0) != count)
        abort(); /* how many there are does not depend on the room */
    count = count < MAX_FRAMES ? count : MAX_FRAMES;
    size_t need = machsym_map_names(map, found, count, frames, text, TEXT);
    drive_frames(frames, count);
    if (need < TEXT && machsym_map_names(map, found, count, frames, text, need) != need)
        abort(); /* what was needed is enough */
    if (machsym_session_memory(session) > MAX_MEMORY)
        machsym_session_trim(session);
    if (machsym_session_frames_at_addr(session, addr, frames, MAX_FRAMES) < count)
        abort(); /* a session on the map says no less */
    drive_frames(frames, count);
    ask_shared(session, addr);
}

/* Memory of a process: words that point into its image and up the stack; of code nothing. */
static bool read_memory(void *ctx, uint64_t addr, void *out, size_t len)
{
    const machsym_unwind_image *tables = (const machsym_unwind_image *)ctx;
    uint64_t word =
        addr % 16 == 0 ? addr + 32 : tables->load_addr + addr % (tables->size + (tables->size == 0));
    if (addr - tables->load_addr < tables->size || len > sizeof word)
        return false;
    memcpy(out, &word, len);
    return true;
}

/* A stack by the tables of the map. It ends within its bound. */
static void unwind(const machsym_map *map, uint32_t cputype, uint64_t off)
{
    machsym_unwind_image tables;
    machsym_unwind_state state;
    memset(&state, 0, sizeof state);
    machsym_map_get_unwind(map, 0x100000000, &tables);
    tables.size = tables.size < UINT32_MAX ? tables.size : UINT32_MAX;
    machsym_str large = {(const char *)tables.large_frames.ptr, tables.large_frames.len};
    drive_text(large);
    machsym_unwind_desc desc = {read_memory, &tables, &tables, 1, cputype};
    for (size_t i = 0; i < 33; i++)
        state.v[i] = 0x7000000000 + 64 * i;
    state.known = (UINT64_C(1) << 33) - 1;
    state.v[16] = state.v[32] = tables.load_addr + off;
    uint32_t frames = 0;
    while (machsym_unwind_next(&desc, &state) && frames < MACHSYM_MAX_UNWIND_FRAMES)
        frames++;
    if (state.end == MACHSYM_UNWIND_GOES_ON)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    machsym_map *map;
    machsym_map_info info;
    machsym_map_range range;
    machsym_cursor at = {0, 0};
    uint8_t *copy =
        (uint8_t *)malloc(size + (size == 0)); /* of exactly this size: a byte past it is noticed */
    if (copy == NULL)
        return 0;
    if (size > 0)
        memcpy(copy, data, size);
    if (size >= HEAD)
        repair(copy, size);
    machsym_map_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = copy;
    desc.bytes.len = size;
    desc.flags = MACHSYM_MAP_UNCHECKED;
    if (machsym_map_open(&desc, &map, NULL) == MACHSYM_OK) {
        machsym_open_desc file;
        machsym_session_desc how;
        machsym_image *image;
        machsym_session *session;
        machsym_map_get_info(map, &info);
        memset(&file, 0, sizeof file);
        memset(&how, 0, sizeof how);
        file.bytes = desc.bytes;
        file.flags = MACHSYM_OPEN_UNCHECKED;
        if (machsym_image_open(&file, &image, NULL) != MACHSYM_OK)
            abort(); /* what opens as a map opens as an image */
        how.image = image;
        how.lines = info.lines;
        if (machsym_session_open(&how, &session, NULL) != MACHSYM_OK)
            abort();
        drive_text(info.name);
        for (size_t i = 0; i < MAX_RANGES && machsym_map_next(map, &at, &range); i++) {
            if (range.lo >= range.hi)
                abort();
            ask(map, session, range.lo);
            ask(map, session, range.hi - 1);
        }
        for (size_t i = 0; i + 4 <= size && i < 64; i += 4)
            ask(map, session,
                info.text_addr + (data[i] | (uint64_t)data[i + 1] << 8 | (uint64_t)data[i + 2] << 16));
        for (size_t i = 0; i + 4 <= size && i < 16; i += 4)
            unwind(map, info.cputype, data[i] | (uint64_t)data[i + 1] << 8);
        unwind(map, 0x01000007, 0x400);
        machsym_session_close(session);
        machsym_image_close(image);
        machsym_map_close(map);
    }
    free(copy);
    return 0;
}
