/* tcpstore_entry.h - the inside of tcpstore_kv: keys with their values and queues, in a
 * hash table that bounds what it holds */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_ENTRY_H
#define RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_ENTRY_H

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

/* Lives while it has a value, a queue or someone waiting. */
struct tcpstore_entry {
    UT_hash_handle hh;
    TAILQ_ENTRY(tcpstore_entry) by_use; /* where keys expire */
    int64_t used_ms;
    struct tcpstore_account *account; /* whom it is charged to, or NULL */
    bool has_value, is_lost;
    size_t len, capacity; /* of value */
    unsigned char *value;
    STAILQ_HEAD(, queue_item) queue;
    size_t queue_len, queue_bytes;
    struct wait_list waits;
    unsigned char key[];
};

struct tcpstore_kv {
    struct tcpstore_entry *entries;
    struct tcpstore_account *accounts; /* by address */
    struct entry_list by_use;          /* the one used last at the end */
    int64_t now_ms;                    /* as of the last tcpstore_kv_expire */
    struct tcpstore_limits limits;
    uint64_t seed, expired;
    size_t n_entries, n_values, bytes, n_waits, n_waiting;
};

/* Differs from store to store, so that nobody can aim at one bucket. */
unsigned tcpstore_hash(const struct tcpstore_kv *kv, const unsigned char *key,
                       size_t len);

/* Whether so much more fits into the store and on the account (or NULL). */
int tcpstore_check_room(const struct tcpstore_kv *kv,
                        const struct tcpstore_account *account, size_t bytes,
                        struct error *err);

/* Both count as a use. */
struct tcpstore_entry *tcpstore_find(struct tcpstore_kv *kv, struct tcpstore_slice key);

/* For one who writes or waits: the entry is on its account then. NULL with the reason
 * when a limit is reached. An entry on which nothing is hung then must be given to
 * tcpstore_entry_drop. */
struct tcpstore_entry *tcpstore_find_or_add(struct tcpstore_kv *kv,
                                            struct tcpstore_account *account,
                                            struct tcpstore_slice key, struct error *err);

void tcpstore_entry_use(struct tcpstore_kv *kv, struct tcpstore_entry *entry);

/* A value or a non-empty queue. */
bool tcpstore_entry_exists(const struct tcpstore_entry *entry);

/* What an entry costs beside its value, and with all that it has. */
size_t tcpstore_entry_cost(size_t key_len);
size_t tcpstore_entry_bytes(const struct tcpstore_entry *entry);

/* Free an entry that nothing hangs on any more. */
void tcpstore_entry_drop(struct tcpstore_kv *kv, struct tcpstore_entry *entry);

/* Forget the value of an entry that has one. */
void tcpstore_entry_unset(struct tcpstore_kv *kv, struct tcpstore_entry *entry);

/* Give the value exactly `capacity` bytes of memory. */
int tcpstore_entry_resize(struct tcpstore_kv *kv, struct tcpstore_entry *entry,
                          size_t capacity, struct error *err);

/* Replace the value. A failure changes nothing. */
int tcpstore_entry_set(struct tcpstore_kv *kv, struct tcpstore_entry *entry,
                       struct tcpstore_slice value, struct error *err);

/* Put a value at the end of the queue. A failure changes nothing. */
int tcpstore_entry_push(struct tcpstore_kv *kv, struct tcpstore_entry *entry,
                        struct tcpstore_slice value, struct error *err);
/* Forget the first of a queue that has one. */
void tcpstore_entry_pop(struct tcpstore_kv *kv, struct tcpstore_entry *entry);

#endif
