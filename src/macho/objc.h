#ifndef ms_ROOM_macho_objc
#define ms_ROOM_macho_objc
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/reader.h"
#include "../base/memory.h"
#include "../base/segments.h"
#include "macho.h"
#include "fixups.h"
#include "symbols.h"

/* ==== >>objc ===============================================================================================
 * Job:    reads Objective-C metadata.
 * Offers: ms_oc_list, ms_oc_read, ms_oc_add_names, ms_oc_add_blocks, ms_oc_name_blocks.
 * Never:  assumes the layout of a class that a running process has realised; reads protocols. */

/* objc-runtime-new.h: class_t, class_ro_t, method_list_t */
#define ms_OC_SMALL_LIST       0x80000000u /* entries are relative */
#define ms_OC_DIRECT_SELECTORS 0x40000000u /* of a small list: to the selector, not to a reference to it */
#define ms_OC_ENTRY_SIZE       0xfffcu

/* A class or a category. */
typedef struct ms_oc_owner {
    machsym_str class_name; /* "?": of another image, which the file does not name */
    machsym_str category;
    machsym_str super_name;
    uint64_t addr;
    uint32_t first; /* of its methods */
    uint32_t count;
    bool is_category;
    bool is_swift;
} ms_oc_owner;

typedef struct ms_oc_method {
    machsym_str selector;
    uint64_t addr; /* of the code */
    bool is_class_method;
    bool is_merged; /* from a list of lists: it may be a category's, which then names it better */
} ms_oc_method;

/* All of a slice's metadata. */
typedef struct ms_oc_list {
    ms_arena *arena;
    ms_sym_table *names; /* where the methods' names go, class by class, in place of staying here; or NULL */
    ms_oc_owner *owners;
    size_t owner_count;
    size_t owner_cap;
    ms_oc_method *methods;
    size_t method_count;
    size_t method_cap;
} ms_oc_list;

/* ---- Names and lists ---- */

/* Text that may be a name: no control characters. */
static bool ms_oc_is_name(machsym_str str)
{
    for (size_t i = 0; i < str.len; i++) {
        if ((unsigned char)str.ptr[i] < 0x20 || str.ptr[i] == 0x7f)
            return false;
    }
    return str.len != 0;
}

static machsym_str ms_oc_imported_class(machsym_str import)
{
    return ms_str_begins(import, "_OBJC_CLASS_$_") ? ms_str_drop(import, 14) : ms_str_empty();
}

/* The text at an address, if it may be a name. Linkers let a name that ends another one begin in its
 * middle. */
static machsym_str ms_oc_name_at(ms_fx_data *d, uint64_t addr)
{
    machsym_str name = ms_fx_str_at(d, addr);
    return ms_oc_is_name(name) ? name : ms_str_empty();
}

/* The address of a class's class_ro_t, without the bits that mark Swift classes. */
static uint64_t ms_oc_data(ms_fx_data *d, uint64_t cls, bool *is_swift)
{
    unsigned word = ms_fx_pointer_size(d);
    uint64_t data = ms_fx_pointer_at(d, cls + 4 * word).addr;
    uint64_t flags = d->mo->is_64 ? 7 : 3;
    *is_swift = (data & 3) != 0;
    return data & ~flags;
}

/* The name of the class that a pointer stands for. */
static machsym_str ms_oc_class_name(ms_fx_data *d, ms_fx_pointer cls)
{
    bool is_swift;
    if (cls.import.len != 0)
        return ms_oc_imported_class(cls.import);
    if (cls.addr == 0)
        return ms_str_empty();
    uint64_t ro = ms_oc_data(d, cls.addr, &is_swift);
    return ms_oc_name_at(d, ms_fx_pointer_at(d, ro + (d->mo->is_64 ? 24 : 16)).addr);
}

