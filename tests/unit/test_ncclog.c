/* SPDX-License-Identifier: Apache-2.0 */
/* test_ncclog.c - what NCCL's own log says of a communicator */
#include "common/ncclog/ncclog_set.h"
#include "common/ncclog/pattern.h"
#include "tests/unit/test.h"

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
    ncclog_release(&log);
}

#define INFO "node-1:4711:4731 [0] NCCL INFO "

TEST(a_communicator_over_infiniband_is_told)
{
    expect(
        "NCCL version 2.20.5+cuda12.1\n" INFO "cudaDriverVersion 12000\n" INFO
        "NET/IB : Using [0]mlx5_1:1/RoCE [2]mlx5_3:1/IB [RO]; OOB "
        "ib1:20.20.20.25<0>\n" INFO "Using network IB\n" INFO
        "comm 0x12 rank 0 nranks 3 cudaDev 0 busId 63000 commId 0x2e - Init START\n" INFO
        "comm 0x12 rank 0 nRanks 3 nNodes 2 localRanks 1 localRank 0 MNNVL 0\n" INFO
        "Channel 00/02 :    0   1\n" INFO
        "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/1\n" INFO
        "Channel 01/0 : 2[0] -> 0[0] [receive] via NET/IB/1\n" INFO
        "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0(3)/GDRDMA\n" INFO
        "Channel 01/0 : 0[0] -> 1[0] [send] via NET/IB/0(1)/GDRDMA(PCI)/Shared\n" INFO
        "Channel 01/1 : 0[0] -> 2[0] [send] via NET/IB/0(1)/GDRDMA\n" INFO
        "Connected all rings\n" INFO "Connected all trees\n" INFO
        "2 coll channels, 2 collnet channels, 16 nvls channels, 4 p2p channels, "
        "2 p2p channels per peer\n" INFO
        "comm 0x12 rank 0 nranks 3 cudaDev 0 busId 63000 commId 0x2e - Init COMPLETE\n",
        "{\"version\":\"2.20.5+cuda12.1\",\"network\":\"IB\",\"comm\":\"0x2e\",\"rank\":"
        "0,\"ranks\":3,"
        "\"nodes\":2,\"local_ranks\":1,\"init\":\"complete\",\"channels\":{"
        "\"collective\":2,\"nvls\":16,\"point_to_point\":4},"
        "\"connected\":[\"ring\",\"tree\"],\"cuda_driver\":12000,\"transports\":["
        "{\"via\":\"NET/"
        "IB\",\"device\":1,\"gdr\":false,\"name\":\"mlx5_3\",\"link\":\"IB\","
        "\"from\":\"1-2\",\"channels\":2},"
        "{\"via\":\"NET/IB\",\"device\":0,\"gdr\":true,\"name\":\"mlx5_1\","
        "\"link\":\"RoCE\",\"pxn\":true,\"to\":\"1-2\",\"channels\":2,"
        "\"p2p_channels\":1}],\"hcas\":[{\"name\":\"mlx5_1\",\"port\":1,"
        "\"link\":\"RoCE\"},{\"name\":\"mlx5_3\",\"port\":1,\"link\":\"IB\"}]}");
}

/* A form's stars do not try each of the others' places again: that took minutes. */
TEST(a_form_that_nearly_fits_is_soon_left)
{
    char text[20000] = "";
    struct pieces pieces;

    for (size_t at = 0; at + 8 < sizeof(text); at += 7)
        snprintf(text + at, 8, "a: b: c");
    assert_false(pattern_fits("*: *: *b *c *x", text, &pieces));
    assert_true(pattern_fits("*: *: *b *c *", text, &pieces));
}

