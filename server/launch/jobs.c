/* jobs.c - jobs that this server asked an engine for */
#include "server/launch/jobs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/spec/batch_group.h"
#include "common/spec/program_schema.h"
#include "server/launch/call_queue.h"
#include "server/launch/job.h"

#define FILE_MAX ((size_t)256 << 10)
#define ENDED_KEPT 100 /* jobs that have ended, to look at */
#define TICK_MS 50
#define FOLLOW_UP_S 120 /* so long a job waits for a follow-up of its run */
#define AWAITED_MS 2000 /* so long after each time somebody asks its state is awaited */

static void forget_oldest(struct jobs *jobs)
{
    struct job *job, *oldest = NULL;
    size_t n = 0;

    TAILQ_FOREACH (job, &jobs->list, entry) {
        n += !job_is_alive(job);
        if (!job_is_alive(job) && (!oldest || job->ended_ms < oldest->ended_ms))
            oldest = job;
    }
    if (n <= ENDED_KEPT || oldest->sync)
        return;
    TAILQ_REMOVE(&jobs->list, oldest, entry);
    job_remove_files(oldest);
    job_free(oldest);
}

static void on_tick(uv_timer_t *timer)
{
    struct jobs *jobs = timer->data;
    struct job *job, *next;
    bool is_any = false;

    for (job = TAILQ_FIRST(&jobs->list); job; job = next) {
        next = TAILQ_NEXT(job, entry);
        job_tick(job);
        is_any = is_any || job_is_alive(job);
    }
    call_queue_run(jobs);
    forget_oldest(jobs);
    if (!is_any)
        uv_timer_stop(timer);
}

/* ---- Opening ---- */

static int is_job_file(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);

    return len == ID_RUN_LENGTH + 5 &&
           strcmp(entry->d_name + ID_RUN_LENGTH, ".json") == 0;
}

/* What a loss of power left nothing of, while it was replaced, is as it was before. */
static json_t *read_job(const char *dir, const char *name)
{
    char path[PATH_MAX];
    struct error err, no_other;
    json_t *doc;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    doc = json_read_file(path, FILE_MAX, &err);
    if (doc)
        return doc;
    snprintf(path, sizeof(path), "%s/%.*s.safe", dir, ID_RUN_LENGTH, name);
    doc = json_read_file(path, FILE_MAX, &no_other);
    log_error("a job is %s: %s", doc ? "known as it was before" : "not known any more",
              err.text);
    return doc;
}

/* Ids sort by the second in which they were made. */
static int restore_all(struct jobs *jobs, struct error *err)
{
    struct dirent **entries = NULL;
    int n = scandir(jobs->dir, &entries, is_job_file, alphasort);

    if (n < 0)
        return error_set_errno(err, ERROR_IO, errno, "can't read %s", jobs->dir);
    for (int i = 0; i < n; i++) {
        json_t *doc = read_job(jobs->dir, entries[i]->d_name);

        job_restore(jobs, doc);
        json_decref(doc);
        free(entries[i]);
    }
    free(entries);
    return 0;
}

static void jobs_free(struct jobs *jobs)
{
    struct job *job;

    engine_calls_abandon(&jobs->calls);
    while ((job = TAILQ_FIRST(&jobs->list))) {
        TAILQ_REMOVE(&jobs->list, job, entry);
        job_free(job);
    }
    launcher_list_release(&jobs->launchers);
    free(jobs->dir);
    free(jobs->launchers_dir);
    free(jobs->server);
    free(jobs);
}

static int open_all(struct jobs *jobs, const struct jobs_config *config,
                    struct error *err)
{
    jobs->dir = strdup(config->dir);
    jobs->launchers_dir = config->launchers ? strdup(config->launchers) : NULL;
    jobs->server = strdup("");
    jobs->has_tokens = config->has_tokens;
    if (!jobs->dir || !jobs->server || (config->launchers && !jobs->launchers_dir))
        return error_set(err, ERROR_MEMORY, "out of memory");
    if (mkdir(jobs->dir, 0700) && errno != EEXIST)
        return error_set_errno(err, ERROR_IO, errno, "can't make %s", jobs->dir);
    return launcher_list_load(&jobs->launchers, config->launchers, err) ||
                   restore_all(jobs, err)
               ? -1
               : 0;
}

