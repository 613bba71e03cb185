/* SPDX-License-Identifier: Apache-2.0 */
/* test_transport.c - by which ways NCCL and the host backend went in a case, by pair of
 * nodes, and what speaks against them */
#include "common/base/json_util.h"
#include "server/analysis/transport.h"
#include "tests/unit/test.h"
#include "tests/unit/transport_fixture.h"

struct example {
    const char *logs[4]; /* one of each node */
    const char *inventories[4], *env;
    const char *ways, *verdicts[VERDICTS_MAX];
};

static void check_of(const struct example *example, const struct host_options *host)
{
    static const char *const names[] = {"node-1", "node-2", "node-3", "node-4"};
    struct transport_node nodes[4];
    json_t *logs[4] = {NULL}, *inventories[4] = {NULL}, *folded;
    json_t *env = example->env ? json_loads(example->env, 0, NULL) : NULL;
    struct transport_input input = {.nodes = nodes, .env = env};
    struct transport *transport;

    for (size_t i = 0; i < 4 && example->logs[i]; i++) {
        const char *inventory = example->inventories[i];

        logs[i] = json_loads(example->logs[i], 0, NULL);
        assert_non_null(logs[i]);
        inventories[i] = inventory ? json_loads(inventory, 0, NULL) : NULL;
        nodes[input.n_nodes++] = (struct transport_node){names[i], inventories[i]};
    }
    transport = transport_create(input.n_nodes, 4, host);
    for (size_t i = input.n_nodes; i-- > 0;) {
        struct transport_speaker speaker = {(int)i, (int)i, inventories[i]};

        transport_take(transport, &speaker, logs[i]);
    }
    folded = transport_fold(transport, &input);
    assert_non_null(folded);
    expect_ways(folded, example->ways);
    expect_verdicts(folded, example->verdicts);
    json_decref(folded);
    transport_destroy(transport);
    json_decref(env);
    for (size_t i = 0; i < 4; i++) {
        json_decref(logs[i]);
        json_decref(inventories[i]);
    }
}

static void check(const struct example *example)
{
    check_of(example, NULL);
}

#define IB(rank, to, more)                                                               \
    "{\"rank\":" rank ",\"ranks\":4,\"nodes\":4,\"network\":\"IB\",\"init\":"            \
    "\"complete\",\"transports\":[{\"via\":\"NET/IB\",\"device\":0,\"name\":\"mlx5_0\"," \
    "\"link\":\"IB\",\"to\":\"" to "\",\"channels\":2" more
#define SOCKET(rank, to)                                                                 \
    "{\"rank\":" rank ",\"ranks\":4,\"nodes\":4,\"network\":\"Socket\",\"init\":"        \
    "\"complete\",\"transports\":[{\"via\":\"NET/Socket\",\"device\":0,\"name\":"        \
    "\"eth0\",\"to\":\"" to "\",\"channels\":2,\"gdr\":false}]}"

TEST(what_is_well_is_said_in_one_sentence)
{
    static const struct example example = {
        {IB("0", "1", ",\"gdr\":true},{\"via\":\"P2P/CUMEM\",\"to\":\"0\"}]}"),
         IB("1", "0", ",\"gdr\":true}]}")},
        {NULL},
        NULL,
        "InfiniBand mlx5_0, GPUDirect, 2 channels [[0,1]]; peer to peer (P2P/CUMEM) "
        "[[0,0]]",
        {"ways: mlx5_0, GPUDirect, 2"}};
    static const struct example silent = {
        {"{\"warning\":\"x\",\"init\":\"complete\"}"},
        {NULL},
        NULL,
        "",
        {"ways: NCCL's log does not mention its transports"}};

    static const struct example excused = {
        {"{\"warning\":\"x\",\"init\":\"complete\","
         "\"reasons\":[{\"about\":\"ib\",\"text\":"
         "\"NET/IB : No device found.\"}]}"},
        {NULL},
        NULL,
        "",
        {"ways: NCCL's log does not mention its transports"}};

    check(&example);
    check(&silent);
    check(&excused);
}

