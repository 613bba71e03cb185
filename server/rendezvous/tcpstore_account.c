/* tcpstore_account.c - what the clients of one address have in a TCPStore */
#include "server/rendezvous/tcpstore_account.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void drop_if_empty(struct tcpstore_kv *kv, struct tcpstore_account *account)
{
    if (account->clients || account->keys)
        return;
    HASH_DEL(kv->accounts, account);
    free(account);
}

static struct tcpstore_account *add(struct tcpstore_kv *kv, const void *address,
                                    unsigned hash, enum tcpstore_refusal *why)
{
    struct tcpstore_account *account = calloc(1, sizeof(*account));

    if (account) {
        memcpy(account->address, address, sizeof(account->address));
        HASH_ADD_KEYPTR_BYHASHVALUE(hh, kv->accounts, account->address,
                                    sizeof(account->address), hash, account);
    }
    if (account && !account->is_lost)
        return account;
    free(account);
    tcpstore_refuse(why, TCPSTORE_MEMORY);
    return NULL;
}

struct tcpstore_account *tcpstore_account_enter(struct tcpstore_kv *kv,
                                                const void *address,
                                                enum tcpstore_refusal *why)
{
    unsigned hash = tcpstore_hash(kv, address, TCPSTORE_ADDRESS_BYTES);
    struct tcpstore_account *account;

    HASH_FIND_BYHASHVALUE(hh, kv->accounts, address, TCPSTORE_ADDRESS_BYTES, hash,
                          account);
    if (!account)
        account = add(kv, address, hash, why);
    if (account && account->clients >= kv->limits.each.clients) {
        tcpstore_refuse(why, TCPSTORE_ADDRESS_CONNECTIONS);
        return NULL;
    }
    if (account)
        account->clients++;
    return account;
}

void tcpstore_account_leave(struct tcpstore_kv *kv, struct tcpstore_account *account)
{
    assert(account->clients > 0);
    account->clients--;
    drop_if_empty(kv, account);
}

int tcpstore_account_check(const struct tcpstore_kv *kv,
                           const struct tcpstore_account *account, size_t keys,
                           size_t bytes, enum tcpstore_refusal *why)
{
    const struct tcpstore_each *each = &kv->limits.each;

    if (!account)
        return 0;
    if (keys > each->keys || account->keys > each->keys - keys)
        return tcpstore_refuse(why, TCPSTORE_ADDRESS_KEYS);
    if (bytes > each->bytes || account->bytes > each->bytes - bytes)
        return tcpstore_refuse(why, TCPSTORE_ADDRESS_BYTES);
    return 0;
}

void tcpstore_charge(struct tcpstore_kv *kv, struct tcpstore_account *account,
                     ptrdiff_t bytes)
{
    /* What is given back was charged before, here and there. */
    assert(bytes >= 0 || kv->bytes >= (size_t)-bytes);
    assert(bytes >= 0 || !account || account->bytes >= (size_t)-bytes);
    kv->bytes += (size_t)bytes;
    if (account)
        account->bytes += (size_t)bytes;
}

void tcpstore_account_adopt(struct tcpstore_kv *kv, struct tcpstore_account *account,
                            struct tcpstore_entry *entry)
{
    struct tcpstore_account *before = entry->account;
    size_t bytes = tcpstore_entry_bytes(entry);

    entry->account = account;
    if (account) {
        account->keys++;
        account->bytes += bytes;
    }
    if (before) {
        before->keys--;
        before->bytes -= bytes;
        drop_if_empty(kv, before);
    }
}
