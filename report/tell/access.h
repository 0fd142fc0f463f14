/* ==== >> tell/access ====
 * Job: the access to memory that ended a process: its address, its kind, and why it failed.
 * Offers: access_find, access_put, access_region_at, access_kind_name, access_name.
 * Never: says "not there" unless the report says so. */
#ifndef REPORT_TELL_ACCESS_H
#define REPORT_TELL_ACCESS_H

#include "../base/text.h"
#include "../model/report.h"
#include "esr.h"
#include "machsym.h"

/* Why an access failed: the name in JSON, and the words. docs/facts.md names the exception code of each. */
#define ACCESS_KINDS(X)                                                                                      \
    X(NONE, "none", "")                                                                                      \
    X(UNKNOWN, "unknown", "an access to memory failed")                                                      \
    X(NULL, "null", "access through a null pointer")                                                         \
    X(UNMAPPED, "unmapped", "access to memory that is not there")                                            \
    X(PROTECTED, "protected", "access to memory that may not be read or written so")                         \
    X(STACK, "stack_overflow", "the stack overflowed: the access hit the guard below the thread's stack")    \
    X(OTHER_STACK, "stack_guard", "access to the guard below the stack of a thread")                         \
    X(MISALIGNED, "misaligned", "access to an address that is not aligned as the instruction needs")         \
    X(SIGNATURE, "code_signature", "a page does not match its signature, or is not signed")                  \
    X(BACKING, "backing_store", "a page could not be read from where it is kept: a file or disk failed")     \
    X(NOT_CANONICAL, "non_canonical", "access through a value that is no address")                           \
    X(POINTER_AUTH, "pointer_authentication", "a pointer whose authentication failed was used")              \
    X(MAYBE_AUTH, "pointer_authentication_possible",                                                         \
      "a damaged pointer was used: its authentication may have failed")                                      \
    X(TAG, "memory_tag", "use of freed or overrun memory: the tag of the pointer does not fit the memory's") \
    X(CANONICAL_TAG, "canonical_tag", "a pointer with a tag was used for memory that has no tags")           \
    X(GUARD_OBJECT, "guard_object", "access past the end of a guarded allocation, or to one that is free")   \
    X(FREED, "freed_pattern", "use of freed memory: the pointer was read from memory filled with 0x55")      \
    X(UNINITIALIZED, "uninitialized_pattern",                                                                \
      "use of memory that was never set: the pointer was read from memory filled with 0xaa")                 \
    X(OBJECT, "object",                                                                                      \
      "message to a freed or damaged object: objc_msgSend or a retain or release is on top")                 \
    X(EXTERNAL, "external", "the memory or the device at an address answered with an error")                 \
    X(UNLOADED, "unloaded", "use of a library that was unloaded")                                            \
    X(EXCLUSIVE, "exclusive", "an atomic instruction was used on memory that does not support it")

typedef enum access_kind {
#define ACCESS_KIND_NUMBER(kind, name, words) ACCESS_##kind,
    ACCESS_KINDS(ACCESS_KIND_NUMBER)
#undef ACCESS_KIND_NUMBER
} access_kind;

/* The failed access. */
typedef struct access_fault {
    access_kind kind; /* ACCESS_NONE: the report is not about a bad access */
    bool has_address;
    uint64_t address;
    esr_access access;      /* read, write or execute */
    unsigned size;          /* bytes; 0: unknown */
    machsym_str region;     /* MALLOC_SMALL, as in VM Region Info; empty: in no region, or unknown */
    machsym_str range;      /* 104c98000-104caa000; empty with region */
    machsym_str protection; /* rw-/rwx; may be empty */
    bool has_tag;
    unsigned tag;             /* of the pointer, 0 to 15 */
    machsym_str tag_register; /* the register that still holds it */
} access_fault;

/* *out has kind ACCESS_NONE if the report is not about a bad access. */
void access_find(const report *r, access_fault *out);
/* Writes "access through a null pointer: a read at 0xe0, in __TEXT" and a line end. */
void access_put(text *t, const access_fault *fault);
/* Returns the region of VM Region Info that holds an address; empty if no listed region does. */
machsym_str access_region_at(const report *r, uint64_t address);
const char *access_kind_name(access_kind kind);
/* "read", "write", "execute"; NULL: unknown */
const char *access_name(esr_access access);
#endif
