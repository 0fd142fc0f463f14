/* Fuzzes property lists, XML and binary: the input is one. The keys of a version are asked for in the root's dictionary
 * and in one of its dictionaries; a text is never longer than the list allows, and damage is reported with a place in it.
 * Run: build/fuzz/plist fuzz/corpus/plist */
#include "../report/base/text.h"
#include "../tool/files/plist.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const keys[] = {"CFBundleShortVersionString", "CFBundleVersion", "a"};
    static const char *const dicts[] = {NULL, "ApplicationProperties", "d"};
    for (size_t i = 0; i < 9; i++) {
        text out = {0};
        machsym_error err = {MACHSYM_OK, 0, NULL, NULL, 0};
        plist_found found =
            plist_text(str_make((const char *)data, size), dicts[i / 3], keys[i % 3], &out, &err);
        /* two bytes of UTF-16 become three of UTF-8; a number of 8 bytes has 20 digits */
        if (out.len > 3 * size + 20 || (found == PLIST_NONE && out.len != 0))
            abort();
        if (found == PLIST_BAD && (err.what == NULL || err.where == NULL || err.offset > size))
            abort();
        text_free(&out);
    }
    return 0;
}
