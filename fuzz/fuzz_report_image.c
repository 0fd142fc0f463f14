/* A report together with the image that its frames are looked up in, both hostile: through the store, the
 * lookups and all writers. A report of nothing but JSON must stay JSON, and what is written stays within
 * the stated size. The first byte says how it is written; two bytes how long the report is; the image
 * follows. Run: build/fuzz/report_image -dict=fuzz/report.dict fuzz/corpus/report_image */
#include "../report/base/memory.h"
#include "../report/base/text.h"
#include "../report/model/redact.h"
#include "../report/model/report.h"
#include "../report/read/recognise.h"
#include "../report/tell/missing.h"
#include "../report/tell/signature.h"
#include "../report/tell/summary.h"
#include "../report/write/call.h"
#include "../report/write/write.h"
#include "../tool/base/posix.h"
#include "../tool/symbols/images.h"
#include "../tool/symbols/resolve.h"
#include "../tool/symbols/store.h"
#include "drive.h"
#include "mutate_macho.h"
#include "one_json.h"

#include <unistd.h>

enum { HEAD = 3, OUTPUT_FACTOR = 128 /* machsym.1, --limit */ };

/* ---- Mutations ---- */

static size_t report_len(const uint8_t *data, size_t size)
{
    size_t len = (size_t)(data[1] | data[2] << 8);
    return len < size - HEAD ? len : size - HEAD;
}

static size_t mutate_image(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    size_t at = HEAD + report_len(data, size);
    mutation m = mutate_begin(data + at, size - at, max - at, seed);
    mutate_file(&m, false);
    return at + m.len;
}

/* The image moves to where the report ends. */
static size_t mutate_report(uint8_t *data, size_t size, size_t max)
{
    size_t len = report_len(data, size);
    size_t image = size - HEAD - len;
    size_t room = max - HEAD - image < 0xffff ? max - HEAD - image : 0xffff;
    uint8_t *copy = (uint8_t *)malloc(size + room);
    if (copy == NULL)
        abort();
    memcpy(copy, data + HEAD, len);
    memcpy(copy + room, data + HEAD + len, image);
    len = LLVMFuzzerMutate(copy, len, room);
    memcpy(data + HEAD, copy, len);
    memcpy(data + HEAD + len, copy + room, image);
    free(copy);
    data[1] = (uint8_t)len;
    data[2] = (uint8_t)(len >> 8);
    return HEAD + len + image;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    if (size <= HEAD + 32 || max - size < 64)
        return LLVMFuzzerMutate(data, size, max);
    data[0] = seed % 16 == 0 ? (uint8_t)(seed >> 8) : data[0];
    return seed % 2 == 0 ? mutate_image(data, size, max, seed / 2) : mutate_report(data, size, max);
}

/* ---- One input ---- */

static char folder[] = "/tmp/machsym-fuzz-XXXXXX";
static char image_path[sizeof folder + 8];

static void remove_folder(void)
{
    unlink(image_path);
    rmdir(folder);
}

/* The image as the only file of a folder, which is where stores look. */
static void write_image(const uint8_t *v, size_t len)
{
    if (image_path[0] == 0) {
        if (mkdtemp(folder) == NULL || atexit(remove_folder) != 0)
            abort();
        snprintf(image_path, sizeof image_path, "%s/demo", folder);
    }
    FILE *file = fopen(image_path, "wb");
    if (file == NULL || fwrite(v, 1, len, file) != len || fclose(file) != 0)
        abort();
}

static void check_output(text *out, size_t report)
{
    if (out->len > RESOLVE_BYTES + (uint64_t)OUTPUT_FACTOR * report)
        abort();
    out->len = 0;
}

static void write_all(const report *r, const write_options *how, const resolve_counts *counts)
{
    text out = {0};
    missing_list missing;
    signature sign;
    memset(&missing, 0, sizeof missing);
    write_same(r, how, &out);
    if (r->encoding == ENCODING_BYTES && is_json(r->body, r->len) && !is_json(out.v, out.len))
        abort();
    check_output(&out, r->len);
    write_text(r, how, &out);
    check_output(&out, r->len);
    write_json(r, how, counts, &out);
    if (!is_json(out.v, out.len))
        abort();
    check_output(&out, r->len);
    summary_put(&out, r, counts, false);
    check_output(&out, r->len);
    summary_put_brief(&out, r, counts);
    check_output(&out, r->len);
    missing_add_report(&missing, r);
    missing_put_json(&missing, &out);
    if (!is_json(out.v, out.len))
        abort();
    missing_free(&missing);
    signature_of(r, NULL, &sign);
    text_free(&sign.words);
    text_free(&out);
}

static void use(const char *input, size_t len, image_pool *files, unsigned bits)
{
    redactor key;
    redact_open(&key, "words");
    write_options writing = {(bits & 1) != 0, (bits & 2) != 0, (bits & 64) != 0, false};
    resolve_options how;
    resolve_counts counts;
    report r;
    memset(&how, 0, sizeof how);
    how.all = (bits & 2) != 0;
    how.no_inline = (bits & 4) != 0;
    how.raw_addresses = (bits & 8) != 0;
    how.redact = (bits & 16) != 0 ? &key : NULL;
    how.style.demangle_flags = (bits & 32) != 0 ? MACHSYM_DEMANGLE_SIMPLIFIED : 0;
    report_open_redacted(NULL, &r, input, len, NULL, 0, NULL, how.redact);
    if (resolve_report(&r, files, &how, &counts) == NULL)
        write_all(&r, &writing, &counts);
    report_close(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    store_options store_how = {true};
    images_options how;
    text complaints = {0};
    if (size < HEAD)
        return 0;
    size_t len = report_len(data, size);
    char *copy = (char *)mem_alloc(len); /* exactly as long: a byte too far is seen */
    memcpy(copy, data + HEAD, len);
    write_image(data + HEAD + len, size - HEAD - len);
    store *symbols = store_open(&store_how);
    store_add(symbols, folder, false);
    store_finish(symbols);
    memset(&how, 0, sizeof how);
    how.store = symbols;
    how.lines = (data[0] & 64) != 0 ? MACHSYM_LINES_ATOS : MACHSYM_LINES_DWARF;
    how.open_flags = MACHSYM_OPEN_NO_OBJECTS;
    how.jobs = 1;
    image_pool *files = images_open(&how);
    use(copy, len, files, data[0]);
    images_failed(files, &complaints);
    text_free(&complaints);
    images_close(files);
    store_close(symbols);
    free(copy);
    return 0;
}
