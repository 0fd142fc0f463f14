/* What values are called; see values.h. */
#include "values.h"

#include <string.h>

const char *value_lines_name(machsym_lines lines)
{
    static const char *const names[] = {"atos", "dwarf", "stmt", "people"};
    return (unsigned)lines < MACHSYM_LINES_COUNT ? names[lines] : "?";
}

bool value_parse_lines(const char *written, machsym_lines *out)
{
    for (unsigned i = 0; i < MACHSYM_LINES_COUNT; i++) {
        if (strcmp(written, value_lines_name((machsym_lines)i)) == 0) {
            *out = (machsym_lines)i;
            return true;
        }
    }
    return false;
}

const char *value_platform_name(uint32_t platform)
{
    static const char *const names[] = {"unknown",
                                        "macOS",
                                        "iOS",
                                        "tvOS",
                                        "watchOS",
                                        "bridgeOS",
                                        "Mac Catalyst",
                                        "iOS simulator",
                                        "tvOS simulator",
                                        "watchOS simulator",
                                        "DriverKit",
                                        "visionOS",
                                        "visionOS simulator"};
    return platform < sizeof names / sizeof names[0] ? names[platform] : "unknown";
}
