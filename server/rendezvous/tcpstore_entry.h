/* tcpstore_entry.h - the inside of tcpstore_kv: keys with their values and queues, in a
 * hash table that bounds what it holds */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_ENTRY_H
#define RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_ENTRY_H

#include "server/rendezvous/tcpstore_state.h"

/* Whether so much more fits into the store and on the account (or NULL). */
int tcpstore_check_room(const struct tcpstore_kv *kv,
                        const struct tcpstore_account *account, size_t bytes,
                        enum tcpstore_refusal *why);

/* Both count as a use. */
struct tcpstore_entry *tcpstore_find(struct tcpstore_kv *kv, struct tcpstore_slice key);

/* For one who writes or waits: the entry is on its account then. NULL with the reason
 * when a limit is reached. An entry on which nothing is hung then must be given to
 * tcpstore_entry_drop. */
struct tcpstore_entry *tcpstore_find_or_add(struct tcpstore_kv *kv,
                                            struct tcpstore_account *account,
                                            struct tcpstore_slice key,
                                            enum tcpstore_refusal *why);

void tcpstore_entry_use(struct tcpstore_kv *kv, struct tcpstore_entry *entry);

/* A value or a non-empty queue. */
bool tcpstore_entry_exists(const struct tcpstore_entry *entry);

/* Free an entry that nothing hangs on any more. */
void tcpstore_entry_drop(struct tcpstore_kv *kv, struct tcpstore_entry *entry);

/* Forget the value of an entry that has one. */
void tcpstore_entry_unset(struct tcpstore_kv *kv, struct tcpstore_entry *entry);

/* Give the value exactly `capacity` bytes of memory. */
int tcpstore_entry_resize(struct tcpstore_kv *kv, struct tcpstore_entry *entry,
                          size_t capacity, enum tcpstore_refusal *why);

/* Replace the value. A failure changes nothing. */
int tcpstore_entry_set(struct tcpstore_kv *kv, struct tcpstore_entry *entry,
                       struct tcpstore_slice value, enum tcpstore_refusal *why);

/* Put a value at the end of the queue. A failure changes nothing. */
int tcpstore_entry_push(struct tcpstore_kv *kv, struct tcpstore_entry *entry,
                        struct tcpstore_slice value, enum tcpstore_refusal *why);
/* Forget the first of a queue that has one. */
void tcpstore_entry_pop(struct tcpstore_kv *kv, struct tcpstore_entry *entry);

#endif
