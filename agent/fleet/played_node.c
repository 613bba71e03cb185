/* played_node.c - one node of a played fleet */
#include "agent/fleet/played_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/link/identity.h"
#include "agent/link/link.h"
#include "agent/link/outbox.h"
#include "agent/link/spool.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/time_scale.h"
#include "common/base/version.h"

#define AWAY_MS 3000 /* between a death and the next life */
#define OTHER_VERSION "0.0.1-played"
#define OTHER_BUILD "another-build"

/* A case whose `gone` the server may not have yet. */
struct held {
    struct case_id id;
    bool is_buried; /* the agent died in it: `gone` is still to be said */
    uint64_t seq;   /* of `gone`; 0: not said */
};

struct played_node {
    struct played_node_params params;
    long index;
    struct agent_config config;
    const char *version, *build;
    struct identity identity;
    struct spool *spool;
    struct outbox *outbox;
    json_t *inventory;
    struct link *link; /* NULL: dead */
    struct held *held;
    size_t n_held;
    uv_timer_t timer; /* of the next death, or life */
    uint64_t dies_ms; /* after so long; 0: never */
    bool dies_again;
};

/* ---- What it is ---- */

#define ADDRESS_SIZE 32

/* Its own address in NET.0.0.0/8. */
static void put_address(const struct played_node *node, int net, char out[ADDRESS_SIZE])
{
    long number = node->index + 1;

    snprintf(out, ADDRESS_SIZE, "%d.%ld.%ld.%ld", net, number >> 16 & 255,
             number >> 8 & 255, number & 255);
}

/* Of the addresses it is looked at that they differ. */
static json_t *inventory_of(const struct played_node *node)
{
    char address[ADDRESS_SIZE], machine[64];

    put_address(node, 10, address);
    snprintf(machine, sizeof(machine), "played-%s", node->config.name);
    return json_pack("{s:s, s:s, s:s, s:{s:s, s:i, s:i, s:i}, s:i, s:I, s:[{s:s, s:s}], "
                     "s:s, s:s, s:O, s:b}",
                     "host", node->config.name, "kernel", "simulated", "os", "simulated",
                     "cpu", "model", "simulated", "sockets", 1, "cores", 1, "threads", 1,
                     "numa_nodes", 1, "memory_bytes", (json_int_t)1 << 40, "addresses",
                     "interface", "sim0", "address", address, "hostid", machine,
                     "machine", machine, "backends", node->params.backends, "simulated",
                     1);
}

/* The same backends, of another version. */
static json_t *skewed(json_t *backends)
{
    json_t *copy = json_deep_copy(backends);
    json_t *sim = json_object_get(copy, "sim");

    json_object_set_new(sim, "version", json_string(OTHER_VERSION));
    json_object_set_new(sim, "build", json_string(OTHER_BUILD));
    return copy;
}

static const struct played_fault *fault_of(const struct played_node *node,
                                           enum fault_what what)
{
    return faults_find(&node->params.config->faults, what, node->config.name);
}

static void read_faults(struct played_node *node)
{
    const struct played_fault *flapping = fault_of(node, PLAYED_FLAPPING);
    const struct played_fault *dying = fault_of(node, PLAYED_DYING);

    if (flapping || dying)
        node->dies_ms =
            (uint64_t)((flapping ? flapping->value : dying->value) * 1000) + 1;
    node->dies_again = flapping != NULL;
    if (fault_of(node, PLAYED_VERSION_SKEW)) {
        node->version = OTHER_VERSION;
        node->build = OTHER_BUILD;
    }
}

static int describe(struct played_node *node, struct error *err)
{
    long rack = fleet_config_rack(node->params.config, node->index);
    char text[64];

    node->config = node->params.config->agent;
    snprintf(text, sizeof(text), FLEET_PREFIX "%ld", node->index + 1);
    node->config.name = strdup(text);
    node->config.labels = json_object();
    if (!node->config.name || !node->config.labels)
        return error_set(err, ERROR_MEMORY, "out of memory");
    snprintf(text, sizeof(text), FLEET_RACK "%ld", rack);
    if (rack > 0)
        json_object_set_new(node->config.labels, "rack", json_string(text));
    node->version = RINGBENCH_VERSION;
    node->build = version_build();
    read_faults(node);
    node->inventory = inventory_of(node);
    if (node->inventory && strcmp(node->build, version_build()) != 0)
        json_object_set_new(node->inventory, "backends", skewed(node->params.backends));
    return node->inventory ? 0 : error_set(err, ERROR_MEMORY, "out of memory");
}

