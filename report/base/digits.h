/* ==== >> base/digits ====
 * Job: numbers and UUIDs as people and reports write them.
 * Offers: parse_hex, parse_uuid, parse_uuid_str, str_number_after.
 * Never: prints one. */
#ifndef REPORT_DIGITS_H
#define REPORT_DIGITS_H

#include "machsym.h"

bool parse_hex(const char *digits, size_t len, uint64_t *out); /* with or without 0x */
/* Returns the value of a hexadecimal digit of either case; -1 for any other byte. It has no branch, because
 * the case of a digit cannot be predicted. */
static inline int hex_digit(char c)
{
    unsigned byte = (unsigned char)c;
    bool is_digit = (byte - '0' < 10u) | ((byte | 32) - 'a' < 6u);
    return is_digit ? (int)((byte & 15) + 9 * (byte >> 6)) : -1;
}
bool parse_uuid(const char *written, machsym_uuid *out); /* with or without dashes */
bool parse_uuid_str(machsym_str written, machsym_uuid *out);
/* Returns the first number after a word: "Code 0x8badf00d", "Code 2343432205". */
bool str_number_after(machsym_str s, const char *word, uint64_t *out);

#endif
