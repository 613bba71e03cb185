/* tcpstore_kv.h - what a TCPStore holds: values, queues, and clients that wait for them.
 * No sockets. */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_KV_H
#define RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_KV_H

#include <sys/queue.h>

#include "server/rendezvous/tcpstore_out.h"
#include "server/rendezvous/tcpstore_refusal.h"
#include "server/rendezvous/tcpstore_wire.h"

struct tcpstore_kv;
struct tcpstore_client;

#define TCPSTORE_ADDRESS_BYTES 16

/* What the clients of one address may have; a store without such limits has 0 clients. */
struct tcpstore_each {
    size_t clients, keys, bytes;
};

struct tcpstore_limits {
    size_t max_keys;  /* with a value, a queue or someone waiting */
    size_t max_bytes; /* memory of all that the store holds */
    size_t max_waits; /* keys waited for, over all clients */
    int64_t ttl_ms;   /* a key goes so long after its last use; 0: never */
    struct tcpstore_each each;
};

/* One awaited key of one client. */
struct tcpstore_wait {
    TAILQ_ENTRY(tcpstore_wait) link;
    struct tcpstore_entry *entry; /* NULL: arrived */
    struct tcpstore_client *client;
};

/* A list of keys that is being put together. */
struct tcpstore_listing {
    TAILQ_ENTRY(tcpstore_listing) link;
    struct tcpstore_entry *next; /* to be looked at; NULL: none is left */
    size_t left;                 /* as many as there were at its beginning, at most */
    size_t count_at;             /* where the reply has the number of keys */
    int64_t count;
};

/* A client as the store sees it: embedded in its connection. */
struct tcpstore_client {
    struct tcpstore_kv *kv;
    struct tcpstore_account *account; /* of its address, or NULL */
    /* Called when the client's wait ends, during tcpstore_kv_execute of any client; must
     * send tcpstore_wake_byte and must not call the store. */
    void (*wake)(struct tcpstore_client *client);
    bool is_v1;      /* its next query ends its wait: it has no other way to give up */
    bool is_barrier; /* its wait is for a barrier */
    size_t missing;  /* awaited keys that have not arrived; 0: does not wait */
    size_t n_waits;
    struct tcpstore_wait *waits; /* array of n_waits */
    struct tcpstore_wait one;    /* what waits points to for a single key */
    bool is_listing;             /* its reply is not complete */
    struct tcpstore_listing listing;
};

#define TCPSTORE_STOP_WAITING 0 /* the reply that ends a wait */

struct tcpstore_kv *tcpstore_kv_create(const struct tcpstore_limits *limits);

/* Keys that begin with this and a slash are for those who know it: no query lists them.
 * At most TCPSTORE_SECRET_MAX bytes are kept. */
#define TCPSTORE_SECRET_MAX 63
void tcpstore_kv_set_secret(struct tcpstore_kv *kv, const char *secret);
const char *tcpstore_kv_secret(const struct tcpstore_kv *kv); /* "": none */

/* Cut the secret, if there is one in front, off a key that is to be shown. */
void tcpstore_kv_hide_secret(const struct tcpstore_kv *kv, struct tcpstore_slice *key);

/* Every client must have been released. */
void tcpstore_kv_destroy(struct tcpstore_kv *kv);

void tcpstore_client_init(struct tcpstore_client *client, struct tcpstore_kv *kv,
                          void (*wake)(struct tcpstore_client *client));

/* Count the client with those of its address, TCPSTORE_ADDRESS_BYTES, in a store that has
 * limits for each: what it writes or waits for is on that address's account until another
 * one writes to it. -1 with the reason when the address has too many clients. */
int tcpstore_client_enter(struct tcpstore_client *client, const void *address,
                          enum tcpstore_refusal *why);
void tcpstore_client_release(struct tcpstore_client *client);

/* Bytes more (or, below zero, less) that the server holds for the client outside of the
 * store. Returns whether all clients of its address together are within their limit. */
bool tcpstore_client_hold(struct tcpstore_client *client, ptrdiff_t bytes);

/* Carry out a request and append its reply, if it has one; what is written to its keys
 * later does not change it. -1: the connection is to be
 * closed, with the reason in *why; the store is as it was, unless only the reply failed.
 */
int tcpstore_kv_execute(struct tcpstore_client *client,
                        const struct tcpstore_request *request,
                        struct tcpstore_out *reply, enum tcpstore_refusal *why);

/* A client's list of keys takes a step for so many of them, the first one at once. While
 * it is_listing its reply is not complete: nothing is to be taken from it nor added, no
 * request of the client to be carried out, and tcpstore_kv_list_on called with the same
 * reply. Keys that are there all the while are listed, once each. -1: as above. */
#define TCPSTORE_LIST_STEP 4096
int tcpstore_kv_list_on(struct tcpstore_client *client, struct tcpstore_out *reply,
                        enum tcpstore_refusal *why);

/* Tell a store with a time to live how late it is, on any clock that starts above 0 and
 * does not go back, and forget up to `most` of the keys whose time is over. A key is used
 * by every query that names it, and all the while that someone waits for it; the time is
 * that of the last call of this function. Returns whether more are to be forgotten. */
bool tcpstore_kv_expire(struct tcpstore_kv *kv, int64_t now_ms, size_t most);

struct tcpstore_usage {
    size_t keys; /* with a value */
    size_t bytes;
    size_t waits;     /* clients that wait */
    size_t addresses; /* that have clients or keys, in a store with limits for each */
    uint64_t expired; /* keys, since the store was opened */
};
void tcpstore_kv_usage(const struct tcpstore_kv *kv, struct tcpstore_usage *usage);

/* Up to `most` keys that have a value, or a queue (then value_len is the bytes in it);
 * where keys expire, those used last come first. */
void tcpstore_kv_each_key(const struct tcpstore_kv *kv, size_t most,
                          void (*each)(void *arg, const void *key, size_t key_len,
                                       size_t value_len),
                          void *arg);

/* Up to `most` keys that a client still waits for. */
void tcpstore_client_each_wait(const struct tcpstore_client *client, size_t most,
                               void (*each)(void *arg, const void *key, size_t key_len),
                               void *arg);

#endif