TEST(a_rank_without_peers_has_no_ways_to_judge)
{
    static const struct example example = {
        {"{\"comm\":\"0x1\",\"rank\":0,\"ranks\":1,\"nodes\":1,\"init\":\"complete\","
         "\"reasons\":[{\"about\":\"ib\",\"text\":\"NET/IB : No device found.\"}]}"},
        {NULL},
        NULL,
        "",
        {NULL}};

    check(&example);
}

/* mlx5_2 is not cabled anywhere. */
#define ACTIVE                                                                           \
    "{\"rdma\":[{\"name\":\"mlx5_0\",\"state\":\"active\"},{\"name\":\"mlx5_2\","        \
    "\"state\":\"down\"}]}"

TEST(a_node_that_goes_another_way_is_named)
{
    static const struct example example = {
        {IB("0", "1", ",\"gdr\":true}]}"), IB("1", "2", ",\"gdr\":true}]}"),
         SOCKET("2", "3"), IB("3", "0", ",\"gdr\":true}]}")},
        {ACTIVE, ACTIVE,
         "{\"rdma\":[{\"name\":\"mlx5_0\",\"state\":\"down\"},{\"name\":\"mlx5_1\","
         "\"state\":\"active\"},{\"name\":\"mlx5_2\",\"state\":\"down\"}],\"net\":[{"
         "\"name\":\"eth0\",\"kind\":\"ethernet\"}]}"},
        NULL,
        "InfiniBand mlx5_0, GPUDirect, 2 channels [[0,1],[0,3],[1,2]]; "
        "sockets over Ethernet eth0, 2 channels [[2,3]]",
        {"odd_node: node-3 uses sockets, while most use NET/IB",
         "no_rdma: NCCL uses no RDMA device, although mlx5_1 is active: sockets over "
         "Ethernet "
         "eth0 on node-3",
         "port_down: mlx5_0 is DOWN on node-3"}};

    check(&example);
}

TEST(what_keeps_gpudirect_off_is_said)
{
#define SUPPORT                                                                          \
    ",\"gdr\":false}],\"reasons\":[{\"about\":\"gdr_support\",\"text\":\"NET/IB : "      \
    "GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\"}]}"
#define DISTANCE                                                                         \
    ",\"gdr\":false}],\"reasons\":[{\"about\":\"gdr_distance\",\"text\":\"GPU "          \
    "Direct RDMA Disabled for GPU 0 / HCA 0 (distance 8 > 4)\"}]}"
    static const struct example example = {
        {IB("0", "1", SUPPORT), IB("1", "2", SUPPORT), IB("2", "3", DISTANCE)},
        {"{\"modules\":{\"nvidia\":\"\"}}"},
        NULL,
        "InfiniBand mlx5_0, no GPUDirect, 2 channels [[0,1],[1,2]]",
        {"no_gdr: GPUDirect is off over mlx5_0: nvidia_peermem is not loaded on node-1",
         "no_gdr: GPUDirect is off over mlx5_0: NCCL finds neither nvidia_peermem nor "
         "DMA-BUF on node-2",
         "no_gdr: GPUDirect is off over mlx5_0: it is too far from the GPU (distance 8 > "
         "4) "
         "on node-3"}};

    check(&example);
}

/* As before sm80: what is sent comes from host memory, what is received is written to the
 * GPU's. */
