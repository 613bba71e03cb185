/* tcpstore_refusal.h - why a TCPStore closes a connection, and a log of it that no client
 * can flood */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_REFUSAL_H
#define RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_REFUSAL_H

#include <uv.h>

#include "server/rendezvous/rendezvous_peer.h"

enum tcpstore_refusal {
    TCPSTORE_NOT_REFUSED,
    /* by address, before a byte is read */
    TCPSTORE_ADDRESS_NOT_ALLOWED,
    TCPSTORE_STORE_CONNECTIONS,
    /* not the protocol */
    TCPSTORE_WRONG_MAGIC,
    TCPSTORE_UNKNOWN_QUERY,
    TCPSTORE_ADD_TO_TEXT,
    /* lengths in a request, or of a reply */
    TCPSTORE_KEY_LENGTH,
    TCPSTORE_VALUE_LENGTH,
    TCPSTORE_LIST_LENGTH,
    TCPSTORE_REPLY_SIZE,
    /* limits of a rendezvous id and of a store */
    TCPSTORE_ID_BYTES,
    TCPSTORE_STORE_KEYS,
    TCPSTORE_STORE_BYTES,
    TCPSTORE_STORE_UNREAD,
    /* an error of the server's */
    TCPSTORE_SOCKET,
    TCPSTORE_REFUSALS
};

/* The kind's name, as the metric's label has it. */
const char *tcpstore_refusal_name(enum tcpstore_refusal kind);

/* The log of one store. The first refusal of a kind is logged at once; those that follow
 * are logged together, each kind in a line of its own, when 10 s are over. Embedded in
 * the store; its timer is the store's handle. */
struct tcpstore_refusal_log {
    uv_timer_t timer;
    const char *store_name; /* borrowed */
    struct {
        bool is_recent; /* has a line since the timer last ended */
        unsigned unlogged;
        struct peer last;
    } kinds[TCPSTORE_REFUSALS];
};

void tcpstore_refusal_log_add(struct tcpstore_refusal_log *log,
                              enum tcpstore_refusal kind, const struct peer *peer);

/* Log what is not logged yet; before the timer is closed. */
void tcpstore_refusal_log_end(struct tcpstore_refusal_log *log);

#endif
