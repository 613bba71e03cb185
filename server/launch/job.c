/* job.c - one job of an engine: what is known of it, and its files */
#include "server/launch/job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/sync_file.h"
#include "common/base/this_machine.h"
#include "common/base/utf8.h"

#define NEWS_MAX 20         /* changes of words that are told at once, */
#define NEWS_EVERY_MS 60000 /* and one more so often */

int64_t job_now_at(const struct job *job)
{
    return (int64_t)uv_now(job->jobs->loop);
}

bool job_is_alive(const struct job *job)
{
    return job->state != JOB_ENDED;
}

struct launcher *job_launcher(const struct job *job)
{
    return launcher_list_find(&job->jobs->launchers, job->launcher);
}

void job_name(const struct job *job, char *out)
{
    snprintf(out, JOB_NAME_SIZE, "ringbench-%s", job->id);
}

/* ---- What is said of a job ---- */

static void put_name(const struct job *job, char *out, size_t size)
{
    snprintf(out, size, "job %.100s of %.64s",
             job->engine_id[0] ? job->engine_id : job->id, job->launcher);
}

/* Why it is stopped counts beside what is in the way of that; what the engine last said
 * of one that goes on does not. */
static void put_reason(const struct job *job, char *out, size_t size)
{
    const char *reason = job->trouble[0] && job->state != JOB_STOPPING ? "" : job->reason;

    snprintf(out, size, "%s%s%s", reason, reason[0] && job->trouble[0] ? "; " : "",
             job->trouble);
}

void job_sentence(const struct job *job, char *out)
{
    char name[180], after[60] = "", reason[2 * JOB_WORDS_MAX + 4];

    put_name(job, name, sizeof(name));
    put_reason(job, reason, sizeof(reason));
    if (job->state == JOB_ENDED && job->started_ms)
        snprintf(after, sizeof(after), ", %.0f s after it began to run",
                 (double)(job->ended_ms - job->started_ms) / 1000);
    snprintf(out, JOB_TEXT_MAX, "%s %s%s%s%s%s", name,
             job->state == JOB_ENDED ? "has " : "is ", job_state_names[job->state],
             reason[0] ? ": " : "", reason, after);
}

static json_t *time_json(int64_t ms)
{
    char text[CLOCK_TEXT_MAX];

    return ms ? json_string(clock_format_ms(ms, text)) : json_null();
}

json_t *job_json(const struct job *job)
{
    char sentence[JOB_TEXT_MAX], reason[2 * JOB_WORDS_MAX + 4];

    job_sentence(job, sentence);
    put_reason(job, reason, sizeof(reason));
    return json_pack(
        "{s:s, s:s, s:O, s:I, s:s, s:o, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "id",
        job->id, "launcher", job->launcher, "args", job->args, "nodes",
        (json_int_t)job->nodes, "group", job->group, "job",
        job->engine_id[0] ? json_string(job->engine_id) : json_null(), "run", job->run,
        "state", job_state_names[job->state], "reason", reason, "sentence", sentence,
        "created", time_json(job->created_ms), "started", time_json(job->started_ms),
        "ended", time_json(job->ended_ms), "follow_up_until",
        time_json(job->state == JOB_RUNNING ? job->held_until_ms : 0));
}

/* ---- Its files ---- */

void job_path(const struct job *job, const char *kind, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s/%s.%s", job->jobs->dir, job->id, kind);
}

void job_remove_files(const struct job *job)
{
    char path[PATH_MAX];

    job_path(job, "json", path);
    unlink(path);
    job_path(job, "safe", path);
    unlink(path);
}

/* Beside the loop: a disk may take seconds. */
struct job_sync {
    uv_work_t work;
    struct job *job; /* NULL: it is gone */
    unsigned version;
    int error;
    char path[PATH_MAX], safe[PATH_MAX];
};

static void do_sync(uv_work_t *work)
{
    struct job_sync *sync = work->data;

    sync->error =
        sync_file_as(sync->path, sync->safe) || sync_folder_of(sync->path) ? errno : 0;
}

static void begin_sync(struct job *job);

static void on_synced(uv_work_t *work, int status)
{
    struct job_sync *sync = work->data;
    struct job *job = sync->job;

    (void)status;
    if (job) {
        job->sync = NULL;
        job->synced = sync->version;
        if (sync->error && !job->sync_errno)
            log_error("job %s is not safe from a loss of power: %s", job->id,
                      strerror(sync->error));
        job->sync_errno = sync->error;
        if (job->synced != job->kept)
            begin_sync(job);
    }
    free(sync);
}

