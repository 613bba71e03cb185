/* job.c - one job of an engine: what is known of it, and its files */
#include "server/launch/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/log.h"

int64_t job_now_ms(void)
{
    return clock_wall_ms();
}

bool job_is_alive(const struct job *job)
{
    return job->state != JOB_ENDED;
}

const struct launcher *job_launcher(const struct job *job)
{
    return launcher_list_find(&job->jobs->launchers, job->launcher);
}

/* ---- What is said of a job ---- */

static void put_name(const struct job *job, char *out, size_t size)
{
    snprintf(out, size, "job %.100s of %.64s",
             job->engine_id[0] ? job->engine_id : job->id, job->launcher);
}

void job_sentence(const struct job *job, char *out)
{
    char name[180], after[60] = "";

    put_name(job, name, sizeof(name));
    if (job->state != JOB_ENDED) {
        snprintf(out, JOB_TEXT_MAX, "%s is %s%s%s", name, job_state_names[job->state],
                 job->reason[0] ? ": " : "", job->reason);
        return;
    }
    if (job->started_ms)
        snprintf(after, sizeof(after), ", %.0f s after it began to run",
                 (double)(job->ended_ms - job->started_ms) / 1000);
    snprintf(out, JOB_TEXT_MAX, "%s has ended%s%s%s", name, job->reason[0] ? ": " : "",
             job->reason, after);
}

static json_t *time_json(int64_t ms)
{
    char text[CLOCK_TEXT_MAX];

    return ms ? json_string(clock_format_ms(ms, text)) : json_null();
}

json_t *job_json(const struct job *job)
{
    char sentence[JOB_TEXT_MAX];

    job_sentence(job, sentence);
    return json_pack(
        "{s:s, s:s, s:O, s:I, s:s, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:o}",
        "id", job->id, "launcher", job->launcher, "args", job->args, "nodes",
        (json_int_t)job->nodes, "group", job->group, "job",
        job->engine_id[0] ? json_clean_string(job->engine_id) : json_null(), "run",
        job->run, "state", job_state_names[job->state], "reason",
        json_clean_string(job->reason), "sentence", json_clean_string(sentence),
        "created", time_json(job->created_ms), "started", time_json(job->started_ms),
        "ended", time_json(job->ended_ms), "keep_s", (json_int_t)job->keep_s,
        "idle_since", time_json(job->idle_ms));
}

/* ---- Its files ---- */

void job_path(const struct job *job, const char *suffix, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s/%s%s", job->jobs->dir, job->id, suffix);
}

/* Where agents find their credential. */
void job_token_path(const struct job *job, char out[PATH_MAX])
{
    const struct launcher *launcher = job_launcher(job);

    snprintf(out, PATH_MAX, "%s/%s.token",
             launcher && launcher->token_dir ? launcher->token_dir : job->jobs->dir,
             job->id);
}

void job_keep(const struct job *job)
{
    json_t *doc = job_json(job);
    char path[PATH_MAX];
    struct error err;

    json_object_set_new(doc, "token", json_string(job->token));
    json_object_set_new(doc, "asked", json_boolean(job->is_asked));
    job_path(job, ".json", path);
    if (json_write_file(doc, path, &err))
        log_error("job %s is not remembered after a restart: %s", job->id, err.text);
    json_decref(doc);
}

int job_write_token(const struct job *job, struct error *err)
{
    char path[PATH_MAX];
    FILE *file;
    int fd;

    job_token_path(job, path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file || fprintf(file, "%s\n", job->token) < 0 || fclose(file))
        return error_set_errno(err, ERROR_IO, errno, "can't write the token %s", path);
    return 0;
}

void job_forget_token(struct job *job)
{
    char path[PATH_MAX];

    if (!job->token[0])
        return;
    job_token_path(job, path);
    unlink(path);
    explicit_bzero(job->token, sizeof(job->token));
}

/* ---- Life ---- */

void job_tell_asks(struct job *job, bool is_over)
{
    char sentence[JOB_TEXT_MAX];
    struct ask *ask;

    job_sentence(job, sentence);
    while ((ask = STAILQ_FIRST(&job->asks))) {
        if (!is_over && --ask->left > 0)
            return;
        STAILQ_REMOVE_HEAD(&job->asks, entry);
        ask->told(ask->arg, job->state == JOB_ENDED ? sentence : NULL);
        free(ask);
    }
}

void job_free(struct job *job)
{
    job_tell_asks(job, true);
    if (job->call)
        engine_call_abandon(job->call);
    free(job->launcher);
    free(job->run);
    json_decref(job->args);
    explicit_bzero(job->token, sizeof(job->token));
    free(job);
}

void job_enter(struct job *job, enum job_state state, const char *reason)
{
    bool is_news = job->state != state || strcmp(job->reason, reason) != 0;
    char sentence[JOB_TEXT_MAX];

    if (state == JOB_RUNNING && !job->started_ms)
        job->started_ms = job_now_ms();
    if (state == JOB_ENDED && job->state != JOB_ENDED) {
        job->ended_ms = job_now_ms();
        job_forget_token(job);
    }
    job->state = state;
    if (reason != job->reason)
        snprintf(job->reason, sizeof(job->reason), "%s", reason);
    if (!is_news)
        return;
    job_sentence(job, sentence);
    log_info("%s", sentence);
    job_keep(job);
}

struct job *job_create(struct jobs *jobs, const char *group, const char *launcher,
                       const char *run, json_t *args)
{
    struct job *job = calloc(1, sizeof(*job));

    if (!job)
        return NULL;
    job->jobs = jobs;
    STAILQ_INIT(&job->asks);
    snprintf(job->group, sizeof(job->group), "%s", group);
    snprintf(job->id, sizeof(job->id), "%s", group + strlen(JOB_GROUP_PREFIX));
    job->launcher = strdup(launcher);
    job->run = strdup(run);
    job->args = json_incref(args);
    if (!job->launcher || !job->run || !job->args) {
        job_free(job);
        return NULL;
    }
    TAILQ_INSERT_TAIL(&jobs->list, job, entry);
    return job;
}

static int64_t time_of(const json_t *doc, const char *key)
{
    return clock_parse_ms(json_get_str(doc, key, NULL));
}

void job_restore(struct jobs *jobs, const json_t *doc)
{
    const char *group = json_get_str(doc, "group", "");
    const char *state = json_get_str(doc, "state", "");
    json_t *args = json_object_get(doc, "args");
    struct job *job;

    if (strncmp(group, JOB_GROUP_PREFIX, strlen(JOB_GROUP_PREFIX)) != 0 ||
        !json_is_object(args))
        return;
    job = job_create(jobs, group, json_get_str(doc, "launcher", ""),
                     json_get_str(doc, "run", ""), args);
    if (!job)
        return;
    job->nodes = (long)json_get_int(doc, "nodes", 1);
    job->keep_s = (long)json_get_int(doc, "keep_s", 0);
    snprintf(job->engine_id, sizeof(job->engine_id), "%s", json_get_str(doc, "job", ""));
    snprintf(job->reason, sizeof(job->reason), "%s", json_get_str(doc, "reason", ""));
    snprintf(job->token, sizeof(job->token), "%s", json_get_str(doc, "token", ""));
    job->created_ms = time_of(doc, "created");
    job->started_ms = time_of(doc, "started");
    job->ended_ms = time_of(doc, "ended");
    job->idle_ms = time_of(doc, "idle_since");
    job->is_asked = json_get_bool(doc, "asked", true);
    for (int i = 0; job_state_names[i]; i++)
        if (strcmp(job_state_names[i], state) == 0)
            job->state = (enum job_state)i;
}
