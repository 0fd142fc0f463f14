/* ==== >> model/tables ====
 * Job: the unwind tables and the code of an image, out of its file or out of the memory of its process.
 * Offers: report_tables, tables_image; tables_of_file, tables_of_header, tables_read, tables_how.
 * Never: unwinds. */
#ifndef MACHSYM_TOOL_TABLES_H
#define MACHSYM_TOOL_TABLES_H

#include "machsym.h"

/* An image of a process. */
typedef struct tables_image {
    machsym_uuid uuid; /* zeros: unknown */
    machsym_str path;  /* may be empty */
    machsym_str arch;  /* may be empty */
    uint64_t base;
    uint64_t end;
} tables_image;

/* The files of images. Those that find returned stay open until leave. */
typedef struct report_tables {
    void *context;
    /* Returns a file of an image: a program, a map that carries unwind tables, or a dSYM; NULL: there is none.
     * path and arch may be empty. */
    const machsym_image *(*find)(void *context, const machsym_uuid *uuid, machsym_str path, machsym_str arch);
    void (*leave)(void *context);
    /* Copies bytes of an image that are not in a file; NULL: there are none. */
    bool (*read)(void *context, const tables_image *image, uint64_t addr, void *out, size_t len);
} report_tables;

/* Fills in the sections of an image that lies at an address of the process. Returns false if the file has no
 * unwind tables but __debug_frame, or is of another processor. Borrows the file. */
bool tables_of_file(const machsym_image *file, uint32_t cputype, uint64_t base, machsym_unwind_image *out);
/* The same by the Mach-O header that lies in memory at out->load_addr. */
bool tables_of_header(machsym_str header, machsym_unwind_image *out);
/* Copies code or constants of a file that lies at an address. Returns false if the file lacks some of
 * them. */
bool tables_read(const machsym_image *file, uint64_t base, uint64_t addr, void *out, size_t len);
/* The word for how a frame was found; static. */
const char *tables_how(machsym_unwind_how how);

#endif
