/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_kv.h - a TCPStore's values and queues, and its waiting clients. No sockets. */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_KV_H
#define RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_KV_H

#include <jansson.h>
#include <sys/queue.h>

#include "server/rendezvous/tcpstore_out.h"
#include "server/rendezvous/tcpstore_refusal.h"
#include "server/rendezvous/tcpstore_wire.h"

struct tcpstore_kv;

struct tcpstore_limits {
    size_t max_keys;     /* with a value, a queue or a waiting client */
    size_t max_bytes;    /* memory of the whole store */
    size_t max_id_bytes; /* per rendezvous id or prefix; 0: no limit */
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
    /* it speaks version 1, which has no CANCEL_WAIT: its next query ends its wait */
    bool is_v1;
    bool is_barrier;             /* it waits at a barrier */
    size_t missing;              /* awaited keys that are not set; 0: not waiting */
    struct tcpstore_waits waits; /* of these keys */
};

#define TCPSTORE_STOP_WAITING 0 /* the reply that ends a wait */

/* Keys that begin with the secret (borrowed; "": none) and a slash are left out of
 * clients' lists of keys. Descriptions omit the secret and the slash. */
struct tcpstore_kv *tcpstore_kv_create(const struct tcpstore_limits *limits,
                                       const char *secret);

/* Every client must have been released. */
void tcpstore_kv_destroy(struct tcpstore_kv *kv);

void tcpstore_client_init(struct tcpstore_client *client, struct tcpstore_kv *kv,
                          void (*wake)(struct tcpstore_client *client));
void tcpstore_client_release(struct tcpstore_client *client);

/* Execute a request and append its reply, if it has one; later writes do not change the
 * reply. -1: close the connection, with the reason in *why. The store is then unchanged,
 * with exceptions: only the reply failed, MULTI_SET has stored its first pairs, or
 * BARRIER has counted. */
int tcpstore_kv_execute(struct tcpstore_client *client,
                        const struct tcpstore_request *request,
                        struct tcpstore_out *reply, enum tcpstore_refusal *why);

/* Remove the keys whose time to live is over, by any monotonic clock. A query that names
 * a key uses it, and so does a waiting client. A use is dated by the last call of this
 * function. */
void tcpstore_kv_expire(struct tcpstore_kv *kv, int64_t now_ms);

struct tcpstore_usage {
    size_t keys; /* with a value */
    size_t bytes;
    size_t waits;     /* waiting clients */
    uint64_t expired; /* keys, since the store was opened */
};
void tcpstore_kv_usage(const struct tcpstore_kv *kv, struct tcpstore_usage *usage);

/* [{"key","bytes"}], at most `most` keys with a value or a queue, newest first. A new
 * reference. */
json_t *tcpstore_kv_keys_json(const struct tcpstore_kv *kv, size_t most);

/* ["KEY"], at most `most` keys that the client waits for. A new reference. */
json_t *tcpstore_client_keys_json(const struct tcpstore_client *client, size_t most);

#endif
