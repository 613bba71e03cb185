/* SPDX-License-Identifier: Apache-2.0 */
/* test_torch_log.c - which rank is behind, as PyTorch's watchdog tells it, and what NCCL
 * told PyTorch last */
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"

#include "common/base/json_util.h"
#include "server/import/nccl_log.h"

#define COMM(host, comm, rank)                                                           \
    host ":1:1 [0] NCCL INFO ncclCommInitRank comm 0x" comm " rank " rank                \
         " nranks 3 cudaDev 0 nvmlDev 0 busId 1 commId 0x5 - Init COMPLETE\n"
#define COMMS COMM("node-a", "a", "0") COMM("node-b", "b", "1") COMM("node-c", "c", "2")
#define CAUGHT(rank, work, op)                                                           \
    "[rank" rank "]:[E304 05:06:00.1 ProcessGroupNCCL.cpp:620] [Rank " rank              \
    "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=" work              \
    ", OpType=" op ", NumelIn=4, NumelOut=4, Timeout(ms)=300000) ran for 300010 "        \
    "milliseconds before timing out.\n"
#define STATE(rank, work, enqueued, completed)                                           \
    "[rank" rank "]:[E304 05:06:00.2 ProcessGroupNCCL.cpp:1790] [PG ID 0 PG GUID "       \
    "0(default_pg) Rank " rank "] Exception (either an error or timeout) detected by "   \
    "watchdog at work: " work ", last enqueued NCCL work: " enqueued                     \
    ", last completed NCCL work: " completed ".\n"
#define OLD(rank, work, enqueued, completed)                                             \
    "[rank" rank "]:[E ProcessGroupNCCL.cpp:475] [PG 1 Rank " rank                       \
    "] Timeout at NCCL work: " work ", last enqueued NCCL work: " enqueued               \
    ", last completed NCCL work: " completed ".\n"
#define DUMP(rank, enqueued, completed)                                                  \
    "[rank" rank "]:[E304 05:06:00.2 ProcessGroupNCCL.cpp:684] [PG ID 0 PG GUID "        \
    "0(default_pg) Rank " rank "] Received a dump signal due to a collective timeout "   \
    "from this local rank. Last enqueued NCCL work: " enqueued                           \
    ", last completed NCCL work: " completed ".\n"
/* Since PyTorch 2.6 */
#define FAILURE(rank, work, enqueued, completed)                                         \
    "[rank" rank "]:[E304 05:06:00.2 ProcessGroupNCCL.cpp:2271] [PG ID 0 PG GUID "       \
    "0(default_pg) Rank " rank                                                           \
    "]  failure detected by watchdog at work sequence id: " work                         \
    " PG status: last enqueued work: " enqueued ", last completed work: " completed "\n"
/* Of a job that is well */
#define PERIODIC(rank, enqueued, completed)                                              \
    "[rank" rank "]:[I304 05:06:00.2 ProcessGroupNCCL.cpp:2241] [PG ID 0 PG GUID "       \
    "0(default_pg) Rank " rank "] NCCL Work update periodically: last enqueued NCCL "    \
    "work: " enqueued ", last completed NCCL work: " completed ".\n"
#define LAST(rank, text)                                                                 \
    "[rank" rank "]: torch.distributed.DistBackendError: NCCL error in: x.cpp:1333, "    \
    "unhandled system error, NCCL version 2.21.5\n[rank" rank                            \
    "]: ncclSystemError: System call or external library call failed.\n[rank" rank       \
    "]: Last error:\n[rank" rank "]: " text "\n"

