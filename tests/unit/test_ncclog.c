/* test_ncclog.c - what NCCL's own log says of a communicator */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/ncclog/ncclog.h"

/* Lines, parted by newlines; the JSON that they come to, "null" for none. */
static void expect(const char *lines, const char *want)
{
    struct ncclog log;
    json_t *got, *wanted = json_loads(want, JSON_DECODE_ANY, NULL);
    char *text;

    assert_non_null(wanted);
    ncclog_init(&log);
    for (const char *at = lines; *at;) {
        size_t len = strcspn(at, "\n");

        ncclog_line(&log, at, len);
        at += len + (at[len] == '\n');
    }
    got = ncclog_json(&log);
    text = got ? json_dumps(got, JSON_COMPACT) : NULL;
    if (!json_equal(got ? got : json_null(), wanted))
        fail_msg("got %s, wanted %s", text ? text : "null", want);
    free(text);
    json_decref(got);
    json_decref(wanted);
}

#define INFO "node-1:4711:4731 [0] NCCL INFO "

static void a_communicator_over_infiniband_is_told(void **state)
{
    (void)state;
    expect(
        "NCCL version 2.20.5+cuda12.1\n" INFO "Using network IB\n" INFO
        "comm 0x12 rank 0 nranks 2 cudaDev 0 busId 63000 commId 0x2e - Init START\n" INFO
        "comm 0x12 rank 0 nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0\n" INFO
        "Channel 00/02 :    0   1\n" INFO
        "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0\n" INFO
        "Channel 01/0 : 1[0] -> 0[0] [receive] via NET/IB/0\n" INFO
        "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0(3)/GDRDMA\n" INFO
        "Channel 01/0 : 0[0] -> 1[0] [send] via NET/IB/0(1)/GDRDMA\n" INFO
        "Connected all rings\n" INFO "Connected all trees\n" INFO
        "2 coll channels, 0 collnet channels, 16 nvls channels, 4 p2p channels, "
        "2 p2p channels per peer\n",
        "{\"version\":\"2.20.5+cuda12.1\",\"network\":\"IB\",\"ranks\":2,\"nodes\":2,"
        "\"local_ranks\":1,\"channels\":{\"collective\":2,\"collnet\":0,\"nvls\":16,"
        "\"point_to_point\":4},\"connected\":[\"ring\",\"tree\"],\"transports\":{"
        "\"NET/IB/0\":{\"send\":0,\"receive\":2},"
        "\"NET/IB/0/GDRDMA\":{\"send\":2,\"receive\":0}}}");
}

static void a_communicator_inside_a_node_is_told(void **state)
{
    (void)state;
    expect(INFO "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read\n" INFO
                "Channel 01 : 0[0] -> 1[1] via SHM/direct/direct\n" INFO
                "CollNet 00/0 : 0 [send] via COLLNET/SHARP/0/GDRDMA\n" INFO
                "Connected NVLS tree\n" INFO
                "Init timings - ncclCommInitRankConfig: rank 0 nranks 2 total 0.42 "
                "(kernels 0.10, alloc 0.01)\n",
           "{\"connected\":[\"nvls\"],\"init_s\":0.42,\"transports\":{"
           "\"P2P/CUMEM/read\":{\"send\":1,\"receive\":0},"
           "\"SHM/direct/direct\":{\"send\":1,\"receive\":0},"
           "\"COLLNET/SHARP/0/GDRDMA\":{\"send\":1,\"receive\":0}}}");
}

static void the_last_warning_is_kept(void **state)
{
    (void)state;
    expect("[2026-11-21 10:00:00] node-1:1:2 [0] misc.cc:1 NCCL WARN first\n"
           "0: node-1:1:2 [0] bootstrap.cc:48 NCCL WARN Bootstrap : no socket interface "
           "found\n" INFO "Bootstrap : Using eth0\n",
           "{\"warning\":\"Bootstrap : no socket interface found\"}");
}

static void what_is_not_nccl_s_says_nothing(void **state)
{
    (void)state;
    expect("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\nUsing network IB\n\nNCCL \n"
           "# NCCL INFO\n" INFO "\n" INFO "Channel via\n" INFO "Channel x via \n" INFO
           "comm nNodes many\n" INFO "x coll channels, -3 p2p channels\n" INFO
           "Init timings total soon\n" INFO
           "comm rank 0 nRanks 99999999999999999999 nNodes -1 localRanks x\n",
           "null");
}

static void there_is_a_limit_to_names_and_lines(void **state)
{
    char line[5000];
    struct ncclog log;
    json_t *json;

    (void)state;
    ncclog_init(&log);
    for (int i = 0; i < 100; i++) {
        int n =
            snprintf(line, sizeof(line), INFO "Channel 00 : 0[0] -> 1[0] via T/%d", i);

        ncclog_line(&log, line, (size_t)n);
    }
    memset(line, 'W', sizeof(line));
    memcpy(line, "x NCCL WARN ", 12);
    line[20] = '\0';
    ncclog_line(&log, line, sizeof(line));
    json = ncclog_json(&log);
    assert_int_equal(json_object_size(json_object_get(json, "transports")),
                     NCCLOG_TRANSPORTS_MAX);
    assert_int_equal(json_string_length(json_object_get(json, "warning")),
                     NCCLOG_WARNING_MAX - 1);
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_communicator_over_infiniband_is_told),
        cmocka_unit_test(a_communicator_inside_a_node_is_told),
        cmocka_unit_test(the_last_warning_is_kept),
        cmocka_unit_test(what_is_not_nccl_s_says_nothing),
        cmocka_unit_test(there_is_a_limit_to_names_and_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
