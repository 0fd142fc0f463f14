/* Finds the image of each frame, and completes the images once the whole report is parsed. */

#include "report.h"
#include <stdlib.h>
#include <string.h>

typedef struct image_order {
    uint64_t base;
    uint32_t index;
} image_order;

static int report_by_base(const void *a, const void *b)
{
    const image_order *x = (const image_order *)a;
    const image_order *y = (const image_order *)b;
    MACHSYM_COUNT_WORK(1);
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* If the report does not give the end of an image, it reaches to the next one, but at most this far. No image
 * has more code: branches of arm64 reach 128 MB, and larger programs are split. */
#define MAX_OPEN_IMAGE ((uint64_t)1 << 31)

static image_order *report_sort_images(report *r, uint32_t first, uint32_t *placed)
{
    image_order *order = (image_order *)mem_take(r->memory, (r->image_count - first) * sizeof *order);
    uint32_t count = 0;
    for (uint32_t i = first; i < r->image_count; i++) {
        r->images[i].is_open |= r->images[i].is_offset;
        if (!r->images[i].is_offset) {
            image_order one = {r->images[i].base, i};
            order[count++] = one;
        }
    }
    *placed = count;
    qsort(order, count, sizeof *order, report_by_base);
    for (uint32_t i = 0; i < count; i++) {
        report_image *image = &r->images[order[i].index];
        if (image->end <= image->base) {
            image->is_open = true;
            image->end = i + 1 < count && order[i + 1].base > image->base ? order[i + 1].base : UINT64_MAX;
        }
    }
    return order;
}

static bool report_begins_by(const void *element, const void *addr)
{
    return ((const image_order *)element)->base <= *(const uint64_t *)addr;
}

static uint32_t report_image_of(const report *r, const image_order *order, uint32_t count, uint64_t addr)
{
    size_t after = mem_lower_bound(order, count, sizeof *order, &addr, report_begins_by);
    if (after == 0)
        return REPORT_NONE;
    const report_image *image = &r->images[order[after - 1].index];
    if (addr >= image->end || (image->is_open && addr - image->base >= MAX_OPEN_IMAGE))
        return REPORT_NONE;
    return order[after - 1].index;
}

/* Libraries of the system, of a simulator's system, and of the language. */
static bool report_has_system_path(const report_image *image)
{
    static const char *const folders[] = {"/System/",
                                          "/usr/lib/",
                                          "/Library/Apple/",
                                          "/Developer/",
                                          "/RuntimeRoot/",
                                          "/Contents/Developer/",
                                          "/Preboot/Cryptexes/",
                                          "/usr/libexec/",
                                          "/sbin/",
                                          "/Library/MobileSubstrate/"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        size_t at = str_find(image->path, folders[i]);
        if (at < image->path.len && (at == 0 || i == 4 || i == 5 || i == 6))
            return true;
    }
    return false;
}

/* Where the kernel maps the shared cache: xnu, osfmk/mach/shared_region.h, for arm64 and x86_64. Programs and
 * their frameworks lie below it. */
static bool report_is_in_shared_region(const report_image *image)
{
    return (image->base >= 0x180000000 && image->base < 0x300000000) ||
           (image->base >= 0x7fff00000000 && image->base < 0x7fffffe00000);
}

/* Names of the system's images, for reports without an image list. */
bool report_has_system_name(machsym_str name)
{
    static const char *const names[] = {"UIKit",
                                        "UIKitCore",
                                        "Foundation",
                                        "CoreFoundation",
                                        "AppKit",
                                        "GraphicsServices",
                                        "QuartzCore",
                                        "SwiftUI",
                                        "SwiftUICore",
                                        "HIToolbox",
                                        "CFNetwork",
                                        "CoreData",
                                        "WebKit",
                                        "JavaScriptCore",
                                        "Security",
                                        "CoreGraphics",
                                        "Combine",
                                        "dyld",
                                        "dyld_sim",
                                        "???",
                                        "UIFoundation",
                                        "BaseBoard",
                                        "BackBoardServices",
                                        "FrontBoardServices",
                                        "RunningBoardServices",
                                        "CoreText",
                                        "CoreLocation",
                                        "CoreMedia",
                                        "ImageIO",
                                        "IOKit",
                                        "Metal",
                                        "MapKit",
                                        "AVFoundation",
                                        "AVFAudio",
                                        "MediaPlayer",
                                        "WebCore",
                                        "AttributeGraph",
                                        "Network",
                                        "StoreKit",
                                        "TextInputUI"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (str_is(name, names[i]))
            return true;
    }
    return name.len == 0 || str_starts(name, "com.apple.") ||
           (str_starts(name, "lib") && name.len > 6 && memcmp(name.ptr + name.len - 6, ".dylib", 6) == 0);
}

/* Whether the image is the system's: no dSYM of it can be had. MetricKit gives no paths. */
static bool report_is_system(const report *r, const report_image *image)
{
    if (report_has_system_path(image) || (image->base >= r->cache_lo && image->base < r->cache_hi))
        return true;
    if (image->path.len == 0 && image->has_uuid && report_is_in_shared_region(image))
        return true;
    if (image->is_offset && report_has_system_name(image->name))
        return true;
    return str_starts(image->name, "libswift") || str_starts(image->name, "com.apple.") ||
           str_is(image->name, "dyld") || str_is(image->name, "dyld_sim") ||
           str_starts(image->name, "libsystem_");
}

/* Reports of Intel processes name the processor before their stacks. */
static bool report_is_of_intel(const report *r)
{
    machsym_str cpu = r->facts[FACT_CODE_TYPE];
    return str_starts(cpu, "X86") || str_starts(cpu, "x86") || str_starts(cpu, "i386");
}

uint64_t report_plain_addr(const report *r, uint64_t addr)
{
    enum { CPU_ARM64 = 0x0100000c };
    return report_is_of_intel(r) ? addr : machsym_plain_pc(CPU_ARM64, addr);
}

/* Macs sign pointers from bit 47 up; machsym_plain_pc removes these bits. iPhones sign from bit 39 up, since
 * their addresses have no more bits. So bits from 39 up are removed if no image holds the address with them
 * and one holds it without. An image with an unknown end proves nothing. */
static uint32_t report_unsigned_image(const report *r, const image_order *order, uint32_t count,
                                      uint64_t *addr)
{
    enum { LEAST_SIGNED_BIT = 39 };
    uint64_t plain = *addr & (((uint64_t)1 << LEAST_SIGNED_BIT) - 1);
    bool may_be = plain != *addr && *addr >> 63 == 0 && !report_is_of_intel(r);
    uint32_t image = may_be ? report_image_of(r, order, count, plain) : REPORT_NONE;
    if (image == REPORT_NONE || r->images[image].is_open || r->images[image].base == 0)
        return REPORT_NONE;
    *addr = plain;
    return image;
}

void report_place_frames(report *r, uint32_t first_frame, uint32_t first_image)
{
    uint32_t count;
    image_order *order = report_sort_images(r, first_image, &count);
    for (uint32_t i = first_frame; i < r->frame_count; i++) {
        report_frame *frame = &r->frames[i];
        frame->given = frame->given != 0 ? frame->given : frame->addr;
        frame->addr = report_plain_addr(r, frame->addr);
        bool is_kernel = frame->addr >> 63 != 0; /* the kernel has one address range for all processes */
        if (frame->image == REPORT_NONE && (!frame->is_placed || is_kernel))
            frame->image = report_image_of(r, order, count, frame->addr);
        if (frame->image == REPORT_NONE && !frame->is_placed)
            frame->image = report_unsigned_image(r, order, count, &frame->addr);
        frame->is_placed |= first_image < r->image_count;
    }
    for (; r->register_placed < r->register_count; r->register_placed++) {
        report_register *one = &r->registers[r->register_placed];
        uint32_t image = report_image_of(r, order, count, report_plain_addr(r, one->value));
        bool is_one = image != REPORT_NONE && r->images[image].base != 0; /* "???" begins at 0 */
        one->image = is_one ? image : REPORT_NONE;
    }
    mem_give(r->memory, order);
}

/* Applies --load to all reports of a document. */
void report_place_in_loads(report *r, const report_load *loads, size_t load_count)
{
    uint32_t count;
    uint32_t first = r->image_count;
    for (size_t i = 0; i < load_count; i++) {
        report_image *image = report_add_image(r);
        image->base = loads[i].base;
        image->name = loads[i].name;
        image->is_named = true;
    }
    report_place_frames(r, 0, 0);
    image_order *order = report_sort_images(r, first, &count);
    for (uint32_t i = 0; i < r->frame_count && count > 0; i++) {
        if (r->frames[i].image == REPORT_NONE)
            r->frames[i].image = report_image_of(r, order, count, r->frames[i].addr);
    }
    mem_give(r->memory, order);
}

bool report_arch_is_arm32(machsym_str arch)
{
    return str_starts(arch, "armv") || str_is(arch, "arm") || str_is(arch, "ARM");
}

/* "<   redacted>": the shadow shows an entity as its character and blanks. Returns the name without these
 * blanks. */
static machsym_str report_without_blanks(machsym_str name, char *room, size_t cap)
{
    if (name.len < 2 || name.len > cap || name.ptr[0] != '<' || name.ptr[1] != ' ')
        return name;
    machsym_str rest = str_trim(str_make(name.ptr + 1, name.len - 1));
    room[0] = '<';
    memcpy(room + 1, rest.ptr, rest.len);
    return str_make(room, rest.len + 1);
}

static const char folded_name[] = "<deduplicated_symbol>";

bool report_is_folded_name(machsym_str name)
{
    char room[64];
    return str_starts(report_without_blanks(name, room, sizeof room), folded_name);
}

bool report_is_no_name(machsym_str name, machsym_str image)
{
    char room[64]; /* longer than all names below */
    static const char *const begins[] = {"<redacted>", folded_name, "___lldb_unnamed_symbol"};
    static const char *const wholes[] = {
        "???", "<unknown>", "<null>", "Unknown", "_mh_execute_header", "__mh_execute_header", "0"};
    if (name.len > 0 && memchr("<_?U0", name.ptr[0], 5) == NULL)
        return str_equal(name, image);
    name = report_without_blanks(name, room, sizeof room);
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        if (str_starts(name, begins[i]))
            return true;
    }
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
        if (str_is(name, wholes[i]))
            return true;
    }
    return name.len == 0 || str_equal(name, image);
}

