/* Core files of macOS; see core.h. Layouts: mach-o/loader.h, mach-o/dyld_images.h, the thread states of mach;
 * lldb.llvm.org on notes. All numbers are little endian: Apple's 64-bit processors write no others. */
#include "core.h"
#include "../model/report.h"
#include "decoded.h"

#include <string.h>

static const uint32_t core_magic = 0xfeedfacf;
enum { CORE_HEADER_SIZE = 32, COMMAND_SIZE = 8 };
enum { TYPE_EXECUTE = 2, TYPE_CORE = 4, TYPE_DYLINKER = 7 };
enum {
    LC_THREAD = 4,
    LC_ID_DYLIB = 0xd,
    LC_ID_DYLINKER = 0xf,
    LC_SEGMENT_64 = 0x19,
    LC_UUID = 0x1b,
    LC_NOTE = 0x31
};
enum { SEGMENT_SIZE = 72, SECTION_SIZE = 80, NOTE_SIZE = 40, IMAGE_SIZE = 48, DYLD_IMAGE_SIZE = 24 };

/* The system has no longer paths. */
enum { MAX_PATH = 1024 };

/* The core file that is read. */
typedef struct core {
    machsym_str in;
    size_t commands_left; /* load commands that may still be read: those of images may overlap */
    uint64_t main;        /* address of the program; 0: unknown */
    uint64_t linker;      /* address of the dynamic linker's list of images; 0: unknown */
    bool has_list;        /* a note with the list of images was read; the first one counts */
    dump d;
} core;

bool core_is(machsym_str input)
{
    return input.len >= 16 && memcmp(input.ptr, "\xcf\xfa\xed\xfe", 4) == 0 &&
           memcmp(input.ptr + 12, "\4\0\0\0", 4) == 0;
}

/* ---- Values ---- */

/* Reads a number of a record. The caller has checked the length. */
static uint64_t core_get(machsym_str s, size_t at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | (unsigned char)s.ptr[at + i];
    return value;
}

static uint32_t core_u32(machsym_str s, size_t at)
{
    return (uint32_t)core_get(s, at, 4);
}

static uint64_t core_u64(machsym_str s, size_t at)
{
    return core_get(s, at, 8);
}

static size_t core_place(const core *c, machsym_str s)
{
    return (size_t)(s.ptr - c->in.ptr);
}

/* Returns bytes of the file, without those past its end. field: the record that holds their place. */
static machsym_str core_bytes(core *c, machsym_str field, uint64_t at, uint64_t size, const char *what)
{
    uint64_t left = at < c->in.len ? c->in.len - at : 0;
    if (size > left)
        dump_note(&c->d, core_place(c, field), what);
    return str_make(c->in.ptr + (left > 0 ? (size_t)at : 0), (size_t)(size < left ? size : left));
}

/* Reads a text up to its NUL. */
static machsym_str core_text(core *c, machsym_str s, machsym_str field)
{
    if (s.len > MAX_PATH)
        s.len = MAX_PATH;
    const char *end = s.len > 0 ? (const char *)memchr(s.ptr, 0, s.len) : NULL;
    s.len = end != NULL ? (size_t)(end - s.ptr) : s.len;
    return dump_take_text(&c->d, s, core_place(c, field));
}

/* Reads a text of 16 bytes: the name of a segment, a section or a note. */
static bool core_is_named(machsym_str s, size_t at, const char *name)
{
    enum { NAME = 16 };
    size_t len = strlen(name);
    return memcmp(s.ptr + at, name, len) == 0 && (len == NAME || s.ptr[at + len] == 0);
}

/* ---- Load commands ---- */

/* Steps through load commands. Returns false at the end, and at a damaged one. */
static bool core_next_command(core *c, machsym_str commands, size_t *at, machsym_str *command)
{
    if (commands.len - *at < COMMAND_SIZE)
        return false;
    machsym_str rest = str_from(commands, *at);
    if (c->commands_left == 0) {
        dump_note(&c->d, core_place(c, rest), "the load commands of images overlap");
        return false;
    }
    uint32_t size = core_u32(rest, 4);
    if (size < COMMAND_SIZE || size > rest.len) {
        dump_note(&c->d, core_place(c, rest), "a load command is damaged");
        return false;
    }
    c->commands_left--;
    *command = str_make(rest.ptr, size);
    *at += size;
    return true;
}

static machsym_str core_commands(machsym_str header)
{
    uint64_t size = core_u32(header, 20);
    size_t left = header.len - CORE_HEADER_SIZE;
    return str_make(header.ptr + CORE_HEADER_SIZE, size < left ? (size_t)size : left);
}