static void begin_sync(struct job *job)
{
    struct job_sync *sync;

    if (job->sync)
        return;
    sync = calloc(1, sizeof(*sync));
    if (!sync) {
        job->synced = job->kept;
        job->sync_errno = ENOMEM;
        return;
    }
    *sync = (struct job_sync){.work.data = sync, .job = job, .version = job->kept};
    job_path(job, "json", sync->path);
    job_path(job, "safe", sync->safe);
    job->sync = sync;
    uv_queue_work(job->jobs->loop, &sync->work, do_sync, on_synced);
}

/* Beside what the API shows, what only the server is to know; its own reason without what
 * is in the way now. */
int job_keep(struct job *job)
{
    json_t *doc = job_json(job);
    char path[PATH_MAX], boot[ID_UUID_LENGTH + 1] = "";
    struct error err;
    int result;

    json_object_set_new(doc, "reason", json_string(job->reason));
    json_object_set_new(doc, "token", json_string(job->token));
    json_object_set_new(doc, "asked", time_json(job->asked_ms));
    json_object_set_new(doc, "start_pid", json_integer(job->start_pid));
    json_object_set_new(doc, "boot_id",
                        json_string(this_machine_boot_id(boot, sizeof(boot))));
    json_object_set_new(doc, "started_at", json_integer(job->started_at));
    if (job->token_path)
        json_object_set_new(doc, "token_path", json_string(job->token_path));
    if (job->who)
        json_object_set(doc, "who", job->who);
    job_path(job, "json", path);
    result = json_write_file(doc, path, &err);
    if (result)
        log_error("job %s is not remembered after a restart: %s", job->id, err.text);
    json_decref(doc);
    job->kept++;
    begin_sync(job);
    return result;
}

int job_write_token(struct job *job, struct error *err)
{
    const struct launcher *launcher = job_launcher(job);
    const char *dir =
        launcher && launcher->token_dir ? launcher->token_dir : job->jobs->dir;
    FILE *file;
    int fd;

    if (asprintf(&job->token_path, "%s/%s.token", dir, job->id) < 0) {
        job->token_path = NULL;
        return error_set(err, ERROR_MEMORY, "out of memory");
    }
    unlink(job->token_path); /* of a server that was killed before it kept the job */
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
    free(job->token_path);
    job->token_path = NULL;
    explicit_bzero(job->token, sizeof(job->token));
}

/* ---- Life ---- */

void job_free(struct job *job)
{
    if (job->call)
        engine_call_forget(job->call);
    if (job->sync)
        job->sync->job = NULL;
    free(job->launcher);
    free(job->run);
    free(job->token_path);
    json_decref(job->args);
    json_decref(job->who);
    explicit_bzero(job->token, sizeof(job->token));
    free(job);
}

/* As one line; words that are cut end with a whole character. */
static void put_words(char words[JOB_WORDS_MAX], const char *text)
{
    char cut[JOB_WORDS_MAX];

    snprintf(cut, sizeof(cut), "%.*s", utf8_fit(text, JOB_WORDS_MAX - 1), text);
    for (char *at = cut; (at = strchr(at, '\n'));)
        *at = ' ';
    memcpy(words, cut, sizeof(cut));
}

/* Whether there is room for one more change of words: each is a line of the log, a write
 * of the file and an event of the runs that wait, and an engine may say something else
 * whenever it is asked. */
static bool take_turn(struct job *job)
{
    int64_t n = (job_now_at(job) - job->news_at) / NEWS_EVERY_MS;

    job->news_at += n * NEWS_EVERY_MS;
    job->news_left = n < NEWS_MAX - job->news_left ? job->news_left + (int)n : NEWS_MAX;
    if (job->news_left == 0)
        return false;
    job->news_left--;
    return true;
}

static void tell_news(struct job *job)
{
    char sentence[JOB_TEXT_MAX];

    job_sentence(job, sentence);
    log_info("%s", sentence);
    job_keep(job);
}

void job_enter(struct job *job, enum job_state state, const char *reason)
{
    bool is_other = job->state != state, is_told;
    char words[JOB_WORDS_MAX];

    if (state == JOB_RUNNING && !job->started_ms) {
        job->started_ms = clock_wall_ms();
        job->started_at = job_now_at(job);
    }
    if (state == JOB_ENDED && is_other) {
        job->ended_ms = clock_wall_ms();
        job_forget_token(job);
    }
    job->state = state;
    put_words(words, reason);
    is_told = is_other ||
              ((job->trouble[0] || strcmp(job->reason, words) != 0) && take_turn(job));
    if (is_told)
        memcpy(job->reason, words, sizeof(words));
    job->trouble[0] = '\0';
    if (is_told)
        tell_news(job);
}

