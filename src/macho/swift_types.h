#ifndef ms_ROOM_macho_swift_types
#define ms_ROOM_macho_swift_types
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "macho.h"
#include "fixups.h"
#include "symbols.h"

/* ==== >>swift ==============================================================================================
 * Job:    guesses from Swift type metadata which type a function belongs to.
 * Offers: ms_sw_add_names.
 * Never:  knows a method's name: the metadata does not hold it, only its place in a table. */

/* MetadataValues.h: ContextDescriptorKind, ContextDescriptorFlags, TypeContextDescriptorFlags */
enum {
    ms_SW_KIND_MODULE = 0,
    ms_SW_KIND_EXTENSION = 1,
    ms_SW_KIND_ANONYMOUS = 2,
    ms_SW_KIND_CLASS = 16,
    ms_SW_KIND_MASK = 31
};
#define ms_SW_IS_GENERIC               0x80u
#define ms_SW_METADATA_INIT            0x30000u /* 1: singleton, 2: foreign */
#define ms_SW_METADATA_INIT_SINGLETON  0x10000u
#define ms_SW_METADATA_INIT_FOREIGN    0x20000u
#define ms_SW_HAS_RESILIENT_SUPERCLASS 0x20000000u
#define ms_SW_HAS_OVERRIDE_TABLE       0x40000000u
#define ms_SW_HAS_VTABLE               0x80000000u

/* ConformanceFlags */
#define ms_SW_IS_RETROACTIVE          0x40u
#define ms_SW_HAS_RESILIENT_WITNESSES 0x10000u
#define ms_SW_CONDITIONAL_PACKS       0xff000000u

/* Where descriptors' fields lie, all of 32 bits. */
enum {
    ms_SW_PARENT = 4,
    ms_SW_NAME = 8,
    ms_SW_ACCESSOR = 12,
    ms_SW_STRUCT_END = 28,
    ms_SW_CLASS_END = 44,
    ms_SW_REQUIREMENTS = 24 /* of a protocol */
};

/* A distance whose bit 0 says that it leads to a pointer. Bit 1 may hold a flag. */
static ms_fx_pointer ms_sw_indirect(ms_fx_data *d, uint64_t addr)
{
    uint32_t raw = ms_fx_u32_at(d, addr);
    uint64_t to = addr + (uint64_t)(int64_t)(int32_t)(raw & ~3u);
    ms_fx_pointer pointer = {0, {NULL, 0}};
    if (raw == 0)
        return pointer;
    if ((raw & 1) != 0)
        return ms_fx_pointer_at(d, to);
    pointer.addr = to;
    return pointer;
}

/* The code that a distance leads to. For an asynchronous function the distance leads to a record {distance
 * of the code, size} first. */
static uint64_t ms_sw_code(const ms_sym_table *t, ms_fx_data *d, uint64_t addr)
{
    uint64_t to = ms_fx_relative_at(d, addr);
    if (to == 0 || ms_sym_code_at(t, to) != NULL)
        return to;
    return ms_fx_relative_at(d, to);
}

/* Module.Outer.Inner of a context descriptor; empty when a part is missing. */
static machsym_str ms_sw_type_name(ms_sym_table *t, ms_fx_data *d, uint64_t descriptor)
{
    machsym_str parts[2 * MACHSYM_MAX_SWIFT_CONTEXTS];
    size_t at = 2 * MACHSYM_MAX_SWIFT_CONTEXTS;
    for (unsigned depth = 0; descriptor != 0 && depth < MACHSYM_MAX_SWIFT_CONTEXTS; depth++) {
        unsigned kind = ms_fx_u32_at(d, descriptor) & ms_SW_KIND_MASK;
        if (kind != ms_SW_KIND_EXTENSION && kind != ms_SW_KIND_ANONYMOUS) {
            machsym_str name = ms_fx_str_at(d, ms_fx_relative_at(d, descriptor + ms_SW_NAME));
            if (name.len == 0)
                return name;
            if (at < 2 * MACHSYM_MAX_SWIFT_CONTEXTS)
                parts[--at] = ms_str_from_c(".");
            parts[--at] = name;
        }
        if (kind == ms_SW_KIND_MODULE)
            break;
        descriptor = ms_sw_indirect(d, descriptor + ms_SW_PARENT).addr;
    }
    return ms_sym_join(t, d, &parts[at], 2 * MACHSYM_MAX_SWIFT_CONTEXTS - at);
}

