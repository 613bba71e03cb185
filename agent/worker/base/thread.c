/* SPDX-License-Identifier: Apache-2.0 */
/* thread.c - start additional threads of a worker */
#include "agent/worker/base/thread.h"

#include <signal.h>

#include "agent/worker/base/stacks.h"

int thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg)
{
    sigset_t blocked, before;

    sigfillset(&blocked);
    sigdelset(&blocked, stacks_signal());
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int status = pthread_create(thread, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status == 0)
        pthread_setname_np(*thread, name);
    return status;
}
