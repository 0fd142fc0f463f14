/* ==== >> cmd/info/info ====
 * Job: the command that tells what a file holds.
 * Offers: the command.
 * Never: looks an address up.
 *
 * machsym info: what a file holds. */
#include "machsym.h"
#include "../../../report/base/json_put.h"
#include "../../../report/base/text.h"
#include "../../base/options.h"
#include "../../base/out.h"
#include "../../base/say.h"
#include "../../base/values.h"
#include "../commands.h"
#include "cache.h"
#include "../map/map.h"
#include "../../files/caches.h"
#include "../../files/inside.h"
#include "../../files/members.h"
#include "../../files/open.h"
#include "../../symbols/store.h"
#include "../../symbols/symbols.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ENTRIES = 4096 /* of a kernel collection: real ones have 300 */ };

static const char *info_filetype_name(uint32_t filetype)
{
    static const char *const names[] = {"?",       "OBJECT", "EXECUTE",  "FVMLIB", "CORE",
                                        "PRELOAD", "DYLIB",  "DYLINKER", "BUNDLE", "DYLIB_STUB",
                                        "DSYM",    "KEXT",   "FILESET"};
    return filetype < sizeof names / sizeof names[0] ? names[filetype] : "?";
}

static void info_print_version(const char *label, uint32_t version)
{
    out_format(", %s %u.%u", label, version >> 16, version >> 8 & 0xff);
    if ((version & 0xff) != 0)
        out_format(".%u", version & 0xff);
}

/* One line a platform: zippered images have two. */
static void info_print_platforms(const machsym_image *image)
{
    machsym_cursor at = {0, 0};
    machsym_platform p;
    if (!machsym_image_next_platform(image, &at, &p)) {
        out_c("  platform: unknown\n");
        return;
    }
    do {
        out_format("  platform: %s", value_platform_name(p.platform));
        info_print_version("minimum", p.min_os);
        info_print_version("SDK", p.sdk);
        out_c("\n");
    } while (machsym_image_next_platform(image, &at, &p));
}

static void info_print_source_version(uint64_t v)
{
    if (v != 0)
        out_format("  source version: %u.%u.%u.%u.%u\n", (unsigned)(v >> 40), (unsigned)(v >> 30 & 1023),
                   (unsigned)(v >> 20 & 1023), (unsigned)(v >> 10 & 1023), (unsigned)(v & 1023));
}

/* Which bytes of a section are missing, and why. */
static const char *info_missing_bytes(const machsym_section *s, bool is_encrypted)
{
    if (s->bytes.len >= s->size)
        return "";
    if (s->bytes.len != 0)
        return ", cut short";
    return is_encrypted && str_is(s->segment, "__TEXT") ? ", encrypted" : ", no bytes in the file";
}

static void info_print_sections(const machsym_image *image, bool is_encrypted)
{
    machsym_cursor at = {0, 0};
    machsym_section s;
    text line = {0};
    out_c("  sections:\n");
    while (machsym_image_next_section(image, &at, &s)) {
        text_shown(&line, s.segment);
        out_format("    %-10.*s ", (int)line.len, line.v);
        line.len = 0;
        text_shown(&line, s.name);
        out_format("%-17.*s 0x%012llx %10llu bytes%s%s%s\n", (int)line.len, line.v,
                   (unsigned long long)s.addr, (unsigned long long)s.size, s.is_code ? ", code" : "",
                   info_missing_bytes(&s, is_encrypted), s.is_pair ? ", other half" : "");
        line.len = 0;
    }
    text_free(&line);
}

static void info_print_debug_info(const machsym_session_counts *info)
{
    out_format("  debug info: %u units", info->unit_count);
    for (unsigned version = 2; version < 6; version++) {
        if (info->version_count[version] != 0)
            out_format(", %u of DWARF %u", info->version_count[version], version);
    }
    out_format("\n    %u without code, %u without ranges, %u sets of address ranges\n",
               info->units_without_code, info->units_without_ranges, info->arange_set_count);
    out_format("    %llu functions, %llu inlined calls, %llu line rows, %llu entries\n",
               (unsigned long long)info->function_count, (unsigned long long)info->inline_count,
               (unsigned long long)info->line_row_count, (unsigned long long)info->die_count);
    if (info->damaged_units != 0)
        out_format("    damaged: %u units, the first at .debug_info+0x%llx; %s (0x%llx)%s\n",
                   info->damaged_units, (unsigned long long)info->first_damage_offset, info->damage.what,
                   (unsigned long long)info->damage.offset,
                   info->damage.is_misleading ? "; names and lines may be wrong" : "");
}