/* "[12]", in 12 bytes of room. */
static machsym_str ms_sw_index(char *room, uint32_t index)
{
    size_t at = 12;
    room[--at] = ']';
    do {
        room[--at] = (char)('0' + index % 10);
        index /= 10;
    } while (index != 0);
    room[--at] = '[';
    return ms_str_make(room + at, 12 - at);
}

/* Adds a guess put together from parts. */
static void ms_sw_add(ms_sym_table *t, ms_fx_data *d, uint64_t code, const machsym_str *parts, size_t count)
{
    if (ms_sym_code_at(t, code) == NULL)
        return;
    machsym_str name = ms_sym_join(t, d, parts, count);
    if (name.len != 0)
        ms_sym_add_name(t, code, MACHSYM_SOURCE_SWIFT, name);
}

static void ms_sw_add_about(ms_sym_table *t, ms_fx_data *d, uint64_t code, const char *what, machsym_str type)
{
    machsym_str parts[2] = {ms_str_from_c(what), type};
    ms_sw_add(t, d, code, parts, 2);
}

/* ---- Types ---- */

/* Where a generic context's parameters and requirements end; 0 for kinds that are not known. */
static uint64_t ms_sw_past_generics(ms_fx_data *d, uint64_t at)
{
    uint32_t counts = ms_fx_u32_at(d, at + 8); /* behind cache and pattern: parameters, requirements */
    uint32_t extra = ms_fx_u32_at(d, at + 12); /* arguments, flags */
    uint64_t params = counts & 0xffff;
    uint64_t requirements = counts >> 16;
    unsigned flags = extra >> 16;
    at += 16 + ((params + 3) & ~(uint64_t)3) + 12 * requirements;
    if (flags == 1) /* type packs: a header and 8 bytes each */
        at += 4 + 8 * (uint64_t)(ms_fx_u32_at(d, at) & 0xffff);
    return flags > 1 ? 0 : at;
}

/* MethodDescriptorFlags: the low 4 bits. */
static const char *ms_sw_method_kind(uint32_t flags)
{
    static const char *const kinds[] = {".method", ".init", ".getter", ".setter", ".modify", ".read"};
    return (flags & 15) < sizeof kinds / sizeof kinds[0] ? kinds[flags & 15] : ".method";
}

/* The mangled name of a method or requirement that another image declares; empty when this image declares
 * it. */
static machsym_str ms_sw_requirement(ms_fx_data *d, uint64_t addr)
{
    machsym_str name = ms_sym_c_name(ms_sw_indirect(d, addr).import);
    if (ms_str_ends(name, "Tq")) /* "method descriptor for": what it describes is before it */
        name.len -= 2;
    return name;
}

/* A class's own methods, then those it overrides. */
static void ms_sw_add_class(ms_sym_table *t, ms_fx_data *d, uint64_t at, uint32_t flags, machsym_str type)
{
    char room[12];
    if ((flags & ms_SW_HAS_VTABLE) != 0) {
        uint32_t count = ms_fx_u32_at(d, at + 4);
        at += 8;
        for (uint32_t i = 0; i < count && ms_fx_at_addr(d, at, 8).len != 0 && ms_fx_spend(d, 8);
             i++, at += 8) {
            machsym_str parts[3] = {type, ms_str_from_c(ms_sw_method_kind(ms_fx_u32_at(d, at))),
                                    ms_sw_index(room, i)};
            ms_sw_add(t, d, ms_sw_code(t, d, at + 4), parts, 3);
        }
    }
    if ((flags & ms_SW_HAS_OVERRIDE_TABLE) != 0) {
        uint32_t count = ms_fx_u32_at(d, at);
        at += 4;
        for (uint32_t i = 0; i < count && ms_fx_at_addr(d, at, 12).len != 0 && ms_fx_spend(d, 8);
             i++, at += 12) {
            machsym_str method = ms_sw_requirement(d, at + 4);
            machsym_str parts[3] = {type, ms_str_from_c(method.len != 0 ? ".override of " : ".override"),
                                    method};
            if (method.len == 0)
                parts[2] = ms_sw_index(room, i);
            ms_sw_add(t, d, ms_sw_code(t, d, at + 8), parts, 3);
        }
    }
}

