/* SPDX-License-Identifier: Apache-2.0 */
/* fold_transports.c - measures how long the NCCL logs of a large case block the
 * server's loop
 *
 * usage: fold_transports [NODES [RANKS]]
 *
 * RANKS processes on each of NODES nodes send their logs, and the case ends. For
 * several kinds of jobs, prints the time of the slowest log, of all logs, and of the
 * slowest of three ends, with the stored text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "common/base/json_util.h"
#include "server/analysis/transport.h"

struct job {
    const char *name;
    bool is_own; /* true if NCCL's ranks are the case's ranks; false for a program */
    bool is_ring, has_gdr, by_sockets, differs;
};

static const struct job jobs[] = {
    {"ring, all well", true, true, true, false, false},
    {"all to all, all well", true, false, true, false, false},
    {"all to all of a program, all well", false, false, true, false, false},
    {"ring, no GPUDirect", true, true, false, false, false},
    {"ring, NCCL_IB_HCA names nothing: sockets", true, true, false, true, false},
    {"ring, each rank has settings and a warning of its own", true, true, false, false,
     true},
};

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static json_t *inventory_of(int ranks)
{
    json_t *rdma = json_array();

    for (int i = 0; i < ranks; i++)
        json_array_append_new(rdma,
                              json_pack("{s:o, s:i, s:s, s:s, s:o}", "name",
                                        json_sprintf("mlx5_%d", i), "port", 1, "state",
                                        "active", "link_layer", "infiniband", "netdev",
                                        json_sprintf("ib%d", i)));
    return json_pack("{s:o, s:[{s:s, s:s}, {s:s, s:s}], s:{s:s}}", "rdma", rdma, "net",
                     "name", "lo", "kind", "loopback", "name", "eth0", "kind", "ethernet",
                     "modules", "nvidia", "");
}

static json_t *net_way(const struct job *job, int local, const char *key,
                       const char *peers)
{
    return json_pack(
        "{s:s, s:i, s:b, s:o, s:s, s:s, s:i}", "via",
        job->by_sockets ? "NET/Socket" : "NET/IB", "device", local, "gdr", job->has_gdr,
        "name", job->by_sockets ? json_string("eth0") : json_sprintf("mlx5_%d", local),
        "link", "IB", key, peers, "channels", 2);
}

static json_t *log_of(const struct job *job, int n, int ranks, int rank)
{
    int world = n * ranks, local = rank % ranks, node = rank / ranks;
    char to[64], from[64], own[64];
    json_t *ways, *log;

    snprintf(to, sizeof(to), "%d", (rank + ranks) % world);
    snprintf(from, sizeof(from), "%d", (rank + world - ranks) % world);
    if (!job->is_ring && node == 0)
        snprintf(to, sizeof(to), "%d-%d", ranks, world - 1);
    else if (!job->is_ring && node == n - 1)
        snprintf(to, sizeof(to), "0-%d", node * ranks - 1);
    else if (!job->is_ring)
        snprintf(to, sizeof(to), "0-%d,%d-%d", node * ranks - 1, (node + 1) * ranks,
                 world - 1);
    snprintf(own, sizeof(own), "%d-%d", node * ranks, (node + 1) * ranks - 1);
    ways = json_pack("[o, o, {s:s, s:s, s:i}]", net_way(job, local, "to", to),
                     net_way(job, local, "from", job->is_ring ? from : to), "via",
                     "P2P/CUMEM", "to", own, "channels", 2);
    log = json_pack(
        "{s:o, s:i, s:s, s:s, s:i, s:s, s:i, s:i, s:i, s:i, s:s, s:{s:i, s:i}, s:[s, s], "
        "s:f, s:[{s:s}], s:[{s:s}], s:{s:s, s:s, s:s}, s:o}",
        "host", json_sprintf("node-%04d", node), "pid", 1000 + local, "version",
        "2.28.9+cuda13.0", "network", job->by_sockets ? "Socket" : "IB", "cuda_driver",
        13000, "comm", "0x5a5a5a5a", "rank", rank, "ranks", world, "nodes", n,
        "local_ranks", ranks, "init", "complete", "channels", "collective", 16,
        "point_to_point", 32, "connected", "ring", "tree", "init_s", 1.0 + rank * 1e-4,
        "hcas", "name", "mlx5_0", "interfaces", "name", "eth0", "settings",
        "NCCL_SOCKET_IFNAME", "eth0", "NCCL_DEBUG", "INFO", "NCCL_IB_HCA",
        job->by_sockets ? "=ens13np0" : "mlx5", "transports", ways);
    if (job->by_sockets)
        json_object_set_new(log, "reasons",
                            json_pack("[{s:s, s:s}]", "about", "ib", "text",
                                      "NET/IB : No device found."));
    if (job->differs) {
        json_object_set_new(json_object_get(log, "settings"), "NCCL_HOSTID",
                            json_sprintf("%d", rank));
        json_object_set_new(log, "warning", json_sprintf("Call to %d failed", rank));
        json_object_set_new(log, "late_warnings",
                            json_pack("{s:i, s:[o]}", "lines", 1, "first",
                                      json_sprintf("Call to %d failed", rank)));
        json_object_set_new(log, "unread",
                            json_pack("{s:i, s:i, s:[o]}", "lines", 1, "of", 100, "first",
                                      json_sprintf("line of %d", rank)));
    }
    return log;
}

