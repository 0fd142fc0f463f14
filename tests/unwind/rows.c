/* The rows of CFA programs: for each "FDE PC" on stdin, offset and address, the rules as llvm-dwarfdump prints them, with
 * numbers for registers. Usage: rows FILE OFFSET SIZE ADDR WORD, where its __eh_frame is and how long addresses are. */
#include "../../src/unwind/cfa.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_offset(int64_t off)
{
    if (off != 0)
        printf("%+" PRId64, off);
}

static void print_row(const ms_cfa_row *row)
{
    if (row->cfa.kind == ms_CFA_IS_EXPRESSION) {
        printf("CFA=expression");
    } else {
        printf("CFA=r%" PRIu64, row->cfa_register);
        print_offset(row->cfa.value);
    }
    for (unsigned i = 0; i < ms_CFA_REGISTERS; i++) {
        const ms_cfa_rule *rule = &row->rules[i];
        if (rule->kind == ms_CFA_IS_SAME)
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
        case ms_CFA_IS_AT_EXPRESSION: printf("[expression]"); break;
        default: printf("expression"); break;
        }
    }
    puts("");
}

int main(int argc, char **argv)
{
    size_t size = argc == 6 ? strtoul(argv[3], NULL, 0) : 0;
    uint8_t *bytes = (uint8_t *)malloc(size + 1);
    FILE *file = fopen(argv[1], "rb");
    if (size == 0 || bytes == NULL || file == NULL || fseek(file, strtol(argv[2], NULL, 0), SEEK_SET) != 0 ||
        fread(bytes, 1, size, file) != size)
        return 1;
    ms_piece_source frames = ms_piece_of_file(ms_span_make(bytes, size), strtoull(argv[4], NULL, 0));
    unsigned word = (unsigned)atoi(argv[5]);
    uint64_t off, pc;
    while (scanf("%" SCNx64 " %" SCNx64, &off, &pc) == 2) {
        ms_eh_entry fde, room;
        ms_eh_cie cie;
        ms_cfa_row row;
        uint64_t lo;
        if (ms_cfa_find(&frames, off, pc, word, &fde, &room, &cie, &lo) &&
            ms_cfa_row_at(&cie, ms_cfa_program(&fde, &cie), word, lo, pc, &row))
            print_row(&row);
        else
            puts("none");
    }
    fclose(file);
    free(bytes);
    return 0;
}