/* Returns false when there is no selector. */
static bool ms_oc_add_method(ms_oc_list *list, ms_fx_data *d, uint64_t selector_addr, uint64_t code,
                             bool is_class_method)
{
    machsym_str selector = ms_sym_selector_at(d, selector_addr);
    if (selector.len == 0)
        return false;
    ms_oc_method *v = (ms_oc_method *)ms_arena_grow(list->arena, list->methods, list->method_count,
                                                    &list->method_cap, sizeof *v);
    if (v == NULL)
        return true;
    list->methods = v;
    ms_oc_method *method = &v[list->method_count++];
    method->selector = selector;
    method->addr = d->mo->slice.cputype == ms_CPU_ARM ? code & ~(uint64_t)1 : code;
    method->is_class_method = is_class_method;
    method->is_merged = false;
    return true;
}

/* Where the first field of an entry in a small list leads. In caches of today it counts from one place for
 * all lists. */
static uint64_t ms_oc_small_selector(ms_fx_data *d, uint64_t addr, bool is_direct)
{
    if (!is_direct || ms_mo_cache(d->mo) == NULL || ms_mo_cache(d->mo)->selector_base == 0)
        return ms_fx_relative_at(d, addr);
    return ms_mo_cache(d->mo)->selector_base + (uint64_t)(int64_t)(int32_t)ms_fx_u32_at(d, addr);
}

/* A method_list_t: pointers to selector, types and code; or, in a small one, distances. With a damaged count
 * it seems to run on into another class's list. So in a file it ends where an entry has no selector. In
 * memory the selector may lie in another image. */
static void ms_oc_read_methods(ms_oc_list *list, ms_fx_data *d, uint64_t addr, bool is_class_method)
{
    uint32_t head = ms_fx_u32_at(d, addr);
    uint32_t count = ms_fx_u32_at(d, addr + 4);
    uint32_t entry = head & ms_OC_ENTRY_SIZE;
    bool is_small = (head & ms_OC_SMALL_LIST) != 0;
    bool is_direct = (head & ms_OC_DIRECT_SELECTORS) != 0;
    unsigned word = is_small ? 4 : ms_fx_pointer_size(d);
    size_t left = ms_fx_from_addr(d, addr).len;
    bool is_cut = false;
    if (addr == 0 || count == 0)
        return;
    if (entry < 3 * word || left < 8 || count > (left - 8) / entry) {
        d->damage_count++;
        is_cut = true;
        count = entry < 3 * word || left < 8 ? 0 : (uint32_t)((left - 8) / entry);
    }
    uint64_t at = addr + 8;
    for (; count > 0 && ms_fx_spend(d, 1) && !list->arena->oom; count--, at += entry) {
        uint64_t selector = is_small ? ms_oc_small_selector(d, at, is_direct) : ms_fx_pointer_at(d, at).addr;
        uint64_t code = is_small ? ms_fx_relative_at(d, at + 8) : ms_fx_pointer_at(d, at + 2 * word).addr;
        if (is_small && !is_direct)
            selector = ms_fx_pointer_at(d, selector).addr;
        bool is_method = ms_oc_add_method(list, d, selector, code, is_class_method);
        if (!is_method && (is_cut || !ms_mo_is_mapped(d->mo))) {
            d->damage_count += !is_cut;
            return;
        }
    }
}

/* What baseMethods points to: a list, or (bit 0) a list of lists of several images, each entry an image
 * number in 16 bits and a distance in 48. */
static void ms_oc_read_lists(ms_oc_list *list, ms_fx_data *d, uint64_t addr, bool is_class_method)
{
    if ((addr & 1) == 0) {
        ms_oc_read_methods(list, d, addr, is_class_method);
        return;
    }
    addr &= ~(uint64_t)1;
    uint32_t entry = ms_fx_u32_at(d, addr);
    uint32_t count = ms_fx_u32_at(d, addr + 4);
    uint64_t at = addr + 8;
    size_t first = list->method_count;
    for (; count > 0 && entry >= 8 && ms_fx_spend(d, 1); count--, at += entry) {
        ms_span span = ms_fx_at_addr(d, at, 8);
        if (span.len == 0)
            break;
        uint64_t distance = ms_rd_raw_u64(span.ptr) >> 16;
        if (distance >> 47 != 0)
            distance |= (uint64_t)0xffff << 48;
        ms_oc_read_methods(list, d, at + distance, is_class_method);
    }
    for (; first < list->method_count; first++)
        list->methods[first].is_merged = true;
}

