/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_refusal.h - names and logs the reasons why a TCPStore closes a connection */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_REFUSAL_H
#define RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_REFUSAL_H

#include <stdint.h>

#include "server/rendezvous/rendezvous_peer.h"

enum tcpstore_refusal {
    TCPSTORE_NOT_REFUSED,
    /* refusals before any byte is read */
    TCPSTORE_ADDRESS_NOT_ALLOWED,
    TCPSTORE_STORE_CONNECTIONS,
    /* violations of the protocol */
    TCPSTORE_WRONG_MAGIC,
    TCPSTORE_UNKNOWN_QUERY,
    TCPSTORE_ADD_TO_TEXT,
    /* exceeded limits of a request or a reply */
    TCPSTORE_KEY_LENGTH,
    TCPSTORE_VALUE_LENGTH,
    TCPSTORE_LIST_LENGTH,
    TCPSTORE_REPLY_SIZE,
    /* exceeded limits of a rendezvous ID or a store */
    TCPSTORE_ID_BYTES,
    TCPSTORE_STORE_KEYS,
    TCPSTORE_STORE_BYTES,
    TCPSTORE_STORE_UNREAD,
    /* errors of the server */
    TCPSTORE_SOCKET,
    TCPSTORE_REFUSALS
};

/* Return the reason's name, for use as a metric label. */
const char *tcpstore_refusal_name(enum tcpstore_refusal kind);

/* The rate limit for one store's log of refusals: at most one line for each reason in 10
 * s. The next line reports the number of omitted lines. Embedded in the store. */
struct tcpstore_refusal_log {
    const char *store_name; /* borrowed */
    struct {
        int64_t quiet_until_ns;
        unsigned unlogged;
    } kinds[TCPSTORE_REFUSALS];
};

void tcpstore_refusal_log_add(struct tcpstore_refusal_log *log,
                              enum tcpstore_refusal kind, const struct peer *peer);

/* Log how many refusals were omitted, for each reason. */
void tcpstore_refusal_log_end(const struct tcpstore_refusal_log *log);

#endif
