/* SPDX-License-Identifier: Apache-2.0 */
/* rendezvous.h - runs TCPStore servers on the uv loop: one for each case, each on a
 * separate port, and optionally a standing store */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_RENDEZVOUS_H
#define RINGBENCH_SERVER_RENDEZVOUS_RENDEZVOUS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "common/base/error.h"
#include "server/rendezvous/tcpstore_refusal.h"
#include "server/rendezvous/tcpstore_wire.h"

struct rendezvous;       /* the port range and all open stores */
struct rendezvous_store; /* one TCPStore */

struct rendezvous_config {
    /* address of the cases' stores; the port is ignored */
    struct sockaddr_storage listen;
    int port_low, port_high; /* port range; 0, 0: any free port */
    size_t max_keys;         /* limit for each store; 0: 65536 */
    /* memory limit for the keys and values of each store; 0: 256 MiB */
    size_t max_bytes;
    size_t max_connections; /* limit for each store; 0: 16384 */
};

struct rendezvous *rendezvous_create(uv_loop_t *loop,
                                     const struct rendezvous_config *config);

/* Close every store; `closed` runs on the loop when all handles are closed. */
void rendezvous_close(struct rendezvous *rendezvous, void (*closed)(void *arg),
                      void *arg);

/* Open a store on a free port of the range. allowed: numeric addresses that may connect,
 * copied; NULL: all addresses. A loopback address allows the loopback addresses of both
 * families. */
struct rendezvous_store *rendezvous_open(struct rendezvous *rendezvous, const char *name,
                                         const char *const *allowed, size_t n_allowed,
                                         struct error *err);

/* The standing store, which serves jobs with their own launcher until the server stops.
 * Unused keys expire. */
struct rendezvous_standing {
    const struct sockaddr_storage *listen; /* address and port; port 0: any free port */
    const char *allowed;                   /* "NETWORK,...": allowed clients; NULL: all */
    long ttl_s;      /* time to live of a key after its latest use */
    size_t id_bytes; /* memory limit for the keys of one rendezvous ID or prefix */
};
struct rendezvous_store *
rendezvous_open_standing(struct rendezvous *rendezvous,
                         const struct rendezvous_standing *standing, struct error *err);

int rendezvous_store_port(const struct rendezvous_store *store);

/* Return the store's secret. All keys of a case's ringbench workers begin with the secret
 * and a slash. The secret is random and never shown, so other clients of the store can
 * neither read nor set these keys. Borrowed; "" for the standing store. */
const char *rendezvous_store_secret(const struct rendezvous_store *store);

/* Close the store and its connections. The pointer becomes invalid. */
void rendezvous_store_close(struct rendezvous_store *store);

struct rendezvous_usage {
    size_t stores, connections, keys, bytes, parked_waits;
};

struct rendezvous_counters {
    struct rendezvous_usage cases, standing; /* current values */
    uint64_t expired_keys;
    uint64_t queries[TCPSTORE_QUERIES]; /* since the server's start */
    uint64_t refused[TCPSTORE_REFUSALS];
};
void rendezvous_counters(const struct rendezvous *rendezvous,
                         struct rendezvous_counters *out);

/* For each store, a description lists at most this many keys, clients and waits. The
 * counts are complete. */
#define RENDEZVOUS_SHOWN_MAX 1000
#define RENDEZVOUS_SHOWN_WAIT_KEYS_MAX 100

/* Return all stores, without values, as a new reference:
 * [{"name","standing","port","connections","key_count","bytes","ttl_s",
 * "keys":[{"key","bytes"}],"clients":[{"peer","protocol","since"}],
 * "waits":[{"peer","keys","missing","since"}]}]. */
json_t *rendezvous_describe(const struct rendezvous *rendezvous);

#endif