struct jobs *jobs_create(uv_loop_t *loop, const struct jobs_config *config,
                         struct error *err)
{
    struct jobs *jobs = calloc(1, sizeof(*jobs));

    if (!jobs) {
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    jobs->loop = loop;
    TAILQ_INIT(&jobs->list);
    engine_calls_init(&jobs->calls, loop);
    if (open_all(jobs, config, err)) {
        jobs_free(jobs);
        return NULL;
    }
    uv_timer_init(loop, &jobs->timer);
    jobs->timer.data = jobs;
    return jobs;
}

/* An idle server has no timer of it. */
static void run_timer(struct jobs *jobs)
{
    if (!uv_is_active((uv_handle_t *)&jobs->timer))
        uv_timer_start(&jobs->timer, on_tick, 0, TICK_MS);
}

void jobs_set_server(struct jobs *jobs, const char *url)
{
    char *copy = strdup(url);

    if (copy) {
        free(jobs->server);
        jobs->server = copy;
    }
    if (!TAILQ_EMPTY(&jobs->list))
        run_timer(jobs);
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
    jobs_free(handle->data);
}

void jobs_close(struct jobs *jobs)
{
    uv_close((uv_handle_t *)&jobs->timer, on_timer_closed);
}

/* ---- What runs need ---- */

long jobs_nodes_wanted(const struct run_spec *spec)
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
    if (jobs_nodes_wanted(spec) > launcher->most_nodes)
        problems_add(problems, "/nodes", "%ld nodes are more than the %ld that %s gives",
                     jobs_nodes_wanted(spec), launcher->most_nodes, launcher->name);
}

static bool is_in(const json_t *names, const char *name)
{
    json_t *value;
    size_t i;

    json_array_foreach (names, i, value)
        if (name && strcmp(json_string_value(value), name) == 0)
            return true;
    return false;
}

/* Whether those that may (NULL: everybody) are those that want to. */
static int allow(const json_t *may, const char *launcher, const char *who,
                 struct error *err)
{
    if (!may || is_in(may, who))
        return 0;
    if (!who)
        return error_set(err, ERROR_DENIED,
                         "the launcher %s is not for everybody (its limits.who), and no "
                         "name stands beside this token",
                         launcher);
    return error_set(err, ERROR_DENIED,
                     "the launcher %s is not for %s: its limits.who has other names",
                     launcher, who);
}

int jobs_allow(const struct jobs *jobs, const char *launcher, const char *who,
               struct error *err)
{
    const struct launcher *of = launcher_list_find(&jobs->launchers, launcher);

    return allow(of ? of->who : NULL, launcher, who, err);
}

static json_t *complete(const struct jobs *jobs, const struct run_spec *spec)
{
    const struct launcher *launcher =
        launcher_list_find(&jobs->launchers, spec->launch.name);
    struct problems problems;
    json_t *args = NULL;

    problems_init(&problems);
    if (launcher)
        args = program_schema_complete(launcher->parameters, spec->launch.args,
                                       "/launch/args", &problems);
    problems_release(&problems);
    return args;
}

/* Of one job: its id follows the prefix. */
static struct job *find_group(const struct jobs *jobs, const char *group)
{
    struct job *job;

    TAILQ_FOREACH (job, &jobs->list, entry)
        if (group && strcmp(job->group, group) == 0)
            return job;
    return NULL;
}

