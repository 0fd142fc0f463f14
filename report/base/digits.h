/* ==== >> base/digits ====
 * Job: numbers and UUIDs as people and reports write them.
 * Offers: parse_hex, parse_uuid, parse_uuid_str, str_number_after.
 * Never: prints one. */
#ifndef REPORT_DIGITS_H
#define REPORT_DIGITS_H

#include "machsym.h"

bool parse_hex(const char *digits, size_t len, uint64_t *out); /* with or without 0x */
extern const uint8_t hex_digits[256]; /* one more than what a digit stands for; 0: it is none */
/* What a hexadecimal digit of either case stands for; -1: it is none. */
static inline int hex_digit(char c)
{
    return hex_digits[(unsigned char)c] - 1;
}
bool parse_uuid(const char *written, machsym_uuid *out); /* with or without dashes */
bool parse_uuid_str(machsym_str written, machsym_uuid *out);
/* The first number after a word: "Code 0x8badf00d", "Code 2343432205". */
bool str_number_after(machsym_str s, const char *word, uint64_t *out);

#endif
