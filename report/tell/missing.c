/* Images without debug info; see missing.h. */
#include "missing.h"
#include "../base/json_put.h"
#include "../base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Unsorted entries are sorted in when there are this many, or as many as sorted ones. So the total takes n
 * log n steps, and at most twice the memory of the list. */
enum { MIN_UNSORTED = 256 };

/* Most systems that are counted separately. All versions and builds of Apple's systems in use are fewer. The
 * images of further systems are counted in the total only. The limit bounds the steps for forged reports. */
enum { MAX_SYSTEMS = 1024 };

/* ---- One image ---- */

missing_image missing_of(const report *r, const report_image *image)
{
    missing_image m;
    memset(&m, 0, sizeof m);
    if (image->is_system)
        m.os = r->facts[FACT_OS];
    m.name = image->name;
    m.version = image->version;
    m.arch = image->arch;
    m.uuid = image->uuid;
    m.has_uuid = image->has_uuid;
    m.is_system = image->is_system;
    m.status = image->status;
    if (!image->looked_for) /* the report has neither a UUID nor a name */
        m.status.found = IMAGE_MISSING;
    m.frames = image->is_system ? image->missing : image->waiting;
    if (m.status.found == IMAGE_FOUND && m.status.has_dwarf)
        m.frames = image->missing;
    return m;
}

bool missing_has_frames(const missing_image *m)
{
    bool is_known =
        m->status.found == IMAGE_FOUND && m->status.why == NULL && (m->status.has_dwarf || m->is_system);
    return m->frames > 0 && !is_known;
}

machsym_str missing_bundle(const char *path)
{
    machsym_str whole = str_c(path);
    whole.len = str_find(whole, "/Contents/Resources/DWARF/");
    return whole;
}

/* "App.dSYM in DIR" */
static void missing_put_file(text *t, const char *path)
{
    machsym_str bundle = missing_bundle(path);
    machsym_str name = str_base_name(bundle);
    size_t folder = bundle.len - name.len;
    text_str(t, name);
    if (folder == 0)
        return;
    text_c(t, " in ");
    text_add(t, bundle.ptr, folder > 1 ? folder - 1 : folder);
}

static void missing_put_why(text *t, const missing_image *m)
{
    const image_status *s = &m->status;
    switch (s->found) {
    case IMAGE_OTHER_UUID:
        missing_put_file(t, s->path);
        text_c(t, " has UUID ");
        text_uuid(t, &s->uuid);
        break;
    case IMAGE_BROKEN:
        missing_put_file(t, s->path);
        text_c(t, " cannot be opened: ");
        text_c(t, s->why);
        break;
    case IMAGE_UNPROVEN:
        text_c(t, "the report gives no UUID, so ");
        missing_put_file(t, s->path);
        text_c(t, ", UUID ");
        text_uuid(t, &s->uuid);
        text_c(t, ", may be another build; --no-uuid takes it");
        break;
    case IMAGE_AMBIGUOUS: text_c(t, "several files of this name, and no UUID to choose by"); break;
    case IMAGE_FOUND:
        missing_put_file(t, s->path);
        if (s->why != NULL) {
            text_c(t, " is damaged: ");
            text_c(t, s->why);
            break;
        }
        if (!s->has_dwarf) {
            text_c(t, " has no debug info");
            break;
        }
        text_c(t, " knows no name for ");
        text_dec(t, m->frames);
        text_c(t, m->frames == 1 ? " frame" : " frames");
        break;
    default: text_c(t, m->has_uuid ? "no file has this UUID" : "the report gives no UUID"); break;
    }
}

void missing_put_image(text *t, const missing_image *m)
{
    size_t from = t->len;
    text_str(t, m->name.len > 0 ? m->name : str_c("???"));
    if (m->version.len > 0) {
        text_char(t, ' ');
        text_str(t, m->version);
    }
    if (m->has_uuid) {
        text_c(t, " UUID ");
        text_uuid(t, &m->uuid);
    }
    if (m->arch.len > 0) {
        text_char(t, ' ');
        text_str(t, m->arch);
    }
    text_c(t, ": ");
    missing_put_why(t, m);
    text_escape(t, from);
}

/* ---- All of them ---- */

static int missing_compare_names(machsym_str a, machsym_str b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len > 0 ? memcmp(a.ptr, b.ptr, len) : 0;
    return order != 0 ? order : a.len < b.len ? -1 : a.len > b.len;
}