TEST(a_gpu_that_sends_from_the_host_is_none_without_gpudirect)
{
#define RECEIVES(gdr, device, from)                                                      \
    ",\"gdr\":false},{\"via\":\"NET/IB\",\"device\":" device                             \
    ",\"name\":\"mlx5_0\",\"link\":\"IB\",\"from\":\"" from                              \
    "\",\"channels\":2,\"gdr\":" gdr "}]}"
    static const struct example well = {
        {IB("0", "1", RECEIVES("true", "0", "1")),
         IB("1", "0", RECEIVES("true", "0", "0"))},
        {NULL},
        NULL,
        "InfiniBand mlx5_0, GPUDirect, 2 channels [[0,1]]; InfiniBand mlx5_0, no "
        "GPUDirect, 2 channels [[0,1]]",
        {"ways: NCCL uses InfiniBand mlx5_0, GPUDirect, 2 channels; InfiniBand "
         "mlx5_0, "
         "no GPUDirect, 2 channels"}};
    /* One GPU of the node receives, the other sends. */
    static const struct example in_turn = {
        {IB("0", "1", ",\"gdr\":false}]}"), IB("1", "0", RECEIVES("true", "0", "0"))},
        {NULL},
        NULL,
        "InfiniBand mlx5_0, GPUDirect, 2 channels [[0,1]]; InfiniBand mlx5_0, no "
        "GPUDirect, 2 channels [[0,1]]",
        {"no_gdr: mlx5_0 log node-1"}};
    static const struct example off = {
        {IB("0", "1", RECEIVES("false", "0", "1")),
         IB("1", "0",
            ",\"gdr\":false},{\"via\":\"NET/"
            "IB\",\"device\":0,\"name\":\"mlx5_0\",\"link\":"
            "\"IB\",\"from\":\"0\",\"channels\":2,\"gdr\":true}],\"settings\":{"
            "\"NCCL_NET_GDR_READ\":\"0\"}}")},
        {NULL},
        NULL,
        "InfiniBand mlx5_0, GPUDirect, 2 channels [[0,1]]; InfiniBand mlx5_0, no "
        "GPUDirect, 2 channels [[0,1]]",
        {"no_gdr: mlx5_0 log node-1", "no_gdr: mlx5_0 send: NCCL_NET_GDR_READ=0 node-2",
         "differs: NCCL_NET_GDR_READ differs (not in the log; 0) on node-1, node-2"}};

    check(&well);
    check(&in_turn);
    check(&off);
}

#define NET(rank, to, network, via, more)                                                \
    "{\"rank\":" rank ",\"ranks\":4,\"nodes\":4,\"network\":\"" network                  \
    "\",\"init\":\"complete\",\"transports\":[{\"via\":\"" via                           \
    "\",\"device\":0,\"to\":\"" to "\",\"channels\":2" more
#define EXT(rank, to)                                                                    \
    NET(rank, to, "IBext_v8", "NET/IBext_v8",                                            \
        ",\"name\":\"mlx5_0\",\"link\":\"IB\",\"gdr\":true}]}")

/* HPC-X's is NCCL's own InfiniBand, by another name. */
TEST(plugins_are_held_to_the_same)
{
    static const struct example odd = {
        {EXT("0", "1"), EXT("1", "0"), SOCKET("2", "0"), EXT("3", "0")},
        {NULL},
        NULL,
        "InfiniBand mlx5_0, GPUDirect, 2 channels [[0,1],[0,3]]; sockets over eth0, 2 "
        "channels [[0,2]]",
        {"odd_node: node-3 sockets, NET/IBext_v8"}};
    static const struct example tcp = {
        {NET("0", "1", "FasTrak", "NET/FasTrak", ",\"gdr\":false}]}"),
         NET("1", "0", "FasTrak", "NET/FasTrak", ",\"gdr\":false}]}")},
        {NULL},
        NULL,
        "plugin (NET/FasTrak), no GPUDirect, 2 channels [[0,1]]",
        {"ways: plugin (NET/FasTrak), no GPUDirect, 2"}};

    check(&odd);
    check(&tcp);
}

/* A wish of the job's, and a machine that has none. */
TEST(why_there_are_only_sockets_is_told)
{
#define ONLY_SOCKETS(rank, to, more)                                                     \
    NET(rank, to, "Socket", "NET/Socket", ",\"name\":\"eth0\"}]," more "}")
#define WISHED "\"settings\":{\"NCCL_NET\":\"Socket\"}"
#define NONE "\"reasons\":[{\"about\":\"ib\",\"text\":\"NET/IB : No device found.\"}]"
    static const struct example wished = {
        {ONLY_SOCKETS("0", "1", WISHED), ONLY_SOCKETS("1", "0", WISHED)},
        {ACTIVE, NULL},
        NULL,
        "sockets over eth0, 2 channels [[0,1]]",
        {"no_rdma: NCCL_NET=Socket: eth0, mlx5_0 node-1",
         "no_rdma: NCCL_NET=Socket: eth0 node-2"}};
    static const struct example none = {
        {ONLY_SOCKETS("0", "1", NONE), ONLY_SOCKETS("1", "0", NONE)},
        {NULL},
        NULL,
        "sockets over eth0, 2 channels [[0,1]]",
        {"ways: eth0, 2 (NET/IB : No device found.)"}};

    check(&wished);
    check(&none);
}

