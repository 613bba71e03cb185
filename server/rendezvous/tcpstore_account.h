/* tcpstore_account.h - what the clients of one address have in a TCPStore, so that none
 * can fill it alone */
#ifndef RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_ACCOUNT_H
#define RINGBENCH_SERVER_RENDEZVOUS_TCPSTORE_ACCOUNT_H

#include "server/rendezvous/tcpstore_state.h"

/* Lives while it has a client or a key. */
struct tcpstore_account {
    UT_hash_handle hh;
    bool is_lost;
    size_t clients;
    size_t keys;  /* entries that its clients wrote or waited for last */
    size_t bytes; /* of these, and of its clients' waits */
    size_t held;  /* by the server, outside of the store */
    unsigned char address[TCPSTORE_ADDRESS_BYTES];
};

/* Count one more client of the address. NULL with the reason when that is one too many.
 */
struct tcpstore_account *tcpstore_account_enter(struct tcpstore_kv *kv,
                                                const void *address,
                                                enum tcpstore_refusal *why);

/* One client less. */
void tcpstore_account_leave(struct tcpstore_kv *kv, struct tcpstore_account *account);

/* Whether the account, which may be NULL, may have so many more keys and bytes. */
int tcpstore_account_check(const struct tcpstore_kv *kv,
                           const struct tcpstore_account *account, size_t keys,
                           size_t bytes, enum tcpstore_refusal *why);

/* Bytes more (or, below zero, less) for the store and for the account, which may be NULL.
 */
void tcpstore_charge(struct tcpstore_kv *kv, struct tcpstore_account *account,
                     ptrdiff_t bytes);

/* Put a new entry on an account, or one from another's; NULL: on none. */
void tcpstore_account_adopt(struct tcpstore_kv *kv, struct tcpstore_account *account,
                            struct tcpstore_entry *entry);

#endif
