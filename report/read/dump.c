/* The report of a dead process; see dump.h. */
#include "dump.h"
#include "frame_walk.h"

#include <stdlib.h>
#include <string.h>

/* Apple's reports cut stacks at this depth. */
enum { MAX_FRAMES = 512 };

/* A search through all entries of an __eh_frame takes as long as the section is, up to this many bytes: the
 * least size of MACHSYM_MAX_FRAME_SEARCH entries. All searches of a dump together take half a second at most;
 * after that, frame pointers are used. A dump of 64 threads needs a tenth of it. */
enum { SEARCH_BYTES = 16 * MACHSYM_MAX_FRAME_SEARCH, STEP_BYTES = 64, TABLE_BYTES = 128 << 20 };

/* A frame record takes 16 bytes of memory. Only threads on the same stack share records. */
enum { FRAME_BYTES = 16 };

void dump_begin(dump *d, mem_source *memory, dump_walks *walks, size_t file_len, size_t text_left)
{
    memset(d, 0, sizeof *d);
    d->walks = walks;
    d->table_left = TABLE_BYTES;
    d->memory_source = memory;
    d->file_len = file_len;
    d->text_left = text_left;
    d->head = d->event = d->info = d->tail = text_in(memory);
    d->strings.memory = memory;
}

decoded_image *dump_add_image(dump *d)
{
    decoded_image *image =
        (decoded_image *)mem_add(d->memory_source, &d->images, &d->image_count, &d->image_cap, sizeof *image);
    image->index = d->image_count - 1;
    return image;
}

dump_thread *dump_add_thread(dump *d)
{
    return (dump_thread *)mem_add(d->memory_source, &d->threads, &d->thread_count, &d->thread_cap,
                                  sizeof *d->threads);
}

