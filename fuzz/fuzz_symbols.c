/* Fuzzes LC_SYMTAB, the indirect symbol table with stubs, and LC_FUNCTION_STARTS: part 1 is the entries, part
 * 2 the texts, part 3 the indirect table, the rest the function starts. A first byte chooses 32 or 64 bits.
 * Run: build/fuzz/symbols -dict=fuzz/metadata.dict fuzz/corpus/symbols */
#include "drive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    make_macho m;
    bytes commands = {NULL, 0, 0};
    if (size == 0)
        return 0;
    memset(&m, 0, sizeof m);
    m.is_32 = (data[0] & 1) != 0;
    m.cputype = m.is_32 ? 12 : 0x0100000c;
    data++;
    size--;
    bytes parts[4];
    for (unsigned i = 0; i < 4; i++) {
        parts[i] = drive_part(&data, &size, i == 3);
        make_add(&m, "__part", &parts[i]);
    }
    make_section *stubs = &m.sections[m.section_count++];
    memset(stubs, 0, sizeof *stubs);
    stubs->segment = "__TEXT";
    stubs->name = "__stubs";
    stubs->addr = 0x2000;
    stubs->size = 12 * 16;
    stubs->flags = 0x80000408u;
    stubs->reserved2 = 12;
    size_t at = 0x1000;  /* where make_file puts the first part */
    put32(&commands, 2); /* LC_SYMTAB */
    put32(&commands, 24);
    put32(&commands, at);
    put32(&commands, parts[0].len / (m.is_32 ? 12 : 16));
    put32(&commands, at + parts[0].len);
    put32(&commands, parts[1].len);
    put32(&commands, 0xb); /* LC_DYSYMTAB */
    put32(&commands, 80);
    put_zeros(&commands, 48);
    put32(&commands, at + parts[0].len + parts[1].len);
    put32(&commands, parts[2].len / 4);
    put_zeros(&commands, 16);
    put32(&commands, 0x26); /* LC_FUNCTION_STARTS */
    put32(&commands, 16);
    put32(&commands, at + parts[0].len + parts[1].len + parts[2].len);
    put32(&commands, parts[3].len);
    m.commands = &commands;
    m.command_count = 3;
    drive_made(&m);
    for (unsigned i = 0; i < 4; i++)
        bytes_free(&parts[i]);
    bytes_free(&commands);
    return 0;
}
