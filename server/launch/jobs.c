/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.c - manages the jobs requested from engines: the list of jobs, the order of their
 * commands, and the requests of runs and clients */
#include "server/launch/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/spec/program_schema.h"
#include "server/launch/job.h"
#include "server/launch/job_files.h"
#include "server/store/store.h"

#define TICK_MS 50
/* how long a job is kept for a follow-up of its run, in milliseconds */
#define FOLLOW_UP_MS 120000
/* Time for which a job's state is queried more often after jobs_ask() */
#define AWAITED_MS 2000

static struct job *find_id(const struct jobs *jobs, const char *id)
{
    struct job *job;

    HASH_FIND_STR(jobs->by_id, id, job);
    return job;
}

static struct job *find_group(const struct jobs *jobs, const char *group)
{
    return job_group(group) ? find_id(jobs, group + strlen(JOB_GROUP_PREFIX)) : NULL;
}

/* Stop commands go first, then the job that has waited longest. */
static bool goes_before(const struct job *a, const struct job *b)
{
    bool a_stops = job_next_command(a) == LAUNCHER_STOP;
    bool b_stops = job_next_command(b) == LAUNCHER_STOP;

    return a_stops == b_stops ? a->due_at < b->due_at : a_stops;
}

static struct job *next_due(const struct jobs *jobs)
{
    struct job *job, *first = NULL;

    TAILQ_FOREACH (job, &jobs->list, entry)
        if (job_is_due(job) && (!first || goes_before(job, first)) && job_has_turn(job))
            first = job;
    return first;
}

static void on_tick(uv_timer_t *timer)
{
    struct jobs *jobs = timer->data;
    struct job *job;
    bool is_any = false;

    engine_calls_tick(&jobs->calls, (int64_t)uv_now(jobs->loop));
    for (size_t i = 0; i < jobs->launchers.n; i++)
        jobs->launchers.items[i]->is_full = jobs->launchers.items[i]->is_busy = false;
    TAILQ_FOREACH (job, &jobs->list, entry) {
        job_tick(job);
        is_any = is_any || job_is_alive(job);
    }
    while ((job = next_due(jobs)))
        job_call(job, job_next_command(job));
    if (!is_any && TAILQ_EMPTY(&jobs->calls))
        uv_timer_stop(timer);
}

/* Start the timer. It stops when no job is alive. */
static void run_timer(struct jobs *jobs)
{
    if (!uv_is_active((uv_handle_t *)&jobs->timer))
        uv_timer_start(&jobs->timer, on_tick, 0, TICK_MS);
}

static void jobs_free(struct jobs *jobs)
{
    struct job *job;

    while ((job = TAILQ_FIRST(&jobs->list))) {
        job_take_out(job);
        if (job->phase == JOB_STORING)
            job->jobs = NULL; /* on_stored frees it */
        else
            job_free(job);
    }
    launcher_list_release(&jobs->launchers);
    free(jobs->job_dir);
    free(jobs->certificate);
    free(jobs->launchers_dir);
    free(jobs->server);
    free(jobs);
}

static int restore_all(struct jobs *jobs, struct error *err)
{
    json_t *docs = store_load_jobs(jobs->store, err), *doc;
    size_t i;

    json_array_foreach (docs, i, doc)
        job_restore(jobs, doc);
    json_decref(docs);
    return docs ? 0 : -1;
}

/* ---- Opening ---- */

struct jobs *jobs_create(uv_loop_t *loop, const struct jobs_config *config,
                         struct error *err)
{
    struct jobs *jobs = memory_zeroed(1, sizeof(*jobs), "jobs");

    jobs->loop = loop;
    jobs->store = config->store;
    jobs->has_tokens = config->has_tokens;
    jobs->job_dir = memory_text(config->job_dir, "a job");
    jobs->launchers_dir = memory_text(config->launchers, "a job");
    jobs->server = memory_text("", "a job");
    TAILQ_INIT(&jobs->list);
    TAILQ_INIT(&jobs->calls);
    if (launcher_list_load(&jobs->launchers, config->launchers, err) ||
        restore_all(jobs, err)) {
        jobs_free(jobs);
        return NULL;
    }
    uv_timer_init(loop, &jobs->timer);
    jobs->timer.data = jobs;
    return jobs;
}

void jobs_set_server(struct jobs *jobs, const char *url)
{
    free(jobs->server);
    jobs->server = memory_text(url, "a job");
    if (!TAILQ_EMPTY(&jobs->list))
        run_timer(jobs);
}

void jobs_set_certificate(struct jobs *jobs, const char *pem)
{
    struct job *job;

    free(jobs->certificate);
    jobs->certificate = memory_text(pem, "a job");
    TAILQ_FOREACH (job, &jobs->list, entry)
        if (job_is_alive(job))
            job_files_renew(job);
}

