/* call_queue.c - whose turn it is to ask its engine */
#include "server/launch/call_queue.h"

#include <stdlib.h>

#include "server/launch/job.h"

#define STARTED_MAX 4 /* processes in a turn of the loop, which makes each by fork() */

static bool is_stop(const struct job *job)
{
    return job_next_command(job) == LAUNCHER_STOP;
}

/* Who has waited as long is older where it stands before. */
struct turn {
    struct job *job;
    size_t place;
};

static int compare_turns(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    int64_t x_at = x->job->due_at, y_at = y->job->due_at;

    if (is_stop(x->job) != is_stop(y->job))
        return is_stop(x->job) ? -1 : 1;
    if (x_at != y_at)
        return x_at < y_at ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static size_t count_waiting(const struct jobs *jobs)
{
    const struct job *job;
    size_t n = 0;

    TAILQ_FOREACH (job, &jobs->list, entry)
        n += job_wants_call(job);
    return n;
}

void call_queue_run(struct jobs *jobs)
{
    size_t n = count_waiting(jobs), i = 0;
    struct turn *turns = n > 0 ? calloc(n, sizeof(*turns)) : NULL;
    struct job *job;
    int started = 0;

    if (!turns)
        return;
    TAILQ_FOREACH (job, &jobs->list, entry)
        if (job_wants_call(job)) {
            turns[i] = (struct turn){job, i};
            i++;
        }
    qsort(turns, n, sizeof(*turns), compare_turns);
    for (i = 0; i < n && started < STARTED_MAX; i++)
        if (engine_calls_have_room(&jobs->calls, turns[i].job->launcher,
                                   is_stop(turns[i].job)))
            started += job_call(turns[i].job);
    free(turns);
}
