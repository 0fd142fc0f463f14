/* machsym atos: the files that answer, and which of them an address is for. */
#include "answer.h"
#include "../../../report/base/memory.h"
#include "../../base/say.h"
#include "../../files/caches.h"
#include "../../symbols/store.h"

#include <stdlib.h>
#include <string.h>

/* The images of a cache or collection that are open. What one of them may take, images that lie over each
 * other may take again and again. So all are closed when the next one is opened and they have more than half
 * of what a file of N bytes may take, 640 N + 16 MB (see the manual of machsym.h). */
typedef struct open_images {
    target *first;
    size_t used;   /* bytes */
    uint64_t most; /* before the next one is opened */
} open_images;

#ifndef ATOS_OPEN_BYTES
#define ATOS_OPEN_BYTES    (8 << 20)
#define ATOS_OPEN_PER_BYTE 320
#endif

/* Tells whether a map can do what the options ask for. */
static bool answer_map_can(const atos *a, const target *t)
{
    const char *what = a->nearest ? "--nearest" : a->rules != NULL ? "--owners" : NULL;
    if (t->file.map == NULL || what == NULL)
        return true;
    say_message("%s: a map does not hold what %s needs; name the dSYM", t->file.info.path, what);
    return false;
}

/* Makes ready what looks addresses up in a target that moves no more. */
static bool answer_open_source(const atos *a, target *t)
{
    t->source = symbol_source_open(&t->file, a->session_flags, 0);
    if (!answer_map_can(a, t))
        return false;
    if (a->nearest)
        t->below = nearest_open(t->file.image, symbol_source_session(t->source));
    if (a->rules != NULL)
        t->owned = owners_open(a->rules, t->file.image, symbol_source_session(t->source));
    return a->rules == NULL || t->owned != NULL;
}

/* How the options want files opened; which one is left to the caller. */
static void answer_describe(const atos *a, symbol_desc *desc)
{
    memset(desc, 0, sizeof *desc);
    image_options_apply(&a->image, &desc->open);
    object_options_apply(&a->objects, &desc->open);
    desc->open.bytes = a->bytes;
    desc->open.flags |= MACHSYM_OPEN_BY_PAGES; /* reading all of a map would take longer than to answer */
    desc->lines = a->lines.lines;
    desc->any_lines = !a->lines.is_set;
    desc->asks_one = a->asks_one;
}

/* Room for one more target, which is empty. */
static target *answer_next_target(atos *a)
{
    a->targets = mem_grow(a->targets, (a->target_count + 1) * sizeof *a->targets);
    memset(&a->targets[a->target_count], 0, sizeof *a->targets);
    return &a->targets[a->target_count];
}

/* A program without debug info beside a dSYM of another build: the commonest reason for missing lines. */
static void answer_say_other_dsym(const target *t)
{
    machsym_slice slices[MACHSYM_MAX_SLICES];
    machsym_open_desc desc;
    text path = {0};
    text wanted = {0};
    text found = {0};
    if (t->file.map != NULL || t->file.info.has_dwarf || t->file.info.path == NULL || !t->file.info.has_uuid)
        return;
    memset(&desc, 0, sizeof desc);
    text_c(&path, t->file.info.path);
    text_c(&path, ".dSYM/Contents/Resources/DWARF/");
    text_base_name(&path, str_c(t->file.info.path));
    desc.path = text_z(&path);
    size_t count = machsym_list_slices(&desc, slices, MACHSYM_MAX_SLICES, NULL);
    for (size_t i = 0; i < count && i < MACHSYM_MAX_SLICES; i++) {
        text_c(&found, i > 0 ? ", " : "");
        text_uuid(&found, &slices[i].uuid);
    }
    text_uuid(&wanted, &t->file.info.uuid);
    if (count > 0)
        say_message("%s has UUID %s, the dSYM beside it %s: it does not answer", t->file.info.path,
                    text_z(&wanted), text_z(&found));
    text_free(&path);
    text_free(&wanted);
    text_free(&found);
}

static void answer_add_target(atos *a, target *t)
{
    t->text_addr = t->file.info.text_addr;
    t->text_exec_addr = t->file.info.text_exec_addr;
    t->seeks_names = t->file.info.path != NULL;
    a->target_count++;
}

/* Opens what a description names, as the next target; with pair_path only if the two are halves. */
static bool answer_open_target(atos *a, const symbol_desc *desc)
{
    target *t = answer_next_target(a);
    if (desc->open.pair_path != NULL && symbol_file_open(desc, &t->file, NULL) != MACHSYM_OK)
        return false;
    if (desc->open.pair_path == NULL && !symbol_file_open_or_say(desc, &t->file))
        return false;
    if (!desc->asks_one)
        open_say_damage(t->file.image);
    answer_add_target(a, t);
    if (desc->open.pair_path == NULL)
        answer_say_other_dsym(t);
    return true;
}

