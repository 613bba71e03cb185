/* SPDX-License-Identifier: Apache-2.0 */
/* test_probe.c - a worker that takes its time is heard all the same */
#include <sys/stat.h>

#include "agent/inventory/inventory.h"
#include "agent/inventory/probe.h"
#include "common/base/json_util.h"
#include "tests/unit/test.h"

struct fixture {
    uv_loop_t loop;
    char dir[64], worker[96], fifo[96];
    struct probe *probe;
    int n_told;
};

static void write_worker(struct fixture *fixture)
{
    snprintf(fixture->dir, sizeof(fixture->dir), "/tmp/test_probe.XXXXXX");
    assert_non_null(mkdtemp(fixture->dir));
    snprintf(fixture->worker, sizeof(fixture->worker), "%s/ringbench-worker-nccl",
             fixture->dir);
    snprintf(fixture->fifo, sizeof(fixture->fifo), "%s/fifo", fixture->dir);
    assert_int_equal(mkfifo(fixture->fifo, 0600), 0);
    FILE *file = fopen(fixture->worker, "w");
    fprintf(file, "#!/bin/sh\nread answer <%s\necho \"$answer\"\n", fixture->fifo);
    fclose(file);
    assert_int_equal(chmod(fixture->worker, 0755), 0);
}

static void let_it_answer(const struct fixture *fixture)
{
    static const char answer[] = "{\"available\":true}\n";
    int fd = open(fixture->fifo, O_RDWR); /* never waits for who reads */

    assert_int_equal(write(fd, answer, strlen(answer)), strlen(answer));
    /* Left open until the end: what is in it would be gone with it. */
}

static void on_done(void *arg, json_t *backends, bool is_over)
{
    struct fixture *fixture = arg;
    const json_t *nccl = json_object_get(backends, "nccl");
    bool is_first = fixture->n_told++ == 0;

    assert_int_equal(is_over, !is_first);
    assert_int_equal(json_get_bool(nccl, "available", is_first), !is_first);
    if (is_first) {
        assert_string_equal(json_get_str(nccl, "reason", ""),
                            "its worker's --probe has not answered for 0.1 s; the "
                            "agent keeps waiting");
        let_it_answer(fixture);
        return;
    }
    probe_destroy(fixture->probe);
    fixture->probe = NULL;
}

TEST(late_answer_counts)
{
    struct fixture fixture = {.n_told = 0};
    struct env_list environment;
    struct case_table *table;

    uv_loop_init(&fixture.loop);
    env_list_init(&environment);
    env_list_set(&environment, "LANG", "C");
    table = case_table_create(&fixture.loop, NULL, NULL);
    write_worker(&fixture);
    struct probe_params params = {.loop = &fixture.loop,
                                  .processes = table,
                                  .dir = fixture.dir,
                                  .environment = &environment,
                                  .limit_ms = 100};
    fixture.probe = probe_start(&params, on_done, &fixture);
    while (fixture.probe)
        uv_run(&fixture.loop, UV_RUN_ONCE);
    assert_int_equal(fixture.n_told, 2);
    case_table_destroy(table);
    uv_run(&fixture.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&fixture.loop), 0);
    env_list_release(&environment);
    unlink(fixture.worker);
    unlink(fixture.fifo);
    rmdir(fixture.dir);
}

static void write_script(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(path, 0755), 0);
}

static void keep_answer(void *arg, json_t *backends, bool is_over)
{
    assert_true(is_over);
    *(json_t **)arg = json_deep_copy(backends);
}

/* Each worker appends a line to a file beside it for each time that it is asked. */
TEST(nccl_alone_is_asked_for_each_library)
{
    static const char script[] = "#!/bin/sh\n"
                                 "echo \"${RINGBENCH_NCCL_LIB:-none}\" >>\"$0.asked\"\n"
                                 "echo '{\"available\":true}'\n";
    char dir[] = "/tmp/test_probe.XXXXXX", nccl[64], host[64], asked[80], line[80];
    char library[] = "/opt/libnccl.so.2";
    char *items[] = {library};
    struct option_list libraries = {items, 1};
    struct env_list environment;
    json_t *backends = NULL;
    uv_loop_t loop;
    size_t lines = 0;

    assert_non_null(mkdtemp(dir));
    snprintf(nccl, sizeof(nccl), "%s/ringbench-worker-nccl", dir);
    snprintf(host, sizeof(host), "%s/ringbench-worker-host", dir);
    write_script(nccl, script);
    write_script(host, script);
    uv_loop_init(&loop);
    env_list_init(&environment);
    env_list_set(&environment, "LANG", "C");
    struct case_table *table = case_table_create(&loop, NULL, NULL);
    struct probe_params params = {.loop = &loop,
                                  .processes = table,
                                  .dir = dir,
                                  .environment = &environment,
                                  .nccl_libs = &libraries,
                                  .limit_ms = 60000};
    struct probe *probe = probe_start(&params, keep_answer, &backends);
    while (!backends)
        uv_run(&loop, UV_RUN_ONCE);
    probe_destroy(probe);
    case_table_destroy(table);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    env_list_release(&environment);
    assert_int_equal(
        json_array_size(json_object_get(json_object_get(backends, "nccl"), "libraries")),
        1);
    json_decref(backends);

    snprintf(asked, sizeof(asked), "%s.asked", host);
    FILE *file = fopen(asked, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        lines++;
    fclose(file);
    assert_int_equal(lines, 1);
    unlink(asked);
    snprintf(asked, sizeof(asked), "%s.asked", nccl);
    unlink(asked);
    unlink(nccl);
    unlink(host);
    rmdir(dir);
}

/* A host without GPUs does not go on asking for them. */
TEST(lacks_what_may_come)
{
    json_t *inventory =
        json_pack("{s:[], s:{s:{s:b}}}", "gpus", "backends", "nccl", "available", 0);

    assert_false(inventory_lacks_backend(inventory));
    json_array_append_new(json_object_get(inventory, "gpus"), json_object());
    assert_true(inventory_lacks_backend(inventory));
    json_t *good = json_pack("{s:{s:b}}", "nccl", "available", 1);
    assert_true(inventory_add_probed(inventory, good));
    assert_false(inventory_add_probed(inventory, good));
    assert_false(inventory_lacks_backend(inventory));
    json_decref(good);
    json_decref(inventory);
}
