/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - manages one job of an engine: its state, and the commands that start, query and
 * stop the job */
#include "server/launch/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/utf8.h"
#include "common/spec/command_template.h"
#include "server/launch/job_files.h"
#include "server/store/store.h"

/* interval of status queries while a caller waits for the state */
#define AWAITED_EVERY_MS 500
#define MAY_COME_MS 2000    /* time for which a failed start may still create the job */
#define STOP_AGAIN_MS 60000 /* time after which an ineffective stop is repeated */
#define IDLE_EXIT_S "600"   /* time after which agents without a run exit, in seconds */

static int64_t ms_of(double seconds)
{
    return (int64_t)(seconds * 1000);
}

/* ---- Texts about the job ---- */

struct launcher *job_launcher(const struct job *job)
{
    return launcher_list_find(&job->jobs->launchers, job->launcher);
}

/* Combine the job's reason and the trouble with its engine. The reason is the engine's
 * last message, which may be old. If there is trouble, it is therefore omitted unless the
 * job is stopping. */
static void put_reason(const struct job *job, char *out)
{
    const char *reason = job->trouble[0] && job->state != JOB_STOPPING ? "" : job->reason;

    snprintf(out, JOB_REASON_MAX, "%s%s%s", reason,
             reason[0] && job->trouble[0] ? "; " : "", job->trouble);
}

void job_sentence(const struct job *job, char *out)
{
    char reason[JOB_REASON_MAX];
    bool has_ended = job->state == JOB_ENDED,
         has_begun = job->engine_id[0] || job->started_ms;
    size_t len;

    put_reason(job, reason);
    len = (size_t)snprintf(out, JOB_TEXT_MAX, "job %.100s of %.64s %s%s%s%s",
                           job->engine_id[0] ? job->engine_id : job->id, job->launcher,
                           !has_ended  ? "is "
                           : has_begun ? "has "
                                       : "ended before it started",
                           has_ended && !has_begun ? "" : job_state_names[job->state],
                           reason[0] ? ": " : "", reason);
    if (has_ended && job->started_ms)
        len += (size_t)snprintf(out + len, JOB_TEXT_MAX - len,
                                ", %.0f s after it began to run",
                                (double)(job->ended_ms - job->started_ms) / 1000);
    if (job->output[0])
        snprintf(out + len, JOB_TEXT_MAX - len, "; its output ends: %s", job->output);
    for (char *at = out; (at = strchr(at, '\n'));)
        *at = ' ';
}

struct job *job_create(struct jobs *jobs, const char *id, const char *launcher,
                       const char *run, json_t *args)
{
    struct job *job = memory_zeroed(1, sizeof(*job), "a job");

    job->jobs = jobs;
    snprintf(job->id, sizeof(job->id), "%s", id);
    snprintf(job->group, sizeof(job->group), JOB_GROUP_PREFIX "%s", job->id);
    snprintf(job->name, sizeof(job->name), "ringbench-%s", job->id);
    job->launcher = memory_text(launcher, "a job");
    job->run = memory_text(run, "a job");
    job->args = args;
    TAILQ_INSERT_TAIL(&jobs->list, job, entry);
    HASH_ADD_STR(jobs->by_id, id, job);
    return job;
}

void job_take_out(struct job *job)
{
    TAILQ_REMOVE(&job->jobs->list, job, entry);
    HASH_DEL(job->jobs->by_id, job);
}

void job_free(struct job *job)
{
    free(job->launcher);
    free(job->run);
    free(job->files);
    json_decref(job->args);
    json_decref(job->who);
    explicit_bzero(job->token, sizeof(job->token));
    free(job);
}

/* ---- The job's document ---- */

static json_t *time_json(int64_t ms)
{
    char text[CLOCK_TEXT_MAX];

    return ms ? json_string(clock_format_ms(ms, text)) : json_null();
}

