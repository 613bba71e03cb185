/* SPDX-License-Identifier: Apache-2.0 */
/* test_transport_log.c - by which ways a job went, and what speaks against them, from the
 * log that NCCL printed */
#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "server/import/nccl_log.h"
#include "tests/unit/mentions.h"
#include "tests/unit/test.h"
#include "tests/unit/transport_fixture.h"

static const char *first_line(const json_t *folded)
{
    const json_t *first = json_array_get(json_object_get(folded, "verdicts"), 0);
    const json_t *lines = json_object_get(json_object_get(first, "evidence"), "log");
    const char *line = json_string_value(json_array_get(lines, 0));

    return line ? line : "(none)";
}

/* A setting that decides over the ways of two processes, and the line that tells it. */
TEST(what_a_setting_does_is_told_with_its_line)
{
    static const struct {
        const char *line, *ways, *verdict;
    } cases[] = {
        {"NCCL_IB_DISABLE set by environment to 1.", "NET/Socket",
         "no_rdma: NCCL_IB_DISABLE=1: sockets over eth0 on n1, n2 (imported)"},
        {"NCCL_NET set by environment to Socket.", "NET/Socket",
         "no_rdma: NCCL_NET=Socket: eth0 n1, n2 (imported)"},
        {"NCCL_NET_GDR_LEVEL set by environment to LOC", "NET/IB",
         "no_gdr: mlx5_0: NCCL_NET_GDR_LEVEL=LOC n1, n2 (imported)"},
        {"NCCL_NET_GDR_READ set by environment to 0.", "NET/IB",
         "no_gdr: GPUDirect is off over mlx5_0 to send: NCCL_NET_GDR_READ=0 on n1, n2 "
         "(imported)"},
        {"NCCL_ALGO set by environment to Foo", "NET/IB/0/GDRDMA",
         "setting: NCCL_ALGO=Foo: NCCL does not know Foo on n1, n2 (imported)"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool is_ib = strncmp(cases[i].ways, "NET/IB", 6) == 0;
        char text[4000] = "";
        json_t *folded;

#define LINE "n%1$d:7:7 [0] NCCL INFO "
        for (int rank = 0; rank < 2; rank++)
            snprintf(text + strlen(text), sizeof(text) - strlen(text),
                     LINE
                     "%3$s\n" LINE "Using network %4$s\n" LINE
                     "NET/Socket : Using [0]eth0:10.0.0.1<0>\n" LINE
                     "NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>\n" LINE
                     "ncclCommInitRank comm 0xa rank %2$d nranks 2 cudaDev 0 nvmlDev 0 "
                     "busId 1 commId 0x5 - Init COMPLETE\n" LINE
                     "Channel 00/0 : %2$d[0] -> %5$d[0] [send] via %6$s%7$s\n",
                     rank + 1, rank, cases[i].line, is_ib ? "IB" : "Socket", 1 - rank,
                     cases[i].ways, strchr(cases[i].ways + 4, '/') ? "" : "/0");
#undef LINE
        folded = nccl_log_read(text, strlen(text));
        expect_verdicts(folded, (const char *const[VERDICTS_MAX]){cases[i].verdict});
        assert_string_equal(first_line(folded), cases[i].line);
        json_decref(folded);
    }
}

TEST(jobs_logs_come_to_verdicts)
{
    static const struct {
        const char *name, *ways, *verdicts[VERDICTS_MAX];
    } logs[] = {
        {"a800.0.ib0.txt",
         "IP over InfiniBand ib0, 2 channels [[0,1]]",
         {"no_rdma: NCCL_IB_HCA=ib0 names no active RDMA port (ib0 is the network "
          "interface of "
          "mlx5_1): IP over InfiniBand ib0 on pgpu25, pgpu27 (imported)"}},
        {"a800.0.mlx5_0.txt",
         "RoCE mlx5_0, no GPUDirect, 2 channels [[0,1]]",
         {"no_gdr: GPUDirect is off over mlx5_0 (the log gives no reason) on pgpu25, "
          "pgpu27 (imported)"}},
        {"a800.0.not-set.txt",
         "InfiniBand mlx5_1, no GPUDirect, 2 channels [[0,1]]",
         {"no_gdr: mlx5_1 log pgpu25, pgpu27 (imported)"}},
        {"a800.1.ens17np0.txt",
         "",
         {"init: NCCL's init failed: NCCL_SOCKET_IFNAME=ens17np0 names no interface that "
          "is up "
          "on pgpu25 (imported)"}},
        {"a800.1.ib0.txt",
         "IP over InfiniBand ib0, 2 channels [[0,1]]",
         {"no_rdma: NCCL_IB_DISABLE=1: IP over InfiniBand ib0, while mlx5_0 is active on "
          "pgpu25 (imported)",
          "no_rdma: NCCL_IB_DISABLE=1: ib0 pgpu27 (imported)"}},
    };

    for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
        static char text[65536];
        char path[600];
        size_t len;
        FILE *file;
        json_t *folded;

        snprintf(path, sizeof(path), DATA_DIR "/nccl/%s", logs[i].name);
        file = fopen(path, "r");
        assert_non_null(file);
        len = fread(text, 1, sizeof(text), file);
        fclose(file);
        folded = nccl_log_read(text, len);
        assert_non_null(folded);
        expect_ways(folded, logs[i].ways);
        expect_verdicts(folded, logs[i].verdicts);
        assert_null(json_object_get(folded, "unread"));
        json_decref(folded);
    }
    assert_null(nccl_log_read("no log\n", 7));
}