/* A nominal type descriptor: class, struct or enum. */
static void ms_sw_add_type(ms_sym_table *t, ms_fx_data *d, uint64_t descriptor)
{
    uint32_t flags = ms_fx_u32_at(d, descriptor);
    bool is_class = (flags & ms_SW_KIND_MASK) == ms_SW_KIND_CLASS;
    machsym_str type = ms_sw_type_name(t, d, descriptor);
    if (type.len == 0) {
        d->damage_count++;
        return;
    }
    ms_sw_add_about(t, d, ms_sw_code(t, d, descriptor + ms_SW_ACCESSOR), "type metadata accessor for ", type);
    uint64_t at = descriptor + (is_class ? ms_SW_CLASS_END : ms_SW_STRUCT_END);
    if ((flags & ms_SW_IS_GENERIC) != 0)
        at = ms_sw_past_generics(d, at);
    if (at == 0)
        return;
    if (is_class && (flags & ms_SW_HAS_RESILIENT_SUPERCLASS) != 0)
        at += 4;
    if ((flags & ms_SW_METADATA_INIT) == ms_SW_METADATA_INIT_FOREIGN) {
        at += 4;
    } else if ((flags & ms_SW_METADATA_INIT) == ms_SW_METADATA_INIT_SINGLETON) {
        ms_sw_add_about(t, d, ms_sw_code(t, d, at + 8), "type metadata completion function for ", type);
        at += 12;
    }
    if (is_class)
        ms_sw_add_class(t, d, at, flags, type);
}

/* ---- Protocols ---- */

/* A protocol descriptor: default implementations of its requirements. */
static void ms_sw_add_protocol(ms_sym_table *t, ms_fx_data *d, uint64_t descriptor)
{
    char room[12];
    machsym_str name = ms_sw_type_name(t, d, descriptor);
    uint32_t in_signature = ms_fx_u32_at(d, descriptor + 12);
    uint32_t count = ms_fx_u32_at(d, descriptor + 16);
    uint64_t at = descriptor + ms_SW_REQUIREMENTS + 12 * (uint64_t)in_signature;
    for (uint32_t i = 0; i < count && ms_fx_at_addr(d, at, 8).len != 0 && ms_fx_spend(d, 8); i++, at += 8) {
        machsym_str parts[3] = {name, ms_str_from_c(".default"), ms_sw_index(room, i)};
        if (name.len != 0)
            ms_sw_add(t, d, ms_sw_code(t, d, at + 4), parts, 3);
    }
}

/* The type that conforms: a descriptor, or an Objective-C class. */
static machsym_str ms_sw_conforming(ms_sym_table *t, ms_fx_data *d, uint64_t conformance, uint32_t flags)
{
    uint64_t field = conformance + 4;
    unsigned kind = flags >> 3 & 7;
    ms_fx_pointer to = {ms_fx_relative_at(d, field), {NULL, 0}};
    if (kind == 1 || kind == 3)
        to = ms_fx_pointer_at(d, to.addr);
    if (kind == 2)
        return ms_fx_str_at(d, to.addr);
    if (to.import.len != 0)
        return ms_sym_c_name(to.import);
    return kind < 2 ? ms_sw_type_name(t, d, to.addr) : ms_str_empty();
}

/* Adds the witnesses of a protocol that may grow in another image. Each names the requirement that it
 * fulfils. */
