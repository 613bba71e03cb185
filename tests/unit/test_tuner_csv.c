/* SPDX-License-Identifier: Apache-2.0 */
/* test_tuner_csv.c - the file of NCCL's tuner has the winners by size, and no others */
#include "server/render/tuner_csv.h"
#include "tests/unit/test.h"

#define SIZES 4
#define CHOICES 4

static const char run_text[] =
    "{\"id\":\"06cw1x2k3m4n\",\"name\":\"tune\",\"backend\":\"nccl\",\"world_size\":16,"
    "\"nodes\":[{\"name\":\"a\",\"ranks\":8},{\"name\":\"b\",\"ranks\":8}],\"cases\":["
    "{\"case\":0,\"env\":{\"NCCL_ALGO\":\"Ring\",\"NCCL_PROTO\":\"LL\"}},"
    "{\"case\":1,\"env\":{\"NCCL_ALGO\":\"nvlstree\",\"NCCL_PROTO\":\"Simple\"}},"
    "{\"case\":2,\"env\":{\"NCCL_ALGO\":\"Ring\",\"NCCL_PROTO\":null}},"
    "{\"case\":3,\"env\":{\"NCCL_ALGO\":null,\"NCCL_PROTO\":null}}]}";

/* Medians of five cases, a per cent apart; of each choice, by size. */
static const double times_us[CHOICES][SIZES] = {
    {10, 11, 40, 900},
    {30, 31, 25, 799},
    {1, 1, 1, 1}, /* one that a line can't say */
    {15, 16, 40, 800},
};

struct fixture {
    json_t *run, *key;
    struct summary_point points[CHOICES][SIZES];
    struct summary_series series[CHOICES];
    struct summary summary;
};

static int setup(void **state)
{
    static const int64_t sizes[SIZES] = {8, 1024, 65536, 1048576};
    struct fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    f->run = json_loads(run_text, 0, NULL);
    f->key = json_pack("{s:i, s:s, s:s, s:b}", "series", 0, "collective", "all_reduce",
                       "dtype", "float32", "in_place", 0);
    for (int i = 0; i < CHOICES; i++) {
        for (int k = 0; k < SIZES; k++) {
            struct summary_point *point = &f->points[i][k];

            *point = (struct summary_point){
                .size = sizes[k], .rows = 5, .wrong = 0, .time_us = times_us[i][k]};
            point->repeats.time_us[0] = times_us[i][k] * 0.99;
            point->repeats.time_us[1] = times_us[i][k] * 1.01;
        }
        f->series[i] = (struct summary_series){
            .combination = i, .key = f->key, .points = f->points[i], .n_points = SIZES};
    }
    f->summary = (struct summary){.series = f->series, .n_series = CHOICES};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    json_decref(f->run);
    json_decref(f->key);
    free(f);
    return 0;
}

EACH_FIXTURE(setup, teardown);

/* The lines that are no comments; the caller frees them. */
static char *lines_of(struct fixture *f, long channels)
{
    struct error err = {.text = ""};
    char *text, *line, *rest = NULL;
    struct buf out, kept;

    buf_init(&out, 1 << 20);
    buf_init(&kept, 1 << 20);
    if (tuner_csv(f->run, &f->summary, channels, &out, &err))
        fail_msg("%s", err.text);
    text = buf_detach(&out, NULL);
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        assert_true(strlen(line) < 255);
        if (*line != '#')
            buf_printf(&kept, "%s\n", line);
    }
    free(text);
    return buf_detach(&kept, NULL);
}

static void expect(struct fixture *f, long channels, const char *lines)
{
    char *text = lines_of(f, channels);

    assert_string_equal(text, lines);
    free(text);
}

TEST(sizes_with_the_same_winner_are_a_line)
{
    expect(*state, -1,
           "allreduce,8,8192,ring,ll,-1,2,16\n"
           "allreduce,8193,262144,nvls_tree,simple,-1,2,16\n");
}

TEST(channels_are_as_asked)
{
    expect(*state, 24,
           "allreduce,8,8192,ring,ll,24,2,16\n"
           "allreduce,8193,262144,nvls_tree,simple,24,2,16\n");
}

/* Cases of the two overlap: nothing is certain. */
TEST(what_repeats_do_not_tell_apart_is_left_to_nccl)
{
    struct fixture *f = *state;

    f->points[0][0].repeats.time_us[1] = 15;
    expect(f, -1,
           "allreduce,91,8192,ring,ll,-1,2,16\n"
           "allreduce,8193,262144,nvls_tree,simple,-1,2,16\n");
}

TEST(wrong_data_never_win)
{
    struct fixture *f = *state;

    f->points[1][2].wrong = 1;
    expect(f, -1, "allreduce,8,8192,ring,ll,-1,2,16\n");
}

TEST(the_gain_stands_above_its_line)
{
    struct fixture *f = *state;
    struct error err;
    struct buf out;

    buf_init(&out, 1 << 20);
    assert_int_equal(tuner_csv(f->run, &f->summary, -1, &out, &err), 0);
    assert_non_null(strstr(out.data, "# allreduce 64K: 25 us, 1.60 times as fast as the "
                                     "default's 40 us\n"
                                     "allreduce,8193,262144,"));
    buf_release(&out);
}

static void refuse(struct fixture *f, const char *says)
{
    struct error err = {.text = ""};
    struct buf out;

    buf_init(&out, 1 << 20);
    assert_int_equal(tuner_csv(f->run, &f->summary, -1, &out, &err), -1);
    assert_int_equal(err.code, ERROR_INVALID);
    if (!strstr(err.text, says))
        fail_msg("%s", err.text);
    buf_release(&out);
}

TEST(runs_that_say_nothing_of_it_are_refused)
{
    struct fixture *f = *state;
    json_t *last = json_array_get(json_object_get(f->run, "cases"), CHOICES - 1);
    json_t *env = json_object_get(last, "env");

    json_object_set_new(env, "NCCL_PROTO", json_string("LL"));
    refuse(f, "each with null for NCCL's own choice");
    json_object_set_new(env, "NCCL_BUFFSIZE", json_string("1"));
    refuse(f, "only NCCL_ALGO and NCCL_PROTO");
    json_object_set_new(last, "nodes", json_pack("[s]", "a"));
    refuse(f, "the cases of the run use different nodes");
    json_object_set_new(f->run, "backend", json_string("host"));
    refuse(f, "the run's backend is host");
}

/* NCCL took another one at 8 bytes, so Ring and LL were not measured there. */
TEST(what_ran_by_another_algorithm_does_not_win)
{
    struct fixture *f = *state;
    json_t *choice =
        json_pack("{s:s, s:s, s:b}", "algo", "TREE", "proto", "LL", "unrequested", 1);

    f->points[0][0].choices[0] = (struct summary_choice){choice, 5};
    f->points[0][0].n_choices = 1;
    expect(f, -1,
           "allreduce,91,8192,ring,ll,-1,2,16\n"
           "allreduce,8193,262144,nvls_tree,simple,-1,2,16\n");
    json_decref(choice);
}
