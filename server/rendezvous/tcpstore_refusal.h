/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_refusal.h - reasons why a TCPStore closes a connection, and their rate-limited
 * log */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_REFUSAL_H
#define RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_REFUSAL_H

#include <stdint.h>

#include "server/rendezvous/rendezvous_peer.h"

enum tcpstore_refusal {
    TCPSTORE_NOT_REFUSED,
    /* refused before a byte is read */
    TCPSTORE_ADDRESS_NOT_ALLOWED,
    TCPSTORE_STORE_CONNECTIONS,
    /* violations of the protocol */
    TCPSTORE_WRONG_MAGIC,
    TCPSTORE_UNKNOWN_QUERY,
    TCPSTORE_ADD_TO_TEXT,
    /* limits of lengths in a request or of a reply */
    TCPSTORE_KEY_LENGTH,
    TCPSTORE_VALUE_LENGTH,
    TCPSTORE_LIST_LENGTH,
    TCPSTORE_REPLY_SIZE,
    /* limits of a rendezvous id and of a store */
    TCPSTORE_ID_BYTES,
    TCPSTORE_STORE_KEYS,
    TCPSTORE_STORE_BYTES,
    TCPSTORE_STORE_UNREAD,
    /* errors of the server */
    TCPSTORE_SOCKET,
    TCPSTORE_REFUSALS
};

/* The reason's name in the metric's label. */
const char *tcpstore_refusal_name(enum tcpstore_refusal kind);

/* The log of one store's refusals: at most one line per reason in 10 s. The next line
 * reports the number of omitted lines. Embedded in the store. */
struct tcpstore_refusal_log {
    const char *store_name; /* borrowed */
    struct {
        int64_t quiet_until_ns;
        unsigned unlogged;
    } kinds[TCPSTORE_REFUSALS];
};

void tcpstore_refusal_log_add(struct tcpstore_refusal_log *log,
                              enum tcpstore_refusal kind, const struct peer *peer);

/* Log the numbers of omitted refusals. */
void tcpstore_refusal_log_end(const struct tcpstore_refusal_log *log);

#endif