/* A follow-up has yet to be stored. */
int jobs_assign(struct jobs *jobs, struct run_spec *spec, const char *group)
{
    char id[ID_RUN_LENGTH + 1], *own = NULL;
    struct job *job;

    if (!spec->launch.name)
        return 0;
    job = find_group(jobs, group);
    if (job && job->state == JOB_RUNNING) {
        jobs_hold(jobs, group);
        own = strdup(group);
    } else {
        id_run(id);
        if (asprintf(&own, JOB_GROUP_PREFIX "%s", id) < 0)
            own = NULL;
    }
    if (!own)
        return -1;
    free(spec->nodes.group);
    spec->nodes.group = own;
    return 0;
}

bool jobs_has(const struct jobs *jobs, const char *group)
{
    const struct job *job = find_group(jobs, group);

    return job && job_is_alive(job);
}

/* Two UUIDs of 122 random bits each. */
static void make_token(struct job *job)
{
    char first[ID_UUID_LENGTH + 1], second[ID_UUID_LENGTH + 1];

    id_uuid(first);
    id_uuid(second);
    snprintf(job->token, sizeof(job->token), "%s%s", first, second);
}

static struct job *new_job(struct jobs *jobs, const struct run_spec *spec,
                           const char *run)
{
    const char *group = spec->nodes.group;
    json_t *args = complete(jobs, spec);
    struct job *job = NULL;

    if (args && job_group(group))
        job = job_create(jobs, group + strlen(JOB_GROUP_PREFIX), group, spec->launch.name,
                         run, args);
    json_decref(args);
    if (!job)
        return NULL;
    job->who = json_incref(job_launcher(job)->who);
    job->nodes = jobs_nodes_wanted(spec);
    job->created_ms = clock_wall_ms();
    make_token(job);
    job_keep(job);
    run_timer(jobs);
    job_tick(job);
    return job;
}

enum job_state jobs_need(struct jobs *jobs, const struct run_spec *spec, const char *run,
                         char *text)
{
    struct job *job = find_group(jobs, spec->nodes.group);

    if (!job)
        job = new_job(jobs, spec, run);
    if (!job) {
        snprintf(text, JOB_TEXT_MAX, "there is no launcher %.64s any more",
                 spec->launch.name);
        return JOB_ENDED;
    }
    job_hold(job, 0);
    job_sentence(job, text);
    return job->state;
}

const char *jobs_group(const struct jobs *jobs, size_t i)
{
    const struct job *job;

    TAILQ_FOREACH (job, &jobs->list, entry)
        if (job_is_alive(job) && i-- == 0)
            return job->group;
    return NULL;
}

void jobs_hold(struct jobs *jobs, const char *group)
{
    struct job *job = find_group(jobs, group);

    if (job && job->state == JOB_RUNNING)
        job_hold(job, FOLLOW_UP_S * INT64_C(1000));
}

void jobs_release(struct jobs *jobs, const char *group)
{
    struct job *job = find_group(jobs, group);

    if (job && job_is_alive(job) && job->state != JOB_STOPPING &&
        job_now_at(job) >= job->held_until_at)
        job_stop(job, "no run needs it any more");
}

bool jobs_ask(struct jobs *jobs, const char *group, char *text)
{
    struct job *job = find_group(jobs, group);
    int64_t now;

    text[0] = '\0';
    if (!job || job->state == JOB_ENDED) {
        if (job)
            job_sentence(job, text);
        return false;
    }
    if (job->trouble[0])
        return false;
    now = job_now_at(job);
    if (now >= job->awaited_until_at)
        job->due_at = now;
    job->awaited_until_at = now + AWAITED_MS;
    return true;
}

/* In constant time for each of them. */
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

/* ---- What people ask ---- */

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

static struct job *find_id(const struct jobs *jobs, const char *id)
{
    struct job *job;

    TAILQ_FOREACH (job, &jobs->list, entry)
        if (strcmp(job->id, id) == 0)
            return job;
    return NULL;
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
    if (job->state == JOB_STOPPING)
        job_stop_again(job);
    else
        job_stop(job, "stopped by a request");
    return 0;
}
