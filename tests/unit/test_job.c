/* test_job.c - how much of what an engine says of a job is taken */
#include "server/launch/job.h"
#include "tests/unit/test.h"

struct fixture {
    char dir[32];
    uv_loop_t loop;
    struct jobs jobs;
    struct job *job;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    json_t *args = json_object();

    strcpy(f->dir, "/tmp/ringbench-job-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    assert_int_equal(uv_loop_init(&f->loop), 0);
    f->jobs.loop = &f->loop;
    f->jobs.dir = f->dir;
    TAILQ_INIT(&f->jobs.list);
    f->job =
        job_create(&f->jobs, "0123456789ab", "job-0123456789ab", "engine", "run", args);
    assert_non_null(f->job);
    json_decref(args);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    uv_run(&f->loop, UV_RUN_DEFAULT);
    job_remove_files(f->job);
    assert_int_equal(rmdir(f->dir), 0);
    job_free(f->job);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    free(f);
    return 0;
}

EACH_FIXTURE(set_up, tear_down);

/* Of n answers, each unlike the one before, those that were taken. */
static int babble(struct fixture *f, bool is_trouble, int n)
{
    static int counter;
    const char *words = is_trouble ? f->job->trouble : f->job->reason;
    char text[32];
    int taken = 0;

    for (int i = 0; i < n; i++) {
        snprintf(text, sizeof(text), "it is %d", counter++);
        if (is_trouble)
            job_be_unknown(f->job, text);
        else
            job_enter(f->job, f->job->state, text);
        taken += strcmp(words, text) == 0;
    }
    return taken;
}

TEST(words_that_change_each_time_are_taken_now_and_then)
{
    struct fixture *f = *state;

    for (int is_trouble = 0; is_trouble < 2; is_trouble++) {
        f->loop.time += 3600000;
        assert_int_equal(babble(f, is_trouble, 15), 15);
        assert_int_equal(babble(f, is_trouble, 100), 5);
        f->loop.time += 30000;
        assert_int_equal(babble(f, is_trouble, 100), 0);
        f->loop.time += 30000;
        assert_int_equal(babble(f, is_trouble, 100), 1);
    }
}

TEST(another_state_is_always_taken)
{
    struct fixture *f = *state;

    babble(f, false, 100);
    job_enter(f->job, JOB_PENDING, "Priority");
    assert_string_equal(f->job->reason, "Priority");
    job_be_unknown(f->job, "no controller");
    assert_string_equal(f->job->trouble, "no controller");
    job_enter(f->job, JOB_PENDING, "Priority");
    assert_string_equal(f->job->trouble, "");
    job_enter(f->job, JOB_ENDED, "TimeLimit");
    assert_string_equal(f->job->reason, "TimeLimit");
}