/* Two nodes of two ranks: tensor parallel pairs inside the nodes, data parallel ones
 * between them, and the job's own communicator, which connects last. */
TEST(groups_of_a_job_are_told_apart)
{
    char text[8000] = "";
    json_t *folded, *comms;

    for (int rank = 0; rank < 4; rank++) {
        int node = rank / 2, local = rank % 2;

#define LINE "node-%1$d:%2$d:1 [%3$d] NCCL INFO "
        snprintf(
            text + strlen(text), sizeof(text) - strlen(text),
            LINE
            "NET/Socket : Using [0]eth0:10.0.0.%1$d<0>\n" LINE
            "ncclCommInitRank comm 0xa rank %2$d nranks 4 cudaDev %3$d nvmlDev "
            "%3$d busId 1 commId 0x5 - Init COMPLETE\n" LINE
            "ncclCommSplit comm 0xb rank %3$d nranks 2 cudaDev %3$d nvmlDev "
            "%3$d busId 1 parent 0xa splitCount 1 color %1$d key 0- Init START\n" LINE
            "comm 0xb rank %3$d nRanks 2 nNodes 1 localRanks 2 localRank %3$d "
            "MNNVL 0\n" LINE
            "Channel 00/0 : %3$d[%3$d] -> %4$d[%4$d] via P2P/CUMEM\n" LINE
            "ncclCommSplit comm 0xc rank %1$d nranks 2 cudaDev %3$d nvmlDev "
            "%3$d busId 1 parent 0xa splitCount 2 color %3$d key 0- Init START\n" LINE
            "comm 0xc rank %1$d nRanks 2 nNodes 2 localRanks 1 localRank 0 "
            "MNNVL 0\n" LINE
            "Channel 00/0 : %1$d[%3$d] -> %5$d[%3$d] [send] via NET/Socket/0\n" LINE
            "Channel 00/0 : %2$d[%3$d] -> %6$d[%4$d] via SHM/direct/direct\n",
            node, rank, local, 1 - local, 1 - node, 2 * node + 1 - local);
#undef LINE
    }
    folded = nccl_log_read(text, strlen(text));
    expect_ways(folded, "sockets over eth0, 1 channel [[0,1]]; peer to peer "
                        "(P2P/CUMEM), 1 channel [[0,0],[1,1]]; shared memory "
                        "(SHM/direct/direct), 1 channel [[0,0],[1,1]]");
    comms = json_loads("[{\"comm\":\"0x5\",\"ranks\":4,\"heard\":4,\"nodes\":2},"
                       "{\"comm\":\"0x5/1.0\",\"ranks\":2,\"heard\":2,\"nodes\":1},"
                       "{\"comm\":\"0x5/2.0\",\"ranks\":2,\"heard\":2,\"nodes\":2},"
                       "{\"comm\":\"0x5/2.1\",\"ranks\":2,\"heard\":2,\"nodes\":2},"
                       "{\"comm\":\"0x5/1.1\",\"ranks\":2,\"heard\":2,\"nodes\":1}]",
                       0, NULL);
    assert_true(json_equal(json_object_get(folded, "communicators"), comms));
    assert_null(json_object_get(folded, "unread"));
    json_decref(comms);
    json_decref(folded);
}

/* Two jobs one after the other: three nodes by InfiniBand, then two that have none; and
 * a process that ends before it has a communicator. */