/* Two images are equal if their UUIDs are, or, without UUIDs, their names. Images of the system are counted
 * for each system, since two versions may share images. */
static int missing_compare_images(const missing_image *a, const missing_image *b)
{
    MACHSYM_COUNT_WORK(1);
    int order = missing_compare_names(a->os, b->os);
    if (order != 0)
        return order;
    if (a->has_uuid != b->has_uuid)
        return a->has_uuid ? -1 : 1;
    return a->has_uuid ? memcmp(&a->uuid, &b->uuid, sizeof a->uuid) : missing_compare_names(a->name, b->name);
}

static int missing_by_image(const void *a, const void *b)
{
    const missing_image *x = (const missing_image *)a;
    const missing_image *y = (const missing_image *)b;
    int order = missing_compare_images(x, y);
    return order != 0 ? order : x->number < y->number ? -1 : x->number > y->number;
}

static bool missing_image_is_before(const void *element, const void *key)
{
    return missing_compare_images((const missing_image *)element, (const missing_image *)key) < 0;
}

/* Sorts the entries, and merges those of equal images. */
static void missing_sort_list(missing_list *list)
{
    size_t kept = 0;
    if (list->sorted == list->count)
        return;
    qsort(list->v, list->count, sizeof *list->v, missing_by_image);
    for (size_t i = 0; i < list->count; i++) {
        missing_image *m = &list->v[i];
        if (kept > 0 && missing_compare_images(&list->v[kept - 1], m) == 0) {
            list->v[kept - 1].frames += m->frames;
            list->v[kept - 1].reports += m->reports;
        } else {
            list->v[kept++] = *m;
        }
    }
    list->count = list->sorted = kept;
}

static void missing_add_image(missing_list *list, const missing_image *m)
{
    size_t at = mem_lower_bound(list->v, list->sorted, sizeof *list->v, m, missing_image_is_before);
    if (at < list->sorted && missing_compare_images(&list->v[at], m) == 0) {
        list->v[at].frames += m->frames;
        list->v[at].reports += m->reports;
        return;
    }
    list->v =
        (missing_image *)mem_more(list->strings.memory, list->v, list->count, &list->cap, sizeof *list->v);
    missing_image *kept = &list->v[list->count++];
    *kept = *m;
    kept->number = list->number++;
    kept->name = pool_copy(&list->strings, m->name.ptr, m->name.len);
    kept->version = pool_copy(&list->strings, m->version.ptr, m->version.len);
    kept->arch = pool_copy(&list->strings, m->arch.ptr, m->arch.len);
    kept->os = pool_copy(&list->strings, m->os.ptr, m->os.len);
    if (m->status.path != NULL)
        kept->status.path = pool_copy_z(&list->strings, m->status.path, strlen(m->status.path));
    if (list->count - list->sorted > (list->sorted > MIN_UNSORTED ? list->sorted : (size_t)MIN_UNSORTED))
        missing_sort_list(list);
}

/* Counts what a system lacks. Reports come from few systems: the versions and builds in use. */
static void missing_add_system(missing_list *list, const missing_system *s)
{
    for (size_t i = 0; i < list->system_count; i++) {
        missing_system *known = &list->systems[i];
        MACHSYM_COUNT_WORK(1);
        if (str_equal(known->os, s->os) && str_equal(known->arch, s->arch)) {
            known->frames += s->frames;
            known->reports += s->reports;
            return;
        }
    }
    if (list->system_count == MAX_SYSTEMS)
        return;
    list->systems = (missing_system *)mem_more(list->strings.memory, list->systems, list->system_count,
                                               &list->system_cap, sizeof *list->systems);
    missing_system *kept = &list->systems[list->system_count++];
    *kept = *s;
    kept->images = 0;
    kept->os = pool_copy(&list->strings, s->os.ptr, s->os.len);
    kept->arch = pool_copy(&list->strings, s->arch.ptr, s->arch.len);
}

/* Counts the systems of one report's images. */
static void missing_add_systems(missing_list *one)
{
    for (size_t i = 0; i < one->count; i++) {
        const missing_image *m = &one->v[i];
        missing_system s = {m->os, m->arch, 0, m->frames, 0};
        if (m->is_system)
            missing_add_system(one, &s);
    }
    for (size_t i = 0; i < one->system_count; i++)
        one->systems[i].reports = 1;
}