static ms_oc_owner *ms_oc_add_owner(ms_oc_list *list, uint64_t addr, machsym_str class_name)
{
    ms_oc_owner *v = (ms_oc_owner *)ms_arena_grow(list->arena, list->owners, list->owner_count,
                                                  &list->owner_cap, sizeof *v);
    if (v == NULL)
        return NULL;
    list->owners = v;
    ms_oc_owner *owner = &v[list->owner_count++];
    ms_zero(owner, sizeof *owner);
    owner->addr = addr;
    owner->class_name = class_name.len != 0 ? class_name : ms_str_from_c("?");
    owner->first = (uint32_t)list->method_count;
    return owner;
}

/* Adds -[Class(Category) selector] for every method of an owner. */
static void ms_oc_name_methods(ms_sym_table *t, ms_fx_data *d, const ms_oc_list *list,
                               const ms_oc_owner *owner)
{
    for (uint32_t i = 0; i < owner->count; i++) {
        const ms_oc_method *method = &list->methods[owner->first + i];
        machsym_str parts[8];
        size_t count = 0;
        if (ms_sym_code_at(t, method->addr) == NULL)
            continue;
        parts[count++] = ms_str_from_c(method->is_class_method ? "+[" : "-[");
        parts[count++] = owner->class_name;
        if (owner->is_category) {
            parts[count++] = ms_str_from_c("(");
            parts[count++] = owner->category;
            parts[count++] = ms_str_from_c(")");
        }
        parts[count++] = ms_str_from_c(" ");
        parts[count++] = method->selector;
        parts[count++] = ms_str_from_c("]");
        machsym_str name = ms_sym_join(t, d, parts, count);
        if (name.len != 0)
            ms_sym_add_ranked(t, method->addr, MACHSYM_SOURCE_OBJC, method->is_merged, name);
    }
}

static void ms_oc_end_owner(ms_oc_list *list, ms_fx_data *d)
{
    ms_oc_owner *owner = &list->owners[list->owner_count - 1];
    owner->count = (uint32_t)list->method_count - owner->first;
    if (list->names == NULL)
        return;
    ms_oc_name_methods(list->names, d, list, owner);
    list->owner_count = 0;
    list->method_count = 0;
}

/* ---- The runtime of today ---- */

/* class_t {isa, superclass, cache, vtable, data}; class methods are those of the metaclass, which isa points
 * to. */
static void ms_oc_read_class(ms_oc_list *list, ms_fx_data *d, uint64_t cls)
{
    unsigned word = ms_fx_pointer_size(d);
    ms_fx_pointer self = {cls, {NULL, 0}};
    machsym_str name = ms_oc_class_name(d, self);
    bool is_swift;
    bool is_meta_swift;
    uint64_t ro = ms_oc_data(d, cls, &is_swift);
    uint64_t methods_off = d->mo->is_64 ? 32 : 20;
    if (name.len == 0) {
        d->damage_count++;
        return;
    }
    ms_oc_owner *owner = ms_oc_add_owner(list, cls, name);
    if (owner == NULL)
        return;
    owner->is_swift = is_swift;
    owner->super_name = ms_oc_class_name(d, ms_fx_pointer_at(d, cls + word));
    ms_oc_read_lists(list, d, ms_fx_pointer_at(d, ro + methods_off).addr, false);
    uint64_t meta = ms_fx_pointer_at(d, cls).addr;
    uint64_t meta_ro = meta != 0 ? ms_oc_data(d, meta, &is_meta_swift) : 0;
    if (meta_ro != 0)
        ms_oc_read_lists(list, d, ms_fx_pointer_at(d, meta_ro + methods_off).addr, true);
    ms_oc_end_owner(list, d);
}

