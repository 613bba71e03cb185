/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_profiler.c - what NCCL tells its profiler plugin of a call. That NCCL finds
 * the plugin is for tests/integration/nccl_choice.test.mjs. */
#include "agent/worker/nccl/nccl_profiler.h"
#include "tests/unit/test.h"

enum { GROUP = 1, COLLECTIVE = 2, TRANSFER = 4, PROXY = 8, COLLECTIVE_CALL = 512 };

static const struct nccl_profiler *const plugin = &ncclProfiler_v5;
static void *context;
static int mask;

typedef int init_5(void **, uint64_t, int *, const char *, int, int, int, void *);

static int set_up(void **state)
{
    (void)state;
    mask = -1;
    return ((init_5 *)plugin->init)(&context, 1, &mask, "c", 1, 2, 0, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    return plugin->finalize(context);
}

/* The handle that an event gets. */
static void *tell(uint64_t type, const char *algo, unsigned char channels)
{
    unsigned char event[112] = {0};
    void *handle = event;
    const char *proto = "LL128";

    memcpy(event, &type, sizeof(type));
    memcpy(event + 88, &algo, sizeof(algo));
    memcpy(event + 96, &proto, sizeof(proto));
    event[type == TRANSFER ? 60 : 80] = channels;
    assert_int_equal(plugin->start(context, &handle, event), 0);
    return handle;
}

TEST_WITH(set_up, tear_down, asks_for_events_only_while_it_watches)
{
    struct choice choice = {.channels = 7};

    assert_int_equal(mask, 0);
    nccl_profiler_watch();
    assert_int_equal(mask, COLLECTIVE | TRANSFER);
    nccl_profiler_finish(&choice);
    assert_int_equal(mask, 0);
    assert_int_equal(choice.channels, 7);
    assert_null(tell(GROUP, NULL, 0));
    tell(COLLECTIVE, "RING", 8);
    nccl_profiler_finish(&choice);
    assert_string_equal(choice.algo, "");
}

/* Without the first NCCL up to 2.27 tells nothing of the calls in the group; of the last
 * 2.28 would stop it at every later call. */
TEST_WITH(set_up, tear_down, groups_get_a_handle_and_nothing_else)
{
    struct choice choice;

    nccl_profiler_watch();
    assert_non_null(tell(GROUP, NULL, 0));
    assert_null(tell(COLLECTIVE, "RING", 8));
    assert_null(tell(PROXY, NULL, 0));
    assert_null(tell(COLLECTIVE_CALL, "TREE", 4));
    assert_int_equal(plugin->stop(NULL), 0);
    assert_int_equal(plugin->record(NULL, 0, NULL), 0);
    nccl_profiler_finish(&choice);
    assert_string_equal(choice.algo, "RING");
    assert_string_equal(choice.proto, "LL128");
    assert_string_equal(choice.by, "profiler");
    assert_int_equal(choice.channels, 8);
}

TEST_WITH(set_up, tear_down, the_widest_transfer_counts)
{
    struct choice choice;

    nccl_profiler_watch();
    tell(TRANSFER, NULL, 2);
    tell(TRANSFER, NULL, 4);
    tell(TRANSFER, NULL, 1);
    nccl_profiler_finish(&choice);
    assert_string_equal(choice.algo, "P2P");
    assert_string_equal(choice.proto, "");
    assert_int_equal(choice.channels, 4);
}

/* The mask is gone with the communicator. */
TEST_WITH(set_up, tear_down, a_communicator_that_ended_is_not_asked)
{
    plugin->finalize(context);
    mask = 9;
    nccl_profiler_watch();
    assert_int_equal(mask, 9);
}

TEST(ranks_are_compared_with_each_other)
{
    struct choice ring = {.algo = "RING", .proto = "LL", .channels = 4};
    struct choice tree = ring, none = {.algo = ""}, all = {.algo = ""};

    assert_null(choice_json(&all));
    choice_add(&all, &none);
    choice_add(&all, &ring);
    choice_add(&all, &none);
    assert_string_equal(all.algo, "RING");
    assert_false(all.ranks_differ);
    tree.channels = 8;
    choice_add(&all, &tree);
    assert_true(all.ranks_differ);
    /* Peers are not all alike. */
    all = (struct choice){.algo = "P2P", .channels = 2};
    tree = (struct choice){.algo = "P2P", .channels = 4};
    choice_add(&all, &tree);
    assert_false(all.ranks_differ);
    assert_int_equal(all.channels, 4);
}

/* ---- Where each version has it ---- */

typedef int init_1(void **, int *);
typedef int init_4(void **, int *, const char *, uint64_t, int, int, int, void *);

/* ncclProfilerEventDescr_vN_t of NCCL's headers; 0: it does not tell. */
static const struct {
    const struct nccl_profiler *plugin;
    const char *since;
    size_t algo, proto, channels, transfer_channels;
    bool has_numbers; /* in place of names */
} versions[] = {
    {&ncclProfiler_v1, "2.23", 106, 107, 0, 0, true},
    {&ncclProfiler_v2, "2.24", 112, 120, 0, 0, false},
    {&ncclProfiler_v3, "2.26", 104, 112, 0, 0, false},
    {&ncclProfiler_v4, "2.27", 88, 96, 80, 60, false},
    {&ncclProfiler_v5, "2.28", 88, 96, 80, 60, false},
};

static void begin_version(size_t i)
{
    nccl_profiler_fn *init = versions[i].plugin->init;

    if (i < 3)
        assert_int_equal(((init_1 *)init)(&context, &mask), 0);
    else if (i == 3)
        assert_int_equal(((init_4 *)init)(&context, &mask, "c", 1, 1, 2, 0, NULL), 0);
    else
        assert_int_equal(((init_5 *)init)(&context, 1, &mask, "c", 1, 2, 0, NULL), 0);
}

static void start_event(size_t i, unsigned char type, struct choice *choice)
{
    static const char *const algo = "RING", *const proto = "SIMPLE";
    unsigned char event[128] = {0};
    void *handle = NULL;

    event[0] = type;
    if (type == TRANSFER) {
        if (versions[i].transfer_channels)
            event[versions[i].transfer_channels] = 3;
    } else if (versions[i].has_numbers) {
        event[versions[i].algo] = 1;
        event[versions[i].proto] = 2;
    } else {
        memcpy(event + versions[i].algo, &algo, sizeof(algo));
        memcpy(event + versions[i].proto, &proto, sizeof(proto));
    }
    if (type == COLLECTIVE && versions[i].channels)
        event[versions[i].channels] = 5;
    nccl_profiler_watch();
    assert_int_equal(versions[i].plugin->start(context, &handle, event), 0);
    nccl_profiler_finish(choice);
}

TEST(each_version_is_read_where_it_has_it)
{
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        struct choice choice = {.channels = 0}, transfer = {.channels = 0};

        begin_version(i);
        start_event(i, COLLECTIVE, &choice);
        if (strcmp(choice.algo, "RING") != 0 || strcmp(choice.proto, "SIMPLE") != 0 ||
            choice.channels != (versions[i].channels ? 5 : 0))
            fail_msg("NCCL %s: %s %s %d", versions[i].since, choice.algo, choice.proto,
                     choice.channels);
        start_event(i, TRANSFER, &transfer);
        assert_string_equal(transfer.algo, "P2P");
        assert_int_equal(transfer.channels, versions[i].transfer_channels ? 3 : 0);
        assert_int_equal(versions[i].plugin->finalize(context), 0);
    }
}
