/* job_engine.c - what the engine is asked of a job, and what it answers */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/spec/command_template.h"
#include "server/launch/job.h"

#define ASK_MS 500 /* between questions, where somebody waits for the answer */

/* ---- The engine's answers ---- */

static void name_it(struct job *job, const char *id, size_t len)
{
    bool is_stopping = job->state == JOB_STOPPING;

    memcpy(job->engine_id, id, len);
    job_enter(job, is_stopping ? JOB_STOPPING : JOB_PENDING,
              is_stopping ? job->reason : "");
}

static void on_started(struct job *job, const struct engine_answer *answer)
{
    const struct launcher *launcher = job_launcher(job);
    const char *id = NULL;
    size_t len = 0;
    char why[sizeof(job->reason)];

    if (answer->has_failed) {
        snprintf(why, sizeof(why), "it was not started: the command %s: %.120s",
                 answer->why, answer->complaint[0] ? answer->complaint : answer->text);
        job_enter(job, JOB_ENDED, why);
        return;
    }
    if (launcher &&
        safe_regex_match(launcher->job, answer->text, strlen(answer->text), &id, &len) ==
            SAFE_REGEX_YES &&
        id && len > 0 && len < sizeof(job->engine_id)) {
        name_it(job, id, len);
        return;
    }
    snprintf(why, sizeof(why), "no id is in what its start said: %.120s", answer->text);
    job_enter(job, JOB_ENDED, why);
}

static bool is_gone(const struct launcher *launcher, const struct engine_answer *answer)
{
    return answer->has_failed
               ? launcher->gone && safe_regex_match(launcher->gone, answer->complaint,
                                                    strlen(answer->complaint), NULL,
                                                    NULL) == SAFE_REGEX_YES
               : answer->text[0] == '\0';
}

/* What cannot be asked is not taken to have ended. */
static void on_status(struct job *job, const struct engine_answer *answer)
{
    const struct launcher *launcher = job_launcher(job);
    char why[sizeof(job->reason)];
    int state;

    if (!launcher)
        return;
    if (is_gone(launcher, answer)) {
        job_enter(job, JOB_ENDED,
                  job->state == JOB_STOPPING ? job->reason : "the engine has it no more");
        return;
    }
    if (answer->has_failed) {
        snprintf(why, sizeof(why), "its state is not known: the command %s: %.120s",
                 answer->why, answer->complaint);
        job_enter(job, job->state, why);
        return;
    }
    state = launcher_state(launcher, answer->text, why, sizeof(why));
    if (state < 0 || (job->state == JOB_STOPPING && state != JOB_ENDED))
        state = (int)job->state;
    if (job->state == JOB_STOPPING && job->is_cut)
        snprintf(why, sizeof(why), "its %g hours were over", launcher->most_hours);
    job_enter(job, (enum job_state)state, why);
}

static void on_found(struct job *job, const struct engine_answer *answer)
{
    size_t len = strcspn(answer->text, " \t\r\n");

    if (answer->has_failed || len == 0 || len >= sizeof(job->engine_id)) {
        job_enter(
            job, JOB_ENDED,
            "the server was stopped while it was started, and the engine has none of "
            "its name");
        return;
    }
    name_it(job, answer->text, len);
}

static void on_answer(void *arg, const struct engine_answer *answer)
{
    struct job *job = arg;
    const struct launcher *launcher = job_launcher(job);

    job->call = NULL;
    job->due_ms = job_now_ms() + (int64_t)((launcher ? launcher->every_s : 5) * 1000);
    switch (job->command) {
    case LAUNCHER_START:
        on_started(job, answer);
        job->due_ms = 0;
        break;
    case LAUNCHER_STATUS:
        on_status(job, answer);
        if (!STAILQ_EMPTY(&job->asks))
            job->due_ms = job_now_ms() + ASK_MS;
        if (job->state == JOB_STOPPING && !job->is_stopped)
            job->due_ms = 0;
        job_tell_asks(job, job->state == JOB_ENDED);
        break;
    case LAUNCHER_STOP:
        job->is_stopped = !answer->has_failed;
        if (answer->has_failed)
            log_warn("job %s: stopping it %s: %.200s", job->id, answer->why,
                     answer->complaint);
        break;
    case LAUNCHER_FIND:
        on_found(job, answer);
        job->due_ms = 0;
        break;
    case LAUNCHER_COMMANDS:
        break;
    }
}