TEST(jobs_of_one_file_are_judged_apart)
{
    char text[8000] = "";
    json_t *folded, *jobs;

    for (int i = 0; i < 5; i++) {
        int n = i < 3 ? 3 : 2, rank = i % 3;

        snprintf(text + strlen(text), sizeof(text) - strlen(text),
#define LINE "n%1$d:7:7 [0] NCCL INFO "
                 LINE
                 "Using network %2$s\n" LINE
                 "NET/Socket : Using [0]eth0:10.0.0.1<0>\n" LINE
                 "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>\n" LINE
                 "ncclCommInitRank comm 0xa rank %3$d nranks %4$d cudaDev 0 nvmlDev 0 "
                 "busId 1 commId 0x%5$d - Init COMPLETE\n" LINE
                 "Channel 00/0 : %3$d[0] -> %6$d[0] [send] via NET/%2$s/0%7$s\n",
                 i + 1, i < 3 ? "IB" : "Socket", rank, n, i < 3 ? 5 : 6, (rank + 1) % n,
                 i < 3 ? "/GDRDMA" : "");
    }
    folded = nccl_log_read(text, strlen(text));
    expect_ways(folded, "InfiniBand mlx5_0, GPUDirect, 1 channel [[0,1],[0,2],[1,2]]; "
                        "sockets over eth0, 1 channel [[3,4]]");
    expect_verdicts(folded, (const char *const[VERDICTS_MAX]){
                                "ways: mlx5_0, GPUDirect, 1 (job 1 of 2, imported)",
                                "ways: eth0, 1 (job 2 of 2, imported)"});
    jobs = json_loads("[{\"processes\":3,\"nodes\":[\"n1\",\"n2\",\"n3\"],"
                      "\"communicators\":[\"0x5\"]},{\"processes\":2,\"nodes\":[\"n4\","
                      "\"n5\"],\"communicators\":[\"0x6\"]}]",
                      0, NULL);
    assert_true(json_equal(json_object_get(folded, "jobs"), jobs));
    json_decref(folded);
    snprintf(text + strlen(text), sizeof(text) - strlen(text),
             "n1:9:9 [0] init.cc:1 NCCL WARN no device\n" LINE "Using network IB\n", 1);
#undef LINE
    folded = nccl_log_read(text, strlen(text));
    assert_int_equal(json_get_int(folded, "n_jobs", 0), 3);
    json_decref(folded);
    json_decref(jobs);
}

/* ---- logs of others ---- */

#define A "node-a:1:1 [0] NCCL INFO "
#define B "node-b:2:2 [0] NCCL INFO "
#define WARN_A "node-a:1:1 [0] x.cc:1 NCCL WARN "
#define WARN_B "node-b:2:2 [0] x.cc:1 NCCL WARN "
#define COMM(comm, rank, state)                                                          \
    "ncclCommInitRank comm 0x" comm " rank " rank " nranks 2 cudaDev 0 nvmlDev 0 busId " \
    "1 commId 0x5 - Init " state "\n"
#define STARTS A COMM("a", "0", "START") B COMM("b", "1", "START")
#define ENDS A COMM("a", "0", "COMPLETE") B COMM("b", "1", "COMPLETE")
#define LINKS(via)                                                                       \
    A "Channel 00/0 : 0[0] -> 1[0] [send] via " via "\n" A                               \
      "Channel 00/0 : 1[0] -> 0[0] [receive] via " via "\n" B                            \
      "Channel 00/0 : 1[0] -> 0[0] [send] via " via "\n" B                               \
      "Channel 00/0 : 0[0] -> 1[0] [receive] via " via "\n"
#define HCA "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>\n"
#define ETH "NET/Socket : Using [0]eth0:10.0.0.1<0>\n"
#define GDR LINKS("NET/IB/0/GDRDMA")
#define SOCKETS A "Using network Socket\n" B "Using network Socket\n" A ETH B ETH
#define GOOD "InfiniBand mlx5_0, GPUDirect, 1 channel"

/* Two ranks on each node, which go to the other by its first HCA */
#define BY_FIRST(process, hcas, comm, rank, link)                                        \
    process                                                                              \
        "NET/IB : Using " hcas " [RO]; OOB eth0:1<0>\n" process "comm 0x" comm           \
        " rank " rank " nRanks 4 nNodes 2 localRanks 2 localRank 0 MNNVL 0\n" process    \
        "Channel 00/0 : " link " via NET/IB/0/GDRDMA\n" process "Channel 01/0 : " link   \
        " via NET/IB/0/GDRDMA\n"
