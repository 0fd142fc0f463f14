/* machsym info of a shared cache: its files, and its images. */
#include "cache.h"
#include "../../../report/base/json_put.h"
#include "../../../report/base/text.h"
#include "../../base/out.h"
#include "../../base/values.h"
#include "../../files/caches.h"

#include <string.h>

/* "17.5.1", or "17.5". */
static void info_cache_text_version(text *t, uint32_t version)
{
    text_dec(t, version >> 16);
    text_char(t, '.');
    text_dec(t, version >> 8 & 0xff);
    if ((version & 0xff) != 0) {
        text_char(t, '.');
        text_dec(t, version & 0xff);
    }
}

/* The UUID of an image; "no UUID" where neither cache nor image tell one. */
static void info_cache_text_entry_uuid(text *t, const machsym_image *cache, const machsym_entry *entry)
{
    machsym_uuid uuid;
    if (cache_entry_uuid(cache, entry, &uuid))
        text_uuid(t, &uuid);
    else
        text_c(t, "no UUID");
}

static void info_cache_print_platforms(text *t, const machsym_image *cache)
{
    machsym_cursor at = {0, 0};
    machsym_platform p;
    for (size_t i = 0; machsym_image_next_platform(cache, &at, &p); i++) {
        text_c(t, i == 0 ? "  system: " : ", and for ");
        text_c(t, value_platform_name(p.platform));
        if (p.min_os != 0) {
            text_char(t, ' ');
            info_cache_text_version(t, p.min_os);
        }
    }
    if (at.a != 0)
        text_char(t, '\n');
}

static void info_cache_print_files(text *t, const machsym_image *cache)
{
    machsym_cursor at = {0, 0};
    machsym_cache_file file;
    text_c(t, "  files:\n");
    while (machsym_image_next_cache_file(cache, &at, &file)) {
        size_t from = t->len;
        text_c(t, "    0x");
        text_hex(t, file.addr, 8);
        text_char(t, ' ');
        text_uuid(t, &file.uuid);
        text_char(t, ' ');
        text_str(t, file.name);
        if (file.status != MACHSYM_CACHE_FILE_FOUND) {
            text_c(t, ": ");
            text_c(t, cache_file_status(file.status));
        } else {
            text_c(t, ", ");
            text_dec(t, file.size);
            text_c(t, file.has_symbols ? " bytes, local symbols" : " bytes");
        }
        text_end_line(t, from);
    }
}

static void info_cache_print_images(text *t, const machsym_image *cache)
{
    machsym_cursor at = {0, 0};
    machsym_entry entry;
    size_t count = 0;
    while (cache_next_entry(cache, &at, &entry))
        count++;
    text_c(t, "  images: ");
    text_dec(t, count);
    text_char(t, '\n');
    at = (machsym_cursor){0, 0};
    while (cache_next_entry(cache, &at, &entry)) {
        size_t from = t->len;
        text_c(t, "    0x");
        text_hex(t, entry.addr, 8);
        text_char(t, ' ');
        info_cache_text_entry_uuid(t, cache, &entry);
        text_char(t, ' ');
        text_str(t, entry.name);
        text_end_line(t, from);
    }
}

static void info_cache_print_text(const machsym_image *cache, const machsym_image_info *info)
{
    text t = {0};
    text_c(&t, info->slice.arch);
    text_c(&t, " shared cache, ");
    if (info->slice.has_uuid)
        text_uuid(&t, &info->slice.uuid);
    text_char(&t, '\n');
    info_cache_print_platforms(&t, cache);
    text_c(&t, "  addresses: 0x");
    text_hex(&t, info->text_addr, 8);
    text_c(&t, ", ");
    text_dec(&t, info->text_size);
    text_c(&t, " bytes\n");
    info_cache_print_files(&t, cache);
    info_cache_print_images(&t, cache);
    out_text(&t);
    text_free(&t);
}

/* ---- JSON ---- */

static void info_cache_put_platforms(text *t, const machsym_image *cache)
{
    machsym_cursor at = {0, 0};
    machsym_platform p;
    text version = {0};
    json_put_key(t, "platforms");
    text_char(t, '[');
    for (size_t i = 0; machsym_image_next_platform(cache, &at, &p); i++) {
        text_c(t, i == 0 ? "{\"platform\":" : ",{\"platform\":");
        text_json(t, str_c(value_platform_name(p.platform)));
        version.len = 0;
        info_cache_text_version(&version, p.min_os);
        json_put_str(t, "version", str_make(version.v, version.len));
        text_char(t, '}');
    }
    text_char(t, ']');
    text_free(&version);
}

static void info_cache_put_files(text *t, const machsym_image *cache)
{
    machsym_cursor at = {0, 0};
    machsym_cache_file file;
    json_put_key(t, "files");
    text_char(t, '[');
    for (size_t i = 0; machsym_image_next_cache_file(cache, &at, &file); i++) {
        text_c(t, i == 0 ? "{\"name\":" : ",{\"name\":");
        text_json(t, file.name);
        json_put_uuid(t, "uuid", &file.uuid);
        json_put_hex(t, "address", file.addr);
        json_put_number(t, "size", file.size);
        json_put_str(t, "status", str_c(cache_file_status(file.status)));
        json_put_bool(t, "local_symbols", file.has_symbols);
        text_char(t, '}');
    }
    text_char(t, ']');
}

static void info_cache_put_images(text *t, const machsym_image *cache)
{
    machsym_cursor at = {0, 0};
    machsym_entry entry;
    machsym_uuid uuid;
    json_put_key(t, "images");
    text_char(t, '[');
    for (size_t i = 0; cache_next_entry(cache, &at, &entry); i++) {
        text_c(t, i == 0 ? "{\"name\":" : ",{\"name\":");
        text_json(t, entry.name);
        json_put_hex(t, "address", entry.addr);
        json_put_uuid(t, "uuid", cache_entry_uuid(cache, &entry, &uuid) ? &uuid : NULL);
        text_char(t, '}');
    }
    text_char(t, ']');
}

static void info_cache_print_json(const machsym_image *cache, const machsym_image_info *info)
{
    text t = {0};
    json_begin(&t, "cache");
    json_put_str(&t, "file", str_c(info->path));
    json_put_str(&t, "arch", str_c(info->slice.arch));
    json_put_uuid(&t, "uuid", info->slice.has_uuid ? &info->slice.uuid : NULL);
    info_cache_put_platforms(&t, cache);
    json_put_hex(&t, "address", info->text_addr);
    json_put_number(&t, "size", info->text_size);
    info_cache_put_files(&t, cache);
    info_cache_put_images(&t, cache);
    text_c(&t, "}\n");
    out_text(&t);
    text_free(&t);
}

void info_cache_print(const machsym_image *cache, bool json)
{
    machsym_image_info info;
    machsym_image_get_info(cache, &info);
    if (json)
        info_cache_print_json(cache, &info);
    else
        info_cache_print_text(cache, &info);
}