TEST(a_communicator_inside_a_node_is_told)
{
    expect(INFO "Channel 00/0 : 0[0] -> 1[1] via P2P/direct pointer/read\n" INFO
                "Channel 01/0 : 0[0] -> 2[2] via P2P/indirect/1[1]\n" INFO
                "Channel 01/0 : 0[0] -> 3[3] via P2P/indirect/2[2]\n" INFO
                "Channel 01 : 0[0] -> 1[1] via SHM/direct/direct\n" INFO
                "CollNet 00/0 : 0 [send] via COLLNET/SHARP/0/GDRDMA\n" INFO
                "NVLS multicast support is not available on dev 0\n" INFO
                "Connected NVLS tree\n" INFO
                "Init timings - ncclCommInitRankConfig: rank 0 nranks 2 total 0.42 "
                "(kernels 0.10, alloc 0.01)\n",
           "{\"rank\":0,\"connected\":[\"nvls\"],\"init_s\":0.42,\"transports\":["
           "{\"via\":\"P2P/direct pointer/read\",\"to\":\"1\",\"channels\":1},"
           "{\"via\":\"P2P/indirect\",\"to\":\"2-3\",\"channels\":1},"
           "{\"via\":\"SHM/direct/direct\",\"to\":\"1\",\"channels\":1}],"
           "\"collnet\":[{\"via\":\"COLLNET/SHARP\",\"device\":0,\"gdr\":true,"
           "\"channels\":1}],\"reasons\":[{\"about\":\"nvls\",\"text\":"
           "\"NVLS multicast support is not available on dev 0\"}]}");
}

