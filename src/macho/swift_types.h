#ifndef ms_ROOM_macho_swift_types
#define ms_ROOM_macho_swift_types
#include "../api/options.h"
#include "../api/api.h"
#include "../base/bytes.h"
#include "../base/memory.h"
#include "macho.h"
#include "fixups.h"
#include "symbols.h"
#include "others.h"
#include "objc.h"

/* ==== >>swift ==============================================================================================
 * Job:    guesses from Swift type metadata which type a function belongs to.
 * Offers: ms_sw_add_names.
 * Never:  makes up a method's name: the metadata holds only its kind and its place in a table. A name is that
 *         of the descriptor that another image has of the method. */

/* MetadataValues.h: ContextDescriptorKind, ContextDescriptorFlags, TypeContextDescriptorFlags */
enum {
    ms_SW_KIND_MODULE = 0,
    ms_SW_KIND_EXTENSION = 1,
    ms_SW_KIND_ANONYMOUS = 2,
    ms_SW_KIND_PROTOCOL = 3,
    ms_SW_KIND_OPAQUE = 4,
    ms_SW_KIND_CLASS = 16,
    ms_SW_KIND_ENUM = 18, /* structs are between */
    ms_SW_KIND_MASK = 31
};
#define ms_SW_IS_GENERIC               0x80u
#define ms_SW_HAS_IMPORT_INFO          0x40000u
#define ms_SW_METADATA_INIT            0x30000u /* 1: singleton, 2: foreign */
#define ms_SW_METADATA_INIT_SINGLETON  0x10000u
#define ms_SW_METADATA_INIT_FOREIGN    0x20000u
#define ms_SW_HAS_RESILIENT_SUPERCLASS 0x20000000u
#define ms_SW_HAS_OVERRIDE_TABLE       0x40000000u
#define ms_SW_HAS_VTABLE               0x80000000u

/* ProtocolRequirementFlags: bits that none has. */
#define ms_SW_NO_REQUIREMENT 0xffc0u

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
    ms_SW_SIGNATURE_COUNT = 12, /* of a protocol */
    ms_SW_REQUIREMENT_COUNT = 16,
    ms_SW_PROTOCOL_END = 24
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

static bool ms_sw_is_type(uint32_t flags)
{
    return (flags & ms_SW_KIND_MASK) >= ms_SW_KIND_CLASS && (flags & ms_SW_KIND_MASK) <= ms_SW_KIND_ENUM;
}

/* A context's own name; empty when there is none. That of an imported type is followed by more text, each
 * with a letter and a NUL, up to an empty one (swift/ABI/TypeIdentity.h). N is the name that symbols have
 * of the type. R says that it was made for the type of that name. */
static machsym_str ms_sw_own_name(ms_sym_table *t, ms_fx_data *d, uint64_t descriptor, uint32_t flags)
{
    uint64_t at = ms_fx_relative_at(d, descriptor + ms_SW_NAME);
    machsym_str name = ms_fx_str_at(d, at);
    machsym_str related = ms_str_empty();
    bool is_imported = ms_sw_is_type(flags) && (flags & ms_SW_HAS_IMPORT_INFO) != 0;
    for (machsym_str text = name; is_imported && text.len != 0;) { /* every text ends in its section */
        at += text.len + 1;
        text = ms_fx_str_at(d, at);
        if (text.len > 1 && text.ptr[0] == 'N')
            name = ms_str_drop(text, 1);
        else if (text.len > 1 && text.ptr[0] == 'R')
            related = ms_str_drop(text, 1);
    }
    if (!ms_oc_is_name(name) || related.len == 0)
        return ms_oc_is_name(name) ? name : ms_str_empty();
    machsym_str parts[4] = {ms_str_from_c("related decl '"), related, ms_str_from_c("' for "), name};
    return ms_oc_is_name(related) ? ms_sym_join(t, d, parts, 4) : ms_str_empty();
}

