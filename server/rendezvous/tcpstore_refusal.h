/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_refusal.h - why a TCPStore closes a connection, and a log of it that no client
 * can flood */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_REFUSAL_H
#define RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_REFUSAL_H

#include <stdint.h>

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

/* The log of one store's refusals, at most one line of each kind in 10 s. The next line
 * of the kind says how many were left out. Embedded in the store. */
struct tcpstore_refusal_log {
    const char *store_name; /* borrowed */
    struct {
        int64_t quiet_until_ns;
        unsigned unlogged;
    } kinds[TCPSTORE_REFUSALS];
};

void tcpstore_refusal_log_add(struct tcpstore_refusal_log *log,
                              enum tcpstore_refusal kind, const struct peer *peer);

/* Log how many are not logged yet. */
void tcpstore_refusal_log_end(const struct tcpstore_refusal_log *log);

#endif