TEST(devices_are_numbered_by_their_place)
{
    static const struct {
        const char *line, *devices;
    } cases[] = {
        {"NET/Socket : Using [0]ib1:20.20.20.25<0> [1]ib0:fe80::966d:fc:e52c%ib0<0>",
         "{\"interfaces\":[{\"name\":\"ib1\",\"address\":\"20.20.20.25<0>\"},"
         "{\"name\":\"ib0\",\"address\":\"fe80::966d:fc:e52c%ib0<0>\"}]}"},
        {"NET/IB : Using [0]={[0] mlx5_0:1/IB, [1] mlx5_1:1/IB} [1]={[2] mlx5_2:1/IB} "
         "[RO]; OOB eth0:10.0.0.1<0>",
         "{\"hcas\":[{\"name\":\"mlx5_0+mlx5_1\",\"port\":1,\"link\":\"IB\"},"
         "{\"name\":\"mlx5_2\",\"port\":1,\"link\":\"IB\"}]}"},
        {"NET/IB : Using [3]mlx5_bond_0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>\n" INFO
         "NET/IB : Made virtual device [1] name=mlx5_0+mlx5_1 speed=400000 ndevs=2",
         "{\"hcas\":[{\"name\":\"mlx5_bond_0\",\"port\":1,\"link\":\"RoCE\"},"
         "{\"name\":\"mlx5_0+mlx5_1\"}]}"},
        {"Bootstrap: Using eth0:10.0.0.1<0>",
         "{\"bootstrap\":\"eth0\",\"address\":\"10.0.0.1\"}"},
        {"Using network AWS Libfabric", "{\"network\":\"AWS Libfabric\"}"},
        {"NCCL_IB_DISABLE set by environment to 0.",
         "{\"settings\":{\"NCCL_IB_DISABLE\":\"0\"},\"reasons\":[{\"about\":\"NCCL_IB_"
         "DISABLE\","
         "\"text\":\"NCCL_IB_DISABLE set by environment to 0.\"}]}"},
        {"NCCL_IB_HCA set to =mlx5_0:1", "{\"settings\":{\"NCCL_IB_HCA\":\"=mlx5_0:1\"},"
                                         "\"reasons\":[{\"about\":\"NCCL_IB_HCA\","
                                         "\"text\":\"NCCL_IB_HCA set to =mlx5_0:1\"}]}"},
        {"NCCL_BUFFSIZE set by environment to 1.",
         "{\"settings\":{\"NCCL_BUFFSIZE\":\"1\"}}"},
        {"Warning: ENV NCCL_X is unused. Setting it has no effect.",
         "{\"reasons\":[{\"about\":\"setting\",\"text\":\"Warning: ENV NCCL_X is unused. "
         "Setting it has no effect.\"}]}"},
        {"Connected all rings, use ring PXN 0 GDR 1",
         "{\"connected\":[\"ring\"],\"ring_gdr\":1}"},
        {"2 coll channels, 16 nvls channels, 4 p2p channels, 2 p2p channels per peer",
         "{\"channels\":{\"collective\":2,\"nvls\":16,\"point_to_point\":4}}"},
        {"a link via no form that is known",
         "{\"unread\":{\"lines\":1,\"of\":1,\"first\":[\"a link via no form that is "
         "known\"]}}"},
        {"Comm config Blocking set to 1", "null"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char line[500];

        snprintf(line, sizeof(line), INFO "%s", cases[i].line);
        expect(line, cases[i].devices);
    }
}

/* Ranks of a smaller communicator are numbered anew: they are no ranks of the job. */
TEST(communicators_are_told_apart)
{
    expect(INFO
           "ncclCommInitRankConfig comm 0x1 rank 5 nranks 8 cudaDev 0 nvmlDev 0 "
           "busId 1 commId 0x7 - Init START\n" INFO
           "Channel 00/0 : 5[0] -> 6[1] via P2P/CUMEM\n" INFO
           "ncclCommSplit comm 0x2 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1 "
           "parent 0x1 splitCount 1 color 3 key 0- Init START\n" INFO
           "comm 0x2 rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0 MNNVL 0\n" INFO
           "Channel 00/0 : 0[0] -> 1[1] via SHM/direct\n",
           "{\"comm\":\"0x7\",\"rank\":5,\"ranks\":8,\"init\":\"begun\",\"transports\":[{"
           "\"via\":\"P2P/CUMEM\",\"to\":\"6\",\"channels\":1},{\"via\":\"SHM/direct\","
           "\"to\":\"1\",\"channels\":1,\"other\":0}],\"others\":[{\"comm\":\"0x7/1.3\","
           "\"rank\":0,\"ranks\":2,\"nodes\":1,\"local_ranks\":2,\"init\":\"begun\"}]}");
}

/* From 2.22 on links are made by the first call: long after another was named. */
TEST(a_late_link_is_of_the_communicator_that_it_fits)
{
    expect(INFO
           "ncclCommInitRankConfig comm 0x1 rank 5 nranks 8 cudaDev 0 nvmlDev 0 busId 1 "
           "commId 0x7 - Init COMPLETE\n" INFO
           "ncclCommSplit comm 0x2 rank 1 nranks 2 cudaDev 0 nvmlDev 0 busId 1 "
           "parent 0x1 splitCount 1 color 3 key 0 - Init COMPLETE\n" INFO
           "Channel 00/0 : 5[0] -> 6[1] via P2P/CUMEM\n" INFO
           "Connected all rings, use ring PXN 0 GDR 1\n" INFO
           "Channel 00/0 : 0[0] -> 1[1] [receive] via NET/Socket/0\n" INFO
           "Channel 00/0 : 7[0] -> 6[1] via P2P/CUMEM\n",
           "{\"comm\":\"0x7\",\"rank\":5,\"ranks\":8,\"init\":\"complete\","
           "\"connected\":[\"ring\"],\"ring_gdr\":1,\"transports\":[{\"via\":\"P2P/"
           "CUMEM\",\"to\":\"6\",\"channels\":1},{\"via\":\"NET/Socket\",\"device\":0,"
           "\"gdr\":false,\"from\":\"0\",\"channels\":1,\"other\":0}],\"others\":[{"
           "\"comm\":\"0x7/1.3\",\"rank\":1,\"ranks\":2,\"init\":\"complete\"}],"
           "\"links_unplaced\":1}");
}

TEST(communicators_beyond_the_limit_are_counted)
{
    struct ncclog log;
    json_t *json;

    ncclog_init(&log);
    for (int i = 0; i < NCCLOG_COMMS_MAX + 3; i++) {
        char line[200];
        int len = snprintf(line, sizeof(line),
                           INFO "comm 0x%x rank 0 nranks 2 cudaDev 0 busId 1 commId "
                                "0x9%d - Init START",
                           16 + i, i);

        assert_int_equal(ncclog_line(&log, line, (size_t)len), NCCLOG_INFO);
    }
    json = ncclog_json(&log);
    assert_int_equal(json_array_size(json_object_get(json, "others")),
                     NCCLOG_COMMS_MAX - 1);
    assert_int_equal(json_integer_value(json_object_get(json, "others_left_out")), 3);
    json_decref(json);
    ncclog_release(&log);
}

TEST(a_warning_is_kept_behind_any_lines)
{
    expect("[2026-11-21 10:00:00] node-1:1:2 [0] misc.cc:1 NCCL WARN first\n"
           "0: node-1:1:2 [0] bootstrap.cc:48 NCCL WARN Bootstrap : no socket interface "
           "found\n" INFO "Bootstrap : Using eth0:10.0.0.1<0>\n",
           "{\"bootstrap\":\"eth0\",\"address\":\"10.0.0.1\","
           "\"early_warnings\":{\"lines\":2,"
           "\"first\":[\"first\",\"Bootstrap : no socket interface found\"]}}");
}

/* What began it stands before what it ends with; what repeats is counted. */
TEST(the_first_warnings_before_and_after_init_are_kept)
{
#define WARN "node-1:1:2 [0] x.cc:1 NCCL WARN "
    expect(WARN "before\n" INFO
                "ncclCommInitRank comm 0x1 rank 0 nranks 1 cudaDev 0 nvmlDev 0 busId 1 "
                "commId 0x5 - Init COMPLETE\n" WARN "a\n" WARN "a\n" WARN "b\n" WARN
                "c\n" WARN "d\n" WARN "e\n",
           "{\"comm\":\"0x5\",\"rank\":0,\"ranks\":1,\"init\":\"complete\","
           "\"early_warnings\":{\"lines\":1,\"first\":[\"before\"]},"
           "\"late_warnings\":{\"lines\":6,\"first\":[\"a\",\"b\",\"c\","
           "\"d\"]}}");
}

/* The cause, however many consequences follow, and nothing that went on well. */
TEST(a_failure_is_told_by_its_first_cause)
{
#define BEGINS                                                                           \
    INFO "ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1 commId " \
         "0x5 - Init START\n"
#define COMPLETE                                                                         \
    INFO "ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1 commId " \
         "0x5 - Init COMPLETE\n"
#define NO_IB NODE_WARN "Failed to open libibverbs.so[.1]\n"
#define QP NODE_WARN "Call to ibv_modify_qp failed with error Network is unreachable\n"
#define CLOSED                                                                           \
    NODE_WARN "socketProgress: Connection closed by remote peer node-2<40999>\n"
#define NODE_WARN "node-1:4711:4731 [0] x.cc:1 NCCL WARN "
    static const struct {
        const char *lines, *failure; /* NULL: none */
    } cases[] = {
        {BEGINS QP CLOSED CLOSED, "ibv_modify_qp"},
        {QP CLOSED, "ibv_modify_qp"},
        {NO_IB QP CLOSED, "ibv_modify_qp"},
        {NO_IB CLOSED, "libibverbs"},
        {CLOSED, "Connection closed"},
        {BEGINS NO_IB COMPLETE, NULL},
        {BEGINS NO_IB COMPLETE CLOSED, "Connection closed"},
        {BEGINS COMPLETE QP CLOSED, "ibv_modify_qp"},
        {BEGINS COMPLETE, NULL},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ncclog_set set;
        const char *line = cases[i].lines, *failure;

        ncclog_set_init(&set, 8);
        for (size_t len; *line; line += len + 1) {
            len = strcspn(line, "\n");
            ncclog_set_line(&set, line, len);
        }
        failure = ncclog_set_failure(&set);
        if (!failure != !cases[i].failure ||
            (failure && !strstr(failure, cases[i].failure)))
            fail_msg("%zu: %s", i, failure ? failure : "none");
        ncclog_set_release(&set);
    }
}

/* NCCL traces an error through the functions that it ends. */
TEST(init_has_failed_where_nccl_says_so)
{
    static const struct {
        const char *lines, *init;
    } cases[] = {
        {"init.cc:84 -> 3", "failed"},
        {"group.cc:64 -> 2 [Async thread]", "failed"},
        {"bootstrap.cc:270 -> 2 (Connection refused)", "failed"},
        {"init.cc:84 -> 7", "begun"}, /* it goes on */
        {"transport/net_ib.cc:700 -> 2", "begun"},
        {"NET/OFI x.c:1 -> 2", "begun"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char lines[600], wanted[200];

        snprintf(lines, sizeof(lines),
                 INFO "ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 "
                      "busId 1 commId 0x5 - Init START\n" INFO "%s\n",
                 cases[i].lines);
        snprintf(wanted, sizeof(wanted),
                 "{\"comm\":\"0x5\",\"rank\":0,\"ranks\":2,\"init\":\"%s\"}",
                 cases[i].init);
        expect(lines, wanted);
    }
    expect(INFO "init.cc:84 -> 3\n", "{\"init\":\"failed\"}");
    expect(INFO "init.cc:84 -> 3\n" INFO
                "ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1 "
                "commId 0x5 - Init COMPLETE\n" INFO "init.cc:2100 -> 3\n",
           "{\"comm\":\"0x5\",\"rank\":0,\"ranks\":2,\"init\":\"complete\"}");
}

TEST(links_of_old_versions_and_of_rccl_are_read)
{
    static const struct {
        const char *line, *json;
    } cases[] = {
        {"Channel 00 : 1[20000] -> 2[10000] [send] via NET/IB/0",
         "{\"rank\":1,\"dialect\":\"old\",\"transports\":[{\"via\":\"NET/"
         "IB\",\"device\":0,"
         "\"gdr\":false,\"to\":\"2\",\"channels\":1}]}"},
        {"Channel 00 : 3[20000] -> 0[10000] [receive] via NET/AWS Libfabric/1/GDRDMA",
         "{\"rank\":0,\"dialect\":\"old\",\"transports\":[{\"via\":\"NET/AWS "
         "Libfabric\",\"device\":1,\"gdr\":true,\"from\":\"3\",\"channels\":1}]}"},
        {"Ring 00 : 15 -> 0 [receive] via NET/Socket/0",
         "{\"rank\":0,\"dialect\":\"old\",\"transports\":[{\"via\":\"NET/Socket\","
         "\"device\":0,\"gdr\":false,\"from\":\"15\",\"channels\":1}]}"},
        {"Ring 00 : 1[18100000] -> 0[435e00000] [receive] via NET/IB/0/GDRDMA",
         "{\"rank\":0,\"dialect\":\"old\",\"transports\":[{\"via\":\"NET/"
         "IB\",\"device\":0,"
         "\"gdr\":true,\"from\":\"1\",\"channels\":1}]}"},
        {"Ring 00 : 0[0] -> 1[1] via P2P/IPC",
         "{\"rank\":0,\"dialect\":\"old\",\"transports\":[{\"via\":\"P2P/IPC\",\"to\":"
         "\"1\",\"channels\":1}]}"},
        {"Channel 02/0 : 1[c6000] -> 4[c1000] [send] via NET/Socket/1 comm 0x9e4d8d0 "
         "nRanks 08",
         "{\"rank\":1,\"dialect\":\"rccl\",\"transports\":[{\"via\":\"NET/Socket\","
         "\"device\":1,\"gdr\":false,\"to\":\"4\",\"channels\":1}]}"},
        {"Channel 00/0 : 7[ce000] -> 5[c6000] via P2P/IPC comm 0xfb16e30 nRanks 08",
         "{\"rank\":7,\"dialect\":\"rccl\",\"transports\":[{\"via\":\"P2P/IPC\",\"to\":"
         "\"5\",\"channels\":1}]}"},
        {"comm 0x7f rank 1 nranks 4 cudaDev 1 busId 2000 used 6 bytes - Init COMPLETE",
         "{\"rank\":1,\"ranks\":4,\"init\":\"complete\",\"dialect\":\"old\"}"},
        {"Bootstrap : Using [0]eth0:10.0.0.7<0>",
         "{\"bootstrap\":\"eth0\",\"address\":\"10.0.0.7\"}"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char line[300];

        snprintf(line, sizeof(line), INFO "%s", cases[i].line);
        expect(line, cases[i].json);
    }
    expect("RCCL version 2.18.6+hip6.0",
           "{\"version\":\"2.18.6+hip6.0\",\"dialect\":\"rccl\"}");
    expect("RCCL version : 2.28.3-gfx1151-rccl:a188",
           "{\"version\":\"2.28.3-gfx1151-rccl:a188\",\"dialect\":\"rccl\"}");
}

TEST(what_is_not_nccl_s_says_nothing)
{
    expect("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\nUsing network IB\n\nNCCL \n"
           "# NCCL INFO\nRuntimeError: NCCL error, NCCL version 2.20.5\n",
           "null");
    expect(INFO "Init timings total soon\n" INFO
                "comm 0x1 rank 9 nRanks 99999999999999999999 nNodes -1 localRanks x\n",
           "null");
}

TEST(there_is_a_limit_to_names_and_lines)
{
    char line[5000];
    struct ncclog log;
    json_t *json;

    ncclog_init(&log);
    for (int i = 0; i < 100; i++) {
        int n = snprintf(line, sizeof(line), INFO "Channel 00 : 0[0] -> 1[0] via T%d", i);

        ncclog_line(&log, line, (size_t)n);
    }
    for (int i = 0; i < 3000; i++) {
        int n = snprintf(line, sizeof(line),
                         INFO "Channel 00/1 : 0[0] -> %d[0] [send] via NET/IB/0", i);

        ncclog_line(&log, line, (size_t)n);
    }
    memset(line, 'W', sizeof(line));
    memcpy(line, "x NCCL WARN ", 12);
    line[20] = '\0';
    ncclog_line(&log, line, sizeof(line));
    json = ncclog_json(&log);
    assert_int_equal(json_array_size(json_object_get(json, "transports")),
                     NCCLOG_WAYS_MAX);
    assert_int_equal(
        json_string_length(json_array_get(
            json_object_get(json_object_get(json, "early_warnings"), "first"), 0)),
        NCCLOG_TEXT_MAX);
    json_decref(json);
    ncclog_release(&log);
}

TEST(all_peers_of_a_large_job_stand_in_one_way)
{
    struct ncclog log;
    json_t *json, *way;
    char line[200];

    ncclog_init(&log);
    for (int i = 1; i < 20000; i++) {
        int n = snprintf(line, sizeof(line),
                         INFO "Channel 00/1 : 0[0] -> %d[0] [send] via NET/IB/0", i);

        ncclog_line(&log, line, (size_t)n);
    }
    json = ncclog_json(&log);
    way = json_array_get(json_object_get(json, "transports"), 0);
    assert_string_equal(json_string_value(json_object_get(way, "to")), "1-19999");
    json_decref(json);
    ncclog_release(&log);
}

/* As syslog, terminals and launchers leave a line. */
TEST(what_stands_before_a_line_is_none_of_it)
{
    static const char *const labels[] = {
        "",
        "0: ",
        "0:",
        "[default0]:",
        "[rank12]: ",
        "[1,0]<stdout>:",
        "[1,0]<stdout>:0: ",
        "\033[32mnode-9 | \033[0m",
        "\033[1;34m",
        "Jan 01 10:00:00 n1 srun[12]: ",
        "2026-01-01 10:00:00 ",
        "[2026-01-01 10:00:00] ",
    };

    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        struct ncclog_set set;
        char line[400];

        ncclog_set_init(&set, 8);
        snprintf(line, sizeof(line), "%s" INFO "Using network IB", labels[i]);
        assert_int_equal(ncclog_set_line(&set, line, strlen(line)), NCCLOG_INFO);
        snprintf(line, sizeof(line),
                 "%snode-1:4711:4732 [1] misc/utils.cc:7 NCCL WARN it is lost",
                 labels[i]);
        assert_int_equal(ncclog_set_line(&set, line, strlen(line)), NCCLOG_WARN);
        if (set.n != 1)
            fail_msg("%zu processes behind \"%s\"", set.n, labels[i]);
        assert_string_equal(set.items[0]->host, "node-1");
        assert_int_equal(set.items[0]->pid, 4711);
        assert_string_equal(ncclog_set_failure(&set), "it is lost");
        ncclog_set_release(&set);
    }
}

TEST(a_plugin_of_nccl_s_own_has_its_names)
{
    expect(INFO "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB ib0:10.0.0.1<0>\n" INFO
                "Using network IBext_v8\n" INFO
                "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IBext_v8/0/GDRDMA\n",
           "{\"network\":\"IBext_v8\",\"rank\":0,\"transports\":[{\"via\":"
           "\"NET/IBext_v8\",\"device\":0,\"gdr\":true,\"name\":\"mlx5_0\",\"link\":"
           "\"IB\",\"to\":\"1\",\"channels\":1}],\"hcas\":[{\"name\":\"mlx5_0\","
           "\"port\":1,\"link\":\"IB\"}]}");
    expect(INFO "Channel 00/0 : 0[0] -> 1[0] [send] via NET/AWS Libfabric/3/GDRDMA\n",
           "{\"rank\":0,\"transports\":[{\"via\":\"NET/AWS Libfabric\",\"device\":3,"
           "\"gdr\":true,\"to\":\"1\",\"channels\":1}]}");
}

TEST(the_version_stands_behind_a_label)
{
    expect("[1,0]<stdout>:0: NCCL version 2.19.6+cuda12.3\n",
           "{\"version\":\"2.19.6+cuda12.3\"}");
    expect("this is built for NCCL version 2.19.6+cuda12.3\n", "null");
}

/* ---- logs that jobs printed ---- */

static void read_log(const char *name, struct ncclog_set *set)
{
    char path[600], line[4096];
    FILE *file;

    snprintf(path, sizeof(path), DATA_DIR "/nccl/%s", name);
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        ncclog_set_line(set, line, strcspn(line, "\n"));
    fclose(file);
}

TEST(real_logs_are_understood)
{
    static const struct {
        const char *name, *network, *first_way;
        long lines;
    } logs[] = {
        {"a800.0.ib0.txt", "Socket",
         "{\"via\":\"NET/Socket\",\"device\":1,\"gdr\":false,\"name\":\"ib0\","
         "\"to\":\"1\",\"from\":\"1\",\"channels\":2}",
         49},
        {"a800.0.mlx5_0.txt", "IB",
         "{\"via\":\"NET/IB\",\"device\":0,\"gdr\":false,\"name\":\"mlx5_0\","
         "\"link\":\"RoCE\",\"to\":\"1\",\"from\":\"1\",\"channels\":2}",
         47},
        {"a800.0.not-set.txt", "IB",
         "{\"via\":\"NET/IB\",\"device\":1,\"gdr\":false,\"name\":\"mlx5_1\","
         "\"link\":\"IB\",\"to\":\"1\",\"from\":\"1\",\"channels\":2}",
         45},
        {"a800.1.ib0.txt", "Socket",
         "{\"via\":\"NET/Socket\",\"device\":0,\"gdr\":false,\"name\":\"ib0\","
         "\"to\":\"1\",\"from\":\"1\",\"channels\":2}",
         49},
        {"a800.1.ens17np0.txt", NULL, NULL, 4},
        {"h100.socket.txt", "Socket",
         "{\"via\":\"NET/Socket\",\"device\":0,\"gdr\":false,\"name\":\"lo\","
         "\"to\":\"1\",\"from\":\"1\",\"channels\":2,\"p2p_channels\":2}",
         167},
    };

    for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
        json_t *json, *way, *wanted;
        struct ncclog_set set;
        long lines = 0;

        ncclog_set_init(&set, 8);
        read_log(logs[i].name, &set);
        assert_int_equal(set.n, logs[i].network ? 2 : 1);
        for (size_t k = 0; k < set.n; k++) {
            assert_int_equal(set.items[k]->log.n_unread, 0);
            lines += set.items[k]->log.n_lines;
        }
        assert_int_equal(lines, logs[i].lines);
        json = ncclog_set_json(&set, 0);
        assert_string_equal(json_string_value(json_object_get(json, "host")),
                            logs[i].name[0] == 'h' ? "vm" : "pgpu25");
        if (logs[i].network) {
            way = json_array_get(json_object_get(json, "transports"), 0);
            wanted = json_loads(logs[i].first_way, 0, NULL);
            if (!json_equal(way, wanted))
                fail_msg("%s: %s", logs[i].name, json_dumps(way, JSON_COMPACT));
            assert_string_equal(json_string_value(json_object_get(json, "network")),
                                logs[i].network);
            json_decref(wanted);
        } else {
            assert_string_equal(ncclog_set_failure(&set),
                                "Bootstrap : no socket interface found");
        }
        json_decref(json);
        ncclog_set_release(&set);
    }
}

TEST(a_process_is_found_behind_any_prefix)
{
    static const char *const prefixes[] = {
        "",
        "0: ",
        "[1,0]<stdout>:",
        "node-a: ",
        "2026-03-04T05:06:07 ",
        "2026-03-04T05:06:07.8Z",
        "2026-03-04T05:06:07.208-07:00",
        "Mar 04 05:06:07 other ",
        "05:06:07 ",
        "[pod/bench-0/main] ",
    };

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        struct ncclog_set set;
        char line[200];

        ncclog_set_init(&set, 8);
        snprintf(line, sizeof(line), "%snode-a:79:80 [0] NCCL INFO Using network IB",
                 prefixes[i]);
        ncclog_set_line(&set, line, strlen(line));
        assert_int_equal(set.n, 1);
        print_message("%s: %s\n", prefixes[i], set.items[0]->host);
        assert_string_equal(set.items[0]->host, "node-a");
        assert_int_equal(set.items[0]->pid, 79);
        ncclog_set_release(&set);
    }
}