void missing_add_report(missing_list *list, const report *r)
{
    missing_list one;
    memset(&one, 0, sizeof one);
    one.strings.memory = r->memory;
    for (uint32_t i = 0; i < r->image_count; i++) {
        missing_image m = missing_of(r, &r->images[i]);
        if (missing_has_frames(&m))
            missing_add_image(&one, &m);
        one.system_frames += m.is_system ? m.frames : 0;
    }
    missing_sort_list(&one);
    one.reports = 1;
    for (size_t i = 0; i < one.count; i++)
        one.v[i].reports = 1;
    missing_add_systems(&one);
    missing_add_list(list, &one);
    missing_free(&one);
}

void missing_add_list(missing_list *to, const missing_list *from)
{
    to->reports += from->reports;
    to->system_frames += from->system_frames;
    for (size_t i = 0; i < from->count; i++)
        missing_add_image(to, &from->v[i]);
    for (size_t i = 0; i < from->system_count; i++)
        missing_add_system(to, &from->systems[i]);
}

void missing_free(missing_list *list)
{
    mem_give(list->strings.memory, list->v);
    mem_give(list->strings.memory, list->systems);
    pool_free(&list->strings);
    memset(list, 0, sizeof *list);
}

/* ---- Output ---- */

/* Images of the system come last. */
static int missing_by_need(const void *a, const void *b)
{
    const missing_image *x = (const missing_image *)a;
    const missing_image *y = (const missing_image *)b;
    if (x->is_system != y->is_system)
        return x->is_system ? 1 : -1;
    if (x->frames != y->frames)
        return x->frames > y->frames ? -1 : 1;
    if (x->reports != y->reports)
        return x->reports > y->reports ? -1 : 1;
    int order = missing_compare_names(x->name, y->name);
    return order != 0 ? order : missing_compare_images(x, y);
}

bool missing_waits(const missing_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!list->v[i].is_system && list->v[i].frames > 0)
            return true;
    }
    return false;
}

bool missing_waits_for_system(const missing_list *list)
{
    return list->system_frames > 0;
}

/* Sorts the images by need. Returns how many are the team's own. *frames counts the frames in those of the
 * system. */
static size_t missing_order_by_need(missing_list *list, uint64_t *frames)
{
    size_t own = 0;
    *frames = 0;
    missing_sort_list(list);
    if (list->count > 0)
        qsort(list->v, list->count, sizeof *list->v, missing_by_need);
    list->sorted = 0; /* it is no longer sorted by image */
    while (own < list->count && !list->v[own].is_system)
        own++;
    for (size_t i = own; i < list->count; i++)
        *frames += list->v[i].frames;
    return own;
}

static int missing_by_frames(const void *a, const void *b)
{
    const missing_system *x = (const missing_system *)a;
    const missing_system *y = (const missing_system *)b;
    if (x->frames != y->frames)
        return x->frames > y->frames ? -1 : 1;
    int order = missing_compare_names(x->os, y->os);
    return order != 0 ? order : missing_compare_names(x->arch, y->arch);
}

/* Counts the images of each system, and sorts the systems by need. */
static void missing_order_systems(missing_list *list)
{
    for (size_t i = 0; i < list->system_count; i++)
        list->systems[i].images = 0;
    for (size_t i = 0; i < list->count; i++) {
        for (size_t k = 0; list->v[i].is_system && k < list->system_count; k++) {
            missing_system *s = &list->systems[k];
            MACHSYM_COUNT_WORK(1);
            if (str_equal(s->os, list->v[i].os) && str_equal(s->arch, list->v[i].arch)) {
                s->images++;
                break;
            }
        }
    }
    if (list->system_count > 1)
        qsort(list->systems, list->system_count, sizeof *list->systems, missing_by_frames);
}

static void missing_put_count(text *t, uint64_t count, const char *what)
{
    text_dec(t, count);
    text_c(t, what);
    text_c(t, count == 1 ? "" : "s");
}

/* "iOS 17.5.1 (21F90), arm64e: 41 images, 1203 frames in 312 reports" */
static void missing_put_system(text *t, const missing_system *s)
{
    static const char old[] = "iPhone OS "; /* reports still use this name */
    size_t from = t->len;
    machsym_str os = s->os.len > 0 ? s->os : str_c("a system that the reports do not name");
    text_c(t, "  ");
    if (str_starts(os, old)) {
        text_c(t, "iOS ");
        os = str_make(os.ptr + (sizeof old - 1), os.len - (sizeof old - 1));
    }
    text_str(t, os);
    text_c(t, s->arch.len > 0 ? ", " : "");
    text_str(t, s->arch);
    text_c(t, ": ");
    missing_put_count(t, s->images, " image");
    text_c(t, ", ");
    missing_put_count(t, s->frames, " frame");
    text_c(t, " in ");
    missing_put_count(t, s->reports, " report");
    text_end_line(t, from);
}

