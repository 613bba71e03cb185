/* job_row.c - one job: what is known of it, as people and the store get it */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/launch/job.h"
#include "server/store/store.h"

struct launcher *job_launcher(const struct job *job)
{
    return launcher_list_find(&job->jobs->launchers, job->launcher);
}

/* Why it is stopped counts beside what prevents that; what the engine last said of a job
 * that goes on does not. */
static void put_reason(const struct job *job, char *out)
{
    const char *reason = job->trouble[0] && job->state != JOB_STOPPING ? "" : job->reason;

    snprintf(out, JOB_REASON_MAX, "%s%s%s", reason,
             reason[0] && job->trouble[0] ? "; " : "", job->trouble);
}

void job_sentence(const struct job *job, char *out)
{
    char after[60] = "", reason[JOB_REASON_MAX];

    put_reason(job, reason);
    if (job->state == JOB_ENDED && job->started_ms)
        snprintf(after, sizeof(after), ", %.0f s after it began to run",
                 (double)(job->ended_ms - job->started_ms) / 1000);
    snprintf(out, JOB_TEXT_MAX, "job %.100s of %.64s %s %s%s%s%s",
             job->engine_id[0] ? job->engine_id : job->id, job->launcher,
             job->state == JOB_ENDED ? "has" : "is", job_state_names[job->state],
             reason[0] ? ": " : "", reason, after);
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
    free(job->token_path);
    json_decref(job->args);
    json_decref(job->who);
    explicit_bzero(job->token, sizeof(job->token));
    free(job);
}

/* ---- Its document ---- */

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
        "{s:s, s:s, s:O, s:I, s:s, s:s?, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "id",
        job->id, "launcher", job->launcher, "args", job->args, "nodes",
        (json_int_t)job->nodes, "group", job->group, "job",
        job->engine_id[0] ? job->engine_id : NULL, "run", job->run, "state",
        job_state_names[job->state], "reason", reason, "sentence", sentence, "created",
        time_json(job->created_ms), "started", time_json(job->started_ms), "ended",
        time_json(job->ended_ms), "follow_up_until",
        time_json(held_ms > 0 ? clock_wall_ms() + held_ms : 0));
}

struct store_write *job_row(const struct job *job)
{
    json_t *doc = job_json(job);
    struct store_write *write = store_write_create();

    json_object_set_new(doc, "reason", json_string(job->reason));
    if (job->token_path)
        json_object_set_new(doc, "token_path", json_string(job->token_path));
    if (job->who)
        json_object_set(doc, "who", job->who);
    store_write_job(write, job->id, job->ended_ms, doc);
    json_decref(doc);
    return write;
}

void job_keep(const struct job *job)
{
    store_submit(job->jobs->store, job_row(job), true, NULL, NULL);
}

/* Without the file its agents are no longer let in. */
static void read_token(struct job *job)
{
    FILE *file = job->token_path ? fopen(job->token_path, "re") : NULL;

    if (file && fread(job->token, 1, JOB_TOKEN_SIZE - 1, file) != JOB_TOKEN_SIZE - 1)
        memset(job->token, 0, sizeof(job->token));
    if (file)
        fclose(file);
}

static int64_t time_of(const json_t *doc, const char *key)
{
    return clock_parse_ms(json_get_str(doc, key, NULL));
}

/* Its start may have been under way: a job without an id is looked for by its name for as
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
    job->token_path = memory_text(json_get_str(doc, "token_path", NULL), "a job");
    snprintf(job->engine_id, sizeof(job->engine_id), "%s", json_get_str(doc, "job", ""));
    snprintf(job->reason, sizeof(job->reason), "%s", json_get_str(doc, "reason", ""));
    while (job->state < JOB_ENDED && strcmp(job_state_names[job->state], state) != 0)
        job->state++;
    job->phase = JOB_BEGUN;
    job->created_ms = time_of(doc, "created");
    job->started_ms = time_of(doc, "started");
    job->ended_ms = time_of(doc, "ended");
    job->started_at = now - (clock_wall_ms() - job->started_ms);
    if (!job_is_alive(job))
        return;
    read_token(job);
    launcher = job_launcher(job);
    job->may_come_until_at = now + (launcher ? (int64_t)(launcher->command_s * 1000) : 0);
    if (job->state == JOB_STARTING && !job->reason[0])
        snprintf(job->reason, sizeof(job->reason),
                 "the server was stopped while it was started");
}

/* ---- The token of its agents ---- */

/* Two UUIDs of 122 random bits each. */
int job_write_token(struct job *job, struct error *err)
{
    const struct jobs *jobs = job->jobs;
    const char *dir = job_launcher(job)->token_dir;
    FILE *file;
    int fd;

    id_uuid(job->token);
    id_uuid(job->token + ID_UUID_LENGTH);
    mkdir(jobs->token_dir, 0700);
    if (asprintf(&job->token_path, "%s/%s.token", dir ? dir : jobs->token_dir, job->id) <
        0)
        memory_out("a job's token");
    unlink(job->token_path); /* of a server that was killed before it stored the job */
    fd = open(job->token_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file || fprintf(file, "%s\n", job->token) < 0 || fclose(file))
        return error_set_errno(err, ERROR_IO, errno, "can't write the token %s",
                               job->token_path);
    return 0;
}

void job_forget_token(struct job *job)
{
    if (job->token_path)
        unlink(job->token_path);
    explicit_bzero(job->token, sizeof(job->token));
}
