/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_conn.h - serves one client's connection to a TCPStore: reading, executing,
 * writing, and back-pressure on a client that does not read its replies */
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

/* State that all connections of one store share. Embedded in the store. */
struct tcpstore_host {
    uv_loop_t *loop;
    struct tcpstore_kv *kv; /* NULL once the store is closed */
    size_t max_bytes;       /* limit of `buffered` */
    /* number of bytes received but not executed, plus bytes not sent yet */
    size_t buffered;
    struct rendezvous_counters *counters;
    char *read_buffer; /* buffer of TCPSTORE_READ_BYTES, shared by the whole loop */
    struct tcpstore_conn_list conns;
    size_t n_conns;
    struct tcpstore_conn_list dirty; /* connections to flush */
    struct tcpstore_refusal_log refusals;
    void (*conn_closed)(
        struct tcpstore_host *host); /* called when a connection's handle is closed */
};

/* Serve an accepted socket and, on success, take ownership of it. After the connection
 * ends, host->conn_closed is called once. */
int tcpstore_conn_create(struct tcpstore_host *host, int fd, const struct peer *peer);

/* Close the connection without a reply, and remove it from the host's lists at once. */
void tcpstore_conn_close(struct tcpstore_conn *conn);

/* Return all clients of the store, or only its waiting clients, for
 * rendezvous_describe(). New references. */
json_t *tcpstore_host_clients_json(const struct tcpstore_host *host);
json_t *tcpstore_host_waits_json(const struct tcpstore_host *host);

/* Count and log a refused client. */
void tcpstore_host_refused(struct tcpstore_host *host, const struct peer *peer,
                           enum tcpstore_refusal why);

#endif
