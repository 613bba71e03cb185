/* job_engine.c - what the engine is asked of a job, and what it answers */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/spec/command_template.h"
#include "server/launch/job.h"

#define ASK_MS 500          /* between questions, where somebody waits for the answer */
#define MAY_COME_MS 2000    /* a start that failed at once may have its effect as late */
#define STOP_AGAIN_MS 60000 /* a stop that was taken has had no effect */
#define IDLE_EXIT_S "600"   /* agents may be idle longer than the server lets them */

static int64_t ms_of(double seconds)
{
    return (int64_t)(seconds * 1000);
}

/* "WHAT: the command ended with status 1: no such partition" */
static void put_fault(char out[JOB_WORDS_MAX], const char *what,
                      const struct engine_answer *answer)
{
    const char *said = answer->complaint[0] ? answer->complaint : answer->text;

    snprintf(out, JOB_WORDS_MAX, "%s: the command %s%s%.*s", what, answer->why,
             said[0] ? ": " : "", 120, said);
}

/* ---- The engine's answers ---- */

/* Its id is a word, as command lines and sentences have them. */
static bool is_id(const char *id, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (id[i] <= ' ' || id[i] > '~')
            return false;
    return len > 0 && len < sizeof(((struct job *)0)->engine_id);
}

static bool has_id(const struct job *job, const char *id, size_t len)
{
    return strlen(job->engine_id) == len && memcmp(job->engine_id, id, len) == 0;
}

/* Another job that has the id, which is then surely that one's alone to be stopped by. */
static const struct job *find_owner(const struct job *job, const char *id, size_t len)
{
    const struct job *other;

    TAILQ_FOREACH (other, &job->jobs->list, entry)
        if (other != job && job_is_alive(other) && has_id(other, id, len) &&
            strcmp(other->launcher, job->launcher) == 0)
            return other;
    return NULL;
}

/* The engine's id of it, from now on; -1 with the reason where that can't be. */
static int name_it(struct job *job, const char *id, size_t len, char why[JOB_WORDS_MAX])
{
    const struct job *owner = find_owner(job, id, len);

    if (!is_id(id, len)) {
        snprintf(why, JOB_WORDS_MAX, "this is no id: %.120s", id);
        return -1;
    }
    if (owner) {
        snprintf(why, JOB_WORDS_MAX, "the engine gave it the id %.*s, which job %s has",
                 (int)len, id, owner->id);
        return -1;
    }
    memcpy(job->engine_id, id, len);
    if (job->state == JOB_STARTING)
        job_enter(job, JOB_PENDING, "");
    else
        job_keep(job);
    return 0;
}

/* No id came of its start. The engine may have it all the same, or have it soon, as an
 * answer that the command no longer waited for: it is looked for by its name, where that
 * can be, for as long again as the command took. */
static void be_unnamed(struct job *job, const struct launcher *launcher, const char *why,
                       bool may_come)
{
    int64_t now = job_now_at(job), took = now - job->asked_at;
    char text[JOB_WORDS_MAX];

    if (launcher->argv[LAUNCHER_FIND]) {
        job->may_come_until_at = now + (took > MAY_COME_MS ? took : MAY_COME_MS);
        job_enter(job, job->state, job->state == JOB_STARTING ? why : job->reason);
        return;
    }
    snprintf(text, sizeof(text), "%s%.120s",
             may_come ? "whether the engine has it is not known, and its launcher has no "
                        "`find`: "
                      : "",
             why);
    job_enter(job, JOB_ENDED, text);
}

static void on_started(struct job *job, const struct launcher *launcher,
                       const struct engine_answer *answer)
{
    const char *id = NULL;
    size_t len = 0;
    char why[JOB_WORDS_MAX];
    bool is_named = false;

    if (answer->has_failed)
        put_fault(why, "it was not started", answer);
    else if (safe_regex_match(launcher->job, answer->text, strlen(answer->text), &id,
                              &len) != SAFE_REGEX_YES ||
             !id)
        snprintf(why, sizeof(why), "no id is in what its start said: %.120s",
                 answer->text);
    else if (!name_it(job, id, len, why))
        return;
    else
        is_named = true;
    be_unnamed(job, launcher, why, answer->is_late || is_named);
}

static bool is_gone(const struct launcher *launcher, const struct engine_answer *answer)
{
    return answer->has_failed
               ? launcher->gone && safe_regex_match(launcher->gone, answer->complaint,
                                                    strlen(answer->complaint), NULL,
                                                    NULL) == SAFE_REGEX_YES
               : answer->text[0] == '\0';
}

/* What cannot be asked is not taken to have ended. One that is stopped has ended for what
 * it was stopped for, whatever the engine calls that. */
