/* SPDX-License-Identifier: Apache-2.0 */
/* test_ceiling.c - what links allow follows from what agents say of them */
#include "agent/inventory/inventory.h"
#include "common/base/json_util.h"
#include "server/analysis/ceiling.h"
#include "tests/unit/mentions.h"
#include "tests/unit/node_tree.h"
#include "tests/unit/test.h"

#define IB "{\"state\":\"active\",\"rate_gbps\":400,\"link_layer\":\"infiniband\"}"
#define IB_DOWN "{\"state\":\"down\",\"rate_gbps\":400,\"link_layer\":\"infiniband\"}"
#define ROCE "{\"state\":\"active\",\"rate_gbps\":200,\"link_layer\":\"ethernet\"}"
#define SEVEN IB "," IB "," IB "," IB "," IB "," IB "," IB
#define X16(gts) "\"pcie\":{\"gts\":2.5,\"gts_max\":" #gts ",\"width\":16}"
#define H100 "{\"name\":\"NVIDIA H100 80GB HBM3\",\"nvlink\":{\"active\":18}," X16(32) "}"
#define L40 "{\"name\":\"NVIDIA L40\"," X16(16) "}"
#define NODE(ports, gpu) "{\"rdma\":[" ports "],\"gpus\":[" gpu "]}"
#define X4(gpu) gpu "," gpu "," gpu "," gpu
#define X8(gpu) X4(gpu) "," X4(gpu)
#define DGX NODE(SEVEN "," IB "," ROCE "," ROCE, X8(H100))
#define SLOW_H100                                                                        \
    "{\"name\":\"NVIDIA H100 80GB HBM3\",\"nvlink\":{\"active\":12}," X16(16) "}"
#define SPLIT_H100                                                                       \
    "{\"name\":\"NVIDIA H100 80GB HBM3\",\"mig\":true,\"nvlink\":{\"active\":18}," X16(  \
        32) "}"
#define HOST(kind, mbps)                                                                 \
    "{\"net\":[{\"name\":\"eth0\",\"kind\":\"" kind "\",\"speed_mbps\":" mbps            \
    ",\"addresses\":[\"10.0.0.1\"]}]}"

#define ON_ONE "{\"hostid\":\"h\"}"

struct example {
    const char *backend, *nodes[2];
    int ranks;
    const char *variable;          /* that the run sets, or NULL */
    double ring_gbs, alltoall_gbs; /* 0: not known */
    const char *names;             /* each sentence is whole in one row */
};

static const struct example examples[] = {
    {"nccl",
     {DGX, DGX},
     8,
     NULL,
     400,
     93.75,
     "rings reach at most 400 GB/s of bus bandwidth: 8 x 400 Gb/s NIC of each node"},
    {"nccl", {DGX, DGX}, 1, NULL, 63.02, 63.02, "63.02 GB/s PCIe 32 GT/s x16 GPU node"},
    {"nccl", {DGX, DGX}, 2, NULL, 126.03, 94.52, "126 GB/s PCIe 32 GT/s x16 2 GPUs node"},
    {"nccl",
     {NODE(IB, "{}"), NODE(IB, "{}")},
     1,
     NULL,
     0,
     0,
     "the links' limit is not known: a node does not report the speed of its GPUs' PCIe "
     "links"},
    {"nccl",
     {DGX, NODE(IB, H100 "," SLOW_H100)},
     2,
     NULL,
     50,
     37.5,
     "50 GB/s 1 x 400 Gb/s NIC node"},
    {"nccl",
     {NODE(SEVEN, H100 "," SLOW_H100), NODE(SEVEN, SLOW_H100 "," H100)},
     2,
     NULL,
     63.02,
     47.26,
     "63.02 GB/s PCIe 16 GT/s x16 2 GPUs node"},
    {"nccl",
     {NODE(SEVEN, H100 "," SLOW_H100), NULL},
     2,
     NULL,
     300,
     300,
     "300 GB/s 12 NVLinks 25 GB/s GPU"},
    {"nccl",
     {NODE(SEVEN, H100 "," H100 "," SLOW_H100), NULL},
     2,
     NULL,
     0,
     0,
     "a node's GPUs differ, and it is not known which of them the ranks use"},
    {"nccl",
     {NODE(SEVEN, H100), NODE(SEVEN, SPLIT_H100)},
     1,
     NULL,
     0,
     0,
     "a node's GPUs are split (MIG), so ranks share a link"},
    {"nccl",
     {NODE(SEVEN, H100), NODE(SEVEN, H100)},
     2,
     NULL,
     63.02,
     47.26,
     "63.02 GB/s PCIe 32 GT/s x16 GPU node"},
    {"nccl", {DGX, NULL}, 8, NULL, 450, 450, "450 GB/s 18 NVLinks 25 GB/s GPU"},
    {"nccl",
     {DGX, NODE(SEVEN "," IB_DOWN, X8(H100))},
     8,
     NULL,
     350,
     82.03,
     "350 GB/s 7 x 400 Gb/s NIC node"},
    {"nccl",
     {NODE(SEVEN, L40 "," L40), NODE(SEVEN, L40 "," L40)},
     2,
     NULL,
     31.51,
     31.51,
     "31.51 GB/s PCIe 16 GT/s x16 GPU"},
    {"nccl",
     {DGX, DGX},
     8,
     "NCCL_IB_HCA",
     0,
     0,
     "environment variables select NCCL's network"},
    {"nccl",
     {DGX,
      "{\"rdma\":[" IB "],\"gpus\":[" H100 "],\"nccl_env\":{\"NCCL_NET\":\"Socket\"}}"},
     8,
     NULL,
     0,
     0,
     "variables"},
    {"nccl", {DGX, NODE(IB_DOWN, H100)}, 8, NULL, 0, 0, "a node has no active RDMA port"},
    {"nccl",
     {NODE(IB, "{}"), NULL},
     8,
     NULL,
     0,
     0,
     "it is not known whether a node's GPUs have NVLink"},
    {"host",
     {HOST("ethernet", "25000"), HOST("ethernet", "100000")},
     1,
     NULL,
     3.125,
     3.125,
     "3.125 GB/s 25 Gb/s eth0 node"},
    {"host",
     {HOST("ethernet", "-1"), HOST("ethernet", "100000")},
     1,
     NULL,
     0,
     0,
     "eth0 does not report its speed"},
    {"host", {ON_ONE, ON_ONE}, 1, NULL, 0, 0, "some of the run's nodes share a host"},
    {"host",
     {HOST("virtual", "10000"), HOST("virtual", "10000")},
     1,
     NULL,
     0,
     0,
     "eth0 is not a physical link"},
    {"host",
     {HOST("ethernet", "25000"), NULL},
     4,
     NULL,
     0,
     0,
     "ranks on one node measure the speed of memory, not of links"},
};