/* counts has a place for each source. */
static void info_count_symbols(machsym_session *session, uint64_t *counts)
{
    machsym_cursor at = {0, 0};
    machsym_symbol symbol;
    memset(counts, 0, MACHSYM_SOURCE_COUNT * sizeof *counts);
    while (machsym_session_next_symbol(session, &at, &symbol))
        counts[symbol.source]++;
}

static void info_print_symbols(machsym_session *session, const machsym_image_info *info)
{
    uint64_t counts[MACHSYM_SOURCE_COUNT];
    info_count_symbols(session, counts);
    out_format("  symbols: %u in LC_SYMTAB; code addresses by best source:", info->symbol_count);
    for (unsigned i = 1; i < MACHSYM_SOURCE_COUNT; i++) {
        if (counts[i] != 0)
            out_format(" %s %llu", machsym_source_name((machsym_source)i), (unsigned long long)counts[i]);
    }
    out_c("\n");
}

static void info_print_slice(const machsym_slice *slice)
{
    text line = {0};
    if (slice->has_uuid)
        text_uuid(&line, &slice->uuid);
    else
        text_c(&line, "no UUID");
    out_format("%s %s, %.*s, %llu bytes at offset %llu\n", slice->arch, info_filetype_name(slice->filetype),
               (int)line.len, line.v, (unsigned long long)slice->size, (unsigned long long)slice->offset);
    text_free(&line);
}

/* Opens an image of a kernel collection; NULL, with *info zeroed, when it is damaged. */
static machsym_image *info_open_entry(const machsym_image *whole, machsym_str name, machsym_image_info *info)
{
    text name_z = {0};
    machsym_image *one = NULL;
    machsym_open_desc desc;
    memset(&desc, 0, sizeof desc);
    text_str(&name_z, name);
    desc.from = whole;
    desc.entry = text_z(&name_z);
    memset(info, 0, sizeof *info);
    if (machsym_image_open(&desc, &one, NULL) == MACHSYM_OK)
        machsym_image_get_info(one, info);
    text_free(&name_z);
    return one;
}

static void info_say_more_entries(void)
{
    say_message("the first %d images are shown", MAX_ENTRIES);
}

/* The images of a kernel collection, each with its UUID. */
static void info_print_entries(const machsym_image *image)
{
    machsym_cursor at = {0, 0};
    machsym_entry entry;
    size_t count = 0;
    while (machsym_image_next_entry(image, &at, &entry))
        count++;
    if (count > 0)
        out_format("  images: %zu in this kernel collection\n", count);
    at = (machsym_cursor){0, 0};
    for (size_t i = 0; i < MAX_ENTRIES && machsym_image_next_entry(image, &at, &entry); i++) {
        text line = {0};
        machsym_image_info info;
        machsym_image *one = info_open_entry(image, entry.name, &info);
        if (info.slice.has_uuid)
            text_uuid(&line, &info.slice.uuid);
        else
            text_c(&line, one != NULL ? "no UUID" : "damaged");
        out_line("    0x%llx %-36.*s %.*s", (unsigned long long)entry.addr, (int)line.len, line.v,
                 (int)entry.name.len, entry.name.ptr);
        machsym_image_close(one);
        text_free(&line);
    }
    if (count > MAX_ENTRIES)
        info_say_more_entries();
}

/* With --quick debug info is not looked at. */
static void info_read(const machsym_image *image, bool quick, machsym_image_info *info)
{
    if (quick)
        machsym_image_get_info(image, info);
    else
        open_read_info(image, info);
}

/* Returns whether nothing in it is damaged. */
static bool info_print_image(const machsym_image *image, bool quick)
{
    machsym_image_info info;
    info_read(image, quick, &info);
    info_print_slice(&info.slice);
    if (info.pair_path != NULL)
        out_line("  other half: %s", info.pair_path);
    info_print_platforms(image);
    out_format("  text: 0x%llx, %llu bytes\n", (unsigned long long)info.text_addr,
               (unsigned long long)info.text_size);
    info_print_source_version(info.source_version);
    info_print_sections(image, info.is_encrypted);
    if (info.is_encrypted)
        out_c("  encrypted by an app store: names of metadata are in the program without encryption only\n");
    if (info.has_compressed_dwarf)
        out_c("  compressed debug info (__zdebug_*)\n");
    bool ok = info.damage_count == 0;
    machsym_session *session = quick ? NULL : open_session(image, MACHSYM_LINES_ATOS, 0);
    if (session != NULL) {
        machsym_session_counts counts;
        machsym_session_count_all(session, &counts);
        if (counts.object_count != 0)
            out_format("  debug map: %u object files, %u of them cannot answer\n", counts.object_count,
                       counts.missing_object_count);
        if (info.has_dwarf || counts.unit_count != 0)
            info_print_debug_info(&counts);
        info_print_symbols(session, &info);
        if (counts.damaged_metadata != 0)
            out_format(
                "  damaged: %u parts of exports trie, binds, unwind info, Objective-C or Swift metadata\n",
                counts.damaged_metadata);
        ok = ok && counts.damaged_units == 0 && counts.damaged_metadata == 0;
    }
    if (info.damage_count != 0)
        out_format(
            "  damaged: %u load commands, tables, sections or unit headers; first: %s (%s, 0x%llx)%s%s\n",
            info.damage_count, info.damage.what, info.damage.where, (unsigned long long)info.damage.offset,
            info.damage.is_misleading ? "; names and lines may be wrong" : "",
            info.damage.is_cut_short ? "; the file is cut short" : "");
    open_session_close(session);
    return ok;
}

