/* SPDX-License-Identifier: Apache-2.0 */
/* test_jobs.c - a job is started when the store has it, and ends when no run needs it */
#include <sys/stat.h>

#include <uv.h>

#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "server/launch/engine_call.h"
#include "server/launch/jobs.h"
#include "server/store/store.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

/* A store that takes its time, or takes nothing. */
static struct {
    store_written *done; /* of a write that is under way */
    void *arg;
    int writes;
} store;

void __wrap_store_submit(struct store *, struct store_write *write, bool retry,
                         store_written *done, void *arg);
json_t *__wrap_store_load_jobs(struct store *, struct error *err);

void __wrap_store_submit(struct store *of, struct store_write *write, bool retry,
                         store_written *done, void *arg)
{
    (void)of, (void)retry;
    store_write_destroy(write);
    store.writes++;
    if (done)
        store.done = done;
    if (done)
        store.arg = arg;
}

json_t *__wrap_store_load_jobs(struct store *of, struct error *err)
{
    (void)of, (void)err;
    return json_array();
}

static uint64_t passed_ms; /* beside the loop's own time */

uint64_t __real_uv_now(const uv_loop_t *loop);
uint64_t __wrap_uv_now(const uv_loop_t *loop);

uint64_t __wrap_uv_now(const uv_loop_t *loop)
{
    return __real_uv_now(loop) + passed_ms;
}

/* What waits for the store is told. */
static void answer_store(const char *fault)
{
    store_written *done = store.done;
    struct error err;

    assert_non_null(done);
    store.done = NULL;
    if (fault)
        error_set(&err, ERROR_UNAVAILABLE, "%s", fault);
    done(store.arg, fault ? &err : NULL, NULL, 0);
}

static char launcher[] = "engine", group[] = "job-000000000000";

struct fixture {
    char dir[32], launchers[64], started[96];
    uv_loop_t loop;
    struct jobs *jobs;
    struct run_spec spec;
};

