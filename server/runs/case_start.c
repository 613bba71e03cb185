/* SPDX-License-Identifier: Apache-2.0 */
/* case_start.c - starts a case: opens its rendezvous and sends the commands to its
 * nodes */
#include "server/runs/case_start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "common/spec/placed.h"
#include "common/spec/run_matrix.h"
#include "server/nodes/neighbours.h"
#include "server/nodes/node.h"
#include "server/nodes/node_devices.h"
#include "server/rendezvous/rendezvous.h"
#include "server/rendezvous/rendezvous_peer.h"
#include "server/runs/run.h"

/* Return all known addresses of a node, since a node with NAT or several interfaces may
 * connect from any of them. Loopback addresses count only for a node on this host. */
static size_t node_addresses(const struct node *node, const char **out)
{
    const json_t *list = json_object_get(node->inventory, "addresses");
    size_t n = 0;

    if (node->peer)
        out[n++] = node->peer;
    if (node->peer && peer_is_here(node->peer))
        out[n++] = "127.0.0.1";
    if (node->advertise && !peer_is_loopback(node->advertise))
        out[n++] = node->advertise;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *address = json_get_str(json_array_get(list, i), "address", NULL);

        if (address && !peer_is_loopback(address))
            out[n++] = address;
    }
    return n;
}

static size_t count_addresses(const struct node *node)
{
    return 3 + json_array_size(json_object_get(node->inventory, "addresses"));
}

/* Return the case's nodes, with NULL for each node that is not registered any more. The
 * caller frees the array. */
static struct node **find_nodes(const struct live_case *live)
{
    struct node **nodes =
        memory_zeroed(live->on.n + 1, sizeof(*nodes), "nodes of a case");

    for (size_t i = 0; i < live->on.n; i++)
        nodes[i] = node_find(live->cases->nodes, live->on.items[i].name);
    return nodes;
}

struct rendezvous_store *case_start_open_store(const struct live_case *live, int attempt,
                                               struct error *err)
{
    const struct run *run = live->run;
    struct rendezvous_store *store;
    struct node **nodes = find_nodes(live);
    const char **allowed;
    size_t most = 0, n = 0;
    char name[64];

    for (size_t i = 0; i < live->on.n; i++)
        most += count_addresses(nodes[i]);
    allowed = memory_zeroed(most + 1, sizeof(*allowed), "addresses of a case");
    for (size_t i = 0; i < live->on.n; i++)
        n += node_addresses(nodes[i], allowed + n);
    free(nodes);
    snprintf(name, sizeof(name), "%s.%zu.%d", run->id, live->index, attempt);
    store = rendezvous_open(live->cases->config.rendezvous, name, allowed, n, err);
    if (!store)
        error_prefix(err, "rendezvous");
    free(allowed);
    return store;
}

/* Return the NCCL library that the case's workers load, as a new reference; JSON null:
 * the node's default. */
static json_t *library_of(const struct live_case *live)
{
    const struct run_spec *spec = live->run->spec;
    json_t *env = run_matrix_env(spec, run_case_turn(live->run, live->index));
    const char *path = json_get_str(env, RUN_MATRIX_LIBRARY, spec->nccl_lib);
    json_t *library = path ? json_string(path) : json_null();

    json_decref(env);
    return library;
}

/* Return true if ranks need the list of nodes: for groups by node and for simulated
 * topologies. The rendezvous provides all other information. */
static bool needs_nodes(const struct run *run)
{
    enum split_kind by = run->spec->split.kind;

    return by == SPLIT_NODE || by == SPLIT_LOCAL_RANK || strcmp(run->backend, "sim") == 0;
}

static json_t *case_nodes(const struct live_case *live)
{
    json_t *nodes = json_array();
    struct placed placed;

    placed_init(&placed, nodes);
    for (size_t i = 0; i < live->on.n; i++)
        placed_add(&placed, live->on.items[i].name, live->on.items[i].ranks);
    return nodes;
}

/* Return the case file (docs/development/worker-contract.md), which is the same for every
 * rank. Every node receives a copy, so only the necessary parts may grow with the number
 * of nodes. */