static void on_status(struct job *job, const struct launcher *launcher,
                      const struct engine_answer *answer)
{
    bool is_stopping = job->state == JOB_STOPPING;
    char why[JOB_WORDS_MAX];
    int state;

    if (is_gone(launcher, answer)) {
        job_enter(job, JOB_ENDED,
                  is_stopping ? job->reason : "the engine has it no more");
        return;
    }
    if (answer->has_failed) {
        put_fault(why, "its state is not known", answer);
        job_be_unknown(job, why);
        return;
    }
    state = launcher_state(launcher, answer->text, why, sizeof(why));
    if (state < 0 || (is_stopping && state != JOB_ENDED))
        state = (int)job->state;
    job_enter(job, (enum job_state)state, is_stopping ? job->reason : why);
}

/* Whether another line begins with another id than the first. */
static bool has_others(const char *text, size_t len)
{
    for (const char *at = text; *at; at += strspn(at, "\n")) {
        if (strcspn(at, " \t\n") != len || memcmp(at, text, len) != 0)
            return true;
        at += strcspn(at, "\n");
    }
    return false;
}

/* Of several that have its name none is surely its own, so none is taken or stopped. */
static void on_found(struct job *job, const struct engine_answer *answer)
{
    size_t len = strcspn(answer->text, " \t\n");
    char why[JOB_WORDS_MAX];

    if (answer->has_failed) {
        put_fault(why, "whether the engine has it is not known", answer);
        job_be_unknown(job, why);
    } else if (len == 0) {
        if (job_now_at(job) >= job->may_come_until_at)
            job_enter(job, JOB_ENDED, job->reason);
    } else if (has_others(answer->text, len)) {
        snprintf(why, sizeof(why), "the engine has several jobs of its name: %.120s",
                 answer->text);
        job_be_unknown(job, why);
    } else if (name_it(job, answer->text, len, why))
        job_be_unknown(job, why);
}

/* An answer of "stop again" follows at once where the state was asked for in between. */
static void on_stop(struct job *job, const struct engine_answer *answer)
{
    char why[JOB_WORDS_MAX];

    job->is_stopped = !answer->has_failed;
    job->stopped_at = job_now_at(job);
    if (!answer->has_failed)
        return;
    put_fault(why, "it could not be stopped", answer);
    job_be_unknown(job, why);
}

static void take_answer(struct job *job, const struct launcher *launcher,
                        const struct engine_answer *answer)
{
    int64_t now = job_now_at(job);

    switch (job->command) {
    case LAUNCHER_START:
        job->start_pid = 0;
        on_started(job, launcher, answer);
        break;
    case LAUNCHER_STATUS:
        on_status(job, launcher, answer);
        if (job->state != JOB_STOPPING || job->is_stopped)
            job->due_at =
                now + (now < job->awaited_until_at ? ASK_MS : ms_of(launcher->every_s));
        break;
    case LAUNCHER_STOP:
        on_stop(job, answer);
        job->due_at = now + ms_of(launcher->every_s);
        break;
    case LAUNCHER_FIND:
        on_found(job, answer);
        if (!job->engine_id[0])
            job->due_at = now + ms_of(launcher->every_s);
        break;
    case LAUNCHER_COMMANDS:
        break;
    }
}

static void on_answer(void *arg, const struct engine_answer *answer)
{
    struct job *job = arg;

    job->call = NULL;
    job->due_at = job_now_at(job);
    if (job_is_alive(job)) /* else it was given up */
        take_answer(job, answer->launcher, answer);
}

/* ---- Calls ---- */

static json_t *values_of(const struct job *job, const struct launcher *launcher)
{
    json_t *values = json_copy(job->args);
    char name[JOB_NAME_SIZE];

    job_name(job, name);
    json_object_set_new(values, "nodes", json_sprintf("%ld", job->nodes));
    json_object_set_new(values, "group", json_string(job->group));
    json_object_set_new(
        values, "server",
        json_string(launcher->server ? launcher->server : job->jobs->server));
    json_object_set_new(values, "token_file",
                        json_string(job->token_path ? job->token_path : ""));
    json_object_set_new(values, "name", json_string(name));
    json_object_set_new(values, "run", json_string(job->run));
    json_object_set_new(values, "idle_s", json_string(IDLE_EXIT_S));
    json_object_set_new(values, "job", json_string(job->engine_id));
    return values;
}

static int call(struct job *job, struct launcher *launcher, enum launcher_command command,
                struct error *err)
{
    json_t *values = values_of(job, launcher);
    char **argv = launcher_argv(launcher, command, values, err), **env = NULL;

    if (argv)
        env = launcher_env(launcher, values, err);
    job->command = command;
    if (env)
        job->call = engine_call_start(&job->jobs->calls, launcher, argv, env, on_answer,
                                      job, err);
    command_template_free(argv);
    command_template_free(env);
    json_decref(values);
    return job->call ? 0 : -1;
}