/* Writes a number into a column. */
static void missing_put_column(text *t, uint64_t number, size_t width)
{
    text digits = text_in(t->memory);
    text_dec(&digits, number);
    for (size_t i = digits.len; i < width; i++)
        text_char(t, ' ');
    text_add(t, digits.v, digits.len);
    text_free(&digits);
}

void missing_put_text(missing_list *list, text *out)
{
    uint64_t frames;
    size_t own = missing_order_by_need(list, &frames);
    if (own > 0)
        text_c(out, "missing debug info, most wanted first:\n  frames  reports  image\n");
    for (size_t i = 0; i < own; i++) {
        missing_put_column(out, list->v[i].frames, 8);
        missing_put_column(out, list->v[i].reports, 9);
        text_c(out, "  ");
        missing_put_image(out, &list->v[i]);
        text_char(out, '\n');
    }
    if (own == list->count)
        return;
    text_dec(out, frames);
    text_c(out, frames == 1 ? " frame" : " frames");
    text_c(out, " without a name in ");
    text_dec(out, list->count - own);
    text_c(out, list->count - own == 1 ? " image" : " images");
    text_c(out,
           " of the system, for which there are no dSYMs: name with -d its shared cache, or maps of it\n");
    missing_order_systems(list);
    for (size_t i = 0; i < list->system_count; i++)
        missing_put_system(out, &list->systems[i]);
}

const char *missing_why(const missing_image *m)
{
    static const char *const words[] = {"no debug info", "no file",   "other uuid",
                                        "damaged",       "ambiguous", "no uuid"};
    if (m->status.found == IMAGE_MISSING && !m->has_uuid)
        return "no uuid";
    return words[m->status.found == IMAGE_FOUND && m->status.why != NULL ? IMAGE_BROKEN : m->status.found];
}

static void missing_put_json_image(text *t, const missing_image *m)
{
    text_c(t, "{\"image\":");
    text_json(t, m->name);
    json_put_str(t, "version", m->version);
    json_put_uuid(t, "uuid", m->has_uuid ? &m->uuid : NULL);
    json_put_str(t, "arch", m->arch);
    json_put_number(t, "frames", m->frames);
    json_put_number(t, "reports", m->reports);
    json_put_str(t, "why", str_c(missing_why(m)));
    json_put_str(t, "file", m->status.path != NULL ? str_c(m->status.path) : str_make(NULL, 0));
    if (m->status.found == IMAGE_OTHER_UUID || m->status.found == IMAGE_UNPROVEN)
        json_put_uuid(t, "file_uuid", &m->status.uuid);
    text_char(t, '}');
}

static void missing_put_json_system(text *t, const missing_system *s, bool is_first)
{
    text_c(t, is_first ? "{\"os\":" : ",{\"os\":");
    text_json(t, s->os);
    json_put_str(t, "arch", s->arch);
    json_put_number(t, "images", s->images);
    json_put_number(t, "frames", s->frames);
    json_put_number(t, "reports", s->reports);
    text_char(t, '}');
}

void missing_put_json(missing_list *list, text *out)
{
    uint64_t frames;
    size_t own = missing_order_by_need(list, &frames);
    json_begin(out, "crash-missing");
    json_put_str(out, "machsym", str_c(MACHSYM_VERSION));
    json_put_number(out, "reports", list->reports);
    text_c(out, ",\"missing\":[");
    for (size_t i = 0; i < own; i++) {
        text_c(out, i > 0 ? ",\n" : "\n");
        missing_put_json_image(out, &list->v[i]);
    }
    text_c(out, "],\n\"system\":{\"images\":");
    text_dec(out, list->count - own);
    json_put_number(out, "frames", frames);
    missing_order_systems(list);
    text_c(out, ",\"systems\":[");
    for (size_t i = 0; i < list->system_count; i++)
        missing_put_json_system(out, &list->systems[i], i == 0);
    text_c(out, "]}}\n");
}