json_t *job_json(const struct job *job)
{
    char sentence[JOB_TEXT_MAX], reason[JOB_REASON_MAX];
    int64_t held_ms = job->state == JOB_RUNNING ? job->held_until_at - job_now(job) : 0;

    job_sentence(job, sentence);
    put_reason(job, reason);
    return json_pack(
        "{s:s, s:s, s:O, s:I, s:s, s:s?, s:s, s:s, s:s, s:s, s:s?, s:o, s:o, s:o, s:o}",
        "id", job->id, "launcher", job->launcher, "args", job->args, "nodes",
        (json_int_t)job->nodes, "group", job->group, "job",
        job->engine_id[0] ? job->engine_id : NULL, "run", job->run, "state",
        job_state_names[job->state], "reason", reason, "sentence", sentence, "output",
        job->output[0] ? job->output : NULL, "created", time_json(job->created_ms),
        "started", time_json(job->started_ms), "ended", time_json(job->ended_ms),
        "follow_up_until", time_json(held_ms > 0 ? clock_wall_ms() + held_ms : 0));
}

/* Return a write operation that stores the job's document, including members that only
 * the server needs. */
static struct store_write *job_row(const struct job *job)
{
    json_t *doc = job_json(job);
    struct store_write *write = store_write_create();

    json_object_set_new(doc, "reason", json_string(job->reason));
    if (job->files)
        json_object_set_new(doc, "files", json_string(job->files));
    if (job->who)
        json_object_set(doc, "who", job->who);
    store_write_job(write, job->id, job->ended_ms, doc);
    json_decref(doc);
    return write;
}

static void job_keep(const struct job *job)
{
    store_submit(job->jobs->store, job_row(job), true, NULL, NULL);
}

/* The start may have been interrupted. If the job has no id, search for it by name for as
 * long as a command may take. */
void job_restore(struct jobs *jobs, const json_t *doc)
{
    const struct launcher *launcher;
    struct job *job = job_create(
        jobs, json_get_str(doc, "id", ""), json_get_str(doc, "launcher", ""),
        json_get_str(doc, "run", ""), json_incref(json_object_get(doc, "args")));
    const char *state = json_get_str(doc, "state", "");
    int64_t now = job_now(job);

    job->who = json_incref(json_object_get(doc, "who"));
    job->nodes = (long)json_get_int(doc, "nodes", 1);
    job->files = memory_text(json_get_str(doc, "files", NULL), "a job");
    snprintf(job->output, sizeof(job->output), "%s", json_get_str(doc, "output", ""));
    snprintf(job->engine_id, sizeof(job->engine_id), "%s", json_get_str(doc, "job", ""));
    snprintf(job->reason, sizeof(job->reason), "%s", json_get_str(doc, "reason", ""));
    while (job->state < JOB_ENDED && strcmp(job_state_names[job->state], state) != 0)
        job->state++;
    job->phase = JOB_BEGUN;
    job->created_ms = json_get_time(doc, "created");
    job->started_ms = json_get_time(doc, "started");
    job->ended_ms = json_get_time(doc, "ended");
    job->started_at = now - (clock_wall_ms() - job->started_ms);
    if (!job_is_alive(job))
        return;
    job_files_read(job);
    launcher = job_launcher(job);
    job->may_come_until_at = now + (launcher ? (int64_t)(launcher->command_s * 1000) : 0);
    if (job->state == JOB_STARTING && !job->reason[0])
        snprintf(job->reason, sizeof(job->reason), "the server stopped during its start");
}

/* ---- The job's state ---- */

/* Copy the text as one line, cut after a whole character. Return true if it has
 * changed. */
static bool set_words(char words[JOB_WORDS_MAX], const char *text)
{
    char cut[JOB_WORDS_MAX];

    snprintf(cut, sizeof(cut), "%.*s", utf8_fit(text, JOB_WORDS_MAX - 1), text);
    for (char *at = cut; (at = strchr(at, '\n'));)
        *at = ' ';
    if (strcmp(words, cut) == 0)
        return false;
    memcpy(words, cut, sizeof(cut));
    return true;
}

