/* SPDX-License-Identifier: Apache-2.0 */
/* test_actions.c - which hooks are run for what a watch has found */
#include "server/watches/actions.h"

#include "common/base/json_util.h"
#include "tests/unit/test.h"

struct trial {
    json_t *watch, *standings, *on[4];
    struct hook drain, resume, post;
    struct hook_list hooks;
};

static int set_up(void **state)
{
    static char drain[] = "drain", resume[] = "resume", post[] = "post";
    static const char *const events[] = {"culprit", "recovered", "fail", "stale"};
    struct trial *trial = calloc(1, sizeof(*trial));

    assert_non_null(trial);
    for (size_t i = 0; i < 4; i++)
        trial->on[i] = json_pack("[s]", events[i]);
    trial->watch = json_pack("{s:[]}", "actions");
    trial->standings = json_object();
    trial->drain = (struct hook){.name = drain,
                                 .on = trial->on[0],
                                 .per_hour = 5,
                                 .most_nodes = 2,
                                 .is_per_node = true,
                                 .is_lasting = true};
    trial->resume = (struct hook){.name = resume,
                                  .on = trial->on[1],
                                  .per_hour = 40,
                                  .undoes = drain,
                                  .is_per_node = true};
    trial->post = (struct hook){.name = post, .on = trial->on[2], .per_hour = 3};
    trial->hooks = (struct hook_list){{&trial->drain, &trial->resume, &trial->post}, 3};
    *state = trial;
    return 0;
}

static int tear_down(void **state)
{
    struct trial *trial = *state;

    for (size_t i = 0; i < 4; i++)
        json_decref(trial->on[i]);
    json_decref(trial->watch);
    json_decref(trial->standings);
    free(trial);
    return 0;
}

EACH_FIXTURE(set_up, tear_down);

static struct actions actions_of(struct trial *trial, bool may_act, int64_t now_ms)
{
    return (struct actions){trial->watch, &trial->hooks, trial->standings, may_act,
                            now_ms};
}

static void fire(struct trial *trial, const char *event, const char *nodes, bool may_act,
                 int64_t now_ms)
{
    json_t *names = json_loads(nodes, 0, NULL);
    const struct action_event what = {event, names, "r", "it is slow", false};
    const struct actions on = actions_of(trial, may_act, now_ms);

    assert_non_null(names);
    actions_add(&on, &what);
    json_decref(names);
}

/* How many of the watch's actions of a hook are in the state. */
static int count(const struct trial *trial, const char *hook, const char *state)
{
    const json_t *action;
    size_t i;
    int n = 0;

    json_array_foreach (json_object_get(trial->watch, "actions"), i, action)
        n += strcmp(json_get_str(action, "hook", ""), hook) == 0 &&
             strcmp(json_get_str(action, "state", ""), state) == 0;
    return n;
}

static void end_all(struct trial *trial, const char *state)
{
    const struct actions on = actions_of(trial, true, 1000);
    json_t *action;

    while ((action = actions_due(trial->watch)))
        actions_end(&on, action, state, "");
}

TEST(a_faulty_switch_drains_no_more_nodes_than_may_be)
{
    struct trial *trial = *state;

    fire(trial, "culprit", "[\"a\",\"b\",\"c\",\"d\"]", true, 1000);
    assert_int_equal(count(trial, "drain", "due"), 2);
    assert_int_equal(count(trial, "drain", "refused"), 2);
    end_all(trial, "done");
    fire(trial, "culprit", "[\"e\"]", true, 9000000);
    assert_int_equal(count(trial, "drain", "refused"), 3);
    fire(trial, "recovered", "[\"a\"]", true, 9000000);
    end_all(trial, "done");
    fire(trial, "culprit", "[\"e\"]", true, 9000000);
    assert_int_equal(count(trial, "drain", "due"), 1);
}

TEST(a_node_is_drained_once_and_only_what_was_drained_is_resumed)
{
    struct trial *trial = *state;

    fire(trial, "recovered", "[\"a\"]", true, 1000);
    assert_int_equal(count(trial, "resume", "due"), 0);
    fire(trial, "culprit", "[\"a\"]", true, 1000);
    fire(trial, "culprit", "[\"a\"]", true, 2000);
    assert_int_equal(count(trial, "drain", "due"), 1);
    end_all(trial, "killed"); /* it may have had its effect */
    fire(trial, "culprit", "[\"a\"]", true, 3000);
    assert_int_equal(count(trial, "drain", "due"), 0);
    fire(trial, "recovered", "[\"a\"]", true, 4000);
    end_all(trial, "done");
    fire(trial, "culprit", "[\"a\"]", true, 6000);
    end_all(trial, "failed");
    assert_true(standing_is_clean(json_object_get(trial->standings, "a")));
}

TEST(a_hook_that_nothing_undoes_is_run_for_a_node_each_time)
{
    struct trial *trial = *state;

    trial->post.is_per_node = true;
    fire(trial, "fail", "[\"a\"]", true, 1000);
    end_all(trial, "done");
    fire(trial, "fail", "[\"a\"]", true, 2000);
    assert_int_equal(count(trial, "post", "due"), 1);
    assert_false(standing_is_held(json_object_get(trial->standings, "a")));
}

/* The node is judged once more, with the same result. */
static void fire_again(struct trial *trial, const char *event)
{
    json_t *names = json_pack("[s]", "a");
    const struct action_event again = {event, names, "r", "", .is_again = true};
    const struct actions on = actions_of(trial, true, 2000);

    actions_add(&on, &again);
    json_decref(names);
}