/* ---- Images in memory ---- */

/* Finds the dynamic linker's list of images by the name of a section of its own. */
static void core_find_linker(core *c, machsym_str segment, uint64_t slide)
{
    for (size_t at = SEGMENT_SIZE; at + SECTION_SIZE <= segment.len; at += SECTION_SIZE) {
        if (core_is_named(segment, at, "__all_image_info"))
            c->linker = core_u64(segment, at + 32) + slide;
    }
}

static void core_read_image_command(core *c, machsym_str command, uint64_t slide, uint32_t type,
                                    decoded_image *image)
{
    uint32_t kind = core_u32(command, 0);
    if (kind == LC_UUID && command.len >= 24) {
        memcpy(image->uuid.v, command.ptr + 8, sizeof image->uuid.v);
    } else if ((kind == LC_ID_DYLIB || kind == LC_ID_DYLINKER) && command.len >= 12 && image->path.len == 0) {
        uint32_t name = core_u32(command, 8);
        if (name < command.len)
            image->path = core_text(c, str_from(command, name), command);
    } else if (kind == LC_SEGMENT_64 && command.len >= SEGMENT_SIZE) {
        uint64_t size = core_u64(command, 32);
        if (core_is_named(command, 8, "__TEXT") && size <= UINT64_MAX - image->base)
            image->end = image->base + size;
        if (type == TYPE_DYLINKER)
            core_find_linker(c, command, slide);
    }
}

/* Returns the slide of an image. */
static uint64_t core_slide_of(core *c, machsym_str commands, uint64_t base)
{
    machsym_str command;
    for (size_t at = 0; core_next_command(c, commands, &at, &command);) {
        if (core_u32(command, 0) == LC_SEGMENT_64 && command.len >= SEGMENT_SIZE &&
            core_is_named(command, 8, "__TEXT"))
            return base - core_u64(command, 24);
    }
    return 0;
}

/* Reads the header of an image in memory, if it is there. */
static void core_read_header(core *c, decoded_image *image)
{
    machsym_str header = dump_bytes_at(&c->d, image->base);
    machsym_str command;
    image->is_open = image->end == 0;
    if (header.len < CORE_HEADER_SIZE || core_u32(header, 0) != core_magic)
        return;
    uint32_t type = core_u32(header, 12);
    machsym_str commands = core_commands(header);
    uint64_t slide = core_slide_of(c, commands, image->base);
    image->arch = machsym_arch_name(core_u32(header, 4), core_u32(header, 8));
    c->main = type == TYPE_EXECUTE && c->main == 0 ? image->base : c->main;
    for (size_t at = 0; core_next_command(c, commands, &at, &command);)
        core_read_image_command(c, command, slide, type, image);
    image->is_open = image->end == 0;
}

/* An unknown address is 0 or the highest one. */
static bool core_is_address(uint64_t base)
{
    return base != 0 && base != UINT64_MAX;
}

static decoded_image *core_add_image(core *c, uint64_t base)
{
    decoded_image *image = dump_add_image(&c->d);
    image->base = base;
    image->arch = c->d.cputype == DUMP_CPU_X86_64 ? "x86_64" : "arm64";
    return image;
}

/* ---- Notes ---- */

/* Reads "all image infos": address and path of each image. */
static void core_read_image_list(core *c, machsym_str note)
{
    static const char what[] = "the list of images lies outside the file";
    enum { SIZE = 24 };
    if (note.len < SIZE || c->has_list)
        return;
    c->has_list = true;
    uint64_t size = core_u32(note, 16) >= IMAGE_SIZE ? core_u32(note, 16) : (uint64_t)IMAGE_SIZE;
    machsym_str list = core_bytes(c, note, core_u64(note, 8), core_u32(note, 4) * size, what);
    for (size_t at = 0; list.len - at >= size; at += (size_t)size) {
        machsym_str record = str_from(list, at);
        uint64_t path = core_u64(record, 0);
        if (!core_is_address(core_u64(record, 24)))
            continue;
        decoded_image *image = core_add_image(c, core_u64(record, 24));
        memcpy(image->uuid.v, record.ptr + 8, sizeof image->uuid.v);
        if (core_is_address(path) && core_bytes(c, record, path, 1, what).len > 0)
            image->path = core_text(c, str_from(c->in, (size_t)path), record);
    }
}

