/* tcpstore_state.c - what a TCPStore consists of, and what that takes */
#include "server/rendezvous/tcpstore_state.h"

#include <string.h>

unsigned tcpstore_hash(const struct tcpstore_kv *kv, const unsigned char *key, size_t len)
{
    const uint64_t factor = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t hash = kv->seed ^ (len * factor), word;

    for (; len >= sizeof(word); key += sizeof(word), len -= sizeof(word)) {
        memcpy(&word, key, sizeof(word));
        hash = (hash ^ word) * factor;
        hash ^= hash >> 29;
    }
    word = 0;
    memcpy(&word, key, len);
    hash = (hash ^ word) * factor;
    hash ^= hash >> 32;
    return (unsigned)(hash * factor >> 32);
}

size_t tcpstore_entry_cost(size_t key_len)
{
    return sizeof(struct tcpstore_entry) + key_len;
}

size_t tcpstore_entry_bytes(const struct tcpstore_entry *entry)
{
    return tcpstore_entry_cost(entry->hh.keylen) + entry->capacity + entry->queue_bytes +
           entry->queue_len * sizeof(struct queue_item);
}
