/* What the tool uses of POSIX threads, for WebAssembly without threads: none can be made, so the thread that asks does
 * all work itself, and locks are always free. */
#ifndef WASI_PTHREAD_H
#define WASI_PTHREAD_H

#include <errno.h>
#include <time.h>

typedef int pthread_t;
typedef int pthread_mutex_t;
typedef int pthread_cond_t;
typedef int pthread_condattr_t;

#define PTHREAD_MUTEX_INITIALIZER 0
#define PTHREAD_COND_INITIALIZER  0

static inline int pthread_create(pthread_t *thread, const void *how, void *(*run)(void *), void *user)
{
    (void)thread, (void)how, (void)run, (void)user;
    return EAGAIN;
}

static inline int pthread_join(pthread_t thread, void **result)
{
    (void)thread, (void)result;
    return 0;
}

/* No other thread could end the wait. */
static inline int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
                                         const struct timespec *until)
{
    (void)cond, (void)lock, (void)until;
    return ETIMEDOUT;
}

#define pthread_mutex_init(lock, how)         ((void)(*(lock) = 0))
#define pthread_mutex_destroy(lock)           ((void)(lock))
#define pthread_mutex_lock(lock)              ((void)(lock))
#define pthread_mutex_unlock(lock)            ((void)(lock))
#define pthread_condattr_init(how)            ((void)(*(how) = 0))
#define pthread_condattr_destroy(how)         ((void)(how))
#define pthread_condattr_setclock(how, clock) ((void)(how), (void)(clock))
#define pthread_cond_init(cond, how)          ((void)(*(cond) = 0), (void)(how))
#define pthread_cond_destroy(cond)            ((void)(cond))
#define pthread_cond_signal(cond)             ((void)(cond))
#define pthread_cond_broadcast(cond)          ((void)(cond))
#define pthread_cond_wait(cond, lock)         ((void)(cond), (void)(lock))

#endif