static void tell(struct job *job, bool is_failure)
{
    char sentence[JOB_TEXT_MAX];

    job_sentence(job, sentence);
    if (is_failure)
        log_warn("%s", sentence);
    else
        log_info("%s", sentence);
    if (job->phase == JOB_BEGUN)
        job_keep(job);
}

/* Enter a state. reason may point to the job's own member. A change is logged and
 * stored. */
static void enter(struct job *job, enum job_state state, const char *reason)
{
    bool is_news = set_words(job->reason, reason), is_failure = false;

    is_news = is_news || state != job->state || job->trouble[0];
    job->trouble[0] = '\0';
    if (state == JOB_RUNNING && !job->started_ms) {
        job->started_ms = clock_wall_ms();
        job->started_at = job_now(job);
    }
    if (state == JOB_ENDED && job->state != JOB_ENDED) {
        job->ended_ms = clock_wall_ms();
        is_failure = job->state != JOB_STOPPING;
        job_files_end(job);
    }
    job->state = state;
    if (is_news)
        tell(job, is_failure);
}

/* Record that the job's state currently cannot be queried. */
static void be_unknown(struct job *job, const char *trouble)
{
    if (set_words(job->trouble, trouble))
        tell(job, true);
}

/* Write `what` and the error, such as "the command ended with status 1: no such
 * partition". */
static void put_fault(char out[JOB_WORDS_MAX], const char *what,
                      const struct engine_answer *answer)
{
    const char *said = answer->complaint[0] ? answer->complaint : answer->text;

    snprintf(out, JOB_WORDS_MAX, "%sthe command %s%s%.*s", what, answer->why,
             said[0] ? ": " : "", 120, said);
}

/* ---- The engine's answers ---- */

/* True if the text is a valid id: one word of printable characters, which command lines
 * and sentences can contain. */
static bool is_id(const char *id, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (id[i] <= ' ' || id[i] > '~')
            return false;
    return len > 0 && len < sizeof(((struct job *)0)->engine_id);
}

/* Return another live job of the same launcher that has this engine id. */
static const struct job *find_owner(const struct job *job, const char *id, size_t len)
{
    const struct job *other;

    TAILQ_FOREACH (other, &job->jobs->list, entry)
        if (other != job && job_is_alive(other) && strlen(other->engine_id) == len &&
            memcmp(other->engine_id, id, len) == 0 &&
            strcmp(other->launcher, job->launcher) == 0)
            return other;
    return NULL;
}

/* Set the job's engine id. Returns -1 with the reason if the id is invalid or belongs to
 * another job. */
static int name_it(struct job *job, const char *id, size_t len, char why[JOB_WORDS_MAX])
{
    const struct job *owner = find_owner(job, id, len);

    if (!is_id(id, len)) {
        snprintf(why, JOB_WORDS_MAX, "the engine returned an invalid job id: %.120s", id);
        return -1;
    }
    if (owner) {
        snprintf(why, JOB_WORDS_MAX,
                 "the engine returned the id %.*s, which already belongs to job %s",
                 (int)len, id, owner->id);
        return -1;
    }
    memcpy(job->engine_id, id, len);
    if (job->state == JOB_STARTING)
        enter(job, JOB_PENDING, "");
    else
        job_keep(job);
    return 0;
}

/* Handle a start that returned no id. The engine may have created the job, or may do so
 * soon. Search for it by name. The search lasts as long as the start took, but at least
 * MAY_COME_MS. */
static void be_unnamed(struct job *job, const struct launcher *launcher, const char *why,
                       bool may_come)
{
    int64_t now = job_now(job), took = now - job->begun_at;
    char text[JOB_WORDS_MAX];

    if (launcher->argv[LAUNCHER_FIND]) {
        job->may_come_until_at = now + (took > MAY_COME_MS ? took : MAY_COME_MS);
        enter(job, job->state, job->state == JOB_STARTING ? why : job->reason);
        return;
    }
    snprintf(text, sizeof(text), "%s%.120s",
             may_come ? "it is unknown whether the engine started it, because its "
                        "launcher has no `find`: "
                      : "",
             why);
    enter(job, JOB_ENDED, text);
}

