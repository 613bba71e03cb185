/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_conn.h - one client's connection to a TCPStore: reading, executing, writing,
 * and holding back a client that asks for more than it reads */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_CONN_H
#define RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_CONN_H

#include <sys/queue.h>
#include <uv.h>

#include "server/rendezvous/rendezvous.h"
#include "server/rendezvous/rendezvous_peer.h"
#include "server/rendezvous/tcpstore_kv.h"

#define TCPSTORE_READ_BYTES 65536

struct tcpstore_conn;
TAILQ_HEAD(tcpstore_conn_list, tcpstore_conn);

/* Shared by the connections of one store. Embedded in the store. */
struct tcpstore_host {
    uv_loop_t *loop;
    struct tcpstore_kv *kv; /* NULL once the store is closed */
    size_t max_bytes; /* of all that is received and not executed, or not yet sent */
    size_t buffered;  /* such bytes now */
    struct rendezvous_counters *counters;
    char *read_buffer; /* TCPSTORE_READ_BYTES, shared by the whole loop */
    struct tcpstore_conn_list conns;
    size_t n_conns;
    struct tcpstore_conn_list dirty; /* have something to send */
    struct tcpstore_refusal_log refusals;
    void (*conn_closed)(struct tcpstore_host *host); /* a handle is gone */
};

/* Serve an accepted socket, which is taken on success; host->conn_closed runs then once,
 * in the end. */
int tcpstore_conn_create(struct tcpstore_host *host, int fd, const struct peer *peer);

/* Close without a word. The connection leaves the host's lists at once. */
void tcpstore_conn_close(struct tcpstore_conn *conn);

/* The store's clients, and those that wait, as rendezvous_describe() has them. New
 * references. */
json_t *tcpstore_host_clients_json(const struct tcpstore_host *host);
json_t *tcpstore_host_waits_json(const struct tcpstore_host *host);

/* Count and log that a client is refused. */
void tcpstore_host_refused(struct tcpstore_host *host, const struct peer *peer,
                           enum tcpstore_refusal why);

#endif