/* Reads "main bin spec" (the program) and "load binary" (an image). Both have a UUID, and an address if it is
 * known. */
static void core_read_one_image(core *c, machsym_str note, size_t uuid_at, size_t base_at, size_t name_at)
{
    uint64_t base = note.len >= name_at ? core_u64(note, base_at) : 0;
    if (!core_is_address(base))
        return;
    decoded_image *image = core_add_image(c, base);
    memcpy(image->uuid.v, note.ptr + uuid_at, sizeof image->uuid.v);
    image->path = core_text(c, str_from(note, name_at), note);
}

static void core_read_note(core *c, machsym_str command)
{
    enum { SPEC_SIZE = 32, BINARY_SIZE = 36 };
    if (command.len < NOTE_SIZE)
        return;
    machsym_str note =
        core_bytes(c, command, core_u64(command, 24), core_u64(command, 32), "a note lies outside the file");
    if (core_is_named(command, 8, "all image infos"))
        core_read_image_list(c, note);
    else if (core_is_named(command, 8, "main bin spec"))
        core_read_one_image(c, str_make(note.ptr, note.len < SPEC_SIZE ? note.len : (size_t)SPEC_SIZE), 16, 8,
                            SPEC_SIZE);
    else if (core_is_named(command, 8, "load binary"))
        core_read_one_image(c, note, 4, 20, BINARY_SIZE);
}

/* ---- Memory and threads ---- */

static void core_read_segment(core *c, machsym_str command)
{
    if (command.len < SEGMENT_SIZE) {
        dump_note(&c->d, core_place(c, command), "a segment is cut short");
        return;
    }
    uint64_t base = core_u64(command, 24);
    machsym_str bytes =
        core_bytes(c, command, core_u64(command, 40), core_u64(command, 48), "memory lies outside the file");
    if (bytes.len > UINT64_MAX - base) {
        dump_note(&c->d, core_place(c, command), "memory reaches past the last address");
        bytes.len = (size_t)(UINT64_MAX - base);
    }
    dump_add_memory(&c->d, base, bytes);
}

#define X(name, i)                                                                                           \
    {                                                                                                        \
        name, 8 * (i), 8, DUMP_INTEGER                                                                       \
    }
static const dump_register x86_rows[] = {X("rax", 0),  X("rbx", 1),  X("rcx", 2),  X("rdx", 3),  X("rdi", 4),
                                         X("rsi", 5),  X("rbp", 6),  X("rsp", 7),  X("r8", 8),   X("r9", 9),
                                         X("r10", 10), X("r11", 11), X("r12", 12), X("r13", 13), X("r14", 14),
                                         X("r15", 15), X("rip", 16), X("rfl", 17)};
static const dump_register core_arm64_rows[] = {DUMP_ARM64(0, 264)};
static const dump_register x86_trap_rows[] = {
    {"cr2", 8, 8, DUMP_ALL}, {"trap", 0, 2, DUMP_ALL}, {"err", 4, 4, DUMP_ALL}};
static const dump_register arm64_trap_rows[] = {{"far", 0, 8, DUMP_ALL}, {"esr", 8, 4, DUMP_ALL}};

#define ROWS(v) v, sizeof v / sizeof *v
static const dump_layout x86_layout = {
    DUMP_CPU_X86_64, "x86_64", "X86 Thread State (64-bit)", "rip", "rsp", "rbp", NULL, ROWS(x86_rows)};
static const dump_layout core_arm64_layout = {
    DUMP_CPU_ARM64, "arm64", "ARM Thread State (64-bit)", "pc", "sp", "fp", "lr", ROWS(core_arm64_rows)};
static const dump_layout x86_trap_layout = {DUMP_CPU_X86_64,    "x86_64", "", "", "", "", NULL,
                                            ROWS(x86_trap_rows)};
static const dump_layout arm64_trap_layout = {DUMP_CPU_ARM64,       "arm64", "", "", "", "", NULL,
                                              ROWS(arm64_trap_rows)};

/* States of a thread, by their numbers in a command: why it stopped, and its registers. */
static const struct {
    uint32_t cputype;
    uint32_t flavor;
    size_t size; /* up to the last register */
    bool is_trap;
    const dump_layout *layout;
} states[] = {{DUMP_CPU_X86_64, 4, 144, false, &x86_layout},
              {DUMP_CPU_X86_64, 6, 16, true, &x86_trap_layout},
              {DUMP_CPU_ARM64, 6, 268, false, &core_arm64_layout},
              {DUMP_CPU_ARM64, 7, 12, true, &arm64_trap_layout}};

