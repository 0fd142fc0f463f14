/* The line that tells how far long work is (tool/base/say.h). It is on a terminal only, not in the first
 * second, and gone when a message is printed or the work is done. */
#define _XOPEN_SOURCE 600
#include "test.h"

#include "../tool/base/say.h"

#include <fcntl.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

/* What was written to a terminal since it was asked last: all of it, once nothing more comes. */
static const char *written(int terminal)
{
    static char text[4096];
    struct pollfd more = {terminal, POLLIN, 0};
    size_t len = 0;
    while (poll(&more, 1, 100) == 1 && (more.revents & POLLIN) != 0 && len < sizeof text - 1) {
        ssize_t got = read(terminal, text + len, sizeof text - 1 - len);
        len += got > 0 ? (size_t)got : 0;
    }
    text[len] = 0;
    return text;
}

int main(void)
{
    struct timespec second = {1, 100000000};
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    int standard_error = dup(STDERR_FILENO);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) {
        test_leave_out("progress", "no terminal can be made here");
        return test_done();
    }
    int other_end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    CHECK(other_end >= 0 && dup2(other_end, STDERR_FILENO) >= 0);
    setvbuf(stderr, NULL, _IONBF, 0);
    say_progress("verify", 0, 3);
    CHECK_TEXT(written(terminal), "");
    nanosleep(&second, NULL);
    say_progress("verify", 1, 3);
    CHECK_TEXT(written(terminal), "\rverify: 1 of 3\033[K");
    for (unsigned i = 0; i < 100; i++) /* each would take 20 bytes: five times a second is enough */
        say_progress("verify", 2, 3);
    CHECK(strlen(written(terminal)) < 2000);
    say_message("a is damaged");
    CHECK_TEXT(written(terminal), "\r\033[Kmachsym: a is damaged\r\n");
    say_progress_end();
    CHECK_TEXT(written(terminal), "");
    second.tv_sec = 0;
    second.tv_nsec = 300000000;
    nanosleep(&second, NULL);
    say_progress("verify", 2, 3);
    say_progress_end();
    CHECK_TEXT(written(terminal), "\rverify: 2 of 3\033[K\r\033[K");
    nanosleep(&second, NULL);
    int pair[2];
    CHECK(pipe(pair) == 0 && dup2(pair[1], STDERR_FILENO) >= 0);
    say_progress("verify", 2, 3); /* no terminal */
    CHECK(fcntl(pair[0], F_SETFL, O_NONBLOCK) == 0);
    CHECK_TEXT(written(pair[0]), "");
    CHECK(dup2(standard_error, STDERR_FILENO) >= 0);
    return test_done();
}