/* ---- Its cases ---- */

static struct held *find_held(struct played_node *node, const struct case_id *id)
{
    for (size_t i = 0; i < node->n_held; i++)
        if (case_id_equal(&node->held[i].id, id))
            return &node->held[i];
    return NULL;
}

static uint64_t say_gone(struct played_node *node, const struct case_id *id)
{
    return outbox_add_steal(node->outbox, id, CASE_NO_RANK,
                            json_pack("{s:s}", "type", "gone"));
}

int played_node_take(struct played_node *node, const struct case_id *id)
{
    struct held *held;

    if (find_held(node, id))
        return 0;
    held = realloc(node->held, (node->n_held + 1) * sizeof(*held));
    if (!held)
        return -1;
    node->held = held;
    held[node->n_held++] = (struct held){.id = *id};
    return 0;
}

void played_node_gone(struct played_node *node, const struct case_id *id, uint64_t seq)
{
    struct held *held = find_held(node, id);

    if (held)
        held->seq = seq;
}

void played_node_refuse(struct played_node *node, const struct case_id *id,
                        const char *reason)
{
    outbox_add_steal(node->outbox, id, CASE_NO_RANK,
                     json_pack("{s:s, s:s}", "type", "refused", "reason", reason));
    played_node_gone(node, id, say_gone(node, id));
}

struct played_place played_node_place(struct played_node *node)
{
    return (struct played_place){.node = node,
                                 .name = node->config.name,
                                 .build = node->build,
                                 .outbox = node->outbox};
}

/* ---- What its link tells ---- */

static json_t *on_cases(void *arg)
{
    const struct played_node *node = arg;
    json_t *cases = json_array();

    for (size_t i = 0; i < node->n_held; i++) {
        const struct case_id *id = &node->held[i].id;

        json_array_append_new(cases, json_pack("{s:s, s:I, s:I}", "run", id->run, "case",
                                               (json_int_t)id->number, "attempt",
                                               (json_int_t)id->attempt));
    }
    return cases;
}

static void on_registered(void *arg, const char *local_ip)
{
    struct played_node *node = arg;

    (void)local_ip;
    for (size_t i = 0; i < node->n_held; i++) {
        struct held *held = &node->held[i];

        if (held->is_buried)
            held->seq = say_gone(node, &held->id);
        held->is_buried = false;
    }
    node->params.on_registered(node->params.arg);
}

static void on_command(void *arg, const struct command *command)
{
    struct played_node *node = arg;
    const struct case_id *id = &command->id;

    switch (command->type) {
    case COMMAND_START:
        if (find_held(node, id))
            return;
        if (played_node_take(node, id))
            log_error("%s: out of memory", node->config.name);
        else if (command->fault.code != ERROR_NONE)
            played_node_refuse(node, id, command->fault.text);
        else if (strcmp(command->backend, "sim") != 0)
            played_node_refuse(node, id, "a played node has the backend sim only");
        else
            node->params.on_start(node->params.arg, node, command);
        break;
    case COMMAND_STOP:
        if (find_held(node, id))
            node->params.on_stop(node->params.arg, node, id);
        else
            say_gone(node, id);
        break;
    case COMMAND_LEAVE:
        played_node_leave(node);
        break;
    }
}

static void on_acked(void *arg)
{
    struct played_node *node = arg;
    uint64_t acked = outbox_acked(node->outbox);
    size_t kept = 0;

    for (size_t i = 0; i < node->n_held; i++)
        if (node->held[i].seq == 0 || node->held[i].seq > acked)
            node->held[kept++] = node->held[i];
    node->n_held = kept;
}

static void on_other_past(void *arg)
{
    struct played_node *node = arg;

    node->params.on_death(node->params.arg, node);
    node->n_held = 0;
    outbox_reset(node->outbox);
}

