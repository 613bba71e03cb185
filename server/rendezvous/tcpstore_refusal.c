/* tcpstore_refusal.c - why a TCPStore closes a connection, and a log of it that no client
 * can flood */
#include "server/rendezvous/tcpstore_refusal.h"

#include "common/base/log.h"
#include "common/base/time_scale.h"

#define INTERVAL_MS 10000

static const struct {
    const char *name, *sentence;
} refusals[TCPSTORE_REFUSALS] = {
    [TCPSTORE_NOT_REFUSED] = {"", ""},
    [TCPSTORE_ADDRESS_NOT_ALLOWED] =
        {"address_not_allowed",
         "its address may not connect (standing store: --rendezvous-allow; store of a "
         "case: the agent's --advertise)"},
    [TCPSTORE_STORE_CONNECTIONS] = {"store_connections",
                                    "the store has reached its limit of connections"},
    [TCPSTORE_WRONG_MAGIC] = {"wrong_magic",
                              "it sent a wrong magic number: not a TCPStore client"},
    [TCPSTORE_UNKNOWN_QUERY] =
        {"unknown_query", "it sent an unknown query: not a TCPStore client (a health "
                          "check, a scanner), or one of PyTorch 2.1"},
    [TCPSTORE_ADD_TO_TEXT] = {"add_to_text", "it adds to a value that is not a number"},
    [TCPSTORE_KEY_LENGTH] = {"key_length", "it sent a key over the limit of its length"},
    [TCPSTORE_VALUE_LENGTH] = {"value_length",
                               "it sent a value over the limit of its length"},
    [TCPSTORE_LIST_LENGTH] = {"list_length",
                              "it sent a list over the limit of its length"},
    [TCPSTORE_REPLY_SIZE] = {"reply_size", "the reply to it is too large to be sent"},
    [TCPSTORE_ID_BYTES] = {"id_bytes",
                           "the keys of its rendezvous id or prefix have reached their "
                           "limit of memory (--rendezvous-id-mib)"},
    [TCPSTORE_STORE_KEYS] = {"store_keys", "the store has reached its limit of keys"},
    [TCPSTORE_STORE_BYTES] = {"store_bytes", "the store has reached its limit of bytes"},
    [TCPSTORE_STORE_UNREAD] =
        {"store_unread", "the store's clients have too much sent in part or not read"},
    [TCPSTORE_SOCKET] = {"socket", "the server cannot read its socket"},
};

const char *tcpstore_refusal_name(enum tcpstore_refusal kind)
{
    return refusals[kind].name;
}

/* Returns whether a kind has a line in the interval that begins now. */
static bool log_rest(struct tcpstore_refusal_log *log)
{
    char text[PEER_TEXT_MAX];
    bool is_any = false;

    for (int kind = 0; kind < TCPSTORE_REFUSALS; kind++) {
        unsigned count = log->kinds[kind].unlogged;
        if (count)
            log_warn("rendezvous %s: %s refused: %s (%u more like it)", log->store_name,
                     peer_format(&log->kinds[kind].last, text), refusals[kind].sentence,
                     count);
        log->kinds[kind].unlogged = 0;
        log->kinds[kind].is_recent = count > 0;
        is_any |= count > 0;
    }
    return is_any;
}

static void on_interval(uv_timer_t *timer)
{
    struct tcpstore_refusal_log *log =
        (struct tcpstore_refusal_log *)((char *)timer -
                                        offsetof(struct tcpstore_refusal_log, timer));

    if (log_rest(log))
        uv_timer_start(timer, on_interval, scaled_ms(INTERVAL_MS), 0);
}

void tcpstore_refusal_log_add(struct tcpstore_refusal_log *log,
                              enum tcpstore_refusal kind, const struct peer *peer)
{
    char text[PEER_TEXT_MAX];

    if (log->kinds[kind].is_recent) {
        log->kinds[kind].unlogged++;
        log->kinds[kind].last = *peer;
        return;
    }
    log->kinds[kind].is_recent = true;
    log_warn("rendezvous %s: %s refused: %s", log->store_name, peer_format(peer, text),
             refusals[kind].sentence);
    if (!uv_is_active((uv_handle_t *)&log->timer))
        uv_timer_start(&log->timer, on_interval, scaled_ms(INTERVAL_MS), 0);
}

void tcpstore_refusal_log_end(struct tcpstore_refusal_log *log)
{
    log_rest(log);
}