/* ---- JSON ---- */

/* Begins a member that is an object or a list, without a comma before what is first in it. */
static void info_put_open(text *t, const char *key, char bracket)
{
    json_put_key(t, key);
    text_char(t, bracket);
}

static void info_put_version(text *t, const char *key, uint32_t version)
{
    text_c(t, ",\"");
    text_c(t, key);
    text_c(t, "\":\"");
    text_dec(t, version >> 16);
    text_char(t, '.');
    text_dec(t, version >> 8 & 0xff);
    text_char(t, '.');
    text_dec(t, version & 0xff);
    text_char(t, '"');
}

static void info_put_platforms(text *t, const machsym_image *image)
{
    machsym_cursor at = {0, 0};
    machsym_platform p;
    info_put_open(t, "platforms", '[');
    for (bool is_first = true; machsym_image_next_platform(image, &at, &p); is_first = false) {
        text_c(t, is_first ? "{\"platform\":" : ",{\"platform\":");
        text_json(t, str_c(value_platform_name(p.platform)));
        info_put_version(t, "minimum", p.min_os);
        info_put_version(t, "sdk", p.sdk);
        text_char(t, '}');
    }
    text_char(t, ']');
}

static void info_put_sections(text *t, const machsym_image *image)
{
    machsym_cursor at = {0, 0};
    machsym_section s;
    info_put_open(t, "sections", '[');
    for (bool is_first = true; machsym_image_next_section(image, &at, &s); is_first = false) {
        text_c(t, is_first ? "{\"segment\":" : ",{\"segment\":");
        text_json(t, s.segment);
        json_put_key(t, "name");
        text_json(t, s.name);
        json_put_hex(t, "address", s.addr);
        json_put_number(t, "size", s.size);
        json_put_number(t, "bytes_in_file", s.bytes.len);
        json_put_bool(t, "code", s.is_code);
        json_put_bool(t, "other_half", s.is_pair);
        text_char(t, '}');
    }
    text_char(t, ']');
}

static void info_put_debug_info(text *t, const machsym_session_counts *info)
{
    info_put_open(t, "debug_info", '{');
    text_c(t, "\"units\":");
    text_dec(t, info->unit_count);
    info_put_open(t, "dwarf_versions", '{');
    bool is_first = true;
    for (unsigned version = 2; version < 6; version++) {
        if (info->version_count[version] == 0)
            continue;
        text_c(t, is_first ? "\"" : ",\"");
        text_dec(t, version);
        text_c(t, "\":");
        text_dec(t, info->version_count[version]);
        is_first = false;
    }
    text_char(t, '}');
    json_put_number(t, "functions", info->function_count);
    json_put_number(t, "inlined_calls", info->inline_count);
    json_put_number(t, "line_rows", info->line_row_count);
    json_put_number(t, "entries", info->die_count);
    json_put_number(t, "damaged_units", info->damaged_units);
    if (info->damaged_units != 0) {
        json_put_str(t, "damage", str_c(info->damage.what));
        json_put_number(t, "damage_offset", info->damage.offset);
        json_put_bool(t, "misleading", info->damage.is_misleading);
    }
    text_char(t, '}');
}

static void info_put_symbols(text *t, machsym_session *session, const machsym_image_info *info)
{
    uint64_t counts[MACHSYM_SOURCE_COUNT];
    bool is_first = true;
    info_count_symbols(session, counts);
    info_put_open(t, "symbols", '{');
    text_c(t, "\"symtab\":");
    text_dec(t, info->symbol_count);
    info_put_open(t, "addresses_by_source", '{');
    for (unsigned i = 1; i < MACHSYM_SOURCE_COUNT; i++) {
        if (counts[i] == 0)
            continue;
        text_c(t, is_first ? "\"" : ",\"");
        text_c(t, machsym_source_name((machsym_source)i));
        text_c(t, "\":");
        text_dec(t, counts[i]);
        is_first = false;
    }
    text_c(t, "}}");
}