/* Opens the file of --uuid that answers best. The open file needs no store. */
static bool answer_open_found(atos *a, const symbol_desc *desc)
{
    uuid_files files;
    uuid_choice c;
    text complaints = {0};
    machsym_str line;
    store *s = symbols_find(&a->symbols, desc->open.uuid, desc->open.arch, &files);
    if (s == NULL)
        return false;
    uuid_choice_desc how = {desc->open.uuid,
                            desc->lines,
                            desc->open.flags,
                            &a->objects,
                            a->dedup || a->folded || a->rules != NULL,
                            desc->any_lines};
    uuid_choice_open(&c, &how, &files);
    bool refused = c.used == NULL && c.bad_count == 0; /* a map of another policy */
    uuid_choice_end(&c, &complaints);
    machsym_str rest = str_make(complaints.v, complaints.len);
    while (str_take_line(&rest, &line))
        say_message("%.*s", (int)line.len, line.ptr);
    target *t = answer_next_target(a);
    t->file = c.file;
    if (c.used != NULL) {
        if (!c.is_whole)
            status_note_damage();
        answer_add_target(a, t);
    } else if (refused) {
        symbol_desc map = *desc;
        map.open.path = files.v[0]->path;
        symbol_file_open_or_say(&map, &t->file);
    }
    text_free(&complaints);
    store_close(s);
    return c.used != NULL;
}

/* ---- Shared caches and kernel collections ---- */

static int answer_by_address(const void *a, const void *b)
{
    const target *x = a;
    const target *y = b;
    if (x->entry_addr != y->entry_addr)
        return x->entry_addr < y->entry_addr ? -1 : 1;
    return strcmp(x->entry, y->entry);
}

static void *answer_take_counted(void *user, size_t size)
{
    open_images *open = user;
    void *p = malloc(size);
    open->used += p != NULL ? size : 0;
    return p;
}

static void answer_give_counted(void *user, void *p, size_t size)
{
    open_images *open = user;
    open->used -= p != NULL ? size : 0;
    free(p);
}

/* A kernel collection's own addresses may count from the kernel's __TEXT_EXEC. */
static void answer_find_kernel(const atos *a, target *whole)
{
    machsym_open_desc desc;
    machsym_image *kernel;
    machsym_image_info info;
    if (a->kind != ADDRESS_TEXT_EXEC)
        return;
    memset(&desc, 0, sizeof desc);
    desc.from = whole->file.image;
    desc.entry = "com.apple.kernel";
    if (machsym_image_open(&desc, &kernel, NULL) != MACHSYM_OK)
        return;
    machsym_image_get_info(kernel, &info);
    whole->text_exec_addr = info.text_exec_addr;
    machsym_image_close(kernel);
}

/* If the last target is a shared cache or a kernel collection, lists its images. They count from where it
 * begins. */
static void answer_list_images(atos *a)
{
    target *whole = &a->targets[a->target_count - 1];
    machsym_cursor at = {0, 0};
    machsym_entry entry;
    size_t cap = 0;
    if (whole->file.map != NULL || a->image.entry != NULL)
        return;
    while (machsym_image_next_entry(whole->file.image, &at, &entry)) {
        whole->images = mem_room(whole->images, whole->image_count, &cap, sizeof *whole->images);
        target *t = &whole->images[whole->image_count++];
        memset(t, 0, sizeof *t);
        t->text_addr = whole->text_addr;
        t->entry_addr = entry.addr;
        t->entry = str_copy_z(entry.name);
    }
    if (whole->image_count == 0)
        return;
    qsort(whole->images, whole->image_count, sizeof *whole->images, answer_by_address);
    whole->open = mem_alloc(sizeof *whole->open);
    *whole->open =
        (open_images){NULL, 0, ATOS_OPEN_BYTES + ATOS_OPEN_PER_BYTE * cache_bytes(whole->file.image)};
    if (!cache_is(whole->file.image))
        answer_find_kernel(a, whole);
}

static bool answer_entry_is_before(const void *element, const void *key)
{
    return answer_by_address(element, key) < 0;
}

static void answer_close_target(target *t)
{
    nearest_close(t->below);
    owners_close(t->owned);
    symbol_source_close(t->source);
    bcsymbolmap_close(t->names);
    symbol_file_close(&t->file);
}

/* Closes an image, which is opened again when an address is for it. */
static void answer_close_image(target *t)
{
    target kept = {.text_addr = t->text_addr,
                   .text_exec_addr = t->text_exec_addr,
                   .entry = t->entry,
                   .entry_addr = t->entry_addr,
                   .was_open = true};
    answer_close_target(t);
    *t = kept;
}

/* Closes what is open when it takes too much. */
static void answer_close_most(open_images *open)
{
    uint64_t used = open->used;
    for (const target *t = open->first; t != NULL; t = t->next_open)
        used += symbol_source_memory(t->source);
    while (used > open->most && open->first != NULL) {
        target *t = open->first;
        open->first = t->next_open;
        answer_close_image(t);
    }
}

/* Opens an image of a cache or collection. Damage is reported once, though it may be closed and opened
 * again. */