TEST(a_warning_after_init_is_told)
{
    static const struct example example = {
        {IB("0", "1",
            ",\"gdr\":true}],\"warning\":\"the last\",\"late_warnings\":{\"lines\":9,"
            "\"first\":[\"Got completion with status=12\",\"the last\"]}}"),
         IB("1", "0", ",\"gdr\":true}],\"warning\":\"found no plugin\"}")},
        {NULL},
        NULL,
        "InfiniBand mlx5_0, GPUDirect, 2 channels [[0,1]]",
        {"warning: NCCL warned after its init: Got completion with status=12 on node-1",
         "warning: the last on node-1"}};

    check(&example);
}

/* What the job does without is no fault of its ways. */
TEST(a_port_that_is_not_wanted_may_be_down)
{
#define ONLY ",\"gdr\":true}],\"settings\":{\"NCCL_IB_HCA\":\"mlx5_0\"}}"
#define BOTH                                                                             \
    "{\"rdma\":[{\"name\":\"mlx5_0\",\"state\":\"active\"},{\"name\":\"mlx5_3\","        \
    "\"state\":\"active\"}]}"
    static const struct example example = {
        {IB("0", "1", ONLY), IB("1", "2", ONLY), IB("2", "0", ONLY)},
        {BOTH, BOTH,
         "{\"rdma\":[{\"name\":\"mlx5_0\",\"state\":\"active\"},{\"name\":\"mlx5_3\","
         "\"state\":\"down\"}]}"},
        NULL,
        "InfiniBand mlx5_0, GPUDirect, 2 channels [[0,1],[0,2],[1,2]]",
        {"ways: mlx5_0, GPUDirect, 2"}};

    check(&example);
}

TEST(a_level_is_blamed_only_where_it_restricts)
{
#define LEVEL(level)                                                                     \
    ",\"gdr\":false}],\"settings\":{\"NCCL_NET_GDR_LEVEL\":\"" level "\"}}"
    static const struct example example = {
        {IB("0", "1", LEVEL("SYS")), IB("1", "2", LEVEL("PIX")),
         IB("2", "3", LEVEL("SYS")), IB("3", "0", LEVEL("LOC"))},
        {"{\"modules\":{\"nvidia\":\"\"}}", NULL, NULL,
         "{\"modules\":{\"nvidia\":\"\"}}"},
        NULL,
        "InfiniBand mlx5_0, no GPUDirect, 2 channels [[0,1],[0,3],[1,2],[2,3]]",
        {"no_gdr: mlx5_0: nvidia_peermem node-1, node-4",
         "no_gdr: GPUDirect is off over mlx5_0: NCCL_NET_GDR_LEVEL=PIX on node-2",
         "no_gdr: mlx5_0 log node-3"}};

    check(&example);
}

#define WISH(rank, hca)                                                                  \
    "{\"rank\":" rank ",\"nodes\":4,\"network\":\"Socket\",\"settings\":{"               \
    "\"NCCL_IB_HCA\":\"" hca "\"}}"
#define PORTS                                                                            \
    "{\"rdma\":[{\"name\":\"mlx5_1\",\"state\":\"down\"},{\"name\":\"mlx5_10\","         \
    "\"state\":\"active\"}]}"

TEST(a_wish_for_ports_is_read_as_nccl_does)
{
    static const struct example example = {
        {WISH("0", "^mlx5_1"), WISH("1", "=mlx5_1"), WISH("2", "mlx5_1:1"),
         WISH("3", "^=mlx5_1")},
        {PORTS, PORTS, PORTS, PORTS},
        NULL,
        "",
        {"no_rdma: NCCL_IB_HCA=^mlx5_1 excludes every active RDMA port: sockets on "
         "node-1",
         "no_rdma: NCCL_IB_HCA==mlx5_1 (mlx5_1 is down): node-2",
         "no_rdma: mlx5_10 node-3, node-4"}};

    check(&example);
}

