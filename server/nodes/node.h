/* SPDX-License-Identifier: Apache-2.0 */
/* node.h - the nodes that agents registered, their commands and what occupies them */
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
/* The default one falls through switch labels, which clang reports. */
#define HASH_FUNCTION HASH_FNV
#include <uthash.h>

/* "a-" and a UUID: an id that another server gave out, or this one before it was started
 * again, must never be taken for that of an agent here. */
#define NODE_AGENT_LENGTH (2 + ID_UUID_LENGTH)

#define NODE_LEAVING_MAX 200 /* bytes of the reason */

/* Gets an array of commands (stolen by it), or NULL when none came in time. */
typedef void node_commands(void *arg, json_t *commands);

enum node_state { NODE_ALIVE, NODE_LOST, NODE_LEFT };

/* A case whose workers are, or may still be, on the node. */
struct node_occupant {
    char run[ID_RUN_LENGTH + 1];
    int case_no, attempt;
    bool shared;
};

struct node {
    UT_hash_handle hh; /* in the registry's by_agent */
    char *name;
    char agent[NODE_AGENT_LENGTH + 1]; /* new with each registration */
    char boot_id[ID_UUID_LENGTH + 1];
    char key[DIGEST_TEXT_SIZE];      /* of the key that the agent made */
    char identity[DIGEST_TEXT_SIZE]; /* of name, boot id and key: its name in the store */
    bool was_here;                   /* so before the server's start */
    enum node_state state;
    char *leaving; /* alive, but not for long: why; left: why, or NULL */
    /* As registered. */
    char *group, *version, *peer, *advertise, *server_host;
    json_t *labels, *inventory;
    uint64_t
        machine; /* of the inventory's, to be told from others without a look at it */
    char kept[DIGEST_TEXT_SIZE]; /* of the inventory that the store has; "": not yet */
    long ranks;
    bool once;
    size_t bytes, cost; /* of the registration: as text, about what it takes in memory */
    int64_t registered_ms, last_seen_ms, last_seen_ns;
    /* Commands not yet acknowledged, and the poll that waits for them. */
    json_t *commands;
    int64_t next_seq;
    node_commands *poll_done;
    void *poll_arg;
    int64_t poll_after, poll_until_ns;
    /* Events: stored up to acked, acted on up to taken (since this server's start). */
    int64_t acked, taken;
    size_t n_batches;   /* on their way to the disk: it can't be removed */
    bool is_spool_full; /* by its last poll: no room for events, its ranks wait */
    bool was_refused;   /* what it sent, and the log has said so */
    bool has_clock;     /* it has told the time: */
    int64_t ahead_ms;   /* its clock of this one; below 0 it is behind */
    struct node_occupant *occupants;
    size_t n_occupants;
};

struct node_registry {
    struct node **nodes; /* sorted by name */
    size_t count, capacity;
    struct node *by_agent;  /* a hash table of the same nodes by `agent` */
    size_t cost;            /* of all of them */
    const json_t *suspects; /* an object with a member for each; borrowed, or NULL */
};

void node_registry_release(struct node_registry *registry);

struct node *node_find(const struct node_registry *registry, const char *name);

/* Its place in `nodes`, or `count` when there is none of that name. */
size_t node_index(const struct node_registry *registry, const char *name);

/* The first place behind a name; "": the first of all. */
size_t node_index_behind(const struct node_registry *registry, const char *name);

struct node *node_find_agent(const struct node_registry *registry, const char *agent);

/* What a registration says; strings and JSON are borrowed. */
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

/* Register or resume, whoever held the name (see node_claim.h). *is_new: not the same
 * boot as before. */
struct node *node_register(struct node_registry *registry,
                           const struct node_registration *registration,
                           struct clock_time now, bool *is_new);

/* Take it out and free it; nobody may hold it any more. */
void node_remove(struct node_registry *registry, struct node *node);

void node_seen(struct node *node, struct clock_time now);

/* So much of its silence does not count. */
void node_excuse(struct node *node, int64_t ns);

/* Queue a command (stolen; "seq" is added) and wake the poll. */
void node_command(struct node *node, json_t *command);

/* Hold a poll; see scheduler_poll. */
void node_poll(struct node *node, int64_t after, int64_t until_ns, node_commands *done,
               void *arg);

/* Answer the poll, if there is one, with what is queued or with NULL. */
void node_poll_end(struct node *node);

/* Occupants. node_vacate is told which attempt ended; false: it did not occupy the node.
 */
void node_occupy(struct node *node, const char *run, int case_no, int attempt,
                 bool shared);
bool node_vacate(struct node *node, const char *run, int case_no, int attempt);

/* Whether a run may start here now. */
bool node_is_free(const struct node *node, bool shared);

/* What its agent found of a backend, or NULL; borrowed. */
const json_t *node_backend(const struct node *node, const char *backend);

/* Ranks that the node offers on a backend, 0 when it can't run it; *why (may be NULL)
 * gets the reason (borrowed). */
long node_offers(const struct node *node, const char *backend, const char **why);

/* Whether it has all labels of the object (NULL: none are wanted). */
bool node_has_labels(const struct node *node, json_t *wanted);

/* Whether the node's worker for `backend` lists `name` under "collectives", "dtypes" or
 * "redops". */
bool node_supports(const struct node *node, const char *backend, const char *list,
                   const char *name);

/* Whether their agents are known to be in one network namespace of one machine, and so to
 * see the same network ports. */
bool node_shares_ports(const struct node *a, const struct node *b);

/* As docs/reference/api.md shows it; a new reference. */
json_t *node_to_json(const struct node *node);

#endif
