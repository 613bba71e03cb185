/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.c - ringbench-sim: all nodes of a simulated fleet in one process */
#include "agent/fleet/fleet.h"

#include <curl/curl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

#include "agent/fleet/case.h"
#include "agent/fleet/node.h"
#include "agent/link/curl_loop.h"
#include "agent/link/http_client.h"
#include "agent/link/identity.h"
#include "agent/link/link.h"
#include "agent/link/spool.h"
#include "agent/worker/bench/describe.h"
#include "agent/worker/sim/sim_comm.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/version.h"

#define AT_ONCE 128 /* number of nodes that register or leave at the same time */
/* Number of nodes that share a curl loop. Each loop needs descriptors and memory, but
 * libcurl searches a loop's connections linearly. */
#define SHARING 64
#define LEAVE_MS 10000
#define CONNECTIONS 2   /* connections per node: one for the poll, one for events */
#define FILES_KEPT 1024 /* open files beside the connections, such as libcurl's own */
#define ADDRESS_SIZE 32

struct fleet {
    const struct fleet_config *config;
    uv_loop_t loop;
    uv_signal_t signals[2];
    uv_timer_t timer; /* for --for-s, and later for the deadline for leaving */
    json_t *backends;
    struct curl_loop **shared;
    size_t n_shared;
    struct fleet_node *nodes;
    long n_started, n_registered, n_leaving, n_left;
    struct fleet_case **cases;
    size_t n_cases, capacity;
    int64_t started_ns;
    bool is_announced, is_leaving;
    struct error failure; /* no error code: no failure */
};

/* ---- A node ---- */

/* Write an address in NET.0.0.0/8. */
static void put_address(const struct fleet_node *node, int net, char out[ADDRESS_SIZE])
{
    snprintf(out, ADDRESS_SIZE, "%d.%ld.%ld.%ld", net, node->number >> 16 & 255,
             node->number >> 8 & 255, node->number & 255);
}

/* Assign each node its own address and machine, because the server compares these values
 * between nodes. */
static void describe(struct fleet_node *node)
{
    const struct fleet_config *fleet = node->fleet->config;
    char text[64], address[ADDRESS_SIZE];

    node->config = fleet->agent;
    snprintf(text, sizeof(text), "sim-%ld", node->number);
    node->config.name = memory_text(text, "node");
    node->config.labels = json_object();
    snprintf(text, sizeof(text), "rack-%d", fleet_config_rack(fleet, node->config.name));
    if (fleet->racks > 0)
        json_object_set_new(node->config.labels, "rack", json_string(text));
    put_address(node, 10, address);
    snprintf(text, sizeof(text), "simulated-%s", node->config.name);
    node->inventory = json_pack(
        "{s:s, s:s, s:s, s:{s:s, s:i, s:i, s:i}, s:i, s:I, s:[{s:s, s:s}], s:s, s:s, "
        "s:O, s:b}",
        "host", node->config.name, "kernel", "simulated", "os", "simulated", "cpu",
        "model", "simulated", "sockets", 1, "cores", 1, "threads", 1, "numa_nodes", 1,
        "memory_bytes", (json_int_t)1 << 40, "addresses", "interface", "sim0", "address",
        address, "hostid", text, "machine", text, "backends", node->fleet->backends,
        "simulated", 1);
}

/* ---- Cases ---- */

/* Removes ended cases from the list. */
static struct fleet_case *find_case(struct fleet *fleet, const struct case_id *id)
{
    struct fleet_case *found = NULL;
    size_t kept = 0;

    for (size_t i = 0; i < fleet->n_cases; i++) {
        struct fleet_case *one = fleet->cases[i];

        if (fleet_case_is_over(one)) {
            fleet_case_destroy(one);
            continue;
        }
        fleet->cases[kept++] = one;
        if (case_id_equal(fleet_case_id(one), id))
            found = one;
    }
    fleet->n_cases = kept;
    return found;
}

static void start_case(struct fleet_node *node, const struct command *start)
{
    struct fleet *fleet = node->fleet;
    struct fleet_case *one = find_case(fleet, &start->id);
    const char *refusal = start->fault.code != ERROR_NONE ? start->fault.text
                          : strcmp(start->backend, "sim") != 0
                              ? "a simulated node offers only the backend sim"
                              : NULL;

    if (fleet_node_held(node, &start->id))
        return;
    node->held = memory_grown(node->held, node->n_held, &node->capacity,
                              sizeof(*node->held), "cases");
    node->held[node->n_held++] = (struct held){.id = start->id};
    if (refusal) {
        fleet_node_send(node, &start->id, CASE_NO_RANK, "refused",
                        json_pack("{s:s}", "reason", refusal));
        fleet_node_end_case(node, &start->id);
        return;
    }
    if (!one) {
        one = fleet_case_create(&fleet->loop, fleet->config, start);
        fleet->cases = memory_grown(fleet->cases, fleet->n_cases, &fleet->capacity,
                                    sizeof(struct fleet_case *), "cases");
        fleet->cases[fleet->n_cases++] = one;
    }
    fleet_case_join(one, node, start);
}