static void on_started(struct job *job, const struct engine_answer *answer)
{
    const struct launcher *launcher = answer->launcher;
    const char *id = NULL;
    size_t len = 0;
    char why[JOB_WORDS_MAX];
    bool has_id =
        !answer->has_failed && launcher_finds(launcher->job, answer->text, &id, &len);

    if (answer->has_failed)
        put_fault(why, "", answer);
    else if (!has_id)
        snprintf(why, sizeof(why), "the start command printed no job id: %.120s",
                 answer->text);
    else if (!name_it(job, id, len, why))
        return;
    be_unnamed(job, launcher, why, answer->is_late || has_id);
}

static bool is_gone(const struct engine_answer *answer)
{
    if (!answer->has_failed)
        return answer->text[0] == '\0';
    return launcher_finds(answer->launcher->gone, answer->complaint, NULL, NULL);
}

/* Handle the answer to a status query. A failed query does not mean that the job has
 * ended. A stopping job keeps the reason of its stop, whatever the engine reports. */
static void on_status(struct job *job, const struct engine_answer *answer)
{
    bool is_stopping = job->state == JOB_STOPPING;
    char why[JOB_WORDS_MAX] = "the engine no longer knows the job";
    int state = JOB_ENDED;

    if (!is_gone(answer)) {
        if (answer->has_failed) {
            put_fault(why, "its state is unknown: ", answer);
            be_unknown(job, why);
            return;
        }
        state = launcher_state(answer->launcher, answer->text, why, sizeof(why));
        if (state == JOB_PENDING &&
            launcher_finds(answer->launcher->stuck, answer->text, NULL, NULL))
            snprintf(why + strlen(why), sizeof(why) - strlen(why),
                     ": it cannot start until the request or the engine's configuration "
                     "changes");
    }
    if (state < 0 || (is_stopping && state != JOB_ENDED))
        state = (int)job->state;
    enter(job, (enum job_state)state, is_stopping ? job->reason : why);
}

/* True if a later line begins with a different id than the first line. */
static bool has_others(const char *text, size_t len)
{
    for (const char *at = text; *at; at += strspn(at, "\n")) {
        if (strcspn(at, " \t\n") != len || memcmp(at, text, len) != 0)
            return true;
        at += strcspn(at, "\n");
    }
    return false;
}

/* Handle the answer to a search by name. If several jobs have the name, neither adopt nor
 * stop any of them. */
static void on_found(struct job *job, const struct engine_answer *answer)
{
    size_t len = strcspn(answer->text, " \t\n");
    /* true if this search began while a failed start might still create the job */
    bool may_come = job->begun_at < job->may_come_until_at;
    char why[JOB_WORDS_MAX];

    if (answer->has_failed) {
        put_fault(why, "it is unknown whether the engine started it: ", answer);
        be_unknown(job, why);
    } else if (len == 0) {
        enter(job, may_come ? job->state : JOB_ENDED, job->reason);
    } else if (has_others(answer->text, len)) {
        snprintf(why, sizeof(why), "the engine has several jobs with its name: %.120s",
                 answer->text);
        be_unknown(job, why);
    } else if (name_it(job, answer->text, len, why)) {
        be_unknown(job, why);
    }
}

static void on_stop(struct job *job, const struct engine_answer *answer)
{
    char why[JOB_WORDS_MAX];

    job->stopped_at = answer->has_failed ? 0 : job_now(job);
    if (!answer->has_failed)
        return;
    put_fault(why, "it could not be stopped: ", answer);
    be_unknown(job, why);
}

void job_run(struct job *job)
{
    if (job->state < JOB_RUNNING && job->phase == JOB_BEGUN)
        enter(job, JOB_RUNNING, "its agents have registered");
}

