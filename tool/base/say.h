/* ==== >> say ====
 * Job: messages to people, and which of them make the exit status 1.
 * Offers: TOOL_OK and its kin; say_progress, say_progress_end, say_message, say_plain, say_to, say_and_die, say_error,
 * say_slices, say_fault; status_note_damage, status_note_fault, status_note_memory, status_end;
 * say_is_output_lost, say_finish_output.
 * Never: writes to standard output. */
#ifndef MACHSYM_TOOL_SAY_H
#define MACHSYM_TOOL_SAY_H

#include "machsym.h"
#include "../../report/base/text.h"
#include "posix.h"

/* Exit statuses: all that was asked is done; something failed or is damaged; the command line is wrong. */
enum { TOOL_OK = 0, TOOL_ERROR = 1, TOOL_USAGE = 2 };

/* ---- Messages ---- */

/* Shows on a terminal how far long work is, once it has taken a second: "verify: 12 of 340". Every message
 * removes the line; what goes to standard output wants say_progress_end first. */
void say_progress(const char *what, size_t done, size_t total);
void say_progress_end(void);
/* Prints "machsym: ..." to stderr: one line, whatever is in the names that it holds. */
void say_message(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(POSIX_PRINTF, 1, 2)))
#endif
    ;
/* The same without "machsym: ". */
void say_plain(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(POSIX_PRINTF, 1, 2)))
#endif
    ;
/* What this thread says from here on is added to a text, a line each, in place of standard error; NULL: no
 * more. Returns who heard it before. */
text *say_to(text *by);
/* Says it on standard error, even of a thread whose messages are kept, and ends the program with status 1. */
void say_and_die(const char *what)
#if defined(__GNUC__)
    __attribute__((noreturn))
#endif
    ;
/* Prints why a file could not be opened or built, with where and at which offset, and what to do next. */
void say_error(const char *path, const machsym_error *err);
/* Says what err has to say of a list of count slices. Returns whether all that are not damaged are in it. */
bool say_slices(const char *path, size_t count, const machsym_error *err);

/* ---- What makes the exit status 1 ---- */

/* Says what is wrong with a file that is one of several, once. The exit status is 1 from then on. Threads:
 * any. */
void say_fault(const char *path, const machsym_error *err);
/* Whether a file was not reported yet; from then on it was. Threads: any. */
bool say_is_new(const char *path);
/* Notes damage that was reported otherwise: the exit status is 1 from then on. Threads: any. */
void status_note_damage(void);
/* Notes that memory was short for an answer, which then lacks names or lines. Threads: any. */
void status_note_memory(void);
/* Whether memory was enough for all answers so far. If not, an output that is made of them must not get its
 * name: says so of it. An output that is NULL or "-" is standard output, and left as it is. */
bool status_had_memory(const char *output);
bool status_lacked_memory(void);
/* Notes that the system failed to read a file, which may be whole: what is known without it may change.
 * Threads: any. */
void status_note_fault(void);
bool status_has_fault(void);
/* The exit status of the program, given its command's: says whether memory was short, and counts damage. */
int status_end(int status);

/* ---- Standard output at the end ---- */

/* Whether output was lost, which is reported once. If the reader closed the pipe, it wanted no more: nothing
 * is lost. */
bool say_is_output_lost(void);
/* Writes what is left. Says why output was lost, unless its reader is gone. Returns the exit status. */
int say_finish_output(int status);

#endif
