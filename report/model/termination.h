/* ==== >> model/termination ====
 * Job: why the system ended a process, in fields.
 * Offers: TERMINATION_SPACES, termination_space_name, termination_parse.
 * Never: explains it: that is tell/termination.h. */
#ifndef REPORT_MODEL_TERMINATION_H
#define REPORT_MODEL_TERMINATION_H

#include "machsym.h"
#include "report.h"

/* Namespaces of terminations: OS_REASON_* of xnu's bsd/sys/reason.h, by number, since RBSTerminateContext
 * has only the number (37 is unused); and those that reports name beside them. */
#define TERMINATION_SPACES(X)                                                                                \
    X(JETSAM, 1)                                                                                             \
    X(SIGNAL, 2)                                                                                             \
    X(CODESIGNING, 3)                                                                                        \
    X(HANGTRACER, 4)                                                                                         \
    X(TEST, 5)                                                                                               \
    X(DYLD, 6)                                                                                               \
    X(LIBXPC, 7)                                                                                             \
    X(OBJC, 8)                                                                                               \
    X(EXEC, 9)                                                                                               \
    X(SPRINGBOARD, 10)                                                                                       \
    X(TCC, 11)                                                                                               \
    X(REPORTCRASH, 12)                                                                                       \
    X(COREANIMATION, 13)                                                                                     \
    X(AGGREGATED, 14)                                                                                        \
    X(RUNNINGBOARD, 15)                                                                                      \
    X(SKYWALK, 16)                                                                                           \
    X(SETTINGS, 17)                                                                                          \
    X(LIBSYSTEM, 18)                                                                                         \
    X(FOUNDATION, 19)                                                                                        \
    X(WATCHDOG, 20)                                                                                          \
    X(METAL, 21)                                                                                             \
    X(WATCHKIT, 22)                                                                                          \
    X(GUARD, 23)                                                                                             \
    X(ANALYTICS, 24)                                                                                         \
    X(SANDBOX, 25)                                                                                           \
    X(SECURITY, 26)                                                                                          \
    X(ENDPOINTSECURITY, 27)                                                                                  \
    X(PAC_EXCEPTION, 28)                                                                                     \
    X(BLUETOOTH_CHIP, 29)                                                                                    \
    X(PORT_SPACE, 30)                                                                                        \
    X(WEBKIT, 31)                                                                                            \
    X(BACKLIGHTSERVICES, 32)                                                                                 \
    X(MEDIA, 33)                                                                                             \
    X(ROSETTA, 34)                                                                                           \
    X(LIBIGNITION, 35)                                                                                       \
    X(BOOTMOUNT, 36)                                                                                         \
    X(REALITYKIT, 38)                                                                                        \
    X(AUDIO, 39)                                                                                             \
    X(WAKEBOARD, 40)                                                                                         \
    X(CORERC, 41)                                                                                            \
    X(SELF_RESTRICT, 42)                                                                                     \
    X(ARKIT, 43)                                                                                             \
    X(CAMERA, 44)                                                                                            \
    X(BACKBOARD, 45)                                                                                         \
    X(POWEREXCEPTIONS, 46)                                                                                   \
    X(SECINIT, 47)                                                                                           \
    X(FRONTBOARD, SPACE_FIRST_WITHOUT_NUMBER)                                                                \
    X(MTE_FAIL, SPACE_FIRST_WITHOUT_NUMBER + 1)                                                              \
    X(SECURITY_SOFT_TRAPS, SPACE_FIRST_WITHOUT_NUMBER + 2)

typedef enum termination_space {
    SPACE_FIRST_WITHOUT_NUMBER = 1 << 7,
#define SPACE_NUMBER(name, number) SPACE_##name = number,
    TERMINATION_SPACES(SPACE_NUMBER)
#undef SPACE_NUMBER
} termination_space;

/* NULL: unknown number. */
const char *termination_space_name(uint64_t number);

/* Splits "Namespace SIGNAL, Code 11 Segmentation fault: 11" and similar texts into facts. The text may have
 * many lines. */
void termination_parse(report *r, machsym_str s);

#endif