static void on_fatal(void *arg, const char *text)
{
    struct played_node *node = arg;

    node->params.on_fatal(node->params.arg, text);
}

static void on_told(void *arg)
{
    (void)arg;
}

static void on_left(void *arg)
{
    struct played_node *node = arg;

    node->params.on_left(node->params.arg);
}

static void on_ready(void *arg)
{
    struct played_node *node = arg;

    if (node->link)
        link_kick(node->link);
}

static void on_progress(void *arg)
{
    struct played_node *node = arg;

    if (node->link)
        link_kick_soon(node->link);
}

/* ---- Life and death ---- */

/* From one address all of a large fleet's connections to one port would have to share its
 * 28,000 ports, and the kernel looks longer for a free one the fewer there are. On this
 * machine there are more addresses. */
static bool has_own_address(const struct played_node *node)
{
    return strncmp(node->config.server_host, "127.", 4) == 0;
}

static void live(struct played_node *node)
{
    char address[ADDRESS_SIZE];
    struct link_params params = {.loop = node->params.loop,
                                 .shared = node->params.shared,
                                 .config = &node->config,
                                 .version = node->version,
                                 .identity = &node->identity,
                                 .outbox = node->outbox,
                                 .inventory = node->inventory,
                                 .handlers = {.cases = on_cases,
                                              .on_registered = on_registered,
                                              .on_command = on_command,
                                              .on_acked = on_acked,
                                              .on_other_past = on_other_past,
                                              .on_fatal = on_fatal,
                                              .on_told = on_told,
                                              .on_left = on_left,
                                              .arg = node}};

    put_address(node, 127, address);
    if (has_own_address(node))
        params.from = address;
    node->link = link_create(&params);
    link_start(node->link);
}

static void on_due(uv_timer_t *timer);

/* As an agent that is killed, and started again on its spool directory. */
static void die(struct played_node *node)
{
    log_info("%s dies, as it was told", node->config.name);
    link_destroy(node->link);
    node->link = NULL;
    node->params.on_death(node->params.arg, node);
    for (size_t i = 0; i < node->n_held; i++)
        node->held[i].is_buried = node->held[i].seq == 0;
    uv_timer_start(&node->timer, on_due, scaled_ms(AWAY_MS), 0);
}

static void await_death(struct played_node *node)
{
    if (node->dies_ms > 0)
        uv_timer_start(&node->timer, on_due, node->dies_ms, 0);
}

static void on_due(uv_timer_t *timer)
{
    struct played_node *node = timer->data;

    if (node->link) {
        die(node);
        return;
    }
    if (!node->dies_again)
        node->dies_ms = 0;
    live(node);
    await_death(node);
}

void played_node_start(struct played_node *node)
{
    live(node);
    await_death(node);
}

void played_node_leave(struct played_node *node)
{
    uv_timer_stop(&node->timer);
    if (node->link)
        link_deregister(node->link);
    else
        on_left(node);
}

/* ---- Making and ending it ---- */

static void release(struct played_node *node)
{
    outbox_destroy(node->outbox);
    spool_close(node->spool);
    json_decref(node->inventory);
    json_decref(node->config.labels);
    free(node->config.name);
    free(node->held);
    free(node);
}

static void on_closed(uv_handle_t *handle)
{
    release(handle->data);
}

struct played_node *played_node_create(const struct played_node_params *params,
                                       long index, struct error *err)
{
    struct played_node *node = calloc(1, sizeof(*node));
    struct outbox_handlers handlers = {on_ready, on_progress, node};

    if (!node) {
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    node->params = *params;
    node->index = index;
    identity_make(&node->identity);
    node->spool = spool_create();
    node->outbox = outbox_create(node->spool, &handlers);
    if (describe(node, err)) {
        release(node);
        return NULL;
    }
    uv_timer_init(params->loop, &node->timer);
    node->timer.data = node;
    return node;
}

void played_node_destroy(struct played_node *node)
{
    if (!node)
        return;
    link_destroy(node->link);
    uv_close((uv_handle_t *)&node->timer, on_closed);
}
