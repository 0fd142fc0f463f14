/* How many threads the tool starts: as many as asked for, or as there are processors that it may use. */
#include "test.h"

#include "../tool/base/machine.h"

#ifdef __linux__
#include <sched.h>

static void test_processors(void)
{
    cpu_set_t all;
    cpu_set_t few;
    size_t count = 0;
    if (sched_getaffinity(0, sizeof all, &all) != 0) {
        test_leave_out("processors of this process", "more than 1,024");
        return;
    }
    CHECK_EQ(machine_threads(0, MAX_JOBS), CPU_COUNT(&all) < MAX_JOBS ? CPU_COUNT(&all) : MAX_JOBS);
    CPU_ZERO(&few);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && count < 2; cpu++) {
        if (!CPU_ISSET(cpu, &all))
            continue;
        CPU_SET(cpu, &few);
        count++;
        CHECK_EQ(sched_setaffinity(0, sizeof few, &few), 0);
        CHECK_EQ(machine_threads(0, MAX_JOBS), count);
        CHECK_EQ(machine_threads(9, MAX_JOBS), 9);
    }
    sched_setaffinity(0, sizeof all, &all);
}
#endif

int main(void)
{
    CHECK_EQ(machine_threads(3, 100), 3);
    CHECK_EQ(machine_threads(100, 3), 3);
    CHECK_EQ(machine_threads(MAX_JOBS + 1, 1000), MAX_JOBS);
    CHECK_EQ(machine_threads(3, 0), 1);
    CHECK_EQ(machine_threads(0, 1), 1);
    CHECK(machine_threads(0, SIZE_MAX) >= 1);
#ifdef __linux__
    test_processors();
#endif
    return test_done();
}