/* What takes time to count; --quick leaves it out. Returns whether nothing in it is damaged. */
static bool info_put_decoded(text *t, const machsym_image *image, const machsym_image_info *info)
{
    machsym_session_counts counts;
    machsym_session *session = open_session(image, MACHSYM_LINES_ATOS, 0);
    if (session == NULL)
        return true;
    machsym_session_count_all(session, &counts);
    if (counts.object_count != 0) {
        info_put_open(t, "debug_map", '{');
        text_c(t, "\"objects\":");
        text_dec(t, counts.object_count);
        json_put_number(t, "missing", counts.missing_object_count);
        text_char(t, '}');
    }
    if (info->has_dwarf || counts.unit_count != 0)
        info_put_debug_info(t, &counts);
    info_put_symbols(t, session, info);
    json_put_number(t, "damaged_metadata", counts.damaged_metadata);
    open_session_close(session);
    return counts.damaged_units == 0 && counts.damaged_metadata == 0;
}

static void info_put_entries(text *t, const machsym_image *image)
{
    machsym_cursor at = {0, 0};
    machsym_entry entry;
    size_t count = 0;
    for (; count < MAX_ENTRIES && machsym_image_next_entry(image, &at, &entry); count++) {
        machsym_image_info info;
        machsym_image *one = info_open_entry(image, entry.name, &info);
        if (count == 0)
            info_put_open(t, "images", '[');
        text_c(t, count == 0 ? "{\"name\":" : ",{\"name\":");
        text_json(t, entry.name);
        json_put_hex(t, "address", entry.addr);
        json_put_uuid(t, "uuid", info.slice.has_uuid ? &info.slice.uuid : NULL);
        json_put_bool(t, "damaged", one == NULL);
        text_char(t, '}');
        machsym_image_close(one);
    }
    if (count > 0)
        text_char(t, ']');
    if (count == MAX_ENTRIES && machsym_image_next_entry(image, &at, &entry))
        info_say_more_entries();
}

/* One line. Returns whether nothing in it is damaged. */
static bool info_print_image_json(const char *path, const machsym_image *image, bool quick)
{
    text t = {0};
    machsym_image_info info;
    info_read(image, quick, &info);
    json_begin(&t, "info");
    json_put_str(&t, "file", str_c(path));
    json_put_str(&t, "arch", str_c(info.slice.arch));
    json_put_str(&t, "filetype", str_c(info_filetype_name(info.slice.filetype)));
    json_put_uuid(&t, "uuid", info.slice.has_uuid ? &info.slice.uuid : NULL);
    json_put_number(&t, "offset", info.slice.offset);
    json_put_number(&t, "size", info.slice.size);
    json_put_str(&t, "other_half", str_c(info.pair_path != NULL ? info.pair_path : ""));
    info_put_platforms(&t, image);
    json_put_hex(&t, "text_address", info.text_addr);
    json_put_number(&t, "text_size", info.text_size);
    json_put_bool(&t, "encrypted", info.is_encrypted);
    info_put_sections(&t, image);
    bool ok = quick || info_put_decoded(&t, image, &info);
    json_put_number(&t, "damaged_parts", info.damage_count);
    if (info.damage_count != 0) {
        json_put_str(&t, "damage", str_c(info.damage.what));
        json_put_str(&t, "damage_where", str_c(info.damage.where));
        json_put_number(&t, "damage_offset", info.damage.offset);
        json_put_bool(&t, "cut_short", info.damage.is_cut_short);
        json_put_bool(&t, "misleading", info.damage.is_misleading);
    }
    info_put_entries(&t, image);
    text_c(&t, "}\n");
    out_text(&t);
    text_free(&t);
    return ok && info.damage_count == 0;
}

typedef struct info_options {
    symbols_options symbols;
    image_options from;
    bool quick;
    bool json;
} info_options;

static void info_say_no_slice(const char *path, const image_options *from)
{
    text wanted = {0};
    text_c(&wanted, from->arch != NULL ? " of architecture " : "");
    text_c(&wanted, from->arch != NULL ? from->arch : "");
    text_c(&wanted, from->uuid.is_set ? " with UUID " : "");
    if (from->uuid.is_set)
        text_uuid(&wanted, &from->uuid.uuid);
    say_message("%s: there is no slice%.*s; `machsym info FILE` lists what it holds", path, (int)wanted.len,
                wanted.len > 0 ? wanted.v : "");
    text_free(&wanted);
}