/* category_t {name, cls, instanceMethods, classMethods, ...} */
static void ms_oc_read_category(ms_oc_list *list, ms_fx_data *d, uint64_t addr)
{
    unsigned word = ms_fx_pointer_size(d);
    machsym_str category = ms_oc_name_at(d, ms_fx_pointer_at(d, addr).addr);
    if (category.len == 0) {
        d->damage_count++;
        return;
    }
    ms_fx_pointer cls = ms_fx_pointer_at(d, addr + word);
    ms_oc_owner *owner = ms_oc_add_owner(list, addr, ms_oc_class_name(d, cls));
    if (owner == NULL)
        return;
    owner->category = category;
    owner->is_category = true;
    ms_oc_read_lists(list, d, ms_fx_pointer_at(d, addr + 2 * word).addr, false);
    ms_oc_read_lists(list, d, ms_fx_pointer_at(d, addr + 3 * word).addr, true);
    ms_oc_end_owner(list, d);
}

/* The sections of pointers to classes, or to categories. */
static bool ms_oc_is_list(const ms_mo_section *section, bool categories)
{
    return categories
               ? ms_str_is(section->name, "__objc_catlist") || ms_str_is(section->name, "__objc_nlcatlist")
               : ms_str_is(section->name, "__objc_classlist") || ms_str_is(section->name, "__objc_nlclslist");
}

/* Reads what those sections point to. Each record is read once, although a class with +load is in two of
 * them. */
static void ms_oc_read_records(ms_oc_list *list, ms_fx_data *d, bool categories, ms_arena *scratch)
{
    unsigned word = ms_fx_pointer_size(d);
    size_t max = 0;
    size_t count = 0;
    size_t kept = 0;
    for (uint32_t i = 0; i < d->mo->section_count; i++) {
        const ms_mo_section *section = &d->mo->sections[i];
        size_t len = ms_oc_is_list(section, categories) ? ms_fx_bytes(d, section).len : 0;
        if (ms_fx_spend(d, len))
            max += len / word;
    }
    ms_key *order = (ms_key *)ms_arena_alloc(scratch, max, sizeof *order);
    for (uint32_t i = 0; i < d->mo->section_count && order != NULL; i++) {
        const ms_mo_section *section = &d->mo->sections[i];
        size_t len = ms_oc_is_list(section, categories) ? ms_fx_bytes(d, section).len : 0;
        for (size_t at = 0; count < max && at + word <= len; at += word, count++) {
            order[count].key = ms_fx_pointer_at(d, section->addr + at).addr;
            order[count].item = count;
        }
    }
    if (order == NULL)
        return;
    ms_key_heap_sort(order, count);
    uint64_t previous = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t addr = order[i].key;
        if (addr == previous)
            continue;
        previous = addr;
        order[kept].key = order[i].item; /* back to the file's order */
        order[kept++].item = addr;
    }
    ms_key_heap_sort(order, kept);
    for (size_t i = 0; i < kept && ms_fx_spend(d, word); i++) {
        if (categories)
            ms_oc_read_category(list, d, order[i].item);
        else
            ms_oc_read_class(list, d, order[i].item);
    }
}

/* ---- The old runtime (i386, PowerPC's heir): objc-runtime-old.h ---- */

/* objc_method_list {obsolete, count, {selector, types, code} ...} */
static void ms_oc_read_old_methods(ms_oc_list *list, ms_fx_data *d, uint64_t addr, bool is_class_method)
{
    uint32_t count = ms_fx_u32_at(d, addr + 4);
    size_t left = ms_fx_from_addr(d, addr).len;
    if (addr == 0 || left < 8)
        return;
    if (count > (left - 8) / 12) {
        d->damage_count++;
        count = (uint32_t)((left - 8) / 12);
    }
    uint64_t at = addr + 8;
    bool more = true;
    for (; more && count > 0 && ms_fx_spend(d, 1) && !list->arena->oom; count--, at += 12)
        more = ms_oc_add_method(list, d, ms_fx_pointer_at(d, at).addr, ms_fx_pointer_at(d, at + 8).addr,
                                is_class_method);
}

/* old_class {isa, super_class, name, version, info, instance_size, ivars, methodLists, ...}; in a file isa
 * points to the metaclass and super_class to a name. */
