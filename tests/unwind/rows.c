/* The rows of CFA programs: for each "FDE PC" on stdin, offset and address, the rules as llvm-dwarfdump prints them, with
 * numbers for registers. Usage: rows FILE OFFSET SIZE ADDR WORD SECTION, where its __eh_frame or __debug_frame is, how long addresses
 * are, and which section it is. */
#include "../../src/unwind/cfa.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_offset(int64_t off)
{
    if (off != 0)
        printf("%+" PRId64, off);
}

static void print_expression(const ms_cfa_rule *rule)
{
    printf("expression ");
    for (int64_t i = 0; i < rule->value; i++)
        printf("%02x", rule->expression[i]);
}

static void print_row(const ms_cfa_row *row)
{
    if (row->cfa.kind == ms_CFA_IS_EXPRESSION) {
        printf("CFA=");
        print_expression(&row->cfa);
    } else {
        printf("CFA=r%" PRIu64, row->cfa_register);
        print_offset(row->cfa.value);
    }
    for (unsigned i = 0; i < ms_CFA_REGISTERS; i++) {
        const ms_cfa_rule *rule = &row->rules[i];
        if ((row->ruled >> i & 1) == 0 || rule->kind == ms_CFA_IS_SAME)
            continue;
        printf(" r%u=", i);
        switch (rule->kind) {
        case ms_CFA_IS_UNDEFINED: printf("undefined"); break;
        case ms_CFA_IS_AT:
            printf("[CFA");
            print_offset(rule->value);
            printf("]");
            break;
        case ms_CFA_IS_OFFSET:
            printf("CFA");
            print_offset(rule->value);
            break;
        case ms_CFA_IS_REGISTER: printf("r%" PRId64, rule->value); break;
        case ms_CFA_IS_AT_EXPRESSION:
            printf("[");
            print_expression(rule);
            printf("]");
            break;
        default: print_expression(rule); break;
        }
    }
    puts("");
}

int main(int argc, char **argv)
{
    size_t size = argc == 7 ? strtoul(argv[3], NULL, 0) : 0;
    uint8_t *bytes = (uint8_t *)malloc(size + 1);
    FILE *file = fopen(argv[1], "rb");
    if (size == 0 || bytes == NULL || file == NULL || fseek(file, strtol(argv[2], NULL, 0), SEEK_SET) != 0 ||
        fread(bytes, 1, size, file) != size)
        return 1;
    ms_eh_frames frames =
        ms_eh_of_file(ms_span_make(bytes, size), strtoull(argv[4], NULL, 0), (unsigned)atoi(argv[5]));
    frames.is_debug = strcmp(argv[6], "__debug_frame") == 0;
    uint64_t off, pc;
    while (scanf("%" SCNx64 " %" SCNx64, &off, &pc) == 2) {
        ms_cfa_function function;
        ms_cfa_row row;
        uint32_t searched = 0;
        if (ms_cfa_find(&frames, off, pc, &searched, &function) &&
            ms_cfa_row_at(&frames, &function.cie, ms_cfa_program(&function), function.lo, pc, &row))
            print_row(&row);
        else
            puts("none");
    }
    fclose(file);
    free(bytes);
    return 0;
}
