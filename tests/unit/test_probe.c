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
                            "its probe has not answered for 0.1 s; it is still "
                            "waited for");
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
    struct process_table *table;

    uv_loop_init(&fixture.loop);
    env_list_init(&environment);
    assert_int_equal(env_list_set(&environment, "LANG", "C"), 0);
    table = process_table_create(&fixture.loop, NULL, NULL);
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
    process_table_destroy(table);
    uv_run(&fixture.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&fixture.loop), 0);
    env_list_release(&environment);
    unlink(fixture.worker);
    unlink(fixture.fifo);
    rmdir(fixture.dir);
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