static void ms_oc_read_old_class(ms_oc_list *list, ms_fx_data *d, uint64_t cls)
{
    machsym_str name = ms_fx_str_at(d, ms_fx_pointer_at(d, cls + 8).addr);
    ms_oc_owner *owner = ms_oc_is_name(name) ? ms_oc_add_owner(list, cls, name) : NULL;
    if (owner == NULL) {
        d->damage_count += name.len == 0;
        return;
    }
    owner->super_name = ms_oc_name_at(d, ms_fx_pointer_at(d, cls + 4).addr);
    ms_oc_read_old_methods(list, d, ms_fx_pointer_at(d, cls + 28).addr, false);
    uint64_t meta = ms_fx_pointer_at(d, cls).addr;
    if (meta != 0)
        ms_oc_read_old_methods(list, d, ms_fx_pointer_at(d, meta + 28).addr, true);
    ms_oc_end_owner(list, d);
}

/* old_category {category_name, class_name, instance_methods, class_methods, ...} */
static void ms_oc_read_old_category(ms_oc_list *list, ms_fx_data *d, uint64_t addr)
{
    machsym_str category = ms_oc_name_at(d, ms_fx_pointer_at(d, addr).addr);
    machsym_str name = ms_oc_name_at(d, ms_fx_pointer_at(d, addr + 4).addr);
    if (category.len == 0 || name.len == 0) {
        d->damage_count++;
        return;
    }
    ms_oc_owner *owner = ms_oc_add_owner(list, addr, name);
    if (owner == NULL)
        return;
    owner->category = category;
    owner->is_category = true;
    ms_oc_read_old_methods(list, d, ms_fx_pointer_at(d, addr + 8).addr, false);
    ms_oc_read_old_methods(list, d, ms_fx_pointer_at(d, addr + 12).addr, true);
    ms_oc_end_owner(list, d);
}

/* __OBJC,__module_info: old_module {version, size, name, symtab}; old_symtab {sel_ref_cnt, refs, cls_def_cnt,
 * cat_def_cnt, classes then categories ...} */
static void ms_oc_read_modules(ms_oc_list *list, ms_fx_data *d)
{
    const ms_mo_section *section = ms_mo_section_named(d->mo, "__OBJC", "__module_info");
    if (section == NULL || d->mo->is_64)
        return;
    size_t len = ms_fx_bytes(d, section).len;
    for (uint64_t at = 0; at + 16 <= len; at += 16) {
        uint64_t symtab = ms_fx_pointer_at(d, section->addr + at + 12).addr;
        uint32_t counts = ms_fx_u32_at(d, symtab + 8);
        uint32_t classes = counts & 0xffff;
        uint32_t total = classes + (counts >> 16);
        for (uint32_t i = 0; symtab != 0 && i < total && ms_fx_spend(d, 4); i++) {
            uint64_t addr = ms_fx_pointer_at(d, symtab + 12 + 4 * (uint64_t)i).addr;
            if (addr == 0)
                continue;
            if (i < classes)
                ms_oc_read_old_class(list, d, addr);
            else
                ms_oc_read_old_category(list, d, addr);
        }
    }
}

/* Reads all of a slice's classes, then its categories. list->arena is set. */
static void ms_oc_read(ms_oc_list *list, ms_fx_data *d, ms_arena *scratch)
{
    ms_fx_refill(d);
    ms_oc_read_records(list, d, false, scratch);
    ms_oc_read_records(list, d, true, scratch);
    ms_oc_read_modules(list, d);
}

static void ms_oc_add_names(ms_sym_table *t, ms_fx_data *d, ms_arena *scratch)
{
    ms_oc_list list;
    ms_zero(&list, sizeof list);
    list.arena = scratch;
    list.names = t;
    ms_oc_read(&list, d, scratch);
}

/* ---- Blocks ---- */

/* Block_private.h: BLOCK_IS_GLOBAL in the flags of a block literal {isa, flags, reserved, invoke,
 * descriptor}. */
#define ms_OC_BLOCK_IS_GLOBAL 0x10000000u

