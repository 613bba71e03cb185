/* tcpstore_entry.c - the inside of tcpstore_kv: keys with their values and queues */
#include "server/rendezvous/tcpstore_entry.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct tcpstore_kv *tcpstore_kv_create(const struct tcpstore_limits *limits)
{
    struct tcpstore_kv *kv = calloc(1, sizeof(*kv));

    if (!kv)
        return NULL;
    kv->limits = *limits;
    /* An unseeded hash is as correct, only easier to provoke. */
    if (getrandom(&kv->seed, sizeof(kv->seed), GRND_NONBLOCK) < 0)
        kv->seed = 0;
    return kv;
}

static unsigned hash_key(uint64_t seed, const unsigned char *key, size_t len)
{
    const uint64_t factor = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t hash = seed ^ (len * factor), word;

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

struct tcpstore_entry *tcpstore_find(struct tcpstore_kv *kv, struct tcpstore_slice key)
{
    struct tcpstore_entry *entry;
    unsigned hash = hash_key(kv->seed, key.data, key.len);

    HASH_FIND_BYHASHVALUE(hh, kv->entries, key.data, key.len, hash, entry);
    return entry;
}

bool tcpstore_entry_exists(const struct tcpstore_entry *entry)
{
    return entry && (entry->has_value || entry->queue_len);
}

size_t tcpstore_entry_cost(size_t key_len)
{
    return sizeof(struct tcpstore_entry) + key_len;
}

static void entry_free(struct tcpstore_kv *kv, struct tcpstore_entry *entry)
{
    HASH_DEL(kv->entries, entry);
    kv->n_entries--;
    kv->bytes -= tcpstore_entry_cost(entry->hh.keylen) + entry->capacity;
    free(entry->value);
    free(entry);
}

void tcpstore_entry_drop(struct tcpstore_kv *kv, struct tcpstore_entry *entry)
{
    if (!entry->has_value && !entry->queue_len && TAILQ_EMPTY(&entry->waits))
        entry_free(kv, entry);
}

bool tcpstore_has_room(const struct tcpstore_kv *kv, size_t bytes)
{
    return bytes <= kv->limits.max_bytes && kv->bytes <= kv->limits.max_bytes - bytes;
}

int tcpstore_no_room(struct error *err)
{
    return error_set(err, ERROR_LIMIT, "the store has reached its limit of bytes");
}

struct tcpstore_entry *tcpstore_find_or_add(struct tcpstore_kv *kv,
                                            struct tcpstore_slice key, struct error *err)
{
    unsigned hash = hash_key(kv->seed, key.data, key.len);
    struct tcpstore_entry *entry;

    HASH_FIND_BYHASHVALUE(hh, kv->entries, key.data, key.len, hash, entry);
    if (entry)
        return entry;
    if (kv->n_entries >= kv->limits.max_keys) {
        error_set(err, ERROR_LIMIT, "the store has reached its limit of keys");
        return NULL;
    }
    if (!tcpstore_has_room(kv, tcpstore_entry_cost(key.len))) {
        tcpstore_no_room(err);
        return NULL;
    }
    entry = calloc(1, sizeof(*entry) + key.len);
    if (!entry) {
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    memcpy(entry->key, key.data, key.len);
    STAILQ_INIT(&entry->queue);
    TAILQ_INIT(&entry->waits);
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, kv->entries, entry->key, key.len, hash, entry);
    if (entry->is_lost) {
        free(entry);
        error_set(err, ERROR_MEMORY, "out of memory");
        return NULL;
    }
    kv->n_entries++;
    kv->bytes += tcpstore_entry_cost(key.len);
    return entry;
}

int tcpstore_entry_resize(struct tcpstore_kv *kv, struct tcpstore_entry *entry,
                          size_t capacity, struct error *err)
{
    unsigned char *value;

    if (capacity > entry->capacity && !tcpstore_has_room(kv, capacity - entry->capacity))
        return tcpstore_no_room(err);
    value = realloc(entry->value, capacity ? capacity : 1);
    if (!value)
        return error_set(err, ERROR_MEMORY, "out of memory");
    kv->bytes += capacity - entry->capacity;
    entry->value = value;
    entry->capacity = capacity;
    return 0;
}

/* Memory for a value of len bytes, giving back what a much longer one had. */
static int fit_value(struct tcpstore_kv *kv, struct tcpstore_entry *entry, size_t len,
                     struct error *err)
{
    if (entry->value && len <= entry->capacity && entry->capacity / 4 <= len + 16)
        return 0;
    return tcpstore_entry_resize(kv, entry, len, err);
}

int tcpstore_entry_set(struct tcpstore_kv *kv, struct tcpstore_entry *entry,
                       struct tcpstore_slice value, struct error *err)
{
    if (fit_value(kv, entry, value.len, err) < 0)
        return -1;
    memcpy(entry->value, value.data, value.len);
    entry->len = value.len;
    kv->n_values += !entry->has_value;
    entry->has_value = true;
    return 0;
}

/* ---- Queues ---- */

int tcpstore_entry_push(struct tcpstore_kv *kv, struct tcpstore_entry *entry,
                        struct tcpstore_slice value, struct error *err)
{
    struct queue_item *item;

    if (!tcpstore_has_room(kv, sizeof(*item) + value.len))
        return tcpstore_no_room(err);
    item = malloc(sizeof(*item) + value.len);
    if (!item)
        return error_set(err, ERROR_MEMORY, "out of memory");
    item->len = value.len;
    memcpy(item->data, value.data, value.len);
    STAILQ_INSERT_TAIL(&entry->queue, item, link);
    entry->queue_len++;
    entry->queue_bytes += value.len;
    kv->bytes += sizeof(*item) + value.len;
    return 0;
}

void tcpstore_entry_pop(struct tcpstore_kv *kv, struct tcpstore_entry *entry)
{
    struct queue_item *item = STAILQ_FIRST(&entry->queue);

    STAILQ_REMOVE_HEAD(&entry->queue, link);
    entry->queue_len--;
    entry->queue_bytes -= item->len;
    kv->bytes -= sizeof(*item) + item->len;
    free(item);
}

/* ---- The whole ---- */

void tcpstore_kv_usage(const struct tcpstore_kv *kv, struct tcpstore_usage *usage)
{
    usage->keys = kv->n_values;
    usage->bytes = kv->bytes;
    usage->waits = kv->n_waiting;
}

void tcpstore_kv_each_key(const struct tcpstore_kv *kv,
                          void (*each)(void *arg, const void *key, size_t key_len,
                                       size_t value_len),
                          void *arg)
{
    const struct tcpstore_entry *entry;

    for (entry = kv->entries; entry; entry = entry->hh.next)
        if (tcpstore_entry_exists(entry))
            each(arg, entry->key, entry->hh.keylen, entry->len + entry->queue_bytes);
}

void tcpstore_kv_destroy(struct tcpstore_kv *kv)
{
    struct tcpstore_entry *entry, *next;

    if (!kv)
        return;
    HASH_ITER(hh, kv->entries, entry, next)
    {
        while (entry->queue_len)
            tcpstore_entry_pop(kv, entry);
        entry_free(kv, entry);
    }
    free(kv);
}
