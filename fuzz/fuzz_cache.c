/* Fuzzes dyld shared caches: headers, lists of images and files, slide info, local symbols, images. The input is
 * the main file and two others after it, each but the last with its length before it. Run:
 * build/fuzz/cache -dict=fuzz/macho.dict fuzz/corpus/cache */
#include "drive.h"

/* Reads the data of an image as dyld leaves it. */
static void drive_data(const machsym_image *image)
{
    static uint8_t room[4096];
    machsym_cursor at = {0, 0};
    machsym_section section;
    for (unsigned i = 0; i < 16 && machsym_image_next_section(image, &at, &section); i++) {
        size_t len = section.size < sizeof room ? (size_t)section.size : sizeof room;
        drive_sum += (unsigned)machsym_image_read_cache_at_addr(image, section.addr, room, len);
    }
}

static void drive_entry(const machsym_image *cache, const machsym_entry *entry)
{
    char name[64];
    machsym_open_desc desc;
    machsym_image *image;
    machsym_session *session;
    machsym_session_desc how;
    memset(&desc, 0, sizeof desc);
    memset(&how, 0, sizeof how);
    snprintf(name, sizeof name, "%.*s", (int)(entry->name.len < 63 ? entry->name.len : 63), entry->name.ptr);
    desc.from = cache;
    desc.entry = name;
    if (machsym_image_open(&desc, &image, NULL) != MACHSYM_OK)
        return;
    how.image = image;
    if (machsym_session_open(&how, &session, NULL) != MACHSYM_OK)
        abort();
    drive_session(session, image);
    drive_data(image);
    machsym_session_close(session);
    machsym_image_close(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes files[3];
    machsym_bytes parts[2];
    machsym_open_desc desc;
    machsym_slice slices[2];
    machsym_image *cache;
    machsym_cursor at = {0, 0};
    machsym_entry entry;
    machsym_cache_file file;
    memset(&desc, 0, sizeof desc);
    for (unsigned i = 0; i < 3; i++)
        files[i] = drive_part(&data, &size, i == 2);
    for (unsigned i = 0; i < 2; i++) {
        parts[i].ptr = files[i + 1].v;
        parts[i].len = files[i + 1].len;
    }
    desc.bytes.ptr = files[0].v;
    desc.bytes.len = files[0].len;
    desc.cache_files = parts;
    desc.cache_file_count = 2;
    if (files[0].len != 0 && machsym_image_open(&desc, &cache, NULL) == MACHSYM_OK) {
        drive_sum += (unsigned)machsym_list_slices(&desc, slices, 2, NULL);
        while (machsym_image_next_cache_file(cache, &at, &file))
            drive_text(file.name);
        memset(&at, 0, sizeof at);
        for (unsigned i = 0; i < 4 && machsym_image_next_entry(cache, &at, &entry); i++) {
            machsym_entry same;
            drive_text(entry.name);
            drive_sum += machsym_image_entry_at_addr(cache, entry.addr, &same);
            drive_entry(cache, &entry);
        }
        machsym_image_close(cache);
    }
    for (unsigned i = 0; i < 3; i++)
        bytes_free(&files[i]);
    return 0;
}