/* Prints all slices of a file, or the one asked for. */
static bool info_print_file(const char *path, const info_options *o)
{
    machsym_open_desc desc;
    machsym_error err;
    machsym_slice slices[MACHSYM_MAX_SLICES];
    size_t shown = 0;
    memset(&desc, 0, sizeof desc);
    desc.path = path;
    desc.flags = o->from.copy ? MACHSYM_OPEN_COPY : 0u;
    size_t count = inside_list_slices(&desc, slices, MACHSYM_MAX_SLICES, &err);
    bool ok = say_slices(path, count, &err);
    if (count == 0)
        return false;
    if (!o->json)
        out_line("%s", path);
    desc.pair_path = o->from.pair;
    desc.entry = o->from.entry;
    for (size_t i = 0; i < count && i < MACHSYM_MAX_SLICES; i++) {
        bool is_other =
            o->from.uuid.is_set &&
            (!slices[i].has_uuid || memcmp(&slices[i].uuid, &o->from.uuid.uuid, sizeof slices[i].uuid) != 0);
        if (is_other || (o->from.arch != NULL && strcmp(o->from.arch, slices[i].arch) != 0))
            continue;
        desc.arch = slices[i].arch;
        desc.uuid = slices[i].has_uuid && desc.entry == NULL ? &slices[i].uuid : NULL;
        machsym_image *image = o->quick ? open_without_dwarf(&desc) : open_image(&desc);
        ok = ok && image != NULL;
        if (image != NULL && cache_is(image)) {
            info_cache_print(image, o->json);
        } else if (image != NULL && o->json) {
            ok = info_print_image_json(path, image, o->quick) && ok;
        } else if (image != NULL) {
            ok = info_print_image(image, o->quick) && ok;
            info_print_entries(image);
        }
        machsym_image_close(image);
        shown++;
    }
    if (shown == 0)
        info_say_no_slice(path, &o->from);
    return ok && shown > 0;
}

static bool info_print_one(const char *path, const info_options *o)
{
    if (inside_is_map(path))
        return map_print_info(path, o->from.copy ? MACHSYM_MAP_COPY : 0, o->json);
    return info_print_file(path, o);
}

/* Prints all files of --uuid that --symbols finds. */
static bool info_print_found(const info_options *o)
{
    uuid_files files;
    bool ok = true;
    store *s = symbols_find(&o->symbols, &o->from.uuid.uuid, o->from.arch, &files);
    if (s == NULL)
        return false;
    for (size_t i = 0; i < files.count; i++)
        ok = info_print_one(files.v[i]->path, o) && ok;
    store_close(s);
    return ok;
}

static int info_run(int argc, char **argv)
{
    info_options o = {0};
    int count = options_parse(&info_command, &o, argc, argv);
    bool ok = true;
    if (count < 0)
        return options_status(count);
    const char *fault = symbols_fault(&o.symbols, &o.from);
    if (fault != NULL)
        return options_wrong(&info_command, fault);
    if (o.symbols.path_count > 0 && count > 0)
        return options_wrong(&info_command,
                             "a file is named that --symbols would look for: pass one of them");
    if (o.symbols.path_count > 0)
        return info_print_found(&o) ? TOOL_OK : TOOL_ERROR;
    if (count == 0)
        return options_wrong(&info_command, "no file is named");
    for (int i = 1; i <= count; i++) {
        path_list files;
        ok = inside_expand(image_options_path(&o.from, argv[i]), INSIDE_ALL, &files) && ok;
        for (size_t j = 0; j < files.count; j++) {
            ok = info_print_one(files.v[j], &o) && ok;
            cache_forget();
            members_forget();
        }
        path_list_free(&files);
    }
    return ok ? TOOL_OK : TOOL_ERROR;
}

static const option table[] = {
    {"quick", NULL, "headers only: debug info is not read, and so its damage is not found",
     offsetof(info_options, quick), NULL},
    {"json", NULL, "one JSON object a slice", offsetof(info_options, json), NULL},
    {0},
};

const command info_command = {
    "info",
    "what a file holds: slices, UUIDs, sections, debug info, damage",
    "[options] FILE ... | --symbols PATH --uuid UUID",
    "Prints slices, UUIDs, platform, segments, debug info, symbols and damage of Mach-O files, .dSYM "
    "bundles, and those in\nzips, tars, static libraries and folders; of a dyld shared cache its files and "
    "images.\n",
    {{table, 0},
     {symbols_option_table, offsetof(info_options, symbols)},
     {image_option_table, offsetof(info_options, from)}},
    NULL,
    info_run,
    NULL,
};
