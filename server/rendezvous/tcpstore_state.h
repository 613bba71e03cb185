/* tcpstore_state.h - what a TCPStore consists of, and what that takes */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_STATE_H
#define RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_STATE_H

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element) ((element)->is_lost = true)
#include <uthash.h>

#include "server/rendezvous/tcpstore_kv.h"

struct queue_item {
    STAILQ_ENTRY(queue_item) link;
    size_t len;
    unsigned char data[];
};

TAILQ_HEAD(wait_list, tcpstore_wait);
TAILQ_HEAD(entry_list, tcpstore_entry);
TAILQ_HEAD(listing_list, tcpstore_listing);

/* Lives while it has a value, a queue or someone waiting. */
struct tcpstore_entry {
    UT_hash_handle hh;
    TAILQ_ENTRY(tcpstore_entry) by_use; /* where keys expire */
    int64_t used_ms;
    struct tcpstore_account *account; /* whom it is charged to, or NULL */
    bool has_value, is_lost;
    size_t len, capacity; /* of value */
    struct tcpstore_value *value;
    STAILQ_HEAD(, queue_item) queue;
    size_t queue_len, queue_bytes;
    struct wait_list waits;
    unsigned char key[];
};

struct tcpstore_kv {
    struct tcpstore_entry *entries;
    struct tcpstore_account *accounts; /* by address */
    struct entry_list by_use;          /* the one used last at the end */
    struct listing_list listings;      /* under way */
    int64_t now_ms;                    /* as of the last tcpstore_kv_expire */
    struct tcpstore_limits limits;
    char secret[TCPSTORE_SECRET_MAX + 1];
    uint64_t seed, expired;
    size_t n_entries, n_values, bytes, n_waits, n_waiting;
};

/* Differs from store to store, so that nobody can aim at one bucket. */
unsigned tcpstore_hash(const struct tcpstore_kv *kv, const unsigned char *key,
                       size_t len);

/* What an entry costs beside its value, and with all that it has. */
size_t tcpstore_entry_cost(size_t key_len);
size_t tcpstore_entry_bytes(const struct tcpstore_entry *entry);

#endif
