/* SPDX-License-Identifier: Apache-2.0 */
/* test_case_input.c - a worker's environment, and its case file's name */
#include "agent/process/case_input.h"
#include "common/base/json_util.h"
#include "tests/unit/test.h"

TEST(refuses_variables_by_name)
{
    char netplugin[] = "NCCL_NET_PLUGIN";
    char *items[] = {netplugin};
    struct option_list none = {NULL, 0}, some = {items, 1};
    json_t *good = json_pack("{s:s, s:n}", "NCCL_DEBUG", "INFO", "NCCL_ALGO");
    json_t *plugin = json_pack("{s:s}", "NCCL_NET_PLUGIN", "aws");
    json_t *preload = json_pack("{s:s}", "LD_PRELOAD", "/x.so");
    struct error err;

    assert_int_equal(case_input_check_env(NULL, &none, &err), 0);
    assert_int_equal(case_input_check_env(good, &none, &err), 0);
    assert_int_equal(case_input_check_env(plugin, &none, &err), -1);
    assert_non_null(strstr(err.text, "NCCL_NET_PLUGIN makes the library load code"));
    assert_int_equal(case_input_check_env(plugin, &some, &err), 0);
    assert_int_equal(case_input_check_env(preload, &some, &err), -1);
    assert_non_null(strstr(err.text, "LD_PRELOAD"));
    json_decref(good);
    json_decref(plugin);
    json_decref(preload);
}

TEST(names_the_case_file)
{
    struct command command = {.id = {"r.1_x-2", 4, 2}};
    char path[CASE_PATH_MAX], dir[CASE_PATH_MAX];

    assert_int_equal(case_input_path(&command, "/spool", path, NULL), 0);
    assert_string_equal(path, "/spool/case-r.1_x-2-4-2.json");
    memset(dir, 'd', sizeof(dir) - 1);
    dir[sizeof(dir) - 1] = '\0';
    assert_int_equal(case_input_path(&command, dir, path, NULL), -1);
}

TEST(contract_wins_over_case_over_inherited)
{
    char one[] = "NCCL_ALGO=Ring", two[] = "NCCL_PROTO=LL", three[] = "RANK=77";
    char *inherited[] = {one, two, three, NULL};
    json_t *env = json_pack("{s:s, s:n, s:s}", "NCCL_ALGO", "Tree", "NCCL_PROTO",
                            "WORLD_SIZE", "99");
    struct command command = {.env = env,
                              .master_addr = "h",
                              .master_port = 5,
                              .world_size = 4,
                              .group_rank = 1,
                              .group_world_size = 2,
                              .n_ranks = 2};
    struct command_rank rank = {3, 1, -1}, on_device = {2, 0, 5};
    json_t *bound, *unbound;
    struct env_list list;

    env_list_init(&list);
    env_list_copy(&list, inherited);
    case_input_set_env(&list, &command, "/p");
    bound = case_input_rank_env(&rank, "0,2-3");
    env_list_apply(&list, bound);
    assert_string_equal(env_list_get(&list, "NCCL_ALGO"), "Tree");
    assert_null(env_list_get(&list, "NCCL_PROTO"));
    assert_string_equal(env_list_get(&list, "WORLD_SIZE"), "4");
    assert_string_equal(env_list_get(&list, "RANK"), "3");
    assert_string_equal(env_list_get(&list, "LOCAL_RANK"), "1");
    assert_string_equal(env_list_get(&list, "LOCAL_WORLD_SIZE"), "2");
    assert_null(env_list_get(&list, "RINGBENCH_DEVICE"));
    assert_string_equal(env_list_get(&list, "RINGBENCH_CPUS"), "0,2-3");
    unbound = case_input_rank_env(&on_device, NULL);
    env_list_apply(&list, unbound);
    assert_string_equal(env_list_get(&list, "RINGBENCH_DEVICE"), "5");
    assert_null(env_list_get(&list, "RINGBENCH_CPUS"));
    assert_string_equal(env_list_get(&list, "MASTER_PORT"), "5");
    assert_string_equal(env_list_get(&list, "RINGBENCH_CASE"), "/p");
    assert_null(list.items[list.count]);
    env_list_release(&list);
    json_decref(env);
    json_decref(bound);
    json_decref(unbound);
}

TEST(only_listed_libraries_are_loaded)
{
    char one[] = "/opt/a/libnccl.so.2", two[] = "/opt/b/libnccl.so.2";
    char *items[] = {one, two};
    struct option_list libraries = {items, 2};
    json_t *listed = json_pack("{s:s}", "nccl_lib", two);
    json_t *strange = json_pack("{s:s}", "nccl_lib", "/tmp/evil.so");
    json_t *none = json_object();
    struct command command = {.spec = none};
    struct env_list list;
    struct error err;

    env_list_init(&list);
    assert_int_equal(case_input_set_library(&list, &command, &libraries, &err), 0);
    assert_null(env_list_get(&list, "RINGBENCH_NCCL_LIB"));
    command.spec = strange;
    assert_int_equal(case_input_set_library(&list, &command, &libraries, &err), -1);
    assert_non_null(strstr(err.text, "does not offer /tmp/evil.so"));
    command.spec = listed;
    assert_int_equal(case_input_set_library(&list, &command, &libraries, &err), 0);
    assert_string_equal(env_list_get(&list, "RINGBENCH_NCCL_LIB"), two);
    env_list_release(&list);
    json_decref(listed);
    json_decref(strange);
    json_decref(none);
}

TEST(an_environment_grows_and_shrinks)
{
    struct env_list list;
    char name[16];

    env_list_init(&list);
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof(name), "N%d", i);
        env_list_set_int(&list, name, i);
    }
    assert_int_equal(list.count, 500);
    assert_string_equal(env_list_get(&list, "N499"), "499");
    assert_null(env_list_get(&list, "N5000"));
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof(name), "N%d", i);
        env_list_unset(&list, name);
    }
    assert_int_equal(list.count, 0);
    assert_null(list.items[0]);
    env_list_release(&list);
}