/* ---- Calls ---- */

static json_t *values_of(const struct job *job)
{
    json_t *values = json_copy(job->args);
    char path[PATH_MAX], name[64], nodes[24];

    job_token_path(job, path);
    snprintf(name, sizeof(name), "ringbench-%s", job->id);
    snprintf(nodes, sizeof(nodes), "%ld", job->nodes);
    json_object_set_new(values, "nodes", json_string(nodes));
    json_object_set_new(values, "group", json_string(job->group));
    json_object_set_new(values, "server", json_string(job->jobs->server));
    json_object_set_new(values, "token_file",
                        json_string(job->jobs->has_tokens ? path : ""));
    json_object_set_new(values, "name", json_string(name));
    json_object_set_new(values, "run", json_string(job->run));
    json_object_set_new(values, "job", json_string(job->engine_id));
    return values;
}

static int call(struct job *job, enum launcher_command command, struct error *err)
{
    const struct launcher *launcher = job_launcher(job);
    json_t *values = values_of(job);
    char **argv = NULL, **env = NULL;

    if (launcher && launcher->server)
        json_object_set_new(values, "server", json_string(launcher->server));
    if (!launcher)
        error_set(err, ERROR_NOT_FOUND, "there is no launcher %.64s any more",
                  job->launcher);
    else
        argv = launcher_argv(launcher, command, values, err);
    env = argv ? launcher_env(launcher, values, err) : NULL;
    job->command = command;
    if (env)
        job->call =
            engine_call_start(job->jobs->loop, argv, env,
                              (int64_t)(launcher->command_s * 1000), on_answer, job, err);
    command_template_free(argv);
    command_template_free(env);
    json_decref(values);
    return job->call ? 0 : -1;
}

static void start(struct job *job)
{
    struct error err;

    job->is_asked = true;
    job_enter(job, JOB_STARTING, "");
    if ((job->jobs->has_tokens && job_write_token(job, &err)) ||
        call(job, LAUNCHER_START, &err))
        job_enter(job, JOB_ENDED, err.text);
}

static size_t count_alive(const struct jobs *jobs, const char *launcher)
{
    const struct job *job;
    size_t n = 0;

    TAILQ_FOREACH (job, &jobs->list, entry)
        n += job_is_alive(job) && job->is_asked && strcmp(job->launcher, launcher) == 0;
    return n;
}

void job_stop(struct job *job, const char *reason)
{
    job_enter(job, job->is_asked ? JOB_STOPPING : JOB_ENDED, reason);
    job->due_ms = 0;
    job_tick(job, job_now_ms());
}

/* One that is to stop is told so until the engine takes it, and asked after in between:
 * it may have ended. */
static enum launcher_command next_command(const struct job *job)
{
    if (!job->engine_id[0])
        return LAUNCHER_FIND;
    return job->state == JOB_STOPPING && !job->is_stopped && job->command != LAUNCHER_STOP
               ? LAUNCHER_STOP
               : LAUNCHER_STATUS;
}

void job_tick(struct job *job, int64_t now)
{
    const struct launcher *launcher = job_launcher(job);
    struct error err;

    if (!job_is_alive(job) || job->call || now < job->due_ms)
        return;
    if (!launcher) {
        job_enter(job, job->state, "its launcher is not among this server's any more");
        return;
    }
    if (!job->is_asked) {
        if (count_alive(job->jobs, job->launcher) < (size_t)launcher->most_jobs)
            start(job);
        return;
    }
    job->due_ms = now + (int64_t)(launcher->every_s * 1000);
    if (!job->engine_id[0] && !launcher->argv[LAUNCHER_FIND])
        job_enter(
            job, JOB_ENDED,
            "the server was stopped while it was started: whether the engine has it is "
            "not known, and its launcher has no `find`");
    else if (call(job, next_command(job), &err))
        log_error("job %s: %s", job->id, err.text);
}

void job_limit_hours(struct job *job, int64_t now)
{
    const struct launcher *launcher = job_launcher(job);
    char why[80];

    if (!launcher || job->state != JOB_RUNNING ||
        (double)(now - job->started_ms) < launcher->most_hours * 3600e3)
        return;
    job->is_cut = true;
    snprintf(why, sizeof(why), "its %g hours were over", launcher->most_hours);
    job_stop(job, why);
}