#define TWO_BY_ONE_HCA(hcas)                                                             \
    BY_FIRST(A, hcas, "a", "0", "3[1] -> 0[0] [receive]")                                \
    BY_FIRST("node-a:3:3 [1] NCCL INFO ", hcas, "b", "1", "1[1] -> 2[0] [send]")         \
    BY_FIRST(B, hcas, "c", "2", "1[1] -> 2[0] [receive]")                                \
    BY_FIRST("node-b:4:4 [1] NCCL INFO ", hcas, "d", "3", "3[1] -> 0[0] [send]")

static const struct {
    const char *text, *answer, *about, *nodes, *names;
} judged_logs[] = {
    /* A warning is no failure, whatever is missing. */
    {WARN_A "NET/Tuner x\n" A HCA B HCA STARTS GDR ENDS, "ok", "ways", "[]", GOOD},
    {WARN_A "NET/Tuner x\n" A HCA B HCA GDR, "ok", "ways", "[]", GOOD},
    {STARTS WARN_B "Something is odd\n", "finding", "warning", "[\"node-b\"]",
     "Something is odd on node-b"},
    {STARTS WARN_B "Something is odd\n" B "init.cc:1 -> 2\n", "finding", "init",
     "[\"node-b\"]", "Something is odd on node-b"},
    /* Others' versions */
    {"NCCL version 2.17.1+cuda12.1\n" WARN_A "x\n" A HCA B HCA GDR, "not_enough_data",
     "version", "[]", "NCCL 2.17.1+cuda12.1 is not judged"},
    {"NCCL version 2.31.1+cuda13.1\n" A HCA B HCA GDR, "not_enough_data", "version", "[]",
     "NCCL 2.31.1+cuda13.1"},
    {"RCCL version 2.20.5+hip6.2\n" A HCA B HCA GDR, "not_enough_data", "version", "[]",
     "RCCL 2.20.5+hip6.2"},
    {A HCA B HCA LINKS("NET/IB/0 comm 0x1234 nRanks 02"), "not_enough_data", "version",
     "[]", "RCCL"},
    {"NCCL version 2.18.1+cuda12.1\n" A HCA B HCA GDR, "ok", "ways", "[]", GOOD},
    {"NCCL version 2.30.7+cuda13.0\n" A HCA B HCA GDR, "ok", "ways", "[]", GOOD},
    /* Several nodes, and nothing of what is between them */
    {"node-a:1:1 [0] NCCL INFO ncclCommInitRank comm 0xa rank 0 nranks 4 cudaDev 0 "
     "nvmlDev 0 busId 1 commId 0x5 - Init COMPLETE\n"
     "node-a:3:3 [1] NCCL INFO ncclCommInitRank comm 0xc rank 1 nranks 4 cudaDev 1 "
     "nvmlDev 1 busId 2 commId 0x5 - Init COMPLETE\n"
     "node-b:2:2 [0] NCCL INFO ncclCommInitRank comm 0xb rank 2 nranks 4 cudaDev 0 "
     "nvmlDev 0 busId 1 commId 0x5 - Init COMPLETE\n" A
     "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n" B "some other line\n",
     "not_enough_data", "ways", "[\"node-a\"]", "no transport between node-a"},
    /* Ranks that are not in the log, while the others wait, or go on */
    {A COMM("a", "0", "START"), "finding", "rank", "[]", "rank 1 is missing"},
    {A COMM("a", "0", "START") A
     "Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0\n" A ETH,
     "ok", "ways", "[]", "sockets over eth0"},
    {A "comm 0xa rank 0 nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0\n",
     "not_enough_data", "ways", "[]", "does not mention its transports"},
    /* Sockets, and why */
    {SOCKETS WARN_A "Failed to open libibverbs.so[.1]\n" LINKS("NET/Socket/0"), "finding",
     "no_rdma", "[\"node-a\"]", "libibverbs could not be opened"},
    {SOCKETS A "NET/Plugin: Could not find: libnccl-net-x.so\n" LINKS("NET/Socket/0"),
     "finding", "no_rdma", "[\"node-a\"]", "a network plugin could not be used"},
    {SOCKETS A "NET/Plugin: Could not find: libnccl-net.so\n" A
               "Failed to initialize NET plugin IB\n" LINKS("NET/Socket/0"),
     "ok", "ways", "[]", "sockets over eth0"},
    {LINKS("NET/AWS Libfabric/0"), "finding", "no_gdr", "[\"node-a\",\"node-b\"]",
     "NET/AWS Libfabric"},
    {LINKS("NET/AWS Libfabric/0/GDRDMA"), "ok", "ways", "[]", "plugin"},
    /* Inside of a node, and around it */
    {A HCA B HCA GDR A "P2P is disabled between connected GPUs 0 and 1\n", "finding",
     "no_p2p", "[\"node-a\"]", "peer to peer is off"},
    {A HCA B HCA GDR B "Bootstrap : Using docker0:172.17.0.1<0>\n" A
                       "Bootstrap : Using docker0:172.17.0.1<0>\n",
     "finding", "interface", "[\"node-a\",\"node-b\"]", "NCCL uses docker0"},
    {STARTS A "Bootstrap : Using eth1:169.254.0.1<0>\n" B
              "Bootstrap : Using eth1:169.254.0.2<0>\n",
     "finding", "interface", "[\"node-a\",\"node-b\"]", "link-local"},
    {A HCA B HCA GDR ENDS A "Bootstrap : Using eth1:169.254.0.1<0>\n" B
                            "Bootstrap : Using eth1:169.254.0.2<0>\n",
     "ok", "ways", "[]", GOOD},
    /* The cause before what follows, once for all pointers and ports */
    {STARTS WARN_A "Connection closed by remote peer b<1>\n" A "init.cc:1 -> 2\n" WARN_B
                   "Call to x failed with 0xabcdef<77>\n" WARN_B
                   "socketProgress: Connection closed by remote peer\n" B
                   "init.cc:1 -> 2\n",
     "finding", "init", "[\"node-b\"]", "Call to x failed with 0x* on node-b"},
    {ENDS WARN_A "Async x at 0x123456\n" WARN_B "Async x at 0x654321\n", "finding",
     "warning", "[\"node-a\",\"node-b\"]", "Async x at 0x* on node-a, node-b"},
    {ENDS WARN_A "NET/IB: Got completion with status=12 opcode=129 len=1048576\n" WARN_A
                 "NET/IB: Got completion with status=12 opcode=32552 len=7\n",
     "finding", "warning", "[\"node-a\"]", "status=12 opcode=* len=* on node-a"},
    /* Nodes that differ, and not by names or their order */
    {A "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:1<0>\n" B HCA GDR,
     "finding", "differs", "[\"node-b\"]", "1 (mlx5_0/IB), 2 (mlx5_0/IB, mlx5_1/IB)"},
    {A "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:1<0>\n" B
       "NET/IB : Using [0]mlx5_2:1/IB [1]mlx5_0:1/IB [RO]; OOB eth1:1<0>\n" GDR,
     "ok", "ways", "[]", "InfiniBand"},
    /* One HCA of several: with as many ranks as HCAs, and with the two that are near */
    {TWO_BY_ONE_HCA("[0]mlx5_0:1/IB [1]mlx5_1:1/IB"), "finding", "hca",
     "[\"node-a\",\"node-b\"]", "NCCL uses only mlx5_0 of 2 HCAs"},
    {TWO_BY_ONE_HCA("[0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB"), "ok", "ways", "[]",
     "InfiniBand mlx5_0, GPUDirect"},
    {"node-a:1:1 [0] NCCL INFO NCCL version 2.21.5\n"
     "node-b:2:2 [0] NCCL INFO NCCL version 2.20.5\n" A HCA B HCA GDR,
     "finding", "differs", "[\"node-a\",\"node-b\"]", "2.21.5; 2.20.5"},
    {A "Using network IB\n" B "Using network IB\n" B
       "NCCL_IB_TC set by environment to 106\n" A HCA B HCA GDR,
     "finding", "differs", "[\"node-a\",\"node-b\"]", "NCCL_IB_TC 106"},
    /* One process of node-b does not use the network; what is logged is no fault. */
    {A "Using network IB\n" B "Using network IB\n"
       "node-b:4:4 [1] NCCL INFO Using network IB\n" A
       "NCCL_IB_TC set by environment to 106\n" B
       "NCCL_IB_TC set by environment to 106\n" A HCA B HCA GDR,
     "ok", "ways", "[]", GOOD},
    {A "NCCL_DEBUG set by environment to INFO\n" B
       "NCCL_DEBUG set by environment to TRACE\n" A HCA B HCA GDR,
     "ok", "ways", "[]", GOOD},
};