static void core_read_state(core *c, uint32_t flavor, machsym_str bytes, dump_thread *thread)
{
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        dump_state *state = states[i].is_trap ? &thread->trap : &thread->state;
        if (states[i].cputype != c->d.cputype || states[i].flavor != flavor)
            continue;
        if (bytes.len < states[i].size)
            dump_note(&c->d, core_place(c, bytes), "registers are cut short");
        else {
            dump_state whole = {states[i].layout, bytes, DUMP_ALL};
            *state = whole;
        }
    }
}

/* Some states name the state that they contain. */
static bool core_is_unified(const core *c, uint32_t flavor)
{
    return c->d.cputype == DUMP_CPU_ARM64 ? flavor == 1 : flavor == 7 || flavor == 9;
}

static void core_read_thread(core *c, machsym_str command)
{
    dump_thread *thread = dump_add_thread(&c->d);
    for (size_t at = COMMAND_SIZE; command.len - at >= 8;) {
        machsym_str rest = str_from(command, at);
        uint32_t flavor = core_u32(rest, 0);
        uint64_t size = UINT64_C(4) * core_u32(rest, 4);
        if (size > rest.len - 8) {
            dump_note(&c->d, core_place(c, rest), "a thread's state is longer than its command");
            return;
        }
        machsym_str bytes = str_make(rest.ptr + 8, (size_t)size);
        if (core_is_unified(c, flavor) && bytes.len >= 8) {
            flavor = core_u32(bytes, 0);
            bytes = str_from(bytes, 8);
        }
        core_read_state(c, flavor, bytes, thread);
        at += 8 + (size_t)size;
    }
}

/* ---- Images without a note ---- */

/* Reads the dynamic linker's list from the memory of the process. */
static void core_read_linker_list(core *c)
{
    enum { HEAD = 16 };
    machsym_str head = dump_bytes_at(&c->d, c->linker);
    if (c->linker == 0 || head.len < HEAD)
        return;
    machsym_str list = dump_bytes_at(&c->d, core_u64(head, 8));
    uint64_t count = core_u32(head, 4);
    for (size_t i = 0; i < count && list.len / DYLD_IMAGE_SIZE > i; i++) {
        machsym_str record = str_from(list, i * DYLD_IMAGE_SIZE);
        if (!core_is_address(core_u64(record, 0)))
            continue;
        decoded_image *image = core_add_image(c, core_u64(record, 0));
        image->path = core_text(c, dump_bytes_at(&c->d, core_u64(record, 8)), record);
    }
}

/* Tests whether each memory range begins with an image. One of them is the dynamic linker, whose list names
 * the others. */
static void core_find_images(core *c)
{
    for (uint32_t i = 0; i < c->d.memory_count; i++) {
        machsym_str bytes = c->d.memory[i].bytes;
        if (bytes.len >= CORE_HEADER_SIZE && core_u32(bytes, 0) == core_magic)
            core_read_header(c, core_add_image(c, c->d.memory[i].base));
    }
    core_read_linker_list(c);
}

/* Merges images with the same address. The result has what either of them has. */
static void core_merge_images(core *c)
{
    static const machsym_uuid none = {0};
    decoded_image *v = c->d.images;
    uint32_t count = 0;
    decoded_sort_images(v, c->d.image_count);
    for (uint32_t i = 0; i < c->d.image_count; i++) {
        if (count == 0 || v[count - 1].base != v[i].base) {
            v[count++] = v[i];
            continue;
        }
        if (v[count - 1].path.len == 0)
            v[count - 1].path = v[i].path;
        if (memcmp(&v[count - 1].uuid, &none, sizeof none) == 0)
            v[count - 1].uuid = v[i].uuid;
    }
    c->d.image_count = count;
}

/* ---- The whole ---- */

/* Walks over the load commands, and passes those of one kind to read. */
static void core_each(core *c, uint32_t kind, void (*read)(core *c, machsym_str command))
{
    machsym_str commands = core_commands(c->in);
    machsym_str command;
    c->commands_left = c->in.len / COMMAND_SIZE;
    for (size_t at = 0; core_next_command(c, commands, &at, &command);) {
        if (core_u32(command, 0) == kind)
            read(c, command);
    }
}

/* Returns why a thread last entered the kernel, as the number of a Mach exception; 0: a system call, or it
 * waits. */