int jobs_reload(struct jobs *jobs, struct error *err)
{
    struct launcher_list fresh;

    if (launcher_list_load(&fresh, jobs->launchers_dir, err))
        return -1;
    launcher_list_release(&jobs->launchers);
    jobs->launchers = fresh;
    return 0;
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct jobs *jobs = handle->data;

    engine_calls_abandon(&jobs->calls);
    jobs_free(jobs);
}

void jobs_close(struct jobs *jobs)
{
    uv_close((uv_handle_t *)&jobs->timer, on_timer_closed);
}

/* ---- Requests of runs ---- */

long jobs_nodes(const struct run_spec *spec)
{
    long least = spec->pattern == PATTERN_ALL ? 1 : 2;

    if (spec->nodes.count)
        return spec->nodes.count;
    return spec->nodes.max ? spec->nodes.max : spec->nodes.min ? spec->nodes.min : least;
}

void jobs_check(const struct jobs *jobs, const struct run_spec *spec,
                struct problems *problems)
{
    const struct launcher *launcher;

    if (!spec->launch.name)
        return;
    launcher = jobs ? launcher_list_find(&jobs->launchers, spec->launch.name) : NULL;
    if (!launcher) {
        problems_add(problems, "/launch/name",
                     "there is no launcher '%s'; GET /api/v1/launchers lists them",
                     spec->launch.name);
        return;
    }
    json_decref(program_schema_complete(launcher->parameters, spec->launch.args,
                                        "/launch/args", problems));
    if (jobs_nodes(spec) > launcher->most_nodes)
        problems_add(problems, "/nodes",
                     "%ld nodes exceed the limit of %ld of the launcher %s",
                     jobs_nodes(spec), launcher->most_nodes, launcher->name);
}

/* Check whether user `who` may use the launcher. may: names of allowed users; NULL: every
 * operator. */
static int allow(const json_t *may, const char *launcher, const char *who,
                 struct error *err)
{
    json_t *name;
    size_t i;

    if (!may)
        return 0;
    if (!who)
        return error_set(
            err, ERROR_DENIED,
            "the launcher %s is restricted (limits.who), and this token has no name",
            launcher);
    json_array_foreach (may, i, name)
        if (strcmp(json_string_value(name), who) == 0)
            return 0;
    return error_set(
        err, ERROR_DENIED,
        "the launcher %s is not allowed for %s: limits.who lists other names", launcher,
        who);
}

int jobs_allow(const struct jobs *jobs, const char *launcher, const char *who,
               struct error *err)
{
    const struct launcher *of = launcher_list_find(&jobs->launchers, launcher);

    return allow(of ? of->who : NULL, launcher, who, err);
}

/* Keep the job of the preceding run, because the follow-up is not stored yet. */
void jobs_assign(struct jobs *jobs, struct run_spec *spec, const char *group)
{
    char own[sizeof(JOB_GROUP_PREFIX) + ID_RUN_LENGTH] = JOB_GROUP_PREFIX;
    const struct job *job = spec->launch.name ? find_group(jobs, group) : NULL;
    bool is_there = job && job->state == JOB_RUNNING;

    if (!spec->launch.name)
        return;
    if (is_there)
        jobs_hold(jobs, group);
    else
        id_run(own + strlen(JOB_GROUP_PREFIX));
    free(spec->nodes.group);
    spec->nodes.group = memory_text(is_there ? group : own, "a job");
}

bool jobs_has(const struct jobs *jobs, const char *group)
{
    const struct job *job = find_group(jobs, group);

    return job && job_is_alive(job);
}

static struct job *new_job(struct jobs *jobs, const struct run_spec *spec,
                           const char *run)
{
    const struct launcher *launcher =
        launcher_list_find(&jobs->launchers, spec->launch.name);
    struct problems problems;
    json_t *args = NULL;
    struct job *job;

    problems_init(&problems);
    if (launcher && job_group(spec->nodes.group))
        args = program_schema_complete(launcher->parameters, spec->launch.args,
                                       "/launch/args", &problems);
    problems_release(&problems);
    if (!args)
        return NULL;
    job = job_create(jobs, spec->nodes.group + strlen(JOB_GROUP_PREFIX), launcher->name,
                     run, args);
    job->who = json_incref(launcher->who);
    job->nodes = jobs_nodes(spec);
    job->created_ms = clock_wall_ms();
    job_tick(job);
    run_timer(jobs);
    return job;
}