static void (*const handlers[])(struct job *, const struct engine_answer *) = {
    [LAUNCHER_START] = on_started,
    [LAUNCHER_STATUS] = on_status,
    [LAUNCHER_STOP] = on_stop,
    [LAUNCHER_FIND] = on_found,
};

/* Handle a command's answer. The next command is due at once after a start, after a new
 * id, and for a job that must still be stopped; otherwise it is due after every_s. */
static void on_answer(void *arg, const struct engine_answer *answer)
{
    struct job *job = arg;
    bool had_id = job->engine_id[0] != '\0', is_soon;

    job->call = NULL;
    job->due_at = job_now(job);
    if (!job_is_alive(job)) /* the server gave up the job in the meantime */
        return;
    handlers[job->command](job, answer);
    is_soon = job->command == LAUNCHER_START || (!had_id && job->engine_id[0]) ||
              (job->command == LAUNCHER_STATUS && job->state == JOB_STOPPING &&
               !job->stopped_at);
    if (!is_soon)
        job->due_at += job_now(job) < job->awaited_until_at
                           ? AWAITED_EVERY_MS
                           : ms_of(answer->launcher->every_s);
}

/* ---- Commands ---- */

static json_t *values_of(const struct job *job, const struct launcher *launcher)
{
    json_t *values = json_copy(job->args);
    json_t *given = json_pack(
        "{s:o, s:s, s:s, s:s, s:s, s:s, s:s}", "nodes", json_sprintf("%ld", job->nodes),
        "group", job->group, "server",
        launcher->server ? launcher->server : job->jobs->server, "name", job->name, "run",
        job->run, "idle_s", IDLE_EXIT_S, "job", job->engine_id);

    job_files_name(job, given);
    json_object_update(values, given);
    json_decref(given);
    return values;
}

/* Return the job's next command. Stop commands are repeated until the engine accepts one.
 * Queries run in between, because the job may have ended. */
enum launcher_command job_next_command(const struct job *job)
{
    if (!job->engine_id[0])
        return LAUNCHER_FIND;
    return job->state == JOB_STOPPING && !job->stopped_at && job->command != LAUNCHER_STOP
               ? LAUNCHER_STOP
               : LAUNCHER_STATUS;
}

bool job_is_due(const struct job *job)
{
    return job_is_alive(job) && job->phase == JOB_BEGUN && !job->call &&
           job_now(job) >= job->due_at && job_launcher(job);
}

static void run_command(struct job *job, struct launcher *launcher)
{
    json_t *values = values_of(job, launcher);
    struct error err;
    char **argv = command_template_argv(launcher->argv[job->command], values,
                                        launcher->config_dir, &err),
         **env = NULL;

    if (argv)
        env = launcher_env(launcher, values, &err);
    if (env)
        job->call = engine_call_start(&job->jobs->calls, launcher, argv, env,
                                      job_now(job), on_answer, job, &err);
    command_template_free(argv);
    command_template_free(env);
    json_decref(values);
    if (job->call)
        return;
    if (job->command == LAUNCHER_START)
        enter(job, JOB_ENDED, err.text);
    else
        be_unknown(job, err.text);
}

void job_call(struct job *job, enum launcher_command command)
{
    struct launcher *launcher = job_launcher(job);
    int64_t now = job_now(job);

    if (job->stopped_at && now - job->stopped_at >= STOP_AGAIN_MS)
        job->stopped_at = 0;
    job->command = command;
    job->due_at = now + ms_of(launcher->every_s);
    job->begun_at = now;
    if (launcher->argv[job->command])
        run_command(job, launcher);
    else
        be_unnamed(job, launcher, job->reason, true);
}

