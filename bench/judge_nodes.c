/* SPDX-License-Identifier: Apache-2.0 */
/* judge_nodes.c - measures how long a preflight of many nodes blocks the server's loop
 *
 * usage: judge_nodes [NODES]
 *
 * Nodes have 8 GPUs and 10 ports each. They are equal, or differ in more and more
 * values. Prints the time of the slowest of three preflights. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "common/base/json_util.h"
#include "server/nodes/preflight_nodes.h"

#define GPUS 8
#define PORTS 10

enum differing { ALIKE, IN_VERSION, IN_ALL, IN_DEVICES };

static const char *const names[] = {"alike", "a version of ringbench each",
                                    "versions, MTUs and states of ports each",
                                    "the same, and names of ports"};

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static json_t *text_of(const char *what, int node, bool is_own)
{
    return is_own ? json_sprintf("%s-%d", what, node) : json_string(what);
}

static json_t *port_of(int node, int i, enum differing by)
{
    return json_pack("{s:o, s:i, s:o, s:s, s:s, s:o}", "name",
                     by == IN_DEVICES ? json_sprintf("mlx5_%d_%d", i, node)
                                      : json_sprintf("mlx5_%d", i),
                     "port", 1, "state", text_of("active", node, by >= IN_ALL && i % 2),
                     "link_layer", i < 8 ? "infiniband" : "ethernet", "board",
                     "MT_0000000838", "netdev", json_sprintf("ib%d", i));
}

static json_t *inventory_of(int node, enum differing by)
{
    json_t *gpus = json_array(), *ports = json_array(), *net = json_array();

    for (int i = 0; i < GPUS; i++)
        json_array_append_new(gpus, json_pack("{s:s, s:o}", "name", "NVIDIA H100", "pci",
                                              json_sprintf("0000:%02x:00.0", i)));
    for (int i = 0; i < PORTS; i++) {
        json_array_append_new(ports, port_of(node, i, by));
        json_array_append_new(net, json_pack("{s:o, s:i, s:s, s:s}", "name",
                                             json_sprintf("ib%d", i), "mtu",
                                             by >= IN_ALL ? 1500 + node : 4092, "state",
                                             "up", "kind", "infiniband"));
    }
    return json_pack("{s:o, s:o, s:o, s:{s:o}, s:{s:{s:b, s:o, s:o}}, s:s}", "gpus", gpus,
                     "rdma", ports, "net", net, "modules", "nvidia",
                     text_of("550", node, by >= IN_ALL), "backends", "nccl", "available",
                     1, "nccl_version", text_of("2.28.9", node, by >= IN_ALL),
                     "cuda_driver", text_of("13.0", node, by >= IN_ALL), "governor",
                     "performance");
}

static struct node *node_of(int i, enum differing by)
{
    struct node *node = calloc(1, sizeof(*node));
    char name[32];

    snprintf(name, sizeof(name), "node-%05d", i);
    node->name = strdup(name);
    snprintf(name, sizeof(name), by >= IN_VERSION ? "1.0.%d" : "1.0", i);
    node->version = strdup(name);
    node->inventory = inventory_of(i, by);
    return node;
}

static void measure(const struct node **nodes, int n, enum differing by)
{
    static const struct preflight_use use = {.backend = "nccl"};
    double slowest_ms = 0.0;

    for (int i = 0; i < n; i++)
        nodes[i] = node_of(i, by);
    for (int i = 0; i < 3; i++) {
        double begin = now_ms(), ms;
        json_t *verdict = preflight_nodes(nodes, (size_t)n, &use, false);

        ms = now_ms() - begin;
        slowest_ms = ms > slowest_ms ? ms : slowest_ms;
        json_decref(verdict);
    }
    printf("| %s | %.1f |\n", names[by], slowest_ms);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1024;
    const struct node **nodes = calloc((size_t)n, sizeof(struct node *));

    puts("| nodes differ by | preflight, ms |\n|---|---|");
    for (int by = ALIKE; by <= (int)IN_DEVICES; by++)
        measure(nodes, n, (enum differing)by);
    return 0;
}