static void stop_case(struct fleet_node *node, const struct case_id *id)
{
    struct fleet_case *one = find_case(node->fleet, id);

    if (!fleet_node_held(node, id))
        fleet_node_end_case(node, id);
    else if (one)
        fleet_case_stop(one, node);
}

/* ---- Callbacks of a node's link ---- */

static json_t *on_cases(void *arg)
{
    const struct fleet_node *node = arg;
    json_t *cases = json_array();

    for (size_t i = 0; i < node->n_held; i++) {
        const struct held *held = &node->held[i];
        json_t *one = json_pack("{s:s, s:I, s:I}", "run", held->id.run, "case",
                                (json_int_t)held->id.number, "attempt",
                                (json_int_t)held->id.attempt);

        if (held->seq > 0)
            json_object_set_new(one, "gone", json_integer((json_int_t)held->seq));
        json_array_append_new(cases, one);
    }
    return cases;
}

static void start_more(struct fleet *fleet)
{
    while (fleet->n_started < fleet->config->nodes &&
           fleet->n_started < fleet->n_registered + AT_ONCE)
        link_start(fleet->nodes[fleet->n_started++].link);
}

static void on_registered(void *arg, const char *local_ip)
{
    struct fleet *fleet = ((struct fleet_node *)arg)->fleet;

    (void)local_ip;
    fleet->n_registered++;
    start_more(fleet);
    if (fleet->n_registered < fleet->config->nodes || fleet->is_announced)
        return;
    fleet->is_announced = true;
    printf("%ld simulated nodes of %ld ranks each registered with %s in %.1f s\n",
           fleet->config->nodes, fleet->config->agent.ranks, fleet->config->agent.server,
           (double)(clock_monotonic_ns() - fleet->started_ns) / 1e9);
    fflush(stdout);
}

static void on_command(void *arg, const struct command *command)
{
    struct fleet_node *node = arg;

    if (command->type == COMMAND_START)
        start_case(node, command);
    else if (command->type == COMMAND_STOP)
        stop_case(node, &command->id);
    else
        link_deregister(node->link);
}

static void on_acked(void *arg)
{
    struct fleet_node *node = arg;
    uint64_t acked = outbox_acked(node->outbox);
    size_t kept = 0;

    for (size_t i = 0; i < node->n_held; i++)
        if (node->held[i].seq == 0 || node->held[i].seq > acked)
            node->held[kept++] = node->held[i];
    node->n_held = kept;
}

static void on_history_lost(void *arg)
{
    struct fleet_node *node = arg;

    for (size_t i = 0; i < node->fleet->n_cases; i++)
        fleet_case_forget(node->fleet->cases[i], node);
    node->n_held = 0;
    outbox_reset(node->outbox);
}

static void on_fatal(void *arg, const char *text)
{
    struct fleet *fleet = ((struct fleet_node *)arg)->fleet;

    if (fleet->failure.code == ERROR_NONE)
        error_set(&fleet->failure, ERROR_UNAVAILABLE, "%s", text);
    uv_stop(&fleet->loop);
}

static void on_announced(void *arg)
{
    (void)arg;
}

static void leave_more(struct fleet *fleet)
{
    while (fleet->n_leaving < fleet->n_started &&
           fleet->n_leaving < fleet->n_left + AT_ONCE)
        link_deregister(fleet->nodes[fleet->n_leaving++].link);
    if (fleet->n_left >= fleet->n_started)
        uv_stop(&fleet->loop);
}

static void on_left(void *arg)
{
    struct fleet *fleet = ((struct fleet_node *)arg)->fleet;

    fleet->n_left++;
    if (fleet->is_leaving)
        leave_more(fleet);
}

static void on_ready(void *arg)
{
    link_kick(((struct fleet_node *)arg)->link);
}

static void on_progress(void *arg)
{
    link_kick_soon(((struct fleet_node *)arg)->link);
}

static void node_init(struct fleet_node *node, struct fleet *fleet, long number)
{
    struct outbox_handlers handlers = {on_ready, on_progress, node};
    char from[ADDRESS_SIZE];

    node->fleet = fleet;
    node->number = number;
    identity_make(&node->identity);
    node->spool = spool_create();
    node->outbox = outbox_create(node->spool, &handlers);
    describe(node);
    struct link_params link = {.loop = &fleet->loop,
                               .shared = fleet->shared[(number - 1) / SHARING],
                               .config = &node->config,
                               .version = RINGBENCH_VERSION,
                               .identity = &node->identity,
                               .outbox = node->outbox,
                               .inventory = node->inventory,
                               .handlers = {on_cases, on_registered, on_command, on_acked,
                                            on_history_lost, on_fatal, on_announced,
                                            on_left, node}};
    /* On loopback, each node connects from its own address. A single address provides
     * only 28,000 ports, and the kernel's search for a free port slows down as they run
     * out. */
    put_address(node, 127, from);
    if (strncmp(node->config.server_host, "127.", 4) == 0)
        link.from = from;
    node->link = link_create(&link);
}

