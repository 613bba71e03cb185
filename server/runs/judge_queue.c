/* judge_queue.c - runs that are judged one after the other */
#include "server/runs/judge_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "common/base/log.h"
#include "common/base/memory.h"
#include "server/store/store_trends.h"

#define SKIP_MAX 16 /* runs that fail one after the other: then it is not these runs */

struct job {
    STAILQ_ENTRY(job) entry;
    struct judge_queue *queue;
    struct judgement judgement;
    /* At most one of these; neither where nobody waits for it. */
    run_judged *judged;
    store_settled *ready;
    void *arg;
    bool is_spare; /* of the runs in the background */
};

struct judge_queue {
    struct store *store;
    STAILQ_HEAD(, job) jobs; /* in the order in which they came */
    struct job *job;         /* the one under way, or NULL */
    bool has_more;           /* runs may be due that are not among them */
    size_t skip;             /* so many of the newest that are due failed */
    bool is_closing;
};

static const struct error stopping = {ERROR_UNAVAILABLE, "the server is stopping"};

static void start_next(struct judge_queue *queue);

static void job_finish(struct job *job, const struct error *err)
{
    if (job->judged)
        job->judged(job->arg, err, NULL);
    else if (job->ready)
        job->ready(job->arg, err);
    judgement_release(&job->judgement);
    free(job);
}

static void finish(struct job *job, const struct error *err)
{
    struct judge_queue *queue = job->queue;

    queue->job = NULL;
    if (err && !queue->is_closing)
        log_warn("the values of a run cannot be made: %s", err->text);
    /* Older runs do not wait for one that fails, which is tried again when the next run
     * ends. */
    if (err && job->is_spare && ++queue->skip > SKIP_MAX)
        queue->has_more = false;
    job_finish(job, err);
    if (queue->is_closing)
        free(queue);
    else
        start_next(queue);
}

static void on_written(void *arg, const struct error *err,
                       const struct store_event *events, size_t n_events)
{
    (void)events;
    (void)n_events;
    finish(arg, err && err->code != ERROR_NOT_FOUND ? err : NULL);
}

static void on_judged(void *arg, const struct error *err)
{
    struct job *job = arg;
    struct judgement *judgement = &job->judgement;
    struct judge_queue *queue = job->queue;
    json_t *values = judgement->values;
    run_judged *judged = job->judged;
    struct store_write *write;

    if (err || queue->is_closing) {
        finish(job, queue->is_closing ? &stopping : err);
        return;
    }
    job->judged = NULL;
    if (job->is_spare && !values)
        queue->has_more = false;
    if ((judged && !judged(job->arg, NULL, judgement->verdict)) || !values) {
        finish(job, NULL);
        return;
    }
    write = store_write_create();
    store_write_values(write, judgement->run, values);
    judgement->values = NULL;
    json_decref(values); /* now another thread gets it */
    store_submit(queue->store, write, false, on_written, job);
}

static int work(sqlite3 *db, void *arg, struct error *err)
{
    struct job *job = arg;

    return judge(db, &job->judgement, err);
}

static struct job *job_create(struct judge_queue *queue, const char *run)
{
    struct job *job = memory_zeroed(1, sizeof(*job), "a run's end");

    job->queue = queue;
    snprintf(job->judgement.run, sizeof(job->judgement.run), "%s", run);
    return job;
}

static void start_next(struct judge_queue *queue)
{
    struct job *job = STAILQ_FIRST(&queue->jobs);

    if (queue->job || queue->is_closing || (!job && !queue->has_more))
        return;
    if (job) {
        STAILQ_REMOVE_HEAD(&queue->jobs, entry);
    } else {
        job = job_create(queue, "");
        job->is_spare = true;
        job->judgement.skip = queue->skip;
    }
    queue->job = job;
    store_do(queue->store, work, on_judged, job);
}

static void add(struct judge_queue *queue, struct job *job)
{
    STAILQ_INSERT_TAIL(&queue->jobs, job, entry);
    start_next(queue);
}

void judge_queue_note_end(struct judge_queue *queue, const char *run)
{
    queue->has_more = true;
    queue->skip = 0;
    add(queue, job_create(queue, run));
}

struct judge_queue *judge_queue_create(struct store *store)
{
    struct judge_queue *queue = memory_zeroed(1, sizeof(*queue), "the ends of runs");

    queue->store = store;
    STAILQ_INIT(&queue->jobs);
    queue->has_more = true;
    start_next(queue);
    return queue;
}

void judge_queue_close(struct judge_queue *queue)
{
    struct job *job;

    if (!queue)
        return;
    queue->is_closing = true;
    while ((job = STAILQ_FIRST(&queue->jobs))) {
        STAILQ_REMOVE_HEAD(&queue->jobs, entry);
        job_finish(job, &stopping);
    }
    if (!queue->job)
        free(queue);
}

void judge_queue_add(struct judge_queue *queue, const struct judgement *judgement,
                     run_judged *judged, void *arg)
{
    struct job *job = job_create(queue, "");

    job->judgement = *judgement;
    job->judged = judged;
    job->arg = arg;
    add(queue, job);
}

void judge_queue_await(struct judge_queue *queue, const char *run, store_settled *ready,
                       void *arg)
{
    struct job *job = job_create(queue, run);

    job->ready = ready;
    job->arg = arg;
    add(queue, job);
}
