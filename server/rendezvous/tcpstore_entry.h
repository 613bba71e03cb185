/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_entry.h - keeps the keys of a TCPStore with their values and queues, in a hash
 * table with memory limits. Used by tcpstore_kv only. */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_ENTRY_H
#define RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_ENTRY_H

#include "common/base/memory.h"
#define uthash_fatal(text) memory_out("a rendezvous store")
#include <uthash.h>

#include "server/rendezvous/tcpstore_kv.h"

struct queue_item {
    STAILQ_ENTRY(queue_item) link;
    size_t len;
    unsigned char data[];
};

/* A rendezvous ID or a prefix. Freed with its last entry. */
struct tcpstore_id {
    UT_hash_handle hh;
    size_t entries, bytes;
    unsigned char name[];
};

/* A key with a value, a queue or a waiting client. Without any of these, the entry is
 * freed. */
struct tcpstore_entry {
    UT_hash_handle hh;
    struct tcpstore_id *id; /* NULL in a store without a limit for each ID */
    int64_t used_ms;
    bool has_value;
    size_t len, capacity; /* length and allocated size of the value, bytes */
    struct tcpstore_value *value;
    STAILQ_HEAD(, queue_item) queue;
    size_t queue_len, queue_bytes;
    struct tcpstore_waits waits;
    unsigned char key[];
};

struct tcpstore_kv {
    struct tcpstore_entry *entries;
    struct tcpstore_id *ids;
    struct tcpstore_limits limits;
    const char *secret; /* borrowed */
    int64_t now_ms;     /* time of the latest call of tcpstore_kv_expire() */
    uint64_t seed, expired;
    size_t n_values, bytes, n_waiting;
    enum tcpstore_refusal why; /* reason for the latest failure */
};

/* Set the reason for a failure. Returns -1. */
static inline int tcpstore_refuse(struct tcpstore_kv *kv, enum tcpstore_refusal why)
{
    kv->why = why;
    return -1;
}

/* Check that another `bytes` bytes fit into the store and the ID (may be NULL). Returns
 * -1 with the reason in kv->why if they do not. */
int tcpstore_check_room(struct tcpstore_kv *kv, const struct tcpstore_id *id,
                        size_t bytes);

/* tcpstore_find() finds a key. tcpstore_find_or_add() also adds a missing key, and
 * returns NULL if a limit is reached. Both calls count as a use of the key. The caller
 * must pass an entry that stays empty to tcpstore_entry_drop(). */
struct tcpstore_entry *tcpstore_find(struct tcpstore_kv *kv, struct tcpstore_slice key);
struct tcpstore_entry *tcpstore_find_or_add(struct tcpstore_kv *kv,
                                            struct tcpstore_slice key);

/* Return true if the entry has a value or a non-empty queue. */
bool tcpstore_entry_exists(const struct tcpstore_entry *entry);

/* Free an entry if it has no value, queue or waiting client. */
void tcpstore_entry_drop(struct tcpstore_kv *kv, struct tcpstore_entry *entry);

/* Replace, extend or remove the value. A failure changes nothing. */
int tcpstore_entry_set(struct tcpstore_kv *kv, struct tcpstore_entry *entry,
                       struct tcpstore_slice value);
int tcpstore_entry_append(struct tcpstore_kv *kv, struct tcpstore_entry *entry,
                          struct tcpstore_slice value);
void tcpstore_entry_unset(struct tcpstore_kv *kv, struct tcpstore_entry *entry);

/* tcpstore_entry_push() appends a value to the queue. tcpstore_entry_pop() removes the
 * first value; the queue must not be empty. */
int tcpstore_entry_push(struct tcpstore_kv *kv, struct tcpstore_entry *entry,
                        struct tcpstore_slice value);
void tcpstore_entry_pop(struct tcpstore_kv *kv, struct tcpstore_entry *entry);

/* Return true if the key begins with the store's secret and a slash. */
bool tcpstore_entry_is_secret(const struct tcpstore_kv *kv,
                              const struct tcpstore_entry *entry);

/* Return the key without the secret and the slash. A new reference. */
json_t *tcpstore_entry_key_json(const struct tcpstore_kv *kv,
                                const struct tcpstore_entry *entry);

#endif