static bool answer_open_image(const atos *a, target *whole, target *t)
{
    symbol_desc desc;
    answer_describe(a, &desc);
    desc.open.path = whole->file.info.path;
    desc.open.from = whole->file.image;
    desc.open.entry = t->entry;
    desc.open.allocator = (machsym_allocator){answer_take_counted, answer_give_counted, whole->open};
    answer_close_most(whole->open);
    if (t->was_open ? symbol_file_open(&desc, &t->file, NULL) != MACHSYM_OK
                    : !symbol_file_open_or_say(&desc, &t->file))
        return false;
    if (!answer_open_source(a, t)) {
        answer_close_image(t);
        return false;
    }
    t->next_open = whole->open->first;
    whole->open->first = t;
    return true;
}

/* The image of a cache or collection that has an address of it; NULL: none that opens has it. */
static target *answer_find_image(const atos *a, target *whole, uint64_t addr)
{
    machsym_entry entry;
    if (!machsym_image_entry_at_addr(whole->file.image, addr, &entry))
        return NULL;
    target key = {.entry = str_copy_z(entry.name), .entry_addr = entry.addr};
    size_t at = mem_lower_bound(whole->images, whole->image_count, sizeof *whole->images, &key,
                                answer_entry_is_before);
    target *t = &whole->images[at];
    free(key.entry);
    if (!t->is_tried && !answer_open_image(a, whole, t))
        status_note_damage();
    t->is_tried = true;
    return t->source != NULL ? t : NULL;
}

/* ---- All targets ---- */

/* Makes ready what looks addresses up, once no target moves any more. */
static bool answer_open_sources(atos *a)
{
    for (size_t i = 0; i < a->target_count; i++) {
        if (!answer_open_source(a, &a->targets[i]))
            return false;
    }
    return true;
}

/* A second -o of the same UUID is the other half of the first: dSYM and binary answer together. */
bool answer_open_targets(atos *a)
{
    symbol_desc desc;
    answer_describe(a, &desc);
    bool ok = a->bytes.ptr == NULL || answer_open_target(a, &desc);
    if (a->symbols.path_count > 0)
        ok = answer_open_found(a, &desc);
    for (size_t i = 0; i < a->path_count && ok; i++) {
        desc.open.path = a->paths[i];
        desc.open.pair_path = i + 1 < a->path_count && a->image.entry == NULL ? a->paths[i + 1] : NULL;
        if (desc.open.pair_path != NULL && answer_open_target(a, &desc)) {
            i++;
            continue;
        }
        desc.open.pair_path = NULL;
        ok = answer_open_target(a, &desc);
        if (ok)
            answer_list_images(a);
    }
    return ok && answer_open_sources(a);
}

static void answer_say_target_damage(const target *v, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        answer_say_target_damage(v[i].images, v[i].image_count);
        if (v[i].file.image != NULL)
            open_say_met_damage(v[i].file.image);
    }
}

void answer_say_met_damage(const atos *a)
{
    if (a->asks_one)
        answer_say_target_damage(a->targets, a->target_count);
}

static void answer_close_list(target *v, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        answer_close_list(v[i].images, v[i].image_count);
        answer_close_target(&v[i]);
        free(v[i].open);
        free(v[i].entry);
    }
    free(v);
}

void answer_close_targets(atos *a)
{
    answer_close_list(a->targets, a->target_count);
}

/* The address in the file that a given one stands for. */
static uint64_t answer_file_address(const atos *a, const target *t, uint64_t given)
{
    uint64_t in_collection = t->file.info.text_addr - t->text_addr;
    switch (a->kind) {
    case ADDRESS_LOAD: return symbol_file_addr(&t->file, a->base + in_collection, given);
    case ADDRESS_SLIDE: return symbol_file_addr(&t->file, t->file.info.text_addr + a->base, given);
    case ADDRESS_OFFSET: return symbol_file_addr(&t->file, in_collection, given);
    case ADDRESS_TEXT_EXEC:
        return symbol_file_addr(&t->file, a->base - t->text_exec_addr + t->file.info.text_addr, given);
    default: return symbol_file_addr(&t->file, t->file.info.text_addr, given);
    }
}

/* Whether an address lies in what the program maps: any section but those of the debug info. */
static bool answer_is_inside(const target *t, uint64_t addr)
{
    machsym_cursor at = {0, 0};
    machsym_section section;
    if (addr >= t->file.info.text_addr && addr - t->file.info.text_addr < t->file.info.text_size)
        return true;
    while (t->file.map == NULL && machsym_image_next_section(t->file.image, &at, &section)) {
        bool debug = section.segment.len == 7 && memcmp(section.segment.ptr, "__DWARF", 7) == 0;
        if (!debug && addr >= section.addr && addr - section.addr < section.size)
            return true;
    }
    return false;
}

target *answer_target_of(atos *a, uint64_t given, uint64_t *addr)
{
    for (size_t i = 0; i < a->target_count; i++) {
        target *t = &a->targets[i];
        *addr = answer_file_address(a, t, given);
        if (t->images != NULL) {
            target *one = answer_find_image(a, t, *addr);
            if (one != NULL)
                return one;
            if (cache_is(t->file.image))
                continue;
        }
        if (answer_is_inside(t, *addr))
            return t;
    }
    return NULL;
}