TEST(a_node_that_was_not_resumed_is_resumed_later_and_nothing_else_is_run)
{
    struct trial *trial = *state;

    fire(trial, "culprit", "[\"a\"]", true, 1000);
    end_all(trial, "done");
    fire(trial, "recovered", "[\"a\"]", true, 1000);
    end_all(trial, "failed");
    trial->post.on = trial->on[1];
    fire_again(trial, "recovered");
    assert_int_equal(count(trial, "resume", "due"), 1);
    assert_int_equal(count(trial, "post", "due"), 0);
    end_all(trial, "done");
    assert_false(standing_is_held(json_object_get(trial->standings, "a")));
}

TEST(a_pass_adds_no_attempt_while_one_is_under_way)
{
    struct trial *trial = *state;

    fire(trial, "culprit", "[\"a\"]", true, 1000);
    end_all(trial, "done");
    fire(trial, "recovered", "[\"a\"]", true, 1000);
    fire_again(trial, "recovered");
    assert_int_equal(count(trial, "resume", "due"), 1);
    json_object_set_new(actions_due(trial->watch), "state", json_string("running"));
    fire_again(trial, "recovered");
    assert_int_equal(count(trial, "resume", "due"), 0);
}

TEST(a_suspect_that_was_not_drained_is_drained_when_named_again)
{
    struct trial *trial = *state;

    trial->post.on = trial->on[0];
    fire(trial, "culprit", "[\"a\"]", true, 1000);
    end_all(trial, "failed");
    assert_false(standing_is_held(json_object_get(trial->standings, "a")));
    fire_again(trial, "culprit");
    assert_int_equal(count(trial, "drain", "due"), 1);
    assert_int_equal(count(trial, "post", "due"), 0);
    end_all(trial, "done");
    fire_again(trial, "culprit");
    assert_int_equal(count(trial, "drain", "due"), 0);
}

TEST(a_hook_is_limited_in_an_hour)
{
    struct trial *trial = *state;

    const int64_t now_ms = INT64_C(1700000000000);
    const json_t *actions = json_object_get(trial->watch, "actions");

    for (int i = 0; i < 5; i++)
        fire(trial, "fail", "[\"a\",\"b\"]", true, now_ms);
    assert_string_equal(json_get_str(json_array_get(actions, 0), "time", ""),
                        "2023-11-14T22:13:20.000Z");
    assert_int_equal(count(trial, "post", "due"), 3);
    assert_int_equal(count(trial, "post", "refused"), 2);
    end_all(trial, "done");
    fire(trial, "fail", "[\"a\"]", true, now_ms + 3599999);
    assert_int_equal(count(trial, "post", "due"), 0);
    fire(trial, "fail", "[\"a\"]", true, now_ms + 3600000);
    assert_int_equal(count(trial, "post", "due"), 1);
}

TEST(an_observer_notes_what_it_would_do)
{
    struct trial *trial = *state;

    fire(trial, "culprit", "[\"a\"]", false, 1000);
    fire(trial, "fail", "[\"a\",\"b\"]", false, 1000);
    fire(trial, "stale", "[\"a\"]", false, 1000);
    assert_null(actions_due(trial->watch));
    assert_int_equal(count(trial, "drain", "observed"), 1);
    assert_int_equal(count(trial, "post", "observed"), 1);
    assert_int_equal(json_object_size(trial->standings), 0);
}

TEST(what_was_due_when_the_server_stopped_is_not_done_again)
{
    struct trial *trial = *state;

    fire(trial, "culprit", "[\"a\"]", true, 1000);
    actions_disown(trial->watch);
    assert_null(actions_due(trial->watch));
    assert_int_equal(count(trial, "drain", "unknown"), 1);
    fire(trial, "culprit", "[\"a\"]", true, 1000);
    assert_null(actions_due(trial->watch));
    fire(trial, "recovered", "[\"a\"]", true, 1000);
    assert_int_equal(count(trial, "resume", "due"), 1);
}

TEST(so_many_actions_are_kept)
{
    struct trial *trial = *state;

    for (int i = 0; i < ACTIONS_KEPT + 10; i++)
        fire(trial, "fail", "[\"a\"]", false, 1000);
    assert_int_equal(json_array_size(json_object_get(trial->watch, "actions")),
                     ACTIONS_KEPT);
}

TEST(many_refused_actions_remove_none_that_is_due)
{
    struct trial *trial = *state;
    json_t *names = json_array(), *node;
    struct actions on = actions_of(trial, true, 1000);
    const struct action_event what = {"culprit", names, "r", "it is slow", false};
    const char *name;
    char text[16];
    int n_held = 0;

    trial->drain.most_nodes = 1000;
    for (int i = 0; i < 2 * ACTIONS_KEPT; i++) {
        snprintf(text, sizeof(text), "n%03d", i);
        json_array_append_new(names, json_string(text));
    }
    actions_add(&on, &what);
    assert_int_equal(json_array_size(json_object_get(trial->watch, "actions")),
                     ACTIONS_KEPT);
    assert_int_equal(count(trial, "drain", "due"), trial->drain.per_hour);
    json_object_foreach (trial->standings, name, node)
        n_held += standing_is_held(node);
    assert_int_equal(n_held, trial->drain.per_hour);
    json_decref(names);
}