/* Block_private.h: BLOCK_SMALL_DESCRIPTOR. The descriptor begins with the literal's size in 31 bits. Others
 * have it in their second word. */
#define ms_OC_BLOCK_SMALL_DESCRIPTOR 0x00400000u

/* Whether what looks like a block literal at an address is one. A file says so by the import that its isa is.
 * In memory that import is a pointer like any other. There the descriptor must state the size of a literal
 * that captures nothing. */
static bool ms_oc_is_block(ms_fx_data *d, uint64_t addr, uint32_t flags)
{
    unsigned word = ms_fx_pointer_size(d);
    if (!ms_mo_is_mapped(d->mo))
        return ms_str_is(ms_fx_pointer_at(d, addr).import, "__NSConcreteGlobalBlock");
    uint64_t descriptor = ms_fx_pointer_at(d, addr + 2 * word + 8).addr;
    bool is_small = (flags & ms_OC_BLOCK_SMALL_DESCRIPTOR) != 0;
    uint32_t size = ms_fx_u32_at(d, is_small ? descriptor : descriptor + word);
    return (is_small ? size & 0x7fffffff : size) == 3 * word + 8;
}

/* Literals of blocks that capture nothing lie in __const; others are put together on the stack. */
static void ms_oc_add_section_blocks(ms_sym_table *t, ms_fx_data *d, const ms_mo_section *section)
{
    unsigned word = ms_fx_pointer_size(d);
    ms_span bytes = ms_fx_bytes(d, section);
    for (size_t at = 0; at + 3 * word + 8 <= bytes.len; at += word) {
        uint32_t flags = ms_rd_raw_u32(bytes.ptr + at + word);
        uint32_t reserved = ms_rd_raw_u32(bytes.ptr + at + word + 4);
        if ((flags & ms_OC_BLOCK_IS_GLOBAL) == 0 || (flags & 0xffff) != 0 || reserved != 0)
            continue;
        if (!ms_oc_is_block(d, section->addr + at, flags))
            continue;
        uint64_t code = ms_fx_pointer_at(d, section->addr + at + word + 8).addr;
        if (d->mo->slice.cputype == ms_CPU_ARM)
            code &= ~(uint64_t)1;
        ms_sym_add_name(t, code, MACHSYM_SOURCE_BLOCK, ms_str_from_c("block"));
    }
}

static void ms_oc_add_blocks(ms_sym_table *t, ms_fx_data *d)
{
    ms_fx_refill(d);
    for (uint32_t i = 0; i < d->mo->section_count; i++) {
        const ms_mo_section *section = &d->mo->sections[i];
        if (ms_str_is(section->name, "__const") && !section->is_code &&
            ms_fx_spend(d, ms_fx_bytes(d, section).len / 8))
            ms_oc_add_section_blocks(t, d, section);
    }
}

/* Names the blocks of a sorted table after the nearest named function below, because compilers put a
 * block's function after the function that the block is written in. */
static void ms_oc_name_blocks(ms_sym_table *t, ms_fx_data *d)
{
    size_t above = t->count;
    ms_fx_refill(d);
    for (size_t at = 0, next; at < t->count && d->budget > 0; at = next) {
        for (next = at + 1; next < t->count && t->v[next].key == t->v[at].key;)
            next++;
        machsym_source source = ms_sym_source(t->v[at].item);
        const ms_range *code = ms_sym_code_at(t, t->v[at].key);
        if (above < t->count && t->v[above].key < code->lo)
            above = t->count; /* never across sections */
        if (source == MACHSYM_SOURCE_SYMTAB || source == MACHSYM_SOURCE_EXPORTS ||
            source == MACHSYM_SOURCE_OBJC)
            above = at;
        if (source != MACHSYM_SOURCE_BLOCK || above == t->count)
            continue;
        machsym_str parts[2] = {ms_str_from_c("block in "), ms_sym_name(t, t->v[above].item)};
        machsym_str name = ms_sym_join(t, d, parts, 2);
        if (name.len != 0)
            t->names[t->v[at].item & ms_SYM_INDEX_MASK] = name;
    }
}

#endif /* ms_ROOM_macho_objc */