static int dump_by_number(const void *a, const void *b)
{
    const dump_number *x = (const dump_number *)a;
    const dump_number *y = (const dump_number *)b;
    MACHSYM_COUNT_WORK(1);
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

void dump_index_threads(dump *d)
{
    d->numbers = (dump_number *)mem_take(d->memory_source,
                                         mem_times(d->memory_source, d->thread_count, sizeof *d->numbers));
    d->number_count = d->thread_count;
    for (uint32_t i = 0; i < d->thread_count; i++) {
        dump_number one = {d->threads[i].id, i};
        d->numbers[i] = one;
    }
    if (d->number_count > 0)
        qsort(d->numbers, d->number_count, sizeof *d->numbers, dump_by_number);
}

static bool dump_is_number_before(const void *element, const void *id)
{
    return ((const dump_number *)element)->id < *(const uint64_t *)id;
}

dump_thread *dump_find_thread(dump *d, uint64_t id)
{
    size_t at = mem_lower_bound(d->numbers, d->number_count, sizeof *d->numbers, &id, dump_is_number_before);
    return at < d->number_count && d->numbers[at].id == id ? &d->threads[d->numbers[at].index] : NULL;
}

void dump_add_memory(dump *d, uint64_t base, machsym_str bytes)
{
    if (bytes.len == 0)
        return;
    dump_memory *memory = (dump_memory *)mem_add(d->memory_source, &d->memory, &d->memory_count,
                                                 &d->memory_cap, sizeof *memory);
    memory->base = base;
    memory->bytes = bytes;
    memory->index = d->memory_count - 1;
}

void dump_note(dump *d, size_t at, const char *what)
{
    if (d->what != NULL)
        return;
    d->what = what;
    d->damaged_at = at > 0 ? at : 1; /* 0 means an undamaged file; damage at offset 0 (the magic) becomes 1 */
}

machsym_str dump_take_text(dump *d, machsym_str plain, size_t at)
{
    if (plain.len > d->text_left) {
        dump_note(d, at, "texts overlap");
        d->text_left = 0; /* else every other text of the file would be read before it is refused */
        return str_make(NULL, 0);
    }
    d->text_left -= plain.len;
    return pool_copy(&d->strings, plain.ptr, plain.len);
}

void dump_free(dump *d)
{
    mem_give(d->memory_source, d->images);
    mem_give(d->memory_source, d->tables);
    mem_give(d->memory_source, d->threads);
    mem_give(d->memory_source, d->numbers);
    mem_give(d->memory_source, d->memory);
    text_free(&d->head);
    text_free(&d->event);
    text_free(&d->info);
    text_free(&d->tail);
    pool_free(&d->strings);
}

/* ---- Memory ---- */

static int dump_by_base(const void *a, const void *b)
{
    const dump_memory *x = (const dump_memory *)a;
    const dump_memory *y = (const dump_memory *)b;
    MACHSYM_COUNT_WORK(1);
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Of overlapping ranges the one that begins first wins, so that no two overlap. */
void dump_sort_memory(dump *d)
{
    uint32_t count = 0;
    uint64_t end = 0; /* end of the last range that stays: no range reaches 2^64 */
    if (d->memory_count > 0)
        qsort(d->memory, d->memory_count, sizeof *d->memory, dump_by_base);
    for (uint32_t i = 0; i < d->memory_count; i++) {
        dump_memory one = d->memory[i];
        uint64_t twice = end > one.base ? end - one.base : 0;
        if (twice >= one.bytes.len)
            continue;
        one.base += twice;
        one.bytes = str_from(one.bytes, (size_t)twice);
        d->memory[count++] = one;
        end = one.base + one.bytes.len;
    }
    d->memory_count = count;
}

static bool dump_begins_by(const void *element, const void *address)
{
    return ((const dump_memory *)element)->base <= *(const uint64_t *)address;
}

static uint64_t dump_get(const char *p, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | (unsigned char)p[i];
    return value;
}

machsym_str dump_bytes_at(const dump *d, uint64_t addr)
{
    size_t after = mem_lower_bound(d->memory, d->memory_count, sizeof *d->memory, &addr, dump_begins_by);
    const dump_memory *one = after > 0 ? &d->memory[after - 1] : NULL;
    if (one == NULL || addr - one->base >= one->bytes.len)
        return str_make(NULL, 0);
    return str_from(one->bytes, (size_t)(addr - one->base));
}

/* Copies memory of the process, which may lie in several ranges. */
static bool dump_read_memory(const dump *d, uint64_t addr, void *out, size_t len)
{
    char *to = (char *)out;
    while (len > 0) {
        machsym_str bytes = dump_bytes_at(d, addr);
        size_t count = bytes.len < len ? bytes.len : len;
        if (count == 0)
            return false;
        memcpy(to, bytes.ptr, count);
        to += count;
        addr += count;
        len -= count;
    }
    return true;
}

static bool dump_read(const dump *d, uint64_t addr, uint64_t *out)
{
    char raw[sizeof *out];
    if (!dump_read_memory(d, addr, raw, sizeof raw))
        return false;
    *out = dump_get(raw, sizeof raw);
    return true;
}

/* ---- Registers ---- */

static uint64_t dump_value_of(const dump_state *state, const dump_register *one)
{
    return dump_get(state->bytes.ptr + one->at, one->size);
}

bool dump_register_of(const dump_state *state, const char *name, uint64_t *out)
{
    for (uint32_t i = 0; state->layout != NULL && name != NULL && i < state->layout->count; i++) {
        const dump_register *one = &state->layout->v[i];
        if ((one->group & state->groups) == 0 || strcmp(one->name, name) != 0)
            continue;
        *out = dump_value_of(state, one);
        return true;
    }
    return false;
}

/* Returns how many registers are written so far. */
static uint32_t dump_put_state(const dump_state *state, uint32_t count, text *out)
{
    for (uint32_t i = 0; state->layout != NULL && i < state->layout->count; i++) {
        const dump_register *one = &state->layout->v[i];
        if ((one->group & state->groups) != 0)
            decoded_put_register(out, count++, str_c(one->name), dump_value_of(state, one), 2u * one->size);
    }
    return count;
}

static void dump_put_registers(const dump_thread *thread, uint32_t number, text *out)
{
    const dump_layout *layout = thread->state.layout;
    if (layout == NULL || thread->state.groups == 0)
        return;
    text_c(out, "Thread ");
    text_dec(out, number);
    text_c(out, thread->crashed ? " crashed with " : " stopped with ");
    text_c(out, layout->title);
    text_c(out, ":\n");
    uint32_t count = dump_put_state(&thread->state, 0, out);
    decoded_end_registers(out, dump_put_state(&thread->trap, count, out));
}

/* ---- Stacks ---- */

static const decoded_image *dump_image_of(const dump *d, uint64_t addr)
{
    return decoded_find_image(d->images, d->image_count, addr);
}

/* Returns the caller of an address without code. No instruction of a function ran there, so the return
 * address is still where the call left it. */
static uint64_t dump_caller_of_nothing(const dump *d, const dump_state *state, uint64_t sp)
{
    uint64_t caller = 0;
    if (state->layout->lr != NULL)
        dump_register_of(state, state->layout->lr, &caller);
    else if (!dump_read(d, sp, &caller))
        return 0;
    caller = machsym_plain_pc(state->layout->cputype, caller);
    return dump_image_of(d, caller) != NULL ? caller : 0;
}

/* Copies bytes of an image from the caller, if it has them. */
static bool dump_read_image(const dump *d, const decoded_image *image, uint64_t addr, void *out, size_t len)
{
    const report_tables *from = d->walks->tables;
    const tables_image of = {image->uuid, image->path, str_c(image->arch != NULL ? image->arch : ""),
                             image->base, image->end};
    return from != NULL && from->read != NULL && from->read(from->context, &of, addr, out, len);
}

/* Finds the tables of an image by a header that the caller has. */
static bool dump_find_in_header(dump *d, const decoded_image *image, dump_tables *to)
{
    enum { HEADER = 32, COMMANDS_SIZE = 20 }; /* the number has its low byte first */
    uint8_t first[HEADER];
    bool has_some = false;
    if (!dump_read_image(d, image, image->base, first, sizeof first))
        return false;
    size_t len = (size_t)first[COMMANDS_SIZE] + ((size_t)first[COMMANDS_SIZE + 1] << 8) + HEADER;
    if (first[COMMANDS_SIZE + 2] != 0 || first[COMMANDS_SIZE + 3] != 0)
        return false; /* more than 64 KB of load commands */
    void *header = mem_take(d->memory_source, len);
    if (dump_read_image(d, image, image->base, header, len))
        has_some = tables_of_header(str_make((const char *)header, len), &to->unwind);
    mem_give(d->memory_source, header);
    return has_some;
}

/* Finds the tables of an image: those of its file, else those in its memory. */
static void dump_find_tables(dump *d, const decoded_image *image, dump_tables *to)
{
    to->is_asked = true;
    to->unwind.load_addr = image->base;
    to->unwind.size = image->end - image->base;
    if (d->walks->tables != NULL && d->walks->tables->find != NULL)
        to->file = d->walks->tables->find(d->walks->tables->context, &image->uuid, image->path,
                                          str_c(image->arch != NULL ? image->arch : ""));
    to->has_some = (to->file != NULL && tables_of_file(to->file, d->cputype, image->base, &to->unwind)) ||
                   tables_of_header(dump_bytes_at(d, image->base), &to->unwind) ||
                   dump_find_in_header(d, image, to) || to->unwind.debug_frame.size != 0;
}

static dump_tables *dump_tables_of(dump *d, uint64_t addr)
{
    const decoded_image *image = d->tables != NULL ? dump_image_of(d, addr) : NULL;
    if (image == NULL || image->other != NULL)
        return NULL;
    dump_tables *tables = &d->tables[image - d->images];
    if (!tables->is_asked)
        dump_find_tables(d, image, tables);
    return tables;
}

/* Returns NULL outside all images that are loaded. An image whose tables are unknown is one without tables. */
static const machsym_unwind_image *dump_walk_image(void *context, uint64_t addr)
{
    dump *d = (dump *)context;
    const decoded_image *image = dump_image_of(d, addr);
    const dump_tables *tables = dump_tables_of(d, addr);
    if (tables != NULL && tables->has_some && d->table_left > 0)
        return &tables->unwind;
    if (image == NULL || image->is_unloaded)
        return NULL;
    d->bare.load_addr = image->base;
    d->bare.size = image->end - image->base;
    return &d->bare;
}

/* Reads memory. Minidumps lack the code and the constants of images, but files have them. */
static bool dump_walk_read(void *context, uint64_t addr, void *out, size_t len)
{
    dump *d = (dump *)context;
    if (dump_read_memory(d, addr, out, len))
        return true;
    const dump_tables *tables = dump_tables_of(d, addr);
    if (tables == NULL)
        return false;
    if (tables->file != NULL && tables_read(tables->file, tables->unwind.load_addr, addr, out, len))
        return true;
    return dump_read_image(d, &d->images[tables - d->tables], addr, out, len);
}

/* Drops addresses outside all images from the end of a stack: a frame pointer that holds something else leads
 * there. Code that was made at run time stays, because its callers are in images. */
static uint32_t dump_known_frames(const dump *d, const framewalk_frame *frames, uint32_t count)
{
    while (d->image_count > 0 && count > 1 && dump_image_of(d, frames[count - 1].pc) == NULL)
        count--;
    return count;
}

/* The number of a register in machsym_unwind_state, where Apple's name has it; -1: it has none there. */
static int dump_unwind_number(uint32_t cputype, const char *name)
{
    static const char *const x86[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
                                      "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip"};
    static const char *const arm64[] = {"fp", "lr", "sp", "pc"};
    enum { ARM64_FP = 29 };
    if (cputype == DUMP_CPU_ARM64 && name[0] == 'x')
        return name[2] != 0 ? (name[1] - '0') * 10 + (name[2] - '0') : name[1] - '0';
    for (size_t i = 0; cputype == DUMP_CPU_ARM64 && i < sizeof arm64 / sizeof *arm64; i++) {
        if (strcmp(name, arm64[i]) == 0)
            return (int)i + ARM64_FP;
    }
    for (size_t i = 0; cputype == DUMP_CPU_X86_64 && i < sizeof x86 / sizeof *x86; i++) {
        if (strcmp(name, x86[i]) == 0)
            return (int)i;
    }
    return -1;
}

static void dump_fill_state(const dump_state *state, machsym_unwind_state *out)
{
    for (uint32_t i = 0; i < state->layout->count; i++) {
        const dump_register *one = &state->layout->v[i];
        int number = dump_unwind_number(state->layout->cputype, one->name);
        if (number < 0 || (one->group & state->groups) == 0)
            continue;
        out->v[number] = dump_value_of(state, one);
        out->known |= (uint64_t)1 << number;
    }
}

/* Keeps how a frame was found. */
static void dump_note_walk(dump *d, const char *found_by)
{
    if (d->walks == NULL)
        return;
    *(const char **)mem_add(d->memory_source, &d->walks->v, &d->walks->count, &d->walks->cap,
                            sizeof *d->walks->v) = found_by;
}

/* Searches of an __eh_frame count against the budget. */
static void dump_spend(dump *d, const framewalk_frame *frames, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const dump_tables *tables = dump_tables_of(d, frames[i - 1].pc);
        uint64_t size = tables != NULL && tables->has_some ? tables->unwind.eh_frame.size : 0;
        uint64_t cost = STEP_BYTES + (strcmp(frames[i].found_by, "compact") != 0 ? size : 0);
        cost = cost < SEARCH_BYTES ? cost : (uint64_t)SEARCH_BYTES;
        d->table_left -= cost < d->table_left ? cost : d->table_left;
    }
}

/* Returns how many frames the walk found, which count against `left`. */
static size_t dump_put_stack(dump *d, const dump_thread *thread, size_t left, text *out)
{
    framewalk_frame frames[MAX_FRAMES];
    const dump_state *state = &thread->state;
    framewalk walk;
    uint64_t sp = UINT64_MAX; /* without a stack pointer: only the pc */
    memset(&walk, 0, sizeof walk);
    if (state->layout == NULL || !dump_register_of(state, state->layout->pc, &walk.caller))
        return 0;
    walk.caller = 0;
    walk.read = dump_walk_read;
    walk.image = dump_walk_image;
    walk.context = d;
    walk.cputype = state->layout->cputype;
    dump_fill_state(state, &walk.state);
    dump_register_of(state, state->layout->sp, &sp);
    if (thread->crashed && d->has_bad_jump)
        walk.caller = dump_caller_of_nothing(d, state, sp);
    uint32_t count =
        framewalk_stack(&walk, frames, left < MAX_FRAMES ? (uint32_t)left : (uint32_t)MAX_FRAMES);
    uint32_t known = dump_known_frames(d, frames, count);
    dump_spend(d, frames, count);
    for (uint32_t i = 0; i < known; i++) {
        decoded_put_frame(out, dump_image_of(d, frames[i].pc), i, frames[i].pc, frames[i].pc,
                          str_make(NULL, 0), 0);
        dump_note_walk(d, frames[i].found_by);
    }
    return count;
}

static void dump_put_title(const dump_thread *thread, uint32_t number, text *out)
{
    if (thread->name.len > 0) {
        text_c(out, "Thread ");
        text_dec(out, number);
        text_c(out, " name:  ");
        text_shown(out, thread->name);
        text_char(out, '\n');
    }
    text_c(out, "Thread ");
    text_dec(out, number);
    text_c(out, thread->crashed ? " Crashed:\n" : ":\n");
}

static void dump_put_threads(dump *d, text *out)
{
    size_t left = d->file_len / FRAME_BYTES + d->thread_count;
    for (uint32_t i = 0; i < d->thread_count; i++) {
        dump_put_title(&d->threads[i], i, out);
        left -= dump_put_stack(d, &d->threads[i], left, out);
        text_char(out, '\n');
    }
    for (uint32_t i = 0; i < d->thread_count; i++) {
        if (d->threads[i].crashed || d->threads[i].is_asked)
            dump_put_registers(&d->threads[i], i, out);
    }
}

/* ---- The report ---- */

/* Lines of these forms have a meaning in crash text, so a message with such a line is quoted. */
static bool dump_is_plain_message(machsym_str s)
{
    static const char *const words[] = {"Fatal error",       "Assertion failed", "Precondition failed",
                                        "Assertion failure", "BUG IN CLIENT",    "Terminating app",
                                        "*** Terminating",   "CoreFoundation"};
    bool is_plain = s.len > 0 && s.ptr[0] >= 'a' && s.ptr[0] <= 'z';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        is_plain |= str_starts(s, words[i]);
    return is_plain;
}

void dump_put_info(dump *d, machsym_str source, machsym_str message)
{
    message = str_trim(message);
    if (message.len == 0)
        return;
    if (!dump_is_plain_message(message)) {
        text_c(&d->info, "in ");
        text_shown(&d->info, source);
        text_c(&d->info, ": ");
    }
    text_shown(&d->info, message);
    text_char(&d->info, '\n');
}

static void dump_put_triggered(const dump *d, text *out)
{
    for (uint32_t i = 0; i < d->thread_count; i++) {
        if (!d->threads[i].crashed)
            continue;
        decoded_put_key(out, "Triggered by Thread");
        text_dec(out, i);
        text_char(out, '\n');
        return;
    }
}

static bool dump_is_same_image(const decoded_image *a, const decoded_image *b)
{
    return a->base == b->base && a->end == b->end && str_equal(a->path, b->path);
}

/* Drops an unloaded image that shares addresses with another one: whose code was there is not known. A library
 * that was unloaded several times at one place stays once. */
static void dump_drop_doubtful(dump *d)
{
    uint32_t count = 0;
    uint64_t end = 0; /* of all images before this one */
    for (uint32_t i = 0; i < d->image_count; i++) {
        decoded_image one = d->images[i];
        uint64_t before = end;
        while (one.is_unloaded && i + 1 < d->image_count && d->images[i + 1].is_unloaded &&
               dump_is_same_image(&one, &d->images[i + 1]))
            i++;
        end = one.end > end ? one.end : end;
        if (one.is_unloaded &&
            (one.base < before || (i + 1 < d->image_count && d->images[i + 1].base < one.end)))
            continue;
        d->images[count++] = one;
    }
    d->image_count = count;
}

void dump_put(dump *d, text *out)
{
    decoded_sort_images(d->images, d->image_count);
    dump_drop_doubtful(d);
    dump_sort_memory(d);
    if (d->walks != NULL && d->image_count > 0) {
        d->tables = (dump_tables *)mem_take(d->memory_source,
                                            mem_times(d->memory_source, d->image_count, sizeof *d->tables));
        memset(d->tables, 0, d->image_count * sizeof *d->tables);
    }
    text_add(out, d->head.v, d->head.len);
    text_char(out, '\n');
    text_add(out, d->event.v, d->event.len);
    dump_put_triggered(d, out);
    if (d->info.len > 0) {
        text_c(out, "\nApplication Specific Information:\n");
        text_add(out, d->info.v, d->info.len);
    }
    text_char(out, '\n');
    dump_put_threads(d, out);
    decoded_put_images(out, d->images, d->image_count);
    text_c(out, d->tail.len > 0 ? "\n" : "");
    text_add(out, d->tail.v, d->tail.len);
    if (d->what == NULL)
        return;
    text_c(out, "\nThe report is damaged at byte ");
    text_dec(out, d->damaged_at);
    text_c(out, ": ");
    text_sentence(out, d->what);
}
