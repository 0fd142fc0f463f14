/* Fuzzes fat headers and load commands: the input is a file, opened as one, and as an image in memory; of a
 * kernel collection the first images too. Run: build/fuzz/macho -dict=fuzz/macho.dict fuzz/corpus/macho */
#include "drive.h"

static void drive_image(const machsym_image *image)
{
    machsym_image_info info;
    machsym_section section;
    machsym_cursor at = {0, 0};
    machsym_image_get_info(image, &info);
    while (machsym_image_next_section(image, &at, &section)) {
        const uint8_t *p = (const uint8_t *)section.bytes.ptr;
        for (size_t i = 0; i < section.bytes.len; i++)
            drive_sum += p[i];
        drive_text(section.segment);
        drive_text(section.name);
    }
    drive_sum += (unsigned)machsym_image_addr_of_pc(image, info.text_addr, 1234);
}

/* The first images of a kernel collection. */
static void drive_entries(const machsym_image *collection, machsym_open_desc desc)
{
    machsym_cursor at = {0, 0};
    machsym_entry entry;
    for (unsigned i = 0; i < 4 && machsym_image_next_entry(collection, &at, &entry); i++) {
        char name[64];
        machsym_image *image;
        drive_text(entry.name);
        snprintf(name, sizeof name, "%.*s", (int)(entry.name.len < 63 ? entry.name.len : 63), entry.name.ptr);
        desc.entry = name;
        if (machsym_image_open(&desc, &image, NULL) != MACHSYM_OK)
            continue;
        drive_image(image);
        machsym_image_close(image);
    }
}

static void drive_macho(const uint8_t *data, size_t size, uint32_t flags)
{
    machsym_open_desc desc;
    machsym_image *image;
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = data;
    desc.bytes.len = size;
    desc.flags = flags;
    if (size == 0 || machsym_image_open(&desc, &image, NULL) != MACHSYM_OK)
        return;
    drive_image(image);
    drive_entries(image, desc);
    machsym_image_close(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    machsym_open_desc desc;
    machsym_slice slices[4];
    memset(&desc, 0, sizeof desc);
    desc.bytes.ptr = data;
    desc.bytes.len = size;
    if (size != 0)
        drive_sum += (unsigned)machsym_list_slices(&desc, slices, 4, NULL);
    drive_macho(data, size, 0);
    drive_macho(data, size, MACHSYM_OPEN_LOADED);
    return 0;
}