void job_be_unknown(struct job *job, const char *trouble)
{
    char words[JOB_WORDS_MAX];

    put_words(words, trouble);
    if (strcmp(job->trouble, words) != 0) {
        bool is_told = take_turn(job);

        if (is_told || !job->trouble[0])
            memcpy(job->trouble, words, sizeof(words));
        if (is_told)
            tell_news(job);
    }
}

void job_hold(struct job *job, int64_t ms)
{
    job->held_until_at = ms ? job_now_at(job) + ms : 0;
    job->held_until_ms = ms ? clock_wall_ms() + ms : 0;
}

struct job *job_create(struct jobs *jobs, const char *id, const char *group,
                       const char *launcher, const char *run, json_t *args)
{
    struct job *job = calloc(1, sizeof(*job));

    if (!job)
        return NULL;
    job->jobs = jobs;
    job->news_left = NEWS_MAX;
    job->news_at = job_now_at(job);
    snprintf(job->group, sizeof(job->group), "%s", group);
    snprintf(job->id, sizeof(job->id), "%s", id);
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

/* When that was by the loop's clock, which goes on from server to server until the
 * machine is started anew: then the wall clock tells, and what lies ahead is now. */
static int64_t at_of(const struct job *job, const json_t *doc, const char *key,
                     int64_t wall_ms)
{
    char boot[ID_UUID_LENGTH + 1] = "";
    int64_t ago = clock_wall_ms() - wall_ms;

    this_machine_boot_id(boot, sizeof(boot));
    if (boot[0] && strcmp(boot, json_get_str(doc, "boot_id", "")) == 0)
        return json_get_int(doc, key, 0);
    return job_now_at(job) - (ago > 0 ? ago : 0);
}

static void restore_times(struct job *job, const json_t *doc)
{
    job->created_ms = time_of(doc, "created");
    job->started_ms = time_of(doc, "started");
    job->ended_ms = time_of(doc, "ended");
    job->asked_ms = time_of(doc, "asked");
    job->is_begun = job->asked_ms != 0;
    job->start_pid = (int)json_get_int(doc, "start_pid", 0);
    job->started_at = at_of(job, doc, "started_at", job->started_ms);
}

/* By a variable that only this job's commands have: another may have the number by now.
 */
static bool is_start(int pid, const struct job *job)
{
    char path[64], name[JOB_NAME_SIZE], wanted[JOB_NAME_SIZE + 32], *text = NULL;
    bool is_it = false;
    size_t size = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/environ", pid);
    file = pid > 1 ? fopen(path, "re") : NULL;
    if (!file)
        return false;
    job_name(job, name);
    snprintf(wanted, sizeof(wanted), LAUNCHER_JOB_VARIABLE "=%s", name);
    while (!is_it && getdelim(&text, &size, '\0', file) > 0)
        is_it = strcmp(text, wanted) == 0;
    free(text);
    fclose(file);
    return is_it;
}

/* A start that was under way goes on without the server that began it: ended, it has its
 * effect soon or never. */
static void restore_start(struct job *job)
{
    const struct launcher *launcher = job_launcher(job);

    if (!job->asked_ms || job->engine_id[0])
        return;
    if (is_start(job->start_pid, job))
        kill(-job->start_pid, SIGKILL);
    job->start_pid = 0;
    if (job->state == JOB_STARTING && !job->reason[0])
        put_words(job->reason, "the server was stopped while it was started");
    job->may_come_until_at =
        job_now_at(job) + (launcher ? (int64_t)(launcher->command_s * 1000) : 0);
}

void job_restore(struct jobs *jobs, const json_t *doc)
{
    const char *group = json_get_str(doc, "group", ""), *id = json_get_str(doc, "id", "");
    const char *run = json_get_str(doc, "run", ""), *path;
    const char *state = json_get_str(doc, "state", "");
    json_t *args = json_object_get(doc, "args");
    struct job *job;

    if (!job_group(group) || strlen(id) != ID_RUN_LENGTH || !json_is_object(args))
        return;
    job = job_create(jobs, id, group, json_get_str(doc, "launcher", ""), run, args);
    if (!job)
        return;
    job->who = json_incref(json_object_get(doc, "who"));
    job->nodes = (long)json_get_int(doc, "nodes", 1);
    path = json_get_str(doc, "token_path", NULL);
    job->token_path = path ? strdup(path) : NULL;
    snprintf(job->engine_id, sizeof(job->engine_id), "%s", json_get_str(doc, "job", ""));
    put_words(job->reason, json_get_str(doc, "reason", ""));
    snprintf(job->token, sizeof(job->token), "%s", json_get_str(doc, "token", ""));
    for (int i = 0; job_state_names[i]; i++)
        if (strcmp(job_state_names[i], state) == 0)
            job->state = (enum job_state)i;
    restore_times(job, doc);
    restore_start(job);
}