TEST(a_port_that_was_asked_for_and_is_down_is_told)
{
#define ASKED(hca) ",\"gdr\":true}],\"settings\":{\"NCCL_IB_HCA\":\"" hca "\"}}"
    static const struct example asked = {
        {IB("0", "1", ASKED("=mlx5_0,mlx5_2")), IB("1", "0", ASKED("=mlx5_0,mlx5_2"))},
        {ACTIVE},
        NULL,
        "InfiniBand mlx5_0, GPUDirect, 2 channels [[0,1]]",
        {"port_down: mlx5_2 node-1"}};
    static const struct example begun = {
        {IB("0", "1", ASKED("mlx5")), IB("1", "0", ASKED("mlx5"))},
        {ACTIVE},
        NULL,
        "InfiniBand mlx5_0, GPUDirect, 2 channels [[0,1]]",
        {"ways: mlx5_0, GPUDirect, 2"}};

    check(&asked);
    check(&begun);
}

TEST(settings_without_effect_are_told)
{
    static const struct example example = {
        {"{\"rank\":0,\"ranks\":1,\"settings\":{\"NCCL_ALGO\":\"Foo\",\"NCCL_PROTO\":"
         "\"^LL128,simple\"},\"reasons\":[{\"about\":\"setting\",\"text\":\"Invalid "
         "value x for NCCL_BUFFSIZE, using default 4.\"}]}"},
        {NULL},
        "{\"NCCL_ALGO\":\"Foo\",\"NCCL_IB_GID_INDEX\":\"3\",\"NCCL_NET_PLUGIN\":\"none\","
        "\"NCCL_DEBUG_SUBSYS\":"
        "\"ALL\",\"NCCL_X\":null,\"OMP_NUM_THREADS\":\"1\"}",
        "",
        {"setting: NCCL_ALGO=Foo: Foo node-1",
         "setting: a setting had no effect: Invalid value x for NCCL_BUFFSIZE, using "
         "default 4. "
         "on "
         "node-1",
         "setting: NCCL_IB_GID_INDEX=3 was set, but NCCL's log does not mention it"}};

    check(&example);
}

/* ---- the host backend ---- */

#define HOST(rank, ways) "{\"rank\":" rank ",\"ranks\":3,\"transports\":[" ways "]}"
#define MLX5                                                                             \
    "{\"name\":\"mlx5_0\",\"port\":1,\"state\":\"active\",\"link_layer\":\"ethernet\"}"
#define ETH0 "{\"net\":[{\"name\":\"eth0\",\"kind\":\"ethernet\"}],\"rdma\":["
#define ETH0_TO(to) "{\"via\":\"tcp\",\"name\":\"eth0\",\"to\":\"" to "\",\"sockets\":4}"

static const struct host_options as_it_comes = {.transport = HOST_TRANSPORT_AUTO};

TEST(hosts_say_what_carries_their_bytes)
{
    static const struct example examples[] = {
        {.logs = {HOST("0", ETH0_TO("1-2")), HOST("1", ETH0_TO("0,2")),
                  HOST("2", ETH0_TO("0-1"))},
         .inventories = {ETH0 "]}", ETH0 "]}", ETH0 "]}"},
         .ways = "sockets over Ethernet eth0, 4 per pair of ranks "
                 "[[0,1],[0,2],[1,2]]",
         .verdicts = {"ways: ranks use sockets over Ethernet eth0, 4 per pair of "
                      "ranks"}},
        {.logs = {HOST("0", "{\"via\":\"ucx/rc_mlx5\",\"name\":\"mlx5_0\",\"to\":\"1\"},"
                            "{\"via\":\"shm\",\"to\":\"2\"}"),
                  HOST("1",
                       "{\"via\":\"ucx/dc_mlx5\",\"name\":\"mlx5_0\",\"to\":\"0\"}")},
         .inventories = {ETH0 MLX5 "]}"},
         .ways = "RoCE mlx5_0, UCX rc_mlx5 [[0,1]]; RDMA mlx5_0, UCX dc_mlx5 [[0,1]]; "
                 "shared memory []",
         .verdicts = {"ways: RoCE mlx5_0, UCX rc_mlx5; RDMA mlx5_0, UCX dc_mlx5"}},
        {.logs = {HOST("0", "{\"via\":\"ucx\",\"to\":\"1\"}"),
                  HOST("1", "{\"via\":\"ucx/gdr_copy\",\"name\":\"x\",\"to\":\"0\"}")},
         .ways = "UCX [[0,1]]; other x, UCX gdr_copy [[0,1]]",
         .verdicts = {"ways: UCX; other x, UCX gdr_copy"}},
    };

    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        check_of(&examples[i], &as_it_comes);
}