static uint64_t core_exception_of(const core *c, const dump_thread *thread)
{
    enum { BAD_ACCESS = 1, BAD_INSTRUCTION = 2, BREAKPOINT = 6 };
    uint64_t value;
    if (dump_register_of(&thread->trap, "esr", &value)) {
        switch (value >> 26 & 0x3f) { /* the class: "ESR_EL1, Exception Syndrome Register", EC */
        case 0x20:
        case 0x24: return BAD_ACCESS;
        case 0x3c: return BREAKPOINT;
        case 0x0e: return BAD_INSTRUCTION;
        default: return 0;
        }
    }
    if (c->d.cputype != DUMP_CPU_X86_64 || !dump_register_of(&thread->trap, "trap", &value))
        return 0;
    switch (value) { /* 0 is a division by zero, and also an empty state */
    case 3: return BREAKPOINT;
    case 6: return BAD_INSTRUCTION;
    case 13:
    case 14: return BAD_ACCESS;
    default: return 0;
    }
}

/* A core file does not say which thread crashed. If exactly one stopped in an exception, it is that one. */
static void core_find_crash(core *c)
{
    uint32_t count = 0;
    dump_thread *crashed = NULL;
    for (uint32_t i = 0; i < c->d.thread_count; i++) {
        if (core_exception_of(c, &c->d.threads[i]) == 0)
            continue;
        crashed = &c->d.threads[i];
        count++;
    }
    if (count != 1) {
        if (c->d.thread_count > 0)
            c->d.threads[0].is_asked = true;
        return;
    }
    uint64_t pc = 0;
    uint64_t at = 1;
    crashed->crashed = true;
    decoded_put_text(&c->d.event, "Exception Type",
                     str_c(report_exception_name(core_exception_of(c, crashed))));
    bool has_pc =
        crashed->state.layout != NULL && dump_register_of(&crashed->state, crashed->state.layout->pc, &pc);
    bool has_at = dump_register_of(&crashed->trap, c->d.cputype == DUMP_CPU_ARM64 ? "far" : "cr2", &at);
    c->d.has_bad_jump =
        has_pc && has_at && machsym_plain_pc(c->d.cputype, pc) == machsym_plain_pc(c->d.cputype, at);
}

/* Finds the program: an image of that type, else the first image. */
static void core_put_head(core *c)
{
    text *t = &c->d.head;
    const decoded_image *image = NULL;
    for (uint32_t i = 0; i < c->d.image_count; i++) {
        const decoded_image *one = &c->d.images[i];
        bool is_main = c->main != 0 ? one->base == c->main : image == NULL || one->index < image->index;
        image = is_main ? one : image;
    }
    if (image != NULL) {
        decoded_put_text(t, "Process", str_base_name(image->path));
        decoded_put_text(t, "Path", image->path);
    }
    decoded_put_text(t, "Code Type",
                     str_c(decoded_code_type(c->d.cputype == DUMP_CPU_X86_64 ? "x86_64" : "arm64")));
    decoded_put_text(t, "Report Version", str_c("104"));
}

static void core_read(core *c)
{
    core_each(c, LC_SEGMENT_64, core_read_segment);
    dump_sort_memory(&c->d);
    core_each(c, LC_THREAD, core_read_thread);
    core_each(c, LC_NOTE, core_read_note);
    c->commands_left = c->in.len; /* each has at least 8 bytes, and is read three times */
    if (c->d.image_count == 0)
        core_find_images(c);
    for (uint32_t i = 0; i < c->d.image_count; i++)
        core_read_header(c, &c->d.images[i]);
    core_merge_images(c);
    core_find_crash(c);
    core_put_head(c);
}

size_t core_decode(machsym_str input, text *out, const char **what, dump_walks *walks)
{
    core c;
    memset(&c, 0, sizeof c);
    c.in = input;
    dump_begin(&c.d, out->memory, walks, input.len, input.len);
    if (input.len < CORE_HEADER_SIZE) {
        dump_note(&c.d, input.len, "the header is cut short");
    } else {
        c.d.cputype = core_u32(input, 4);
        if (c.d.cputype != DUMP_CPU_X86_64 && c.d.cputype != DUMP_CPU_ARM64)
            dump_note(&c.d, 4, "the processor is neither arm64 nor x86_64");
        else
            core_read(&c);
        if (core_u32(input, 20) > input.len - CORE_HEADER_SIZE)
            dump_note(&c.d, 20, "the load commands reach past the end of the file");
    }
    dump_put(&c.d, out);
    *what = c.d.what;
    size_t damaged_at = c.d.damaged_at;
    dump_free(&c.d);
    return damaged_at;
}
