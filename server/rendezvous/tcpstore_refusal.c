/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_refusal.c - names and logs the reasons why a TCPStore closes a connection */
#include "server/rendezvous/tcpstore_refusal.h"

#include <stdio.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/time_scale.h"

#define QUIET_NS INT64_C(10000000000)

static const struct {
    const char *name, *sentence;
} refusals[TCPSTORE_REFUSALS] = {
    [TCPSTORE_NOT_REFUSED] = {"", ""},
    [TCPSTORE_ADDRESS_NOT_ALLOWED] =
        {"address_not_allowed",
         "its address is not allowed (standing store: --rendezvous-allow; a case's "
         "store: the agent's --advertise)"},
    [TCPSTORE_STORE_CONNECTIONS] = {"store_connections",
                                    "the store has reached its limit of connections"},
    [TCPSTORE_WRONG_MAGIC] = {"wrong_magic",
                              "it sent a wrong magic number: not a TCPStore client"},
    [TCPSTORE_UNKNOWN_QUERY] = {"unknown_query",
                                "it sent an unknown query: not a TCPStore client "
                                "(perhaps a health check or a scanner), or a client of "
                                "PyTorch 2.1"},
    [TCPSTORE_ADD_TO_TEXT] = {"add_to_text",
                              "it sent ADD for a value that is not a number"},
    [TCPSTORE_KEY_LENGTH] = {"key_length", "it sent a key that exceeds the length limit"},
    [TCPSTORE_VALUE_LENGTH] = {"value_length",
                               "it sent a value that exceeds the length limit"},
    [TCPSTORE_LIST_LENGTH] = {"list_length",
                              "it sent a list that exceeds the length limit"},
    [TCPSTORE_REPLY_SIZE] = {"reply_size", "its reply exceeds the size limit"},
    [TCPSTORE_ID_BYTES] = {"id_bytes",
                           "the keys of its rendezvous id or prefix have reached their "
                           "memory limit (--rendezvous-id-mib)"},
    [TCPSTORE_STORE_KEYS] = {"store_keys", "the store has reached its limit of keys"},
    [TCPSTORE_STORE_BYTES] = {"store_bytes", "the store has reached its limit of bytes"},
    [TCPSTORE_STORE_UNREAD] = {"store_unread",
                               "the store's clients have too many bytes in incomplete "
                               "requests and unread replies"},
    [TCPSTORE_SOCKET] = {"socket", "the server cannot read its socket"},
};

const char *tcpstore_refusal_name(enum tcpstore_refusal kind)
{
    return refusals[kind].name;
}

void tcpstore_refusal_log_add(struct tcpstore_refusal_log *log,
                              enum tcpstore_refusal kind, const struct peer *peer)
{
    int64_t now_ns = clock_monotonic_ns();
    char text[PEER_TEXT_MAX], more[40] = "";

    if (now_ns < log->kinds[kind].quiet_until_ns) {
        log->kinds[kind].unlogged++;
        return;
    }
    if (log->kinds[kind].unlogged)
        snprintf(more, sizeof(more), " (%u more since the last message)",
                 log->kinds[kind].unlogged);
    log_warn("rendezvous %s: %s refused: %s%s", log->store_name, peer_format(peer, text),
             refusals[kind].sentence, more);
    log->kinds[kind].unlogged = 0;
    log->kinds[kind].quiet_until_ns = now_ns + scaled_ns(QUIET_NS);
}

void tcpstore_refusal_log_end(const struct tcpstore_refusal_log *log)
{
    for (int kind = 0; kind < TCPSTORE_REFUSALS; kind++)
        if (log->kinds[kind].unlogged)
            log_warn("rendezvous %s: %u more refused: %s", log->store_name,
                     log->kinds[kind].unlogged, refusals[kind].sentence);
}