/* What the engine says of the job. */
static void set_status(const struct fixture *f, const char *text)
{
    char path[96];
    FILE *file;

    snprintf(path, sizeof(path), "%s/status", f->launchers);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void write_launcher(const struct fixture *f, const char *start, json_t *find)
{
    char path[96];
    json_t *file = json_pack(
        "{s:{s:[s,s,s], s:s}, s:{s:[s,s], s:f}, s:{s:[s,s]}, s:{s:s, s:s}}", "start",
        "argv", "/bin/sh", "-c", start, "job", "([0-9]+)", "status", "argv", "/bin/cat",
        "{config_dir}/status", "every_s", 0.05, "stop", "argv", "/bin/echo", "{job}",
        "states", "PENDING", "pending", "RUNNING", "running");
    struct error err;

    if (find)
        json_object_set_new(file, "find", find);
    snprintf(path, sizeof(path), "%s/engine.json", f->launchers);
    assert_int_equal(json_write_file(file, path, &err), 0);
    json_decref(file);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct jobs_config config;
    struct error err;

    assert_non_null(f);
    snprintf(f->dir, sizeof(f->dir), "jobs-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->launchers, sizeof(f->launchers), "%s/launchers", f->dir);
    snprintf(f->started, sizeof(f->started), "%s/started", f->launchers);
    assert_int_equal(mkdir(f->launchers, 0700), 0);
    write_launcher(f, "touch {config_dir}/started; echo 7", NULL);
    set_status(f, "PENDING");
    memset(&store, 0, sizeof(store));
    passed_ms = 0;
    uv_loop_init(&f->loop);
    config = (struct jobs_config){.job_dir = f->dir, .launchers = f->launchers};
    f->jobs = jobs_create(&f->loop, &config, &err);
    if (!f->jobs)
        fail_msg("%s", err.text);
    f->spec.launch.name = launcher;
    f->spec.nodes.group = group;
    f->spec.nodes.count = 1;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char command[64];

    jobs_close(f->jobs);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    if (store.done)
        answer_store("the server is stopping");
    assert_int_equal(uv_loop_close(&f->loop), 0);
    snprintf(command, sizeof(command), "rm -r %s", f->dir);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

EACH_FIXTURE(set_up, tear_down);

static enum job_state need(struct fixture *f, char *text)
{
    return jobs_need(f->jobs, &f->spec, "000000000001", text);
}

static int64_t count_commands(struct fixture *f)
{
    json_t *launchers = jobs_launchers_json(f->jobs);
    int64_t n = json_get_int(json_array_get(launchers, 0), "commands", -1);

    json_decref(launchers);
    return n;
}

TEST(a_job_is_started_when_the_store_has_it)
{
    struct fixture *f = *state;
    char text[JOB_TEXT_MAX];

    need(f, text);
    for (int turns = 0; turns < 5; turns++)
        uv_run(&f->loop, UV_RUN_ONCE);
    assert_int_equal(need(f, text), JOB_STARTING);
    assert_int_equal(access(f->started, F_OK), -1);

    answer_store(NULL);
    assert_int_equal(count_commands(f), 1); /* a server killed now has begun it */
    while (need(f, text) == JOB_STARTING)
        uv_run(&f->loop, UV_RUN_ONCE);
    assert_mentions(text, "job 7 of engine is pending");
    assert_int_equal(access(f->started, F_OK), 0);
}

TEST(a_job_that_the_store_does_not_take_is_not_started)
{
    struct fixture *f = *state;
    char text[JOB_TEXT_MAX];

    need(f, text);
    answer_store("the disk is full");
    assert_int_equal(need(f, text), JOB_ENDED);
    assert_mentions(text, "before it started");
    assert_mentions(text, "the disk is full");
    for (int turns = 0; turns < 5; turns++)
        uv_run(&f->loop, UV_RUN_NOWAIT);
    assert_int_equal(access(f->started, F_OK), -1);
}

static struct fixture *with_group(struct fixture *f, char *own, int number)
{
    snprintf(own, sizeof(group), "job-%012d", number);
    f->spec.nodes.group = own;
    return f;
}

static size_t count_jobs(struct fixture *f)
{
    json_t *jobs = jobs_json(f->jobs);
    size_t n = json_array_size(jobs);

    json_decref(jobs);
    return n;
}

/* Else its run would ask for it again, and get a new one. */
TEST(a_job_that_has_ended_is_kept_as_long_as_its_run_needs_it)
{
    enum { MORE = 20 };
    struct fixture *f = *state;
    char text[JOB_TEXT_MAX], own[sizeof(group)];

    for (int i = 0; i < STORE_JOBS_ENDED_MAX + MORE; i++) {
        need(with_group(f, own, i), text);
        answer_store("the disk is full");
        uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    for (int i = 0; i < STORE_JOBS_ENDED_MAX + MORE; i++) {
        assert_int_equal(need(with_group(f, own, i), text), JOB_ENDED);
        jobs_mark(f->jobs, own);
    }
    jobs_release(f->jobs);
    assert_int_equal(count_jobs(f), STORE_JOBS_ENDED_MAX + MORE);
    jobs_release(f->jobs);
    assert_int_equal(count_jobs(f), STORE_JOBS_ENDED_MAX);
}

/* The store has it as one that may have been started. */
TEST(a_job_that_is_stopped_while_it_is_stored_is_stored_again)
{
    struct fixture *f = *state;
    char text[JOB_TEXT_MAX];
    int writes;

    need(f, text);
    jobs_release(f->jobs);
    assert_int_equal(need(f, text), JOB_ENDED);
    writes = store.writes;
    answer_store(NULL);
    assert_int_equal(store.writes, writes + 1);
    for (int turns = 0; turns < 5; turns++)
        uv_run(&f->loop, UV_RUN_NOWAIT);
    assert_int_equal(access(f->started, F_OK), -1);
}

static enum job_state state_of(struct fixture *f)
{
    json_t *jobs = jobs_json(f->jobs);
    const char *name = json_get_str(json_array_get(jobs, 0), "state", "");
    int state = 0;

    while (strcmp(job_state_names[state], name) != 0)
        state++;
    json_decref(jobs);
    return (enum job_state)state;
}

static bool waits_for_follow_up(struct fixture *f)
{
    json_t *jobs = jobs_json(f->jobs);
    bool waits =
        json_is_string(json_object_get(json_array_get(jobs, 0), "follow_up_until"));

    json_decref(jobs);
    return waits;
}

static void run_job(struct fixture *f)
{
    char text[JOB_TEXT_MAX];

    set_status(f, "RUNNING");
    need(f, text);
    answer_store(NULL);
    while (need(f, text) != JOB_RUNNING)
        uv_run(&f->loop, UV_RUN_ONCE);
}

/* Of the run that the job was started for. */
static void assign_follow_up(struct fixture *f, struct run_spec *spec)
{
    *spec = (struct run_spec){.launch.name = launcher};
    jobs_assign(f->jobs, spec, group);
}

TEST(a_job_runs_once_its_nodes_have_registered)
{
    struct fixture *f = *state;
    char text[JOB_TEXT_MAX];

    need(f, text);
    jobs_registered(f->jobs, group); /* its start command has yet to run */
    assert_int_equal(need(f, text), JOB_STARTING);
    answer_store(NULL);
    jobs_registered(f->jobs, group);
    assert_int_equal(need(f, text), JOB_RUNNING);
    jobs_registered(f->jobs, "job-000000000001");
}

TEST(a_job_gets_the_certificate_and_its_end_shows_its_output)
{
    struct fixture *f = *state;
    char text[JOB_TEXT_MAX], left[96];
    struct error err;

    jobs_set_certificate(f->jobs, "-- a certificate --");
    write_launcher(f, "(cat {ca_file}; echo bye) >{output}; echo 7", NULL);
    assert_int_equal(jobs_reload(f->jobs, &err), 0);
    run_job(f);
    set_status(f, "");
    while (need(f, text) != JOB_ENDED)
        uv_run(&f->loop, UV_RUN_ONCE);
    assert_mentions(text, "; its output ends: -- a certificate -- bye");
    for (size_t i = 0; i < 2; i++) {
        snprintf(left, sizeof(left), "%s/%s%s", f->dir, group + 4,
                 i ? ".out" : ".ca.pem");
        assert_int_equal(access(left, F_OK), -1);
    }
}

TEST(a_job_that_waits_gets_the_certificate_that_the_server_has_next)
{
    struct fixture *f = *state;
    char text[JOB_TEXT_MAX];
    struct error err;

    jobs_set_certificate(f->jobs, "-- the first --");
    write_launcher(
        f,
        "ln {ca_file} {config_dir}/first; ln -s $PWD/{ca_file} {config_dir}/now; echo 7",
        NULL);
    assert_int_equal(jobs_reload(f->jobs, &err), 0);
    run_job(f);
    jobs_set_certificate(f->jobs, "-- the next --");
    snprintf(text, sizeof(text),
             "cd %s && grep -q first first && grep -qx -e '-- the next --' now && [ "
             "$(stat -Lc %%a now) = 600 ]",
             f->launchers);
    assert_int_equal(system(text), 0);
}

TEST(the_output_of_a_job_is_a_file_whatever_stands_in_it)
{
    static const struct {
        const char *start, *output;
    } jobs[] = {
        {"printf 'one\\000two' >{output}; echo 7", "; its output ends: one?two"},
        {"(yes | head -n 9999; printf '\\377\\000\\nlast') >{output}; echo 7",
         " y ?? last"},
        {"echo 7", NULL},
        {"mkfifo {output}; echo 7", NULL},
        {"mkdir {output}; echo 7", NULL},
        {"ln -s {config_dir}/engine.json {output}; echo 7", NULL},
    };
    struct fixture *f = *state;
    char text[JOB_TEXT_MAX], own[sizeof(group)];
    struct error err;

    jobs_set_certificate(f->jobs, "-- a certificate --"); /* else there is no file */
    for (int i = 0; i < (int)(sizeof(jobs) / sizeof(jobs[0])); i++) {
        with_group(f, own, i);
        write_launcher(f, jobs[i].start, NULL);
        assert_int_equal(jobs_reload(f->jobs, &err), 0);
        run_job(f);
        set_status(f, "");
        while (need(f, text) != JOB_ENDED)
            uv_run(&f->loop, UV_RUN_ONCE);
        if (jobs[i].output)
            assert_mentions(text, jobs[i].output);
        else
            assert_null(strstr(text, "output"));
    }
}

TEST(a_job_that_waits_for_what_does_not_come_says_so)
{
    struct fixture *f = *state;
    char text[JOB_TEXT_MAX], path[96];
    struct error err;
    json_t *file;

    snprintf(path, sizeof(path), "%s/engine.json", f->launchers);
    file = json_load_file(path, 0, NULL);
    json_object_set_new(json_object_get(file, "status"), "stuck", json_string("Limit$"));
    assert_int_equal(json_write_file(file, path, &err), 0);
    json_decref(file);
    assert_int_equal(jobs_reload(f->jobs, &err), 0);
    set_status(f, "PENDING Resources");
    need(f, text);
    answer_store(NULL);
    while (need(f, text), !strstr(text, "PENDING Resources"))
        uv_run(&f->loop, UV_RUN_ONCE);
    assert_null(strstr(text, "cannot start"));
    set_status(f, "PENDING NodeLimit");
    while (need(f, text), !strstr(text, "PENDING NodeLimit"))
        uv_run(&f->loop, UV_RUN_ONCE);
    assert_mentions(text, "cannot start");
}

TEST(a_job_is_stopped_when_no_run_needs_it)
{
    struct fixture *f = *state;

    run_job(f);
    jobs_mark(f->jobs, group);
    jobs_mark(f->jobs, "job-000000000001");
    jobs_release(f->jobs);
    assert_int_equal(state_of(f), JOB_RUNNING);
    jobs_release(f->jobs);
    assert_int_equal(state_of(f), JOB_STOPPING);
}

TEST(a_job_waits_two_minutes_for_a_follow_up)
{
    struct fixture *f = *state;

    run_job(f);
    jobs_hold(f->jobs, group);
    assert_true(waits_for_follow_up(f));
    passed_ms = 119000;
    jobs_release(f->jobs);
    assert_int_equal(state_of(f), JOB_RUNNING);
    passed_ms += 1000;
    jobs_release(f->jobs);
    assert_int_equal(state_of(f), JOB_STOPPING);
    assert_false(waits_for_follow_up(f));
}

TEST(a_follow_up_has_the_job_until_it_ends)
{
    struct fixture *f = *state;
    char text[JOB_TEXT_MAX];
    struct run_spec spec;

    run_job(f);
    assign_follow_up(f, &spec); /* it has yet to be stored */
    assert_string_equal(spec.nodes.group, group);
    jobs_release(f->jobs);
    assert_int_equal(state_of(f), JOB_RUNNING);
    need(f, text);
    assert_false(waits_for_follow_up(f));
    jobs_release(f->jobs);
    assert_int_equal(state_of(f), JOB_STOPPING);
    free(spec.nodes.group);

    assign_follow_up(f, &spec);
    assert_string_not_equal(spec.nodes.group, group);
    assert_memory_equal(spec.nodes.group, "job-", 4);
    free(spec.nodes.group);
}

static void await_file(struct fixture *f, const char *name)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", f->launchers, name);
    while (access(path, F_OK) != 0)
        uv_run(&f->loop, UV_RUN_ONCE);
}

static void make_file(const struct fixture *f, const char *name)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", f->launchers, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

/* Its answer is of the time when it was asked: the job may have come since. */
TEST(an_engine_that_answers_slowly_is_asked_for_a_job_once_more)
{
    struct fixture *f = *state;
    char text[JOB_TEXT_MAX];
    struct error err;

    write_launcher(f, "echo none; exit 1",
                   json_pack("{s:[s,s,s]}", "argv", "/bin/sh", "-c",
                             "cd {config_dir}; test -e asked && echo 7; touch asked; "
                             "until test -e answer; do sleep 0.01; done"));
    assert_int_equal(jobs_reload(f->jobs, &err), 0);
    need(f, text);
    answer_store(NULL);
    await_file(f, "asked");
    passed_ms = 3000; /* longer than the job may take to come */
    make_file(f, "answer");
    while (need(f, text) == JOB_STARTING)
        uv_run(&f->loop, UV_RUN_ONCE);
    assert_mentions(text, "job 7 of engine is pending");
}

TEST(a_fault_of_the_engine_is_not_said_once_it_answers)
{
    struct fixture *f = *state;
    char text[JOB_TEXT_MAX];
    struct error err;

    write_launcher(f,
                   "cd {config_dir}; touch asked; "
                   "until test -e answer; do sleep 0.01; done; exit 1",
                   json_pack("{s:[s,s]}", "argv", "/bin/cat", "{config_dir}/found"));
    assert_int_equal(jobs_reload(f->jobs, &err), 0);
    need(f, text);
    answer_store(NULL);
    await_file(f, "asked");
    passed_ms = 50000; /* for as long the job may come */
    make_file(f, "answer");
    while (need(f, text), !strstr(text, "it is unknown whether the engine started it"))
        uv_run(&f->loop, UV_RUN_ONCE);
    make_file(f, "found");
    while (need(f, text), strstr(text, "it is unknown whether the engine started it"))
        uv_run(&f->loop, UV_RUN_ONCE);
    assert_int_equal(state_of(f), JOB_STARTING);
    assert_mentions(text, "the command ended with status 1");
}

/* The next server can't know that a job which is stored was not started. */
TEST(a_job_is_stored_only_when_its_start_command_has_a_turn)
{
    struct fixture *f = *state;
    char text[JOB_TEXT_MAX], groups[ENGINE_CALLS_MAX + 1][20];
    struct error err;
    int writes;

    write_launcher(f,
                   "cd {config_dir}; touch {name}; "
                   "until test -e answer; do sleep 0.1; done; echo {name}",
                   NULL);
    assert_int_equal(jobs_reload(f->jobs, &err), 0);
    for (int i = 0; i <= ENGINE_CALLS_MAX; i++) {
        snprintf(groups[i], sizeof(groups[i]), "job-0000000001%02d", i);
        f->spec.nodes.group = groups[i];
        writes = store.writes;
        assert_int_equal(need(f, text), JOB_STARTING);
        if (i == ENGINE_CALLS_MAX)
            break;
        answer_store(NULL);
        snprintf(text, sizeof(text), "ringbench-%s", groups[i] + 4);
        await_file(f, text);
    }
    assert_int_equal(store.writes, writes);
    make_file(f, "answer");
    while (!store.done)
        uv_run(&f->loop, UV_RUN_ONCE);
    answer_store(NULL);
    while (need(f, text) != JOB_PENDING)
        uv_run(&f->loop, UV_RUN_ONCE);
}