TEST(a_log_is_judged_by_what_it_says)
{
    for (size_t i = 0; i < sizeof(judged_logs) / sizeof(judged_logs[0]); i++) {
        json_t *folded = nccl_log_read(judged_logs[i].text, strlen(judged_logs[i].text));
        const json_t *first = json_array_get(json_object_get(folded, "verdicts"), 0);
        const json_t *evidence = json_object_get(first, "evidence");
        char *nodes = json_dumps(json_object_get(first, "nodes"), JSON_COMPACT);

        print_message("%zu: %s\n", i, json_get_str(first, "sentence", "(none)"));
        assert_string_equal(json_get_str(first, "answer", ""), judged_logs[i].answer);
        assert_string_equal(json_get_str(evidence, "about", ""), judged_logs[i].about);
        assert_string_equal(nodes, judged_logs[i].nodes);
        assert_mentions(json_get_str(first, "sentence", ""), judged_logs[i].names);
        free(nodes);
        json_decref(folded);
    }
}

/* Of more nodes, and of more processes, than are looked at. */
TEST(the_odd_one_of_very_many_is_named)
{
    static const int cases[][2] = {{2100, 1}, {2000, 9}}; /* nodes, processes of each */

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int nodes = cases[i][0], each = cases[i][1];
        struct buf text;
        json_t *folded;
        bool has_it = false;

        buf_init(&text, (size_t)8 << 20);
        for (int process = 0; process < nodes * each; process++)
            buf_printf(&text, "n%d:%d:1 [0] NCCL INFO Using network %s\n", process / each,
                       process % each + 1, process / each == nodes - 1 ? "Socket" : "IB");
        folded = nccl_log_read(text.data, text.len);
        for (size_t k = 0; k < json_array_size(json_object_get(folded, "verdicts"));
             k++) {
            const json_t *one = json_array_get(json_object_get(folded, "verdicts"), k);
            const json_t *evidence = json_object_get(one, "evidence");
            const json_t *names = json_object_get(one, "nodes");
            char name[20];

            snprintf(name, sizeof(name), "n%d", nodes - 1);
            has_it |= strcmp(json_get_str(evidence, "about", ""), "odd_node") == 0 &&
                      json_array_size(names) == 1 &&
                      strcmp(json_string_value(json_array_get(names, 0)), name) == 0;
        }
        assert_true(has_it);
        json_decref(folded);
        buf_release(&text);
    }
}

