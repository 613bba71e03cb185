/* mover.c - a thread that moves bytes through endpoints for another one */
#include "agent/worker/host/mover.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/worker/base/thread.h"
#include "agent/worker/group/watch.h"

struct mover {
    pthread_t thread;
    bool is_started;
    int wake_fd;
    unsigned spins;
    size_t room;
    struct mover_job **given; /* a queue: the owner puts in, the thread takes out */
    atomic_size_t put, taken; /* ever */
    atomic_bool is_asleep, is_ending;
    struct mover_job **active; /* the thread's own */
    struct pollfd *fds;
    size_t n_active;
};

static bool take(struct mover *mover)
{
    size_t put = atomic_load(&mover->put), taken = atomic_load(&mover->taken);
    bool is_more = taken < put;

    while (taken < put)
        mover->active[mover->n_active++] = mover->given[taken++ % mover->room];
    atomic_store(&mover->taken, taken);
    return is_more;
}

enum progress { STUCK, MOVED, ENDED };

/* What has ended is the owner's again, and may be given anew: it is not looked at. */
static enum progress end(struct mover_job *job, enum mover_state state)
{
    atomic_store(&job->state, state);
    return ENDED;
}

static enum progress advance(struct mover_job *job)
{
    struct endpoint *endpoint = job->endpoint;
    const struct transport *transport = endpoint->transport;
    char *data = job->data + job->done;
    size_t len = job->len - job->done;
    ssize_t n = job->is_send ? transport->send(endpoint, data, len)
                             : transport->recv(endpoint, data, len);

    if (n < 0) {
        job->errnum = errno;
        return end(job, MOVER_FAILED);
    }
    job->done += (size_t)n;
    if (job->done == job->len)
        return end(job, MOVER_DONE);
    return n > 0 ? MOVED : STUCK;
}

static bool advance_all(struct mover *mover)
{
    bool has_moved = false;
    size_t kept = 0;

    for (size_t i = 0; i < mover->n_active; i++) {
        struct mover_job *job = mover->active[i];
        enum progress progress = advance(job);
        has_moved = has_moved || progress != STUCK;
        if (progress != ENDED)
            mover->active[kept++] = job;
    }
    mover->n_active = kept;
    return has_moved;
}

/* Until a job can go on, or there is a new one. The owner looks at is_asleep after it has
 * put a job in, and this thread for jobs after it has set it: one of them sees the other.
 */
static void sleep_a_while(struct mover *mover)
{
    uint64_t wakes;

    atomic_store(&mover->is_asleep, true);
    if (atomic_load(&mover->put) == atomic_load(&mover->taken) &&
        !atomic_load(&mover->is_ending)) {
        mover->fds[0] = (struct pollfd){.fd = mover->wake_fd, .events = POLLIN};
        for (size_t i = 0; i < mover->n_active; i++) {
            const struct mover_job *job = mover->active[i];
            mover->fds[i + 1] = (struct pollfd){
                .fd = job->endpoint->fd, .events = job->is_send ? POLLOUT : POLLIN};
        }
        poll(mover->fds, mover->n_active + 1, -1);
        if (mover->fds[0].revents && read(mover->wake_fd, &wakes, sizeof(wakes)) < 0)
            assert(errno == EAGAIN);
    }
    atomic_store(&mover->is_asleep, false);
}

static void *move(void *arg)
{
    struct mover *mover = arg;
    unsigned idle = 0;

    while (!atomic_load(&mover->is_ending)) {
        bool is_more = take(mover);
        if (advance_all(mover) || is_more) {
            idle = 0;
        } else if (idle++ < mover->spins) {
            watch_relax();
        } else {
            sleep_a_while(mover);
            idle = 0;
        }
    }
    return NULL;
}

static void wake(struct mover *mover)
{
    uint64_t one = 1;

    if (write(mover->wake_fd, &one, sizeof(one)) < 0)
        assert(errno == EAGAIN); /* it has been woken often enough */
}

void mover_give(struct mover *mover, struct mover_job *job)
{
    size_t put = atomic_load_explicit(&mover->put, memory_order_relaxed);

    assert(put - atomic_load(&mover->taken) < mover->room);
    job->done = 0;
    job->errnum = 0;
    atomic_store_explicit(&job->state, MOVER_GIVEN, memory_order_relaxed);
    mover->given[put % mover->room] = job;
    atomic_store(&mover->put, put + 1);
    if (atomic_load(&mover->is_asleep) && atomic_exchange(&mover->is_asleep, false))
        wake(mover);
}

struct mover *mover_create(const char *name, size_t jobs, unsigned spins,
                           struct error *err)
{
    struct mover *mover = calloc(1, sizeof(*mover));

    if (!mover) {
        error_set(err, ERROR_MEMORY, "threads that move bytes: out of memory");
        return NULL;
    }
    mover->room = jobs;
    mover->spins = spins;
    mover->given = calloc(jobs, sizeof(*mover->given));
    mover->active = calloc(jobs, sizeof(*mover->active));
    mover->fds = calloc(jobs + 1, sizeof(*mover->fds));
    mover->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int code = !mover->given || !mover->active || !mover->fds ? ENOMEM
               : mover->wake_fd < 0                           ? errno
                                    : thread_start(&mover->thread, name, move, mover);
    mover->is_started = code == 0;
    if (code) {
        error_set_errno(err, ERROR_IO, code, "starting a thread that moves bytes");
        mover_destroy(mover);
        return NULL;
    }
    return mover;
}

void mover_destroy(struct mover *mover)
{
    if (!mover)
        return;
    if (mover->is_started) {
        atomic_store(&mover->is_ending, true);
        wake(mover);
        pthread_join(mover->thread, NULL);
    }
    if (mover->wake_fd >= 0)
        close(mover->wake_fd);
    free(mover->given);
    free(mover->active);
    free(mover->fds);
    free(mover);
}
