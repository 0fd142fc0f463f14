/* Merges images of reports that have no image list. Readers add one image for each frame; equal ones become
 * one. */

#include "report.h"
#include <stdlib.h>
#include <string.h>

/* The fields that tell added images apart. */
typedef struct made_up_key {
    uint64_t base;
    machsym_uuid uuid;
    uint32_t index;
} made_up_key;

static int report_by_made_up_key(const void *a, const void *b)
{
    const made_up_key *x = (const made_up_key *)a;
    const made_up_key *y = (const made_up_key *)b;
    int order = memcmp(&x->uuid, &y->uuid, sizeof x->uuid);
    MACHSYM_COUNT_WORK(1);
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    return order != 0 ? order : x->index < y->index ? -1 : x->index > y->index;
}

void report_merge_images(report *r, uint32_t first, uint32_t first_frame)
{
    uint32_t count = r->image_count - first;
    made_up_key *keys = (made_up_key *)mem_take(r->memory, count * sizeof *keys);
    uint32_t *to = (uint32_t *)mem_take(r->memory, count * sizeof *to);
    for (uint32_t i = 0; i < count; i++) {
        made_up_key key = {r->images[first + i].base, r->images[first + i].uuid, i};
        keys[i] = key;
    }
    qsort(keys, count, sizeof *keys, report_by_made_up_key);
    for (uint32_t i = 0; i < count; i++) {
        bool alike = i > 0 && keys[i].base == keys[i - 1].base &&
                     memcmp(&keys[i].uuid, &keys[i - 1].uuid, sizeof keys[i].uuid) == 0;
        to[keys[i].index] = alike ? to[keys[i - 1].index] : keys[i].index;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (to[i] == i)
            r->images[first + kept] = r->images[first + i];
        to[i] = to[i] == i ? kept++ : to[to[i]];
    }
    r->image_count = first + kept;
    for (uint32_t i = first_frame; i < r->frame_count; i++) {
        uint32_t *image = &r->frames[i].image;
        if (*image != REPORT_NONE && *image >= first)
            *image = first + to[*image - first];
    }
    mem_give(r->memory, keys);
    mem_give(r->memory, to);
}
