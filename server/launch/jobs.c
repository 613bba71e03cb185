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
#include "common/spec/program_schema.h"
#include "server/launch/call_queue.h"
#include "server/launch/job.h"

#define FILE_MAX ((size_t)256 << 10)
#define ENDED_KEPT 100 /* jobs that have ended, to look at */
#define TICK_MS 50
#define HOURS_SHARE 0.9  /* of those that a job may run: behind it no run begins */
#define ASKS_MAX 8       /* answers that a job goes on, of which a run has failed, */
#define ASK_MAX_MS 10000 /* and so long for them */

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

void jobs_set_nodes(struct jobs *jobs, const struct jobs_nodes *nodes)
{
    jobs->nodes = *nodes;
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

/* Whether a job that is kept has what the next run needs: its nodes, of which some may
 * have died, and time. Those of which nothing was heard yet may come, while a run waits
 * for them. */
static bool is_fit(const struct job *job, long nodes)
{
    const struct launcher *launcher = job_launcher(job);
    const struct jobs_nodes *of = &job->jobs->nodes;
    double ran_h = (double)(job_now_at(job) - job->started_at) / 3600e3;
    size_t alive, gone;

    if (job->nodes < nodes || !launcher)
        return false;
    if (job->state != JOB_RUNNING)
        return true;
    of->count(of->arg, job->group, &alive, &gone);
    return ran_h <= launcher->most_hours * HOURS_SHARE &&
           ((long)alive >= nodes || (!job->idle_ms && job->nodes - (long)gone >= nodes));
}

/* A job that is kept, or is not needed yet any less, and would do. */
static struct job *find_like(const struct jobs *jobs, const struct run_spec *spec)
{
    json_t *args = complete(jobs, spec);
    struct job *job, *found = NULL;

    TAILQ_FOREACH (job, &jobs->list, entry)
        if (job->keep_s > 0 && job->state != JOB_STOPPING && job_is_alive(job) &&
            strcmp(job->launcher, spec->launch.name) == 0 &&
            json_equal(job->args, args) && is_fit(job, jobs_nodes_wanted(spec)))
            found = job;
    json_decref(args);
    return found;
}

char *jobs_foresee(const struct jobs *jobs, const struct run_spec *spec, char *text)
{
    const struct job *job = find_like(jobs, spec);

    text[0] = '\0';
    if (job && job->state != JOB_RUNNING)
        job_sentence(job, text);
    return job ? strdup(job->group) : NULL;
}

/* One that is kept is kept so much longer: the run has yet to be stored. */
int jobs_assign(struct jobs *jobs, struct run_spec *spec)
{
    struct job *job;
    char id[ID_RUN_LENGTH + 1], *group = NULL;

    if (!spec->launch.name)
        return 0;
    job = find_like(jobs, spec);
    id_run(id);
    if (job) {
        group = strdup(job->group);
        job_set_idle(job, job->idle_ms != 0);
    } else if (asprintf(&group, JOB_GROUP_PREFIX "%s", id) < 0)
        group = NULL;
    if (!group)
        return -1;
    free(spec->nodes.group);
    spec->nodes.group = group;
    return 0;
}

/* The last one that was made by then. */
static struct job *find_group(const struct jobs *jobs, const char *group,
                              int64_t until_ms)
{
    struct job *job;

    TAILQ_FOREACH_REVERSE(job, &jobs->list, job_list, entry)
    if (group && strcmp(job->group, group) == 0 && job->created_ms <= until_ms)
        return job;
    return NULL;
}

bool jobs_has(const struct jobs *jobs, const char *group)
{
    const struct job *job = find_group(jobs, group, INT64_MAX);

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

/* As large as any run needs that waits for it: where it replaces one that has ended, that
 * may be more than the run does which finds that out. */
static struct job *new_job(struct jobs *jobs, const struct run_spec *spec,
                           const char *run)
{
    const struct jobs_nodes *nodes = &jobs->nodes;
    long own = jobs_nodes_wanted(spec), others;
    json_t *args = complete(jobs, spec);
    const char *group = spec->nodes.group;
    char id[ID_RUN_LENGTH + 1];
    struct job *job;

    id_run(id);
    job =
        args && group ? job_create(jobs, id, group, spec->launch.name, run, args) : NULL;
    json_decref(args);
    if (!job)
        return NULL;
    job->who = json_incref(job_launcher(job)->who);
    others = nodes->wanted(nodes->arg, group);
    job->nodes = others > own ? others : own;
    job->created_ms = clock_wall_ms();
    job->keep_s = spec->launch.keep_s;
    make_token(job);
    job_keep(job);
    run_timer(jobs);
    job_tick(job);
    return job;
}

enum job_state jobs_need(struct jobs *jobs, const struct run_spec *spec, const char *run,
                         char *text)
{
    struct job *job = find_group(jobs, spec->nodes.group, INT64_MAX);

    if (!job || (!job_is_alive(job) && strcmp(job->run, run) != 0))
        job = new_job(jobs, spec, run);
    if (!job) {
        snprintf(text, JOB_TEXT_MAX, "there is no launcher %.64s any more",
                 spec->launch.name);
        return JOB_ENDED;
    }
    job_set_idle(job, false);
    job->keep_s = spec->launch.keep_s > job->keep_s ? spec->launch.keep_s : job->keep_s;
    job_sentence(job, text);
    return job->state;
}

void jobs_tend(struct jobs *jobs)
{
    const struct jobs_nodes *nodes = &jobs->nodes;
    struct job *job;

    TAILQ_FOREACH (job, &jobs->list, entry) {
        if (!job_is_alive(job) || job->state == JOB_STOPPING)
            continue;
        if (nodes->is_needed(nodes->arg, job->group)) {
            job_set_idle(job, false);
            continue;
        }
        if (!job->idle_ms)
            job_set_idle(job, true);
        if (job->state != JOB_RUNNING || /* there is nothing to keep yet */
            job_now_at(job) - job->idle_at >= job->keep_s * 1000)
            job_stop(job, "no run needs it any more");
    }
}

void jobs_ask(struct jobs *jobs, const char *group, int64_t began_ms, jobs_told *told,
              void *arg)
{
    struct job *job = find_group(jobs, group, began_ms);
    bool is_known = job && !job->trouble[0];
    struct ask *ask = is_known && job_is_alive(job) ? calloc(1, sizeof(*ask)) : NULL;
    char sentence[JOB_TEXT_MAX];

    if (!ask) {
        if (job)
            job_sentence(job, sentence);
        told(arg, job && !job_is_alive(job) ? sentence : NULL);
        return;
    }
    ask->told = told;
    ask->arg = arg;
    ask->left = ASKS_MAX;
    ask->until_at = job_now_at(job) + ASK_MAX_MS;
    STAILQ_INSERT_TAIL(&job->asks, ask, entry);
    job->due_at = job_now_at(job);
    run_timer(jobs);
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
