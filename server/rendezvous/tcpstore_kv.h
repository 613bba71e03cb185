/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_kv.h - executes a TCPStore's queries on its values and queues, and wakes
 * waiting clients. No sockets. */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_KV_H
#define RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_KV_H

#include <jansson.h>
#include <sys/queue.h>

#include "server/rendezvous/tcpstore_out.h"
#include "server/rendezvous/tcpstore_refusal.h"
#include "server/rendezvous/tcpstore_wire.h"

struct tcpstore_kv;

struct tcpstore_limits {
    size_t max_keys;     /* limit of keys with a value, a queue or a waiting client */
    size_t max_bytes;    /* limit of the store's memory */
    size_t max_id_bytes; /* memory limit for each rendezvous ID or prefix; 0: no limit */
    int64_t ttl_ms;      /* tcpstore_kv_expire() removes keys unused for this long */
};

/* One key that a client waits for. */
struct tcpstore_wait {
    TAILQ_ENTRY(tcpstore_wait) of_entry, of_client;
    struct tcpstore_entry *entry;
    struct tcpstore_client *client;
};
TAILQ_HEAD(tcpstore_waits, tcpstore_wait);

/* A client of the store; embedded in its connection. */
struct tcpstore_client {
    struct tcpstore_kv *kv;
    /* Called when the client's wait ends, during tcpstore_kv_execute() for any client.
     * Must send TCPSTORE_STOP_WAITING and must not call the store. */
    void (*wake)(struct tcpstore_client *client);
    /* true if the client uses protocol version 1. That version lacks CANCEL_WAIT, so the
     * client's next query ends its wait. */
    bool is_v1;
    bool is_barrier; /* true if the client waits at a barrier */
    size_t missing;  /* number of awaited keys that are not set; 0: not waiting */
    struct tcpstore_waits waits; /* one for each missing key */
};

#define TCPSTORE_STOP_WAITING 0 /* the reply that ends a wait */

/* Create a store. secret: borrowed; "": none. Keys that begin with the secret and a slash
 * do not appear in clients' lists of keys. Descriptions omit the secret and the slash. */
struct tcpstore_kv *tcpstore_kv_create(const struct tcpstore_limits *limits,
                                       const char *secret);

/* Free the store. All clients must be released first. */
void tcpstore_kv_destroy(struct tcpstore_kv *kv);

void tcpstore_client_init(struct tcpstore_client *client, struct tcpstore_kv *kv,
                          void (*wake)(struct tcpstore_client *client));
void tcpstore_client_release(struct tcpstore_client *client);

/* Execute a request and append its reply, if any. Later writes do not change the reply.
 * Returns -1 with the reason in *why if the caller must close the connection. After -1
 * the store is unchanged, except in three cases: only the reply failed, MULTI_SET has
 * stored its first pairs, or BARRIER has counted the client. */
int tcpstore_kv_execute(struct tcpstore_client *client,
                        const struct tcpstore_request *request,
                        struct tcpstore_out *reply, enum tcpstore_refusal *why);

/* Remove the keys that were not used within their time to live. now_ms: from any
 * monotonic clock. A query for a key counts as a use, and so does a waiting client. A use
 * is recorded with the now_ms of the latest call of this function. */
void tcpstore_kv_expire(struct tcpstore_kv *kv, int64_t now_ms);

struct tcpstore_usage {
    size_t keys; /* number of keys with a value */
    size_t bytes;
    size_t waits;     /* number of waiting clients */
    uint64_t expired; /* number of expired keys since the store was opened */
};
void tcpstore_kv_usage(const struct tcpstore_kv *kv, struct tcpstore_usage *usage);

/* Return [{"key","bytes"}] for at most `most` keys with a value or a queue, newest first.
 * A new reference. */
json_t *tcpstore_kv_keys_json(const struct tcpstore_kv *kv, size_t most);

/* Return ["KEY"], at most `most` keys that the client waits for. A new reference. */
json_t *tcpstore_client_keys_json(const struct tcpstore_client *client, size_t most);

#endif