static void on_stored(void *arg, const struct error *err,
                      const struct store_event *events, size_t n_events)
{
    struct job *job = arg;
    char why[JOB_WORDS_MAX];

    (void)events, (void)n_events;
    if (!job->jobs) { /* the list was closed in the meantime */
        job_free(job);
        return;
    }
    job->phase = JOB_BEGUN;
    if (!job_is_alive(job)) {
        job_keep(job); /* the job was stopped in the meantime */
    } else if (err) {
        snprintf(why, sizeof(why), "it could not be stored: %.120s", err->text);
        enter(job, JOB_ENDED, why);
    } else if (!job_launcher(job)) {
        enter(job, JOB_ENDED, "its launcher was removed");
    } else {
        job_call(job,
                 /* start at once: a killed server would not know of the start */
                 LAUNCHER_START);
    }
}

/* Store the job before it is started: after a restart, the server must know every job
 * that may exist. */
static void store_first(struct job *job)
{
    struct error err;

    if (job_files_write(job, job_launcher(job)->job_dir, &err)) {
        enter(job, JOB_ENDED, err.text);
        return;
    }
    job->phase = JOB_STORING;
    enter(job, JOB_STARTING, "");
    store_submit(job->jobs->store, job_row(job), false, on_stored, job);
}

static bool may_begin(const struct job *job, const struct launcher *launcher)
{
    const struct job *other;
    long n = 0;

    TAILQ_FOREACH (other, &job->jobs->list, entry)
        n += job_is_alive(other) && other->phase > JOB_QUEUED &&
             strcmp(other->launcher, job->launcher) == 0;
    return n < launcher->most_jobs;
}

bool job_has_turn(const struct job *job)
{
    size_t n = engine_calls_count(&job->jobs->calls, job->launcher);
    const struct job *other;

    for (other = TAILQ_FIRST(&job->jobs->list); other && n < ENGINE_CALLS_MAX;
         other = TAILQ_NEXT(other, entry))
        n += other->phase == JOB_STORING && strcmp(other->launcher, job->launcher) == 0;
    return n < ENGINE_CALLS_MAX;
}

void job_tick(struct job *job)
{
    struct launcher *launcher = job_launcher(job);
    char why[80];

    if (!job_is_alive(job))
        return;
    if (!launcher) {
        be_unknown(job, "its launcher was removed from this server");
    } else if (job->phase == JOB_QUEUED) {
        launcher->is_full = launcher->is_full || !may_begin(job, launcher);
        if (launcher->is_full) {
            enter(job, JOB_STARTING, "waits for another job of its launcher to end");
            return;
        }
        launcher->is_busy = launcher->is_busy || !job_has_turn(job);
        if (!launcher->is_busy)
            store_first(job);
    } else if (job->state == JOB_RUNNING &&
               job_now(job) - job->started_at >= ms_of(launcher->most_hours * 3600)) {
        snprintf(why, sizeof(why), "its time limit of %g hours was reached",
                 launcher->most_hours);
        job_stop(job, why);
    }
}

/* ---- Stopping ---- */

/* Make the stop the next command. A running start or stop command finishes first. */
static void hurry(struct job *job)
{
    if (job->call && job->command == LAUNCHER_STATUS) {
        engine_call_cancel(job->call);
        job->call = NULL;
    }
    if (!job->call)
        job->command = LAUNCHER_STATUS;
    job->stopped_at = 0;
    job->due_at = job_now(job);
}

void job_stop(struct job *job, const char *reason)
{
    char given_up[JOB_WORDS_MAX];

    if (job->state == JOB_STOPPING &&
        (!job_launcher(job) || (!job->engine_id[0] && job->trouble[0]))) {
        snprintf(given_up, sizeof(given_up),
                 "given up by a request; the engine may still run it: %.100s",
                 job->trouble);
        enter(job, JOB_ENDED, given_up);
        return;
    }
    if (job->state != JOB_STOPPING)
        enter(job, job->phase == JOB_BEGUN ? JOB_STOPPING : JOB_ENDED, reason);
    hurry(job);
    job_tick(job); /* the job's launcher may have been removed */
}