TEST(sockets_beside_rdma_are_found_unless_asked_for)
{
    static const struct host_options asked = {.transport = HOST_TRANSPORT_TCP};
    struct example example = {
        .logs = {HOST("0", ETH0_TO("1")), HOST("1", ETH0_TO("0"))},
        .inventories = {ETH0 MLX5 "]}", ETH0 MLX5 "]}"},
        .ways = "sockets over Ethernet eth0, 4 per pair of ranks [[0,1]]",
        .verdicts = {"no_rdma: eth0, mlx5_0 node-1, node-2"}};
    struct example by_ucx = {
        .logs = {HOST("0", "{\"via\":\"ucx/tcp\",\"name\":\"eth0\",\"to\":\"1\"}"),
                 HOST("1", "")},
        .inventories = {ETH0 MLX5 "]}"},
        .ways = "sockets over Ethernet eth0, UCX tcp [[0,1]]",
        .verdicts = {
            "no_rdma: UCX uses sockets over Ethernet eth0, while mlx5_0 is active on "
            "node-1"}};

    check_of(&example, &as_it_comes);
    check_of(&by_ucx, &as_it_comes);
    example.verdicts[0] = "ways: eth0, 4";
    check_of(&example, &asked);
}

/* A process tells more when it ends; its peers' ranks may be known before they speak. */
TEST(what_a_process_tells_last_counts)
{
    static const struct transport_node nodes[] = {{"node-1", NULL}, {"node-2", NULL}};
    static const char *const logs[] = {
        "{\"rank\":0,\"ranks\":4,\"warning\":\"no route\",\"init\":\"begun\","
        "\"unread\":{\"lines\":3,\"first\":[\"x\"]}}",
        IB("0", "2-3",
           ",\"gdr\":true}],\"unread\":{\"lines\":4,\"first\":[\"x\",\"y\"]}}")};
    const struct transport_input input = {.nodes = nodes, .n_nodes = 2};

    for (int is_placed = 0; is_placed < 2; is_placed++) {
        const struct transport_speaker speaker = {.rank = 0, .node = 0};
        struct transport *transport = transport_create(2, 4, NULL);
        json_t *folded;

        for (int rank = 0; is_placed && rank < 4; rank++)
            transport_place(transport, rank, rank / 2);
        for (size_t i = 0; i < 2; i++) {
            json_t *log = json_loads(logs[i], 0, NULL);

            transport_take(transport, &speaker, log);
            json_decref(log);
        }
        folded = transport_fold(transport, &input);
        expect_ways(folded, is_placed ? "InfiniBand mlx5_0, GPUDirect, 2 channels [[0,1]]"
                                      : "InfiniBand mlx5_0, GPUDirect, 2 channels []");
        expect_verdicts(
            folded, (const char *const[VERDICTS_MAX]){
                        is_placed ? "ways: mlx5_0, GPUDirect, 2"
                                  : "ways: NCCL uses InfiniBand mlx5_0, "
                                    "GPUDirect, 2 channels; no transport between node-1 "
                                    "and another node is known (4 lines of the log "
                                    "were not understood)"});
        assert_int_equal(json_get_int(json_object_get(folded, "unread"), "lines", 0), 4);
        json_decref(folded);
        transport_destroy(transport);
    }
}