/* Module.Outer.Inner of a context descriptor; empty when a part is missing. */
static machsym_str ms_sw_type_name(ms_sym_table *t, ms_fx_data *d, uint64_t descriptor)
{
    machsym_str parts[2 * MACHSYM_MAX_SWIFT_CONTEXTS];
    size_t at = 2 * MACHSYM_MAX_SWIFT_CONTEXTS;
    for (unsigned depth = 0; descriptor != 0 && depth < MACHSYM_MAX_SWIFT_CONTEXTS; depth++) {
        uint32_t flags = ms_fx_u32_at(d, descriptor);
        unsigned kind = flags & ms_SW_KIND_MASK;
        if (kind != ms_SW_KIND_EXTENSION && kind != ms_SW_KIND_ANONYMOUS) {
            machsym_str name = ms_sw_own_name(t, d, descriptor, flags);
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

/* ---- Uses of methods and requirements ---- */

/* A function that overrides a method, or fulfils a requirement. */
typedef struct ms_sw_use {
    uint64_t code;
    uint64_t descriptor; /* of what it overrides or fulfils; 0: another image has it */
    machsym_str method;  /* the descriptor's symbol; empty: not known */
    machsym_str type;    /* whose function it is */
    bool is_witness;
    machsym_str protocol; /* of a witness, when index is the requirement's place in it; else empty */
    const char *kind;     /* of that requirement */
    uint32_t index;
} ms_sw_use;

/* What an image's descriptors are read to. */
typedef struct ms_sw {
    ms_sym_table *table;
    ms_fx_data *data;
    ms_sw_use *waits; /* uses of descriptors that lie in a cache, where they may have symbols */
    size_t count;
    size_t cap;
    ms_arena *scratch;
} ms_sw;

/* What a descriptor's symbol says that it describes. Empty for the symbol of anything else. */
static machsym_str ms_sw_described(machsym_str symbol)
{
    if (ms_str_ends(symbol, "Tq")) /* "method descriptor for": what it describes is before it */
        return ms_str_make(symbol.ptr, symbol.len - 2);
    /* descriptors of associated types, their conformances, and of base protocols */
    bool is_other = ms_str_ends(symbol, "Tl") || ms_str_ends(symbol, "Tn") || ms_str_ends(symbol, "Tb");
    return is_other ? symbol : ms_str_empty();
}

/* Adds the guess that a use makes. */
static void ms_sw_add_use(ms_sw *sw, const ms_sw_use *use)
{
    char room[12];
    machsym_str method = ms_sw_described(use->method);
    machsym_str index = ms_sw_index(room, use->index);
    bool is_named = method.len != 0;
    if (!use->is_witness) {
        machsym_str parts[3] = {use->type, ms_str_from_c(is_named ? ".override of " : ".override"),
                                is_named ? method : index};
        ms_sw_add(sw->table, sw->data, use->code, parts, 3);
        return;
    }
    bool is_placed = !is_named && use->protocol.len != 0;
    machsym_str parts[7] = {ms_str_from_c("protocol witness"),
                            ms_str_from_c(is_named || is_placed ? " for " : ""),
                            is_named ? method : use->protocol,
                            ms_str_from_c(is_placed ? use->kind : ""),
                            is_named ? ms_str_empty() : index,
                            ms_str_from_c(" in conformance "),
                            use->type};
    ms_sw_add(sw->table, sw->data, use->code, parts, 7);
}

/* Takes a use of the descriptor that a distance leads to. The symbols of a cache are searched once, for all
 * of its uses. */
static void ms_sw_take_use(ms_sw *sw, ms_sw_use *use, ms_fx_pointer descriptor)
{
    use->descriptor = descriptor.addr;
    use->method = ms_sym_c_name(descriptor.import);
    if (ms_mo_cache(sw->data->mo) == NULL || descriptor.addr == 0) {
        ms_sw_add_use(sw, use);
        return;
    }
    if (ms_sym_code_at(sw->table, use->code) == NULL || !ms_fx_spend(sw->data, sizeof *use))
        return;
    ms_sw_use *waits = (ms_sw_use *)ms_arena_grow(sw->scratch, sw->waits, sw->count, &sw->cap, sizeof *waits);
    if (waits == NULL)
        return;
    sw->waits = waits;
    waits[sw->count++] = *use;
}

/* Adds the uses that wait, with the symbols that the images of the cache give to their descriptors. */
static void ms_sw_add_waits(ms_sw *sw)
{
    ms_oth others;
    ms_key *v = (ms_key *)ms_arena_alloc(sw->scratch, sw->count, sizeof *v);
    ms_key *room = (ms_key *)ms_arena_alloc(sw->scratch, sw->count, sizeof *room);
    machsym_str *names = (machsym_str *)ms_arena_zeroed(sw->scratch, sw->count, sizeof *names);
    if (ms_mo_cache(sw->data->mo) == NULL || sw->count == 0 || v == NULL || room == NULL || names == NULL)
        return;
    for (size_t i = 0; i < sw->count; i++) {
        v[i].key = sw->waits[i].descriptor;
        v[i].item = i;
    }
    ms_sort(v, sw->count, room);
    ms_oth_open(&others, sw->table, sw->data, sw->scratch);
    ms_oth_find(&others, v, sw->count, 0, names);
    ms_oth_close(&others, sw->scratch);
    for (size_t i = 0; i < sw->count; i++)
        sw->waits[v[i].item].method = names[i];
    for (size_t i = 0; i < sw->count; i++)
        ms_sw_add_use(sw, &sw->waits[i]);
}

/* ---- Types ---- */

/* Where a generic context's parameters and requirements end; 0 for kinds that are not known. */
static uint64_t ms_sw_past_generics(ms_fx_data *d, uint64_t at)
{
    uint32_t counts = ms_fx_u32_at(d, at + 8); /* after cache and pattern: parameters, requirements */
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

/* Whether an entry of a table of methods is one, by where its code is. A method that nothing calls has none.
 * A table whose count is damaged runs on into other data. So it ends where a distance leads to no code. */
static bool ms_sw_is_method(ms_sw *sw, uint64_t code)
{
    bool is_method = code == 0 || ms_sym_code_at(sw->table, code) != NULL;
    sw->data->damage_count += !is_method;
    return is_method;
}

/* A class's own methods, then those it overrides. */
static void ms_sw_add_class(ms_sw *sw, uint64_t at, uint32_t flags, machsym_str type)
{
    ms_sym_table *t = sw->table;
    ms_fx_data *d = sw->data;
    char room[12];
    if ((flags & ms_SW_HAS_VTABLE) != 0) {
        uint32_t count = ms_fx_u32_at(d, at + 4);
        at += 8;
        for (uint32_t i = 0; i < count && ms_fx_at_addr(d, at, 8).len != 0 && ms_fx_spend(d, 8);
             i++, at += 8) {
            machsym_str parts[3] = {type, ms_str_from_c(ms_sw_method_kind(ms_fx_u32_at(d, at))),
                                    ms_sw_index(room, i)};
            uint64_t code = ms_sw_code(t, d, at + 4);
            if (!ms_sw_is_method(sw, code))
                return;
            ms_sw_add(t, d, code, parts, 3);
        }
    }
    if ((flags & ms_SW_HAS_OVERRIDE_TABLE) != 0) {
        uint32_t count = ms_fx_u32_at(d, at);
        at += 4;
        for (uint32_t i = 0; i < count && ms_fx_at_addr(d, at, 12).len != 0 && ms_fx_spend(d, 8);
             i++, at += 12) {
            ms_sw_use use;
            ms_zero(&use, sizeof use);
            use.code = ms_sw_code(t, d, at + 8);
            use.type = type;
            use.index = i;
            if (!ms_sw_is_method(sw, use.code))
                return;
            ms_sw_take_use(sw, &use, ms_sw_indirect(d, at + 4));
        }
    }
}

/* A nominal type descriptor: class, struct or enum. What functions return as "some Protocol" has descriptors
 * in the same section, without a name. seen: Xcode 26, frameworks built without optimising */
static void ms_sw_add_type(ms_sw *sw, uint64_t descriptor)
{
    ms_sym_table *t = sw->table;
    ms_fx_data *d = sw->data;
    uint32_t flags = ms_fx_u32_at(d, descriptor);
    bool is_class = (flags & ms_SW_KIND_MASK) == ms_SW_KIND_CLASS;
    machsym_str type = ms_sw_is_type(flags) ? ms_sw_type_name(t, d, descriptor) : ms_str_empty();
    if (type.len == 0) {
        d->damage_count += (flags & ms_SW_KIND_MASK) != ms_SW_KIND_OPAQUE;
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
        ms_sw_add_class(sw, at, flags, type);
}

/* ---- Protocols ---- */

/* Where a protocol's requirements begin: {flags, default implementation} each. */
static uint64_t ms_sw_requirements(ms_fx_data *d, uint64_t protocol)
{
    return protocol + ms_SW_PROTOCOL_END + 12 * (uint64_t)ms_fx_u32_at(d, protocol + ms_SW_SIGNATURE_COUNT);
}

/* ProtocolRequirementFlags: the low 4 bits. */
static const char *ms_sw_requirement_kind(uint32_t flags)
{
    static const char *const kinds[] = {".base protocol", ".method",          ".init",
                                        ".getter",        ".setter",          ".read",
                                        ".modify",        ".associated type", ".associated conformance"};
    return (flags & 15) < sizeof kinds / sizeof kinds[0] ? kinds[flags & 15] : ".requirement";
}

/* A protocol. Without a name it is not there. */
typedef struct ms_sw_protocol {
    machsym_str name;
    uint64_t requirements;
    uint32_t count; /* of them */
} ms_sw_protocol;

/* Reads a protocol. It has no more requirements than there are flags of such. */
static void ms_sw_read_protocol(ms_sw *sw, uint64_t descriptor, ms_sw_protocol *out)
{
    ms_fx_data *d = sw->data;
    ms_zero(out, sizeof *out);
    if (descriptor == 0 || (ms_fx_u32_at(d, descriptor) & ms_SW_KIND_MASK) != ms_SW_KIND_PROTOCOL)
        return;
    out->name = ms_sw_type_name(sw->table, d, descriptor);
    out->requirements = ms_sw_requirements(d, descriptor);
    uint32_t count = out->name.len != 0 ? ms_fx_u32_at(d, descriptor + ms_SW_REQUIREMENT_COUNT) : 0;
    uint64_t at = out->requirements;
    for (; out->count < count && ms_fx_at_addr(d, at, 8).len != 0 && ms_fx_spend(d, 8); at += 8) {
        if ((ms_fx_u32_at(d, at) & ms_SW_NO_REQUIREMENT) != 0)
            break;
        out->count++;
    }
    d->damage_count += out->count != count;
}

/* Adds the default implementations of a protocol's requirements. */
static void ms_sw_add_protocol(ms_sw *sw, uint64_t descriptor)
{
    char room[12];
    ms_sym_table *t = sw->table;
    ms_fx_data *d = sw->data;
    ms_sw_protocol protocol;
    ms_sw_read_protocol(sw, descriptor, &protocol);
    for (uint32_t i = 0; i < protocol.count && ms_fx_spend(d, 8); i++) {
        machsym_str parts[3] = {protocol.name, ms_str_from_c(".default"), ms_sw_index(room, i)};
        ms_sw_add(t, d, ms_sw_code(t, d, protocol.requirements + 8 * (uint64_t)i + 4), parts, 3);
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
        return ms_oc_name_at(d, to.addr);
    if (kind == 3)
        return ms_oc_class_name(d, to);
    if (to.import.len != 0) {
        machsym_str name = ms_sym_c_name(to.import);
        name.len -= ms_str_ends(name, "Mn") ? 2u : 0u; /* "nominal type descriptor for" */
        return name;
    }
    return kind < 2 ? ms_sw_type_name(t, d, to.addr) : ms_str_empty();
}

/* Notes which requirement of the protocol a use fulfils, by the requirement's address. If no requirement has
 * the address, the use stays as it is. */
static void ms_sw_place(ms_fx_data *d, const ms_sw_protocol *protocol, uint64_t requirement, ms_sw_use *use)
{
    uint64_t place = (requirement - protocol->requirements) / 8;
    if (place >= protocol->count || requirement % 8 != protocol->requirements % 8)
        return;
    use->protocol = protocol->name;
    use->kind = ms_sw_requirement_kind(ms_fx_u32_at(d, requirement));
    use->index = (uint32_t)place;
}

/* Whether a pointer of a resilient witness leads to a requirement of the protocol, if that is known. */
static bool ms_sw_is_requirement(const ms_fx_data *d, const ms_sw_protocol *protocol, ms_fx_pointer to)
{
    if (to.import.len != 0)
        return ms_sw_described(ms_sym_c_name(to.import)).len != 0;
    if (ms_mo_is_mapped(d->mo)) /* protocols of other images, and their requirements, are addresses too */
        return true;
    return protocol->count == 0 ? to.addr == 0 : (to.addr - protocol->requirements) / 8 < protocol->count;
}

/* Adds the witnesses of a protocol that may grow in another image. Each refers to the requirement that it
 * fulfils. */
static void ms_sw_add_resilient(ms_sw *sw, uint64_t at, const ms_sw_protocol *protocol, machsym_str type)
{
    ms_fx_data *d = sw->data;
    uint32_t count = ms_fx_u32_at(d, at);
    at += 4;
    for (uint32_t i = 0; i < count && ms_fx_at_addr(d, at, 8).len != 0 && ms_fx_spend(d, 8); i++, at += 8) {
        ms_fx_pointer requirement = ms_sw_indirect(d, at);
        ms_sw_use use;
        ms_zero(&use, sizeof use);
        use.code = ms_sw_code(sw->table, d, at + 4);
        use.type = type;
        use.is_witness = true;
        use.index = i;
        bool is_one = ms_sw_is_requirement(d, protocol, requirement);
        if (!is_one && ms_sym_code_at(sw->table, use.code) == NULL) {
            d->damage_count++; /* a damaged count led to another conformance */
            return;
        }
        ms_sw_place(d, protocol, requirement.addr, &use);
        ms_sw_take_use(sw, &use, requirement);
    }
}

/* A protocol conformance descriptor: {protocol, type, witness table, flags}. The table has an entry for each
 * requirement. How long it is, is not known when the protocol's image is not there. */
static void ms_sw_add_conformance(ms_sw *sw, uint64_t conformance)
{
    ms_fx_data *d = sw->data;
    uint32_t flags = ms_fx_u32_at(d, conformance + 12);
    uint64_t table = ms_fx_relative_at(d, conformance + 8);
    machsym_str type = ms_sw_conforming(sw->table, d, conformance, flags);
    unsigned word = ms_fx_pointer_size(d);
    ms_sw_protocol protocol;
    if (type.len == 0)
        return;
    ms_sw_read_protocol(sw, ms_sw_indirect(d, conformance).addr, &protocol);
    for (uint32_t i = 0;
         table != 0 && i < protocol.count && ms_fx_at_addr(d, table, word).len != 0 && ms_fx_spend(d, 8);
         i++) {
        ms_sw_use use;
        ms_zero(&use, sizeof use);
        table += word; /* the first entry is the conformance itself */
        use.code = ms_fx_pointer_at(d, table).addr;
        use.type = type;
        use.is_witness = true;
        ms_sw_place(d, &protocol, protocol.requirements + 8 * (uint64_t)i, &use);
        ms_sw_add_use(sw, &use);
    }
    uint64_t at = conformance + 16 + ((flags & ms_SW_IS_RETROACTIVE) != 0 ? 4 : 0) +
                  12 * (uint64_t)(flags >> 8 & 0xff); /* its module; conditions on the type's parameters */
    if ((flags & ms_SW_HAS_RESILIENT_WITNESSES) != 0 && (flags & ms_SW_CONDITIONAL_PACKS) == 0)
        ms_sw_add_resilient(sw, at, &protocol, type);
}

/* ---- Sections ---- */

/* Sections of distances, each to a descriptor. */
static void ms_sw_add_section(ms_sw *sw, const char *name, void (*add)(ms_sw *sw, uint64_t descriptor))
{
    ms_fx_data *d = sw->data;
    const ms_mo_section *section = ms_mo_section_named(d->mo, NULL, name);
    size_t count = section != NULL ? ms_fx_bytes(d, section).len / 4 : 0;
    for (size_t i = 0; i < count && ms_fx_spend(d, 4) && !sw->table->arena->oom; i++) {
        uint64_t descriptor = ms_sw_indirect(d, section->addr + 4 * i).addr;
        if (descriptor != 0)
            add(sw, descriptor);
    }
}

static void ms_sw_add_names(ms_sym_table *t, ms_fx_data *d, ms_arena *scratch)
{
    ms_sw sw;
    ms_zero(&sw, sizeof sw);
    sw.table = t;
    sw.data = d;
    sw.scratch = scratch;
    ms_fx_refill(d);
    ms_sw_add_section(&sw, "__swift5_types", ms_sw_add_type);
    ms_sw_add_section(&sw, "__swift5_protos", ms_sw_add_protocol);
    ms_sw_add_section(&sw, "__swift5_proto", ms_sw_add_conformance);
    ms_sw_add_waits(&sw);
}

#endif /* ms_ROOM_macho_swift_types */