static struct transport_node *nodes_of(int n, int ranks)
{
    struct transport_node *nodes = calloc((size_t)n, sizeof(*nodes));

    for (int i = 0; i < n; i++) {
        char name[32];

        snprintf(name, sizeof(name), "node-%04d", i);
        nodes[i] = (struct transport_node){strdup(name), inventory_of(ranks)};
    }
    return nodes;
}

static void print_ends(const struct job *job, struct transport *transport,
                       const struct transport_input *input)
{
    double end_ms = 0.0, text_ms = 0.0;

    for (int i = 0; i < 3; i++) {
        double begin = now_ms(), folded;
        json_t *out = transport_fold(transport, input);
        char *text;

        folded = now_ms();
        text = json_text(out);
        text_ms = now_ms() - folded > text_ms ? now_ms() - folded : text_ms;
        end_ms = folded - begin > end_ms ? folded - begin : end_ms;
        json_decref(out);
        free(text);
    }
    printf(" %.1f | %.1f | %s |\n", end_ms, text_ms, job->name);
}

static void measure(const struct job *job, const struct transport_node *nodes, int n,
                    int ranks)
{
    struct transport_input input = {.nodes = nodes, .n_nodes = (size_t)n};
    struct transport *transport =
        transport_create((size_t)n, 4 * (size_t)n * (size_t)ranks, NULL);
    double all_ms = 0.0, slowest_ms = 0.0;

    for (int i = 0; job->is_own && i < n * ranks; i++)
        transport_place(transport, i, i / ranks);
    for (int i = 0; i < n * ranks; i++) {
        struct transport_speaker speaker = {i, i / ranks, nodes[i / ranks].inventory};
        json_t *log = log_of(job, n, ranks, i);
        double begin = now_ms(), ms;

        transport_take(transport, &speaker, log);
        ms = now_ms() - begin;
        slowest_ms = ms > slowest_ms ? ms : slowest_ms;
        all_ms += ms;
        json_decref(log);
    }
    printf("| %.2f | %.0f |", slowest_ms, all_ms);
    print_ends(job, transport, &input);
    transport_destroy(transport);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1250, ranks = argc > 2 ? atoi(argv[2]) : 8;
    struct transport_node *nodes = nodes_of(n, ranks);

    puts("| slowest log, ms | all logs, ms | end, ms | its text, ms | job |\n"
         "|---|---|---|---|---|");
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
        measure(&jobs[i], nodes, n, ranks);
    return 0;
}
