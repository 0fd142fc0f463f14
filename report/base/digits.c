/* See digits.h. */
#include "digits.h"
#include "text.h"

bool parse_hex(const char *digits, size_t len, uint64_t *out)
{
    size_t at = len > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') ? 2 : 0;
    uint64_t number = 0;
    if (at == len)
        return false;
    for (; at < len && digits[at] == '0'; at++)
        continue;
    if (len - at > 16)
        return false;
    for (; at < len; at++) {
        int digit = hex_digit(digits[at]);
        if (digit < 0)
            return false;
        number = number << 4 | (uint64_t)digit;
    }
    *out = number;
    return true;
}

bool parse_uuid(const char *written, machsym_uuid *out)
{
    return parse_uuid_str(str_c(written), out);
}

bool parse_uuid_str(machsym_str written, machsym_uuid *out)
{
    size_t count = 0;
    for (size_t i = 0; i < written.len; i++) {
        int digit = hex_digit(written.ptr[i]);
        if (written.ptr[i] == '-')
            continue;
        if (digit < 0 || count == 32)
            return false;
        out->v[count / 2] = (uint8_t)(count % 2 == 0 ? digit << 4 : out->v[count / 2] | digit);
        count++;
    }
    return count == 32;
}

bool str_number_after(machsym_str s, const char *word, uint64_t *out)
{
    size_t at = str_find(s, word) + strlen(word);
    size_t end;
    if (at >= s.len)
        return false;
    while (at < s.len && (s.ptr[at] == ' ' || s.ptr[at] == ':'))
        at++;
    bool hex = s.len - at > 2 && s.ptr[at] == '0' && s.ptr[at + 1] == 'x';
    *out = 0;
    for (end = at + 2 * hex; end < s.len; end++) {
        char c = s.ptr[end];
        unsigned digit = c >= '0' && c <= '9'                        ? (unsigned)(c - '0')
                         : (c | 32) >= 'a' && (c | 32) <= 'f' && hex ? (unsigned)((c | 32) - 'a' + 10)
                                                                     : 16;
        if (digit == 16)
            break;
        *out = *out * (hex ? 16 : 10) + digit;
    }
    return end > at + 2 * hex;
}
