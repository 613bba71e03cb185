/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_kv.h - a TCPStore's values and queues, and the clients that wait for them. No
 * sockets. */
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
    size_t max_id_bytes; /* of the keys of one rendezvous id or prefix; 0: no limit */
    int64_t ttl_ms; /* tcpstore_kv_expire() removes a key so long after its last use */
};

/* One key that a client waits for. */
struct tcpstore_wait {
    TAILQ_ENTRY(tcpstore_wait) of_entry, of_client;
    struct tcpstore_entry *entry;
    struct tcpstore_client *client;
};
TAILQ_HEAD(tcpstore_waits, tcpstore_wait);

/* A client as the store sees it: embedded in its connection. */
struct tcpstore_client {
    struct tcpstore_kv *kv;
    /* Called when the client's wait ends, during tcpstore_kv_execute() of any client;
     * must send TCPSTORE_STOP_WAITING and must not call the store. */
    void (*wake)(struct tcpstore_client *client);
    bool is_v1;      /* its next query ends its wait: it has no other way to give up */
    bool is_barrier; /* its wait is for a barrier */
    size_t missing;  /* awaited keys that have not arrived; 0: does not wait */
    struct tcpstore_waits waits; /* for these */
};

#define TCPSTORE_STOP_WAITING 0 /* the reply that ends a wait */

/* Keys that begin with the secret (borrowed; "": none) and a slash are in no client's
 * list of keys, and are described without both. */
struct tcpstore_kv *tcpstore_kv_create(const struct tcpstore_limits *limits,
                                       const char *secret);

/* Every client must have been released. */
void tcpstore_kv_destroy(struct tcpstore_kv *kv);

void tcpstore_client_init(struct tcpstore_client *client, struct tcpstore_kv *kv,
                          void (*wake)(struct tcpstore_client *client));
void tcpstore_client_release(struct tcpstore_client *client);

/* Carry out a request and append its reply, if it has one; later writes do not change the
 * reply. -1: close the connection, with the reason in *why. The store is as it was then,
 * unless only the reply failed; a MULTI_SET may have stored its first pairs, and a
 * BARRIER have counted. */
int tcpstore_kv_execute(struct tcpstore_client *client,
                        const struct tcpstore_request *request,
                        struct tcpstore_out *reply, enum tcpstore_refusal *why);

/* Remove the keys whose time to live is over, on any clock that does not go back. Every
 * query that names a key uses it, and so does a client that waits for it; the time of a
 * use is that of the last call. */
void tcpstore_kv_expire(struct tcpstore_kv *kv, int64_t now_ms);

struct tcpstore_usage {
    size_t keys; /* with a value */
    size_t bytes;
    size_t waits;     /* clients that wait */
    uint64_t expired; /* keys, since the store was opened */
};
void tcpstore_kv_usage(const struct tcpstore_kv *kv, struct tcpstore_usage *usage);

/* [{"key","bytes"}], up to `most` keys that have a value or a queue, the newest first. A
 * new reference. */
json_t *tcpstore_kv_keys_json(const struct tcpstore_kv *kv, size_t most);

/* ["KEY"], up to `most` keys that the client still waits for. A new reference. */
json_t *tcpstore_client_keys_json(const struct tcpstore_client *client, size_t most);

#endif