static json_t *case_file(const struct live_case *live)
{
    const struct run *run = live->run;
    json_t *spec = run_spec_case_json(run->spec);
    json_t *library = library_of(live);

    if (needs_nodes(run))
        json_object_set_new(spec, "placed", case_nodes(live));
    json_object_set_new(spec, "run", json_string(run->id));
    json_object_set_new(spec, "case", json_integer((json_int_t)live->index));
    json_object_set_new(spec, "attempt", json_integer(run->cases[live->index].attempt));
    json_object_set_new(
        spec, "repeat",
        json_integer(run_matrix_repeat(run->spec, run_case_turn(run, live->index))));
    json_object_set_new(spec, "backend", json_string(run->backend));
    json_object_set_new(spec, "world_size", json_integer(live->on.world_size));
    /* A program's ranks use PyTorch's client, which cannot prefix its keys with a
     * secret. */
    if (!run->spec->program.name)
        json_object_set_new(spec, "store_secret",
                            json_string(rendezvous_store_secret(live->store)));
    if (json_is_string(library))
        json_object_set(spec, "nccl_lib", library);
    json_decref(library);
    json_object_set_new(spec, "seed", json_integer(run->created_ms & 0x7fffffff));
    return spec;
}

/* Merge the variables of the run and the case. A null value unsets a variable on the
 * node. */
json_t *case_start_env(const struct live_case *live)
{
    const struct run *run = live->run;
    json_t *env = json_copy(run->spec->env);
    json_t *varied = run_matrix_env(run->spec, run_case_turn(run, live->index));

    if (varied)
        json_object_update(env, varied);
    json_decref(varied);
    json_object_del(env, RUN_MATRIX_LIBRARY);
    return env;
}

/* The parts that the commands to all nodes share. */
struct shared_parts {
    json_t *spec, *env;
};

static json_t *start_command(const struct live_case *live, const struct node *node,
                             size_t i, const struct shared_parts *shared)
{
    const struct run *run = live->run;
    const char *advertise = live->cases->config.advertise;
    json_t *ranks = json_array();

    for (int k = 0; k < live->on.items[i].ranks; k++) {
        int device = node_device_of(run->spec, live->on.items[i].name, k);
        json_t *rank = json_pack("{s:i, s:i}", "rank", live->on.items[i].first_rank + k,
                                 "local_rank", k);

        if (device >= 0)
            json_object_set_new(rank, "device", json_integer(device));
        json_array_append_new(ranks, rank);
    }
    return json_pack(
        "{s:s, s:s, s:i, s:i, s:s, s:s, s:i, s:i, s:i, s:i, s:o, s:O, s:O, s:O*}", "type",
        "start", "run", run->id, "case", (int)live->index, "attempt",
        run->cases[live->index].attempt, "backend", run->backend, "master_addr",
        advertise ? advertise : node->server_host, "master_port",
        rendezvous_store_port(live->store), "world_size", live->on.world_size,
        "group_rank", (int)i, "group_world_size", (int)live->on.n, "ranks", ranks, "env",
        shared->env, "spec", shared->spec, "files", run->spec->files);
}

static int send_all(const struct live_case *live, struct node *const *nodes,
                    const int *agents, struct error *err)
{
    struct shared_parts shared = {case_file(live), case_start_env(live)};
    int result = 0;

    for (size_t i = 0; i < live->on.n && !result; i++) {
        json_t *command;

        if (!nodes[i] || nodes[i]->state != NODE_ALIVE) {
            result =
                error_set(err, ERROR_PEER, "%s left or was lost before the case started",
                          live->on.items[i].name);
            continue;
        }
        command = start_command(live, nodes[i], i, &shared);
        json_object_set_new(command, "agents_here", json_integer(agents[i]));
        node_command(nodes[i], command);
    }
    json_decref(shared.spec);
    json_decref(shared.env);
    return result;
}

int case_start_send(struct live_case *live, struct error *err)
{
    size_t n = live->on.n;
    struct node **nodes = find_nodes(live);
    int *agents = memory_zeroed(n + 1, sizeof(*agents), "nodes of a case");
    int result;

    neighbours_count(live->cases->nodes, nodes, n, agents);
    result = send_all(live, nodes, agents, err);
    free(nodes);
    free(agents);
    return result;
}
