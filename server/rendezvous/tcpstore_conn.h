/* tcpstore_conn.h - one client's connection to a TCPStore: reading, executing, writing,
 * and holding back who sends more than it reads */
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

/* What the connections of one store share. Embedded in the store. */
struct tcpstore_host {
    uv_loop_t *loop;
    struct tcpstore_kv *kv; /* NULL once the store is closed */
    bool is_counted;        /* the store has limits for each address */
    size_t max_bytes; /* of all that is received but not complete, or not yet sent */
    size_t buffered;  /* such bytes now */
    struct rendezvous_counters *counters;
    char *read_buffer; /* TCPSTORE_READ_BYTES, shared by the whole loop */
    struct tcpstore_conn_list conns;
    size_t n_conns;
    struct tcpstore_conn_list dirty; /* have something to send */
    uv_idle_t lister; /* active while lists of keys are made; the store's handle */
    struct tcpstore_refusal_log refusals;
    void (*conn_closed)(struct tcpstore_host *host); /* a handle is gone */
};

/* Go on with the lists of keys that are being made, a step each: once in a turn of the
 * loop. */
void tcpstore_host_list(uv_idle_t *lister);

/* Serve an accepted socket, which is taken also on failure. host->conn_closed runs once
 * for each call, in the end. */
int tcpstore_conn_create(struct tcpstore_host *host, int fd, const struct peer *peer,
                         enum tcpstore_refusal *why);

/* Close without a word. The connection leaves the host's lists at once. */
void tcpstore_conn_close(struct tcpstore_conn *conn);

/* The client as JSON; the second: its wait, or NULL when it does not wait. New
 * references. */
json_t *tcpstore_conn_describe(const struct tcpstore_conn *conn);
json_t *tcpstore_conn_describe_wait(const struct tcpstore_conn *conn);
struct tcpstore_conn *tcpstore_conn_next(const struct tcpstore_conn *conn);

/* A key as a JSON string, without the store's secret; bytes that JSON can't hold are
 * shown as question marks. */
json_t *tcpstore_key_json(const struct tcpstore_kv *kv, const void *key, size_t len);

/* Count and log that a client is refused. */
void tcpstore_host_refused(struct tcpstore_host *host, const struct peer *peer,
                           enum tcpstore_refusal why);

#endif
