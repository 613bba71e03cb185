/* SPDX-License-Identifier: Apache-2.0 */
/* node.h - manages the nodes with a registered agent, their queued commands, and the
 * cases that occupy them */
#ifndef RINGBENCH_SERVER_NODES_NODE_H
#define RINGBENCH_SERVER_NODES_NODE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/memory.h"
#include "server/nodes/digest.h"

#define uthash_fatal(text) memory_out("the nodes")
/* The default hash function falls through switch labels, which clang reports. */
#define HASH_FUNCTION HASH_FNV
#include <uthash.h>

/* An agent ID is "a-" and a random UUID. An ID from another server, or from this server
 * before a restart, therefore never matches an agent. */
#define NODE_AGENT_LENGTH (2 + ID_UUID_LENGTH)

#define NODE_LEAVING_MAX 200 /* maximum length in bytes of the reason for leaving */

/* Called with an array of commands (stolen), or with NULL if no command was queued in
 * time. */
typedef void node_commands(void *arg, json_t *commands);

enum node_state { NODE_ALIVE, NODE_LOST, NODE_LEFT };

/* A case whose workers are, or may still be, on the node. */
struct node_occupant {
    char run[ID_RUN_LENGTH + 1];
    int case_no, attempt;
    bool shared;
};

struct node {
    UT_hash_handle hh; /* entry in the registry's by_agent */
    char *name;
    char agent[NODE_AGENT_LENGTH + 1]; /* ID that changes with each registration */
    char boot_id[ID_UUID_LENGTH + 1];
    char key[DIGEST_TEXT_SIZE]; /* hash of the agent's key */
    /* hash of name, boot ID and key; identifies the agent in the store */
    char identity[DIGEST_TEXT_SIZE];
    bool was_here; /* the agent registered before the server started */
    enum node_state state;
    char *leaving; /* why the node will leave soon or has left; or NULL */
    /* Values from the registration. */
    char *group, *version, *peer, *advertise, *server_host;
    json_t *labels, *inventory;
    uint64_t machine; /* hash of the inventory's machine ID, for fast comparison */
    /* digest of the stored inventory; "" if not stored yet */
    char kept[DIGEST_TEXT_SIZE];
    long ranks;
    bool once;
    /* in bytes: length of the registration's text, and approximate size in memory */
    size_t bytes, cost;
    int64_t registered_ms, last_seen_ms, last_seen_ns;
    /* Commands that the agent has not acknowledged yet, and the agent's open poll. */
    json_t *commands;
    int64_t next_seq;
    node_commands *poll_done;
    void *poll_arg;
    int64_t poll_until_ns;
    /* Sequence numbers of the latest stored event, and of the latest event applied since
     * the server's start. */
    int64_t acked, taken;
    /* event batches being stored; while any is, the node cannot be removed */
    size_t n_batches;
    /* the latest poll reported that the agent's disk has no room for events, so its ranks
     * wait */
    bool is_spool_full;
    bool was_refused; /* a batch was refused, and the refusal was logged */
    bool has_clock;   /* the agent has reported its time, so ahead_ms is valid */
    int64_t ahead_ms; /* the agent's clock minus the server's clock */
    struct node_occupant *occupants;
    size_t n_occupants;
};

struct node_registry {
    struct node **nodes; /* sorted by name */
    size_t count, capacity;
    struct node *by_agent;  /* hash table of the nodes by `agent` */
    size_t cost;            /* sum of all nodes' cost, bytes */
    const json_t *suspects; /* object with a member for each suspect; borrowed, or NULL */
};

void node_registry_release(struct node_registry *registry);

struct node *node_find(const struct node_registry *registry, const char *name);

/* Return the index in `nodes`, or `count` if there is no node with this name. */
size_t node_index(const struct node_registry *registry, const char *name);

/* Return the index of the first node after `name` in the order of names; 0 for "". */
size_t node_index_behind(const struct node_registry *registry, const char *name);

struct node *node_find_agent(const struct node_registry *registry, const char *agent);

/* The contents of a registration. Strings and JSON are borrowed. */
struct node_registration {
    const char *name, *boot_id;
    char key[DIGEST_TEXT_SIZE], identity[DIGEST_TEXT_SIZE];
    bool was_here;
    int64_t acked;
    const char *group, *version, *peer, *advertise, *server_host;
    json_t *labels, *inventory;
    long ranks;
    bool once;
    size_t bytes, cost;
};

/* Register a node or resume its session. Does not check whether another agent owns the
 * name (see node_claim.h). *is_new: true if this agent was not registered before. */
struct node *node_register(struct node_registry *registry,
                           const struct node_registration *registration,
                           struct clock_time now, bool *is_new);

/* Remove the node and free it; nothing may refer to it any more. */
void node_remove(struct node_registry *registry, struct node *node);

void node_seen(struct node *node, struct clock_time now);

/* Ignore `ns` nanoseconds of the time for which the node has been silent. */
void node_excuse(struct node *node, int64_t ns);

/* Queue a command (stolen; "seq" is added) and wake the poll. */
void node_command(struct node *node, json_t *command);

/* Hold a poll for commands numbered above `after` until until_ns; see agents_poll(). */
void node_poll(struct node *node, int64_t after, int64_t until_ns, node_commands *done,
               void *arg);

/* Answer the open poll, if any, with the queued commands or NULL. */
void node_poll_end(struct node *node);

/* node_occupy() adds an attempt to the node's occupants, and node_vacate() removes it.
 * node_vacate() returns false if the attempt did not occupy the node. */
void node_occupy(struct node *node, const char *run, int case_no, int attempt,
                 bool shared);
bool node_vacate(struct node *node, const char *run, int case_no, int attempt);

/* Return true if a run may start on the node now. shared: true if the run shares its
 * nodes. */
bool node_is_free(const struct node *node, bool shared);

/* Return the agent's report on a backend, borrowed; NULL if there is none. */
const json_t *node_backend(const struct node *node, const char *backend);

/* Return the number of ranks that the node offers on a backend. If it is 0, *why (may be
 * NULL) is set to the reason (borrowed). */
long node_offers(const struct node *node, const char *backend, const char **why);

/* Return true if the node has all labels of the object. NULL matches every node. */
bool node_has_labels(const struct node *node, json_t *wanted);

/* Return true if the node's worker for `backend` lists `name` under `list`:
 * "collectives", "dtypes" or "redops". */
bool node_supports(const struct node *node, const char *backend, const char *list,
                   const char *name);

/* Return true if both agents are known to be in the same network namespace of one
 * machine, so that they see the same network ports. */
bool node_shares_ports(const struct node *a, const struct node *b);

/* Return the node's document for the API (docs/reference/api.md); a new reference. */
json_t *node_to_json(const struct node *node);

#endif