/* Three nodes of which one is not as the others. */
TEST(the_odd_one_of_several_nodes_is_named)
{
    static const struct {
        const char *usual, *odd, *about, *names;
    } cases[] = {
        {"NCCL_IB_HCA set to mlx5", "NCCL_IB_HCA set to mlx5_9", "differs",
         "NCCL_IB_HCA is mlx5_9, while most nodes have mlx5"},
        {"NCCL_IB_GID_INDEX set by environment to 3", "x", "differs",
         "NCCL_IB_GID_INDEX log, 3"},
        {"Bootstrap : Using eth0:10.0.0.1<0>", "Bootstrap : Using eth1:10.1.0.1<0>",
         "differs", "eth1, eth0"},
        {"NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:1<0>",
         "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:1<0>", "differs",
         "1 (mlx5_0/IB), 2 (mlx5_0/IB, mlx5_1/IB)"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[4000] = "";
        const json_t *first, *nodes;
        json_t *folded;

        for (int rank = 0; rank < 3; rank++)
            snprintf(
                text + strlen(text), sizeof(text) - strlen(text),
                "n%1$d:7:7 [0] NCCL INFO Using network IB\n"
                "n%1$d:7:7 [0] NCCL INFO %3$s\n"
                "n%1$d:7:7 [0] NCCL INFO Channel 00/0 : %1$d[0] -> %2$d[0] [send] via "
                "NET/IB/0/GDRDMA\n",
                rank, (rank + 1) % 3, rank == 1 ? cases[i].odd : cases[i].usual);
        folded = nccl_log_read(text, strlen(text));
        first = json_array_get(json_object_get(folded, "verdicts"), 0);
        nodes = json_object_get(first, "nodes");
        print_message("%s\n", json_get_str(first, "sentence", "(none)"));
        assert_string_equal(json_get_str(json_object_get(first, "evidence"), "about", ""),
                            cases[i].about);
        assert_string_equal(json_string_value(json_array_get(nodes, 0)), "n1");
        assert_int_equal(json_array_size(nodes), 1);
        assert_mentions(json_get_str(first, "sentence", ""), cases[i].names);
        json_decref(folded);
    }
}