static json_t *judge(const struct example *example)
{
    json_t *inventories[2], *env = json_object(), *verdict;
    struct ceiling_node nodes[2];
    size_t n = 0;

    for (; n < 2 && example->nodes[n]; n++) {
        inventories[n] = json_loads(example->nodes[n], 0, NULL);
        assert_non_null(inventories[n]);
        nodes[n] = (struct ceiling_node){inventories[n], "10.0.0.1", example->ranks};
    }
    if (example->variable)
        json_object_set_new(env, example->variable, json_string("mlx5_0"));
    verdict = ceiling_verdict(example->backend, nodes, n, env);
    while (n > 0)
        json_decref(inventories[--n]);
    json_decref(env);
    return verdict;
}

/* What the agent says of a machine of tests/data/nodes. */
static json_t *inventory_of(const char *tree)
{
    json_t *inventory;

    set_up(NULL);
    put_tree(tree);
    inventory = inventory_read(root);
    tear_down(NULL);
    json_object_del(inventory, "hostid");
    return inventory;
}

TEST(virtual_functions_are_no_ports_of_their_own)
{
    static const char *const trees[] = {"roce.tree", "roce_sriov.tree"};

    for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
        json_t *inventory = inventory_of(trees[i]), *verdict;
        struct ceiling_node nodes[2] = {{inventory, "10.0.0.1", 4},
                                        {inventory, "10.0.0.2", 4}};

        json_object_set_new(inventory, "gpus", json_loads("[" X4(H100) "]", 0, NULL));
        verdict = ceiling_verdict("nccl", nodes, 2, NULL);
        assert_mentions(json_get_str(verdict, "sentence", ""),
                        "100 GB/s 2 x 400 Gb/s NIC node");
        json_decref(verdict);
        json_decref(inventory);
    }
}

/* In a container that has been given two of one port and none of the physical. */
TEST(virtual_functions_of_one_port_are_one_wire)
{
    static const char port[] = "{\"state\":\"active\",\"rate_gbps\":200,\"link_layer\":"
                               "\"ethernet\",\"port\":1,\"physfn\":\"%s\"}";
    static const struct {
        const char *physfns[3];
        double gbs;
    } given[] = {{{"0000:02:00.0", "0000:02:00.0", "0000:02:00.0"}, 25},
                 {{"0000:02:00.0", "0000:02:00.1", "0000:02:00.0"}, 50}};

    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
        json_t *inventory = json_pack("{s:[], s:o}", "rdma", "gpus",
                                      json_loads("[" X4(H100) "]", 0, NULL)),
               *verdict;
        struct ceiling_node nodes[2] = {{inventory, "10.0.0.1", 4},
                                        {inventory, "10.0.0.2", 4}};

        for (int k = 0; k < 3; k++) {
            char text[200];

            snprintf(text, sizeof(text), port, given[i].physfns[k]);
            json_array_append_new(json_object_get(inventory, "rdma"),
                                  json_loads(text, 0, NULL));
        }
        verdict = ceiling_verdict("nccl", nodes, 2, NULL);
        assert_near(json_get_num(json_object_get(json_object_get(verdict, "evidence"),
                                                 "busbw_gbs"),
                                 "all_reduce", 0),
                    given[i].gbs, 0.01);
        json_decref(verdict);
        json_decref(inventory);
    }
}

TEST(links_allow_what_the_least_of_them_does)
{
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        json_t *verdict = judge(&examples[i]);
        const json_t *figures =
            json_object_get(json_object_get(verdict, "evidence"), "busbw_gbs");
        bool is_known = examples[i].ring_gbs > 0;

        assert_mentions(json_get_str(verdict, "sentence", ""), examples[i].names);
        assert_string_equal(json_get_str(verdict, "answer", ""),
                            is_known ? "expected" : "not_enough_data");
        assert_near(json_get_num(figures, "all_reduce", 0), examples[i].ring_gbs, 0.01);
        assert_near(json_get_num(figures, "alltoall", 0), examples[i].alltoall_gbs, 0.01);
        assert_null(json_object_get(figures, "sendrecv"));
        json_decref(verdict);
    }
}