static bool may_be_asked_for(const struct job *job, const struct launcher *launcher)
{
    const struct job *other;
    long n = 0;

    TAILQ_FOREACH (other, &job->jobs->list, entry) {
        n += job_is_alive(other) && other->asked_ms &&
             strcmp(other->launcher, job->launcher) == 0;
        if (n >= launcher->most_jobs)
            return false;
    }
    return true;
}

/* Kept before its command runs, or not started: a server that is killed meanwhile looks
 * for it. */
static void prepare(struct job *job, const struct launcher *launcher)
{
    struct error err;

    if (!may_be_asked_for(job, launcher)) {
        job_enter(job, JOB_STARTING, "waits for another of its launcher to end");
        return;
    }
    job->asked_ms = clock_wall_ms();
    job->asked_at = job_now_at(job);
    if (job->jobs->has_tokens && job_write_token(job, &err)) {
        job_enter(job, JOB_ENDED, err.text);
        return;
    }
    job_enter(job, JOB_STARTING, "");
    if (job_keep(job))
        job_enter(job, JOB_ENDED,
                  "it was not started: it could not be written down, as the log says");
}

static void start(struct job *job, struct launcher *launcher)
{
    char why[JOB_WORDS_MAX];
    struct error err;

    if (job->sync_errno) {
        snprintf(why, sizeof(why), "it was not started: the disk did not take it: %s",
                 strerror(job->sync_errno));
        job_enter(job, JOB_ENDED, why);
        return;
    }
    job->is_begun = true;
    job->asked_at = job_now_at(job);
    if (call(job, launcher, LAUNCHER_START, &err)) {
        job_enter(job, JOB_ENDED, err.text);
        return;
    }
    job->start_pid = engine_call_pid(job->call);
    job_keep(job);
}

/* One that is to stop is told so until the engine takes it, and asked after in between:
 * it may have ended. */
enum launcher_command job_next_command(const struct job *job)
{
    if (!job->is_begun)
        return LAUNCHER_START;
    if (!job->engine_id[0])
        return LAUNCHER_FIND;
    return job->state == JOB_STOPPING && !job->is_stopped && job->command != LAUNCHER_STOP
               ? LAUNCHER_STOP
               : LAUNCHER_STATUS;
}

static void ask(struct job *job, struct launcher *launcher)
{
    enum launcher_command command;
    struct error err;

    if (job->is_stopped && job_now_at(job) - job->stopped_at >= STOP_AGAIN_MS)
        job->is_stopped = false;
    command = job_next_command(job);
    job->due_at = job_now_at(job) + ms_of(launcher->every_s);
    if (!launcher->argv[command])
        be_unnamed(job, launcher, job->reason, true);
    else if (call(job, launcher, command, &err))
        job_be_unknown(job, err.text);
}

static void limit_hours(struct job *job, const struct launcher *launcher)
{
    char why[80];

    if (job->state != JOB_RUNNING ||
        job_now_at(job) - job->started_at < ms_of(launcher->most_hours * 3600))
        return;
    snprintf(why, sizeof(why), "its %g hours were over", launcher->most_hours);
    job_stop(job, why);
}

static bool is_due(const struct job *job)
{
    return job_is_alive(job) && !job->call && job_now_at(job) >= job->due_at;
}

void job_tick(struct job *job)
{
    struct launcher *launcher = job_launcher(job);

    if (launcher)
        limit_hours(job, launcher);
    if (!is_due(job))
        return;
    if (!launcher)
        job_be_unknown(job, "its launcher is not among this server's any more");
    else if (!job->asked_ms)
        prepare(job, launcher);
}

bool job_wants_call(const struct job *job)
{
    bool is_prepared = job->is_begun || (job->asked_ms && job->synced == job->kept);

    return is_due(job) && is_prepared && job_launcher(job);
}

bool job_call(struct job *job)
{
    struct launcher *launcher = job_launcher(job);

    if (job->is_begun)
        ask(job, launcher);
    else
        start(job, launcher);
    return job->call != NULL;
}

/* Now, whatever its state would have been. */
static void hurry(struct job *job)
{
    if (job->call && job->command == LAUNCHER_STATUS) {
        engine_call_cancel(job->call);
        job->call = NULL;
    }
    job->due_at = job_now_at(job);
}

void job_stop(struct job *job, const char *reason)
{
    job_enter(job, job->is_begun ? JOB_STOPPING : JOB_ENDED, reason);
    hurry(job);
    job_tick(job);
}

void job_stop_again(struct job *job)
{
    char reason[JOB_WORDS_MAX];

    if (!job_launcher(job) || (!job->engine_id[0] && job->trouble[0])) {
        snprintf(reason, sizeof(reason),
                 "given up by a request; the engine may have it: %.100s", job->trouble);
        job_enter(job, JOB_ENDED, reason);
        return;
    }
    job->is_stopped = false;
    hurry(job);
    if (!job->call)
        job->command = LAUNCHER_STATUS; /* the next is a stop, see job_next_command */
}