static const struct {
    const char *text, *answer, *about, *nodes, *names;
} cases[] = {
    /* Rank 2 never enqueued the collective that the others wait in. */
    {COMMS CAUGHT("0", "51", "ALLREDUCE") STATE("0", "51", "53", "50")
         CAUGHT("1", "51", "ALLREDUCE") STATE("1", "51", "53", "50")
             STATE("2", "50", "50", "49"),
     "finding", "rank", "[\"node-c\"]",
     "rank 2 on node-c enqueued no operation after number 50, while ranks 0-1 wait in "
     "operation 51 (ALLREDUCE)"},
    {OLD("0", "18", "20", "17") OLD("1", "18", "20", "17") OLD("3", "17", "17", "16"),
     "finding", "rank", "[]", "rank 3 17"},
    {COMMS DUMP("0", "4", "2") DUMP("1", "4", "2") DUMP("2", "2", "2"), "finding", "rank",
     "[\"node-c\"]", "rank 2 node-c 2"},
    {COMMS FAILURE("0", "51", "53", "50") FAILURE("1", "51", "53", "50")
         DUMP("2", "50", "50"),
     "finding", "rank", "[\"node-c\"]", "rank 2 node-c 50, 0-1 51"},
    /* The progress before the timeout does not count. */
    {COMMS PERIODIC("0", "9", "8") PERIODIC("1", "40", "40")
         FAILURE("1", "51", "53", "50") FAILURE("0", "51", "53", "50")
             FAILURE("2", "50", "50", "49"),
     "finding", "rank", "[\"node-c\"]", "rank 2 node-c 50, 0-1 51"},
    /* All are in the same, and all have said so. */
    {COMMS STATE("0", "51", "53", "50") STATE("1", "51", "53", "50")
         STATE("2", "51", "53", "50"),
     "not_enough_data", "rank", "[]",
     "ranks 0-2 wait in operation 51, and no rank stands out"},
    /* Rank 1 wrote no such line. */
    {COMMS CAUGHT("0", "51", "ALLREDUCE") STATE("0", "51", "53", "50")
         STATE("2", "51", "53", "50"),
     "finding", "rank", "[\"node-b\"]", "rank 1 on node-b reported nothing"},
    /* The file lacks rank 2's log. */
    {COMM("node-a", "a", "0") COMM("node-b", "b", "1") STATE("0", "51", "53", "50")
         STATE("1", "51", "53", "50"),
     "not_enough_data", "rank", "[]", "0-1 51"},
    /* They call different operations. */
    {COMMS CAUGHT("0", "7", "ALLREDUCE") STATE("0", "7", "7", "6")
         CAUGHT("1", "7", "ALLREDUCE") STATE("1", "7", "7", "6")
             CAUGHT("2", "7", "ALLGATHER") STATE("2", "7", "7", "6"),
     "finding", "rank", "[\"node-c\"]",
     "operation 7 is ALLGATHER on rank 2 on node-c and ALLREDUCE on the others"},
    /* Before PyTorch 2.3 a timeout alone: which rank is behind is not known, */
    {CAUGHT("0", "120", "ALLREDUCE") CAUGHT("1", "120", "ALLREDUCE")
         CAUGHT("3", "119", "BROADCAST"),
     "not_enough_data", "rank", "[]",
     "ranks 0-1 120 (ALLREDUCE), rank 3 119 (BROADCAST)"},
    /* but for one that is there and had none. */
    {COMMS CAUGHT("0", "7", "ALLREDUCE") CAUGHT("1", "7", "ALLREDUCE"), "finding", "rank",
     "[\"node-c\"]", "rank 2 node-c 0-1 7 (ALLREDUCE)"},
    {"RuntimeError: NCCL communicator was aborted on rank 1. Original reason for failure "
     "was: NCCL error: remote process exited or there was a network error, NCCL version "
     "2.18.1\nncclRemoteError: A call failed.\nLast error:\nNET/IB : Got completion with "
     "status=12\n",
     "finding", "warning", "[]", "rank 1 status=12"},
    /* NCCL's word, once for all ranks and ports */
    {COMMS LAST("1", "socketStartConnect: Connect to 10.0.0.4<52822> failed : No route")
         LAST("2", "socketStartConnect: Connect to 10.0.0.4<40000> failed : No route"),
     "finding", "warning", "[\"node-b\"]",
     "PyTorch reported an NCCL error on rank 1 on node-b: socketStartConnect: Connect to "
     "10.0.0.4 failed : No route"},
};

TEST(the_watchdog_tells_which_rank_is_behind)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *out = nccl_log_read(cases[i].text, strlen(cases[i].text));
        const json_t *first = json_array_get(json_object_get(out, "verdicts"), 0);
        const json_t *evidence = json_object_get(first, "evidence");
        char *nodes = json_dumps(json_object_get(first, "nodes"), JSON_COMPACT);

        print_message("%s\n", json_get_str(first, "sentence", "(none)"));
        assert_string_equal(json_get_str(first, "answer", ""), cases[i].answer);
        assert_string_equal(json_get_str(evidence, "about", ""), cases[i].about);
        assert_string_equal(nodes, cases[i].nodes);
        assert_mentions(json_get_str(first, "sentence", ""), cases[i].names);
        free(nodes);
        json_decref(out);
    }
}

TEST(what_nccl_s_log_has_is_not_told_twice)
{
    static const char text[] =
        "node-a:1:1 [0] x.cc:1 NCCL WARN Connect to 10.0.0.4<1> failed\n"
        "node-a:1:1 [0] NCCL INFO init.cc:1 -> 2\n" LAST("0",
                                                         "Connect to 10.0.0.4<1> failed");
    json_t *out = nccl_log_read(text, strlen(text));

    static const char other[] =
        "node-a:1:1 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to x\n"
        "node-a:1:1 [0] x.cc:1 NCCL WARN Bootstrap : no socket interface found\n"
        "node-a:1:1 [0] NCCL INFO init.cc:1 -> 3\n" LAST("0", "Bootstrap : no socket "
                                                              "interface found");

    assert_int_equal(json_array_size(json_object_get(out, "verdicts")), 1);
    json_decref(out);
    out = nccl_log_read(other, strlen(other));
    assert_int_equal(json_array_size(json_object_get(out, "verdicts")), 1);
    json_decref(out);
}

TEST(lines_that_only_look_like_the_watchdog_say_nothing)
{
    static const char *const lines[] = {
        "NCCL is a library of Rank 2",
        "[rank2]: last enqueued NCCL work",
        "[rank-1]: Last error:\nx",
        "Last error: x",
        "WorkNCCL(SeqNum=, OpType=",
        PERIODIC("0", "300", "299") PERIODIC("1", "298", "297"),
        /* Another group waits: in this one nothing is under way. */
        DUMP("0", "2", "2") DUMP("1", "2", "2") DUMP("2", "2", "2"),
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_null(nccl_log_read(lines[i], strlen(lines[i])));
}