TEST(a_time_is_no_process)
{
    static const char *const lines[] = {
        "Mar 04 05:06:07 node-a job[1]: NCCL version 2.21.5+cuda12.4",
        "05:06:07 NCCL version 2.21.5+cuda12.4",
        "2026-03-04T05:06:07 NCCL version 2.21.5+cuda12.4",
        "2026-03-04T05:06:07 NCCL INFO Using network IB",
    };
    struct ncclog_set set;

    ncclog_set_init(&set, 8);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        ncclog_set_line(&set, lines[i], strlen(lines[i]));
    assert_int_equal(set.n, 0);
    ncclog_set_release(&set);
    ncclog_set_init(&set, 8);
    ncclog_set_line(&set, "gpu-01:50:70 [0] NCCL INFO Using network IB", 43);
    assert_int_equal(set.n, 1);
    ncclog_set_release(&set);
}

TEST(processes_beyond_the_limit_are_counted)
{
    struct ncclog_set set;

    ncclog_set_init(&set, 2);
    for (int repeat = 0; repeat < 2; repeat++)
        for (int i = 0; i < 5; i++) {
            char line[100];

            snprintf(line, sizeof(line), "n:%d:1 [0] NCCL INFO Using network IB", i);
            ncclog_set_line(&set, line, strlen(line));
        }
    assert_int_equal(set.n, 2);
    assert_int_equal(set.n_left_out, 3);
    ncclog_set_release(&set);
}