static void node_release(struct fleet_node *node)
{
    link_destroy(node->link);
    outbox_destroy(node->outbox);
    spool_close(node->spool);
    json_decref(node->inventory);
    json_decref(node->config.labels);
    free(node->config.name);
    free(node->held);
}

/* ---- The fleet ---- */

static void on_leave_timeout(uv_timer_t *timer)
{
    struct fleet *fleet = timer->data;

    log_warn("leaving although %ld nodes could not deregister from the server",
             fleet->n_started - fleet->n_left);
    uv_stop(&fleet->loop);
}

static void leave(struct fleet *fleet)
{
    fleet->is_leaving = true;
    uv_timer_start(&fleet->timer, on_leave_timeout, LEAVE_MS, 0);
    leave_more(fleet);
}

static void on_signal(uv_signal_t *handle, int signum)
{
    struct fleet *fleet = handle->data;

    if (fleet->is_leaving)
        _exit(128 + signum);
    leave(fleet);
}

static void on_time_over(uv_timer_t *timer)
{
    leave(timer->data);
}

/* Each node needs one connection, and a second one while it runs a case. */
static int raise_file_limit(const struct fleet_config *config, struct error *err)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)config->nodes + FILES_KEPT;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return 0;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= wanted)
        return 0;
    return error_set(err, ERROR_LIMIT,
                     "%ld nodes need %llu open files, but the limit is %llu (ulimit -Hn)",
                     config->nodes, (unsigned long long)wanted,
                     (unsigned long long)limit.rlim_cur);
}

/* Return the number of idle connections that each shared curl loop may keep. Without a
 * limit, one loop could use up all descriptors until the server closes idle connections.
 */
static long connections_kept(size_t n_shared)
{
    struct rlimit limit;
    rlim_t each = 0;

    if (!getrlimit(RLIMIT_NOFILE, &limit))
        each = (limit.rlim_cur - FILES_KEPT) / n_shared;
    return each < CONNECTIONS * SHARING ? (long)each : CONNECTIONS * SHARING;
}

static void set_up(struct fleet *fleet)
{
    static const int signums[] = {SIGTERM, SIGINT};
    size_t n = (size_t)fleet->config->nodes;

    uv_loop_init(&fleet->loop);
    uv_timer_init(&fleet->loop, &fleet->timer);
    fleet->timer.data = fleet;
    if (fleet->config->for_s)
        uv_timer_start(&fleet->timer, on_time_over, (uint64_t)fleet->config->for_s * 1000,
                       0);
    for (size_t i = 0; i < 2; i++) {
        uv_signal_init(&fleet->loop, &fleet->signals[i]);
        fleet->signals[i].data = fleet;
        uv_signal_start(&fleet->signals[i], on_signal, signums[i]);
    }
    fleet->n_shared = (n + SHARING - 1) / SHARING;
    fleet->shared = memory_zeroed(fleet->n_shared, sizeof(struct curl_loop *), "nodes");
    for (size_t i = 0; i < fleet->n_shared; i++)
        fleet->shared[i] =
            http_client_loop(&fleet->loop, connections_kept(fleet->n_shared));
    fleet->backends = json_pack("{s:o}", "sim", describe_probe(&backend_sim));
    fleet->nodes = memory_zeroed(n, sizeof(struct fleet_node), "nodes");
    for (size_t i = 0; i < n; i++)
        node_init(&fleet->nodes[i], fleet, (long)i + 1);
}

static void release(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->n_cases; i++)
        fleet_case_destroy(fleet->cases[i]);
    for (long i = 0; i < fleet->config->nodes; i++)
        node_release(&fleet->nodes[i]);
    for (size_t i = 0; i < fleet->n_shared; i++)
        curl_loop_destroy(fleet->shared[i]);
    for (size_t i = 0; i < 2; i++)
        uv_close((uv_handle_t *)&fleet->signals[i], NULL);
    uv_close((uv_handle_t *)&fleet->timer, NULL);
    uv_run(&fleet->loop, UV_RUN_DEFAULT);
    uv_loop_close(&fleet->loop);
    json_decref(fleet->backends);
    free(fleet->shared);
    free(fleet->nodes);
    free(fleet->cases);
}

static int run(const struct fleet_config *config, struct error *err)
{
    struct fleet fleet = {.config = config, .started_ns = clock_monotonic_ns()};

    if (raise_file_limit(config, err))
        return -1;
    set_up(&fleet);
    start_more(&fleet);
    uv_run(&fleet.loop, UV_RUN_DEFAULT);
    release(&fleet);
    *err = fleet.failure;
    return err->code == ERROR_NONE ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct fleet_config config;
    struct error err;
    int result;

    log_init("ringbench-sim", LOG_WARN);
    /* With SIGPIPE ignored, a write to a closed connection returns an error. */
    signal(SIGPIPE, SIG_IGN);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    result = fleet_config_load(&config, argc, argv, &err);
    if (result == 0)
        result = run(&config, &err);
    if (result < 0)
        fprintf(stderr, "ringbench-sim: %s\n", err.text);
    fleet_config_release(&config);
    curl_global_cleanup();
    return result < 0 ? 1 : 0;
}