enum job_state jobs_need(struct jobs *jobs, const struct run_spec *spec, const char *run,
                         char *text)
{
    struct job *job = find_group(jobs, spec->nodes.group);

    if (!job)
        job = new_job(jobs, spec, run);
    if (!job) {
        snprintf(text, JOB_TEXT_MAX, "the launcher %.64s was removed", spec->launch.name);
        return JOB_ENDED;
    }
    job->held_until_at = 0;
    job_sentence(job, text);
    return job->state;
}

void jobs_registered(struct jobs *jobs, const char *group)
{
    struct job *job = find_group(jobs, group);

    if (job)
        job_run(job);
}

void jobs_hold(struct jobs *jobs, const char *group)
{
    struct job *job = find_group(jobs, group);

    if (job && job->state == JOB_RUNNING)
        job->held_until_at = job_now(job) + FOLLOW_UP_MS;
}

void jobs_mark(struct jobs *jobs, const char *group)
{
    struct job *job = find_group(jobs, group);

    if (job)
        job->is_needed = true;
}

/* Free the `n` jobs that ended earliest. The store deletes them when it stores the next
 * job. */
static void forget_oldest(struct jobs *jobs, size_t n)
{
    while (n-- > 0) {
        struct job *job, *oldest = NULL;

        TAILQ_FOREACH (job, &jobs->list, entry)
            if (job_is_over(job) && (!oldest || job->ended_ms < oldest->ended_ms))
                oldest = job;
        job_take_out(oldest);
        job_free(oldest);
    }
}

void jobs_release(struct jobs *jobs)
{
    struct job *job;
    size_t n = 0;

    TAILQ_FOREACH (job, &jobs->list, entry) {
        if (!job->is_needed && job_is_alive(job) && job->state != JOB_STOPPING &&
            job_now(job) >= job->held_until_at)
            job_stop(job, "no run needs it");
        n += job_is_over(job);
    }
    if (n > STORE_JOBS_ENDED_MAX)
        forget_oldest(jobs, n - STORE_JOBS_ENDED_MAX);
    TAILQ_FOREACH (job, &jobs->list, entry)
        job->is_needed = false;
}

bool jobs_ask(struct jobs *jobs, const char *group, char *text)
{
    struct job *job = find_group(jobs, group);

    text[0] = '\0';
    if (job && !job_is_alive(job))
        job_sentence(job, text);
    if (!job || !job_is_alive(job) || job->trouble[0])
        return false;
    if (job_now(job) >= job->awaited_until_at)
        job->due_at = job_now(job);
    job->awaited_until_at = job_now(job) + AWAITED_MS;
    return true;
}

/* The comparison takes constant time for each job. */
const char *jobs_token_group(const struct jobs *jobs, const char *token)
{
    const struct job *job;
    const char *group = NULL;
    size_t len = token ? strlen(token) : 0;

    if (!jobs || len != JOB_TOKEN_SIZE - 1)
        return NULL;
    TAILQ_FOREACH (job, &jobs->list, entry) {
        unsigned difference = !job_is_alive(job);

        for (size_t i = 0; i < len; i++)
            difference |= (unsigned)(job->token[i] ^ token[i]) & 0xffu;
        group = difference ? group : job->group;
    }
    return group;
}

/* ---- Requests of clients ---- */

json_t *jobs_launchers_json(const struct jobs *jobs)
{
    json_t *out = json_array();

    for (size_t i = 0; i < jobs->launchers.n; i++) {
        const struct launcher *launcher = jobs->launchers.items[i];
        json_t *one = launcher_to_json(launcher);

        json_object_set_new(
            one, "commands",
            json_integer((json_int_t)engine_calls_count(&jobs->calls, launcher->name)));
        json_array_append_new(out, one);
    }
    return out;
}

json_t *jobs_json(const struct jobs *jobs)
{
    const struct job *job;
    json_t *out = json_array();

    TAILQ_FOREACH_REVERSE(job, &jobs->list, job_list, entry)
    json_array_append_new(out, job_json(job));
    return out;
}

json_t *jobs_get(const struct jobs *jobs, const char *id)
{
    const struct job *job = find_id(jobs, id);

    return job ? job_json(job) : NULL;
}

int jobs_stop(struct jobs *jobs, const char *id, const char *who, struct error *err)
{
    struct job *job = find_id(jobs, id);
    const struct launcher *launcher = job ? job_launcher(job) : NULL;

    if (!job)
        return error_set(err, ERROR_NOT_FOUND, "there is no job %.40s", id);
    if (allow(launcher ? launcher->who : job->who, job->launcher, who, err))
        return -1;
    if (!job_is_alive(job))
        return error_set(err, ERROR_CONFLICT, "job %.40s has ended", id);
    job_stop(job, "stopped by a request");
    return 0;
}