/* No file system allows longer names. The limit bounds the output, because every frame may be written with
 * the name of its image, and many images may get the program's version. */
enum { MAX_IMAGE_NAME = 255 };

/* Returns the program's name: "demo" of "demo [123]". */
static machsym_str report_program(const report *r)
{
    machsym_str process = r->facts[FACT_PROCESS];
    process.len = str_find(process, " [");
    return process;
}

static bool report_is_program(const report *r, const report_image *image, machsym_str process)
{
    return image->name.len > 0 &&
           (str_equal(image->name, process) || str_equal(image->path, r->facts[FACT_PATH]));
}

void report_finish_images(report *r)
{
    machsym_str process = report_program(r); /* computed once: it may be as long as the report */
    for (uint32_t i = 0; i < r->image_count; i++) {
        report_image *image = &r->images[i];
        image->is_system = report_is_system(r, image);
        if (image->version.len == 0 && report_is_program(r, image, process))
            image->version = r->facts[FACT_VERSION];
        if (image->name.len > MAX_IMAGE_NAME)
            image->name.len = MAX_IMAGE_NAME;
        if (image->version.len > MAX_IMAGE_NAME)
            image->version.len = MAX_IMAGE_NAME;
        if (image->bundle.len > MAX_IMAGE_NAME)
            image->bundle.len = MAX_IMAGE_NAME;
    }
}