static void ms_sw_add_resilient(ms_sym_table *t, ms_fx_data *d, uint64_t at, machsym_str type)
{
    uint32_t count = ms_fx_u32_at(d, at);
    char room[12];
    at += 4;
    for (uint32_t i = 0; i < count && ms_fx_at_addr(d, at, 8).len != 0 && ms_fx_spend(d, 8); i++, at += 8) {
        machsym_str requirement = ms_sw_requirement(d, at);
        bool named = requirement.len != 0;
        machsym_str parts[5] = {ms_str_from_c("protocol witness"),
                                named ? ms_str_from_c(" for ") : ms_sw_index(room, i), requirement,
                                ms_str_from_c(" in conformance "), type};
        ms_sw_add(t, d, ms_sw_code(t, d, at + 4), parts, 5);
    }
}

/* A protocol conformance descriptor: {protocol, type, witness table, flags}. The table of a protocol of this
 * image is as long as its list of requirements; how long others are is nowhere in the file. */
static void ms_sw_add_conformance(ms_sym_table *t, ms_fx_data *d, uint64_t conformance)
{
    uint32_t flags = ms_fx_u32_at(d, conformance + 12);
    ms_fx_pointer protocol = ms_sw_indirect(d, conformance);
    uint64_t table = ms_fx_relative_at(d, conformance + 8);
    machsym_str type = ms_sw_conforming(t, d, conformance, flags);
    unsigned word = ms_fx_pointer_size(d);
    char room[12];
    if (type.len == 0)
        return;
    if (protocol.addr != 0 && table != 0) {
        machsym_str name = ms_sw_type_name(t, d, protocol.addr);
        uint32_t count = name.len != 0 ? ms_fx_u32_at(d, protocol.addr + 16) : 0;
        machsym_str parts[6] = {ms_str_from_c("protocol witness"),
                                ms_str_empty(),
                                ms_str_from_c(" for "),
                                name,
                                ms_str_from_c(" in conformance "),
                                type};
        for (uint32_t i = 0; i < count && ms_fx_at_addr(d, table, word).len != 0 && ms_fx_spend(d, 8); i++) {
            table += word; /* the first entry is the conformance itself */
            parts[1] = ms_sw_index(room, i);
            ms_sw_add(t, d, ms_fx_pointer_at(d, table).addr, parts, 6);
        }
    }
    uint64_t at = conformance + 16 + ((flags & ms_SW_IS_RETROACTIVE) != 0 ? 4 : 0) +
                  12 * (uint64_t)(flags >> 8 & 0xff); /* its module; conditions on the type's parameters */
    if ((flags & ms_SW_HAS_RESILIENT_WITNESSES) != 0 && (flags & ms_SW_CONDITIONAL_PACKS) == 0)
        ms_sw_add_resilient(t, d, at, type);
}

/* ---- Sections ---- */

/* Sections of distances, each to a descriptor. */
static void ms_sw_add_section(ms_sym_table *t, ms_fx_data *d, const char *name,
                              void (*add)(ms_sym_table *t, ms_fx_data *d, uint64_t descriptor))
{
    const ms_mo_section *section = ms_mo_section_named(d->mo, NULL, name);
    size_t count = section != NULL ? ms_fx_bytes(d, section).len / 4 : 0;
    for (size_t i = 0; i < count && ms_fx_spend(d, 4) && !t->arena->oom; i++) {
        uint64_t descriptor = ms_sw_indirect(d, section->addr + 4 * i).addr;
        if (descriptor != 0)
            add(t, d, descriptor);
    }
}

static void ms_sw_add_names(ms_sym_table *t, ms_fx_data *d)
{
    ms_fx_refill(d);
    ms_sw_add_section(t, d, "__swift5_types", ms_sw_add_type);
    ms_sw_add_section(t, d, "__swift5_protos", ms_sw_add_protocol);
    ms_sw_add_section(t, d, "__swift5_proto", ms_sw_add_conformance);
}

#endif /* ms_ROOM_macho_swift_types */
