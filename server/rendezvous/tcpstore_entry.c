/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_entry.c - keeps the keys of a TCPStore with their values and queues */
#include "server/rendezvous/tcpstore_entry.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/base/clean_text.h"

#define ID_PREFIX "torch.rendezvous."

struct tcpstore_kv *tcpstore_kv_create(const struct tcpstore_limits *limits,
                                       const char *secret)
{
    struct tcpstore_kv *kv = memory_zeroed(1, sizeof(*kv), "a rendezvous store");

    kv->limits = *limits;
    kv->secret = secret;
    /* Without a seed the hash is still correct, but a client could provoke collisions
     * more easily. */
    if (getrandom(&kv->seed, sizeof(kv->seed), GRND_NONBLOCK) < 0)
        kv->seed = 0;
    return kv;
}

/* Hash a key. Each store uses a different seed, so that a client cannot direct many keys
 * to one bucket. */
static unsigned hash_of(const struct tcpstore_kv *kv, struct tcpstore_slice key)
{
    const uint64_t factor = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t hash = kv->seed ^ (key.len * factor), word;

    for (; key.len >= sizeof(word); key.data += sizeof(word), key.len -= sizeof(word)) {
        memcpy(&word, key.data, sizeof(word));
        hash = (hash ^ word) * factor;
        hash ^= hash >> 29;
    }
    word = 0;
    memcpy(&word, key.data, key.len);
    hash = (hash ^ word) * factor;
    hash ^= hash >> 32;
    return (unsigned)(hash * factor >> 32);
}

/* ---- Limits ---- */

static void charge(struct tcpstore_kv *kv, struct tcpstore_id *id, ptrdiff_t bytes)
{
    /* Only memory that was charged before can be released. */
    assert(bytes >= 0 || kv->bytes >= (size_t)-bytes);
    kv->bytes += (size_t)bytes;
    if (id)
        id->bytes += (size_t)bytes;
}

int tcpstore_check_room(struct tcpstore_kv *kv, const struct tcpstore_id *id,
                        size_t bytes)
{
    size_t of_id = id ? id->bytes : 0, max = kv->limits.max_id_bytes;

    if (bytes > kv->limits.max_bytes - kv->bytes)
        return tcpstore_refuse(kv, TCPSTORE_STORE_BYTES);
    if (max && bytes > max - of_id)
        return tcpstore_refuse(kv, TCPSTORE_ID_BYTES);
    return 0;
}

/* Return the rendezvous ID to which a key's memory is charged: "torch.rendezvous.7" for
 * torchrun's state "/torch.rendezvous.7" and its rounds "/torch.rendezvous.7.0/...",
 * "name" for "/name/key", and "" for other keys. */
static struct tcpstore_slice id_of(struct tcpstore_slice key)
{
    const size_t prefix = sizeof(ID_PREFIX) - 1;
    const unsigned char *slash;
    size_t digits;
    bool is_torchrun;

    if (key.len && key.data[0] == '/') {
        key.data++;
        key.len--;
    }
    slash = memchr(key.data, '/', key.len);
    is_torchrun = key.len > prefix && memcmp(key.data, ID_PREFIX, prefix) == 0;
    if (!slash) {
        key.len = is_torchrun ? key.len : 0;
        return key;
    }
    key.len = (size_t)(slash - key.data);
    for (digits = key.len; digits && isdigit(key.data[digits - 1]);)
        digits--;
    if (is_torchrun && digits > prefix && key.data[digits - 1] == '.')
        key.len = digits - 1;
    return key;
}

static struct tcpstore_id *id_add(struct tcpstore_kv *kv, struct tcpstore_slice name,
                                  unsigned hash)
{
    struct tcpstore_id *id =
        memory_zeroed(1, sizeof(*id) + name.len, "a rendezvous store");

    memcpy(id->name, name.data, name.len);
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, kv->ids, id->name, name.len, hash, id);
    charge(kv, id, (ptrdiff_t)(sizeof(*id) + name.len));
    return id;
}

static void id_release(struct tcpstore_kv *kv, struct tcpstore_id *id)
{
    if (!id || --id->entries)
        return;
    charge(kv, id, -(ptrdiff_t)(sizeof(*id) + id->hh.keylen));
    assert(id->bytes == 0);
    HASH_DEL(kv->ids, id);
    free(id);
}

/* ---- Entries ---- */

static size_t cost(size_t key_len)
{
    return sizeof(struct tcpstore_entry) + key_len;
}

static struct tcpstore_entry *find(struct tcpstore_kv *kv, struct tcpstore_slice key,
                                   unsigned hash)
{
    struct tcpstore_entry *entry;

    HASH_FIND_BYHASHVALUE(hh, kv->entries, key.data, key.len, hash, entry);
    if (entry)
        entry->used_ms = kv->now_ms;
    return entry;
}

struct tcpstore_entry *tcpstore_find(struct tcpstore_kv *kv, struct tcpstore_slice key)
{
    return find(kv, key, hash_of(kv, key));
}

bool tcpstore_entry_exists(const struct tcpstore_entry *entry)
{
    return entry && (entry->has_value || entry->queue_len);
}

static struct tcpstore_entry *entry_add(struct tcpstore_kv *kv, struct tcpstore_id *id,
                                        struct tcpstore_slice key, unsigned hash)
{
    struct tcpstore_entry *entry = memory_zeroed(1, cost(key.len), "a rendezvous store");

    memcpy(entry->key, key.data, key.len);
    STAILQ_INIT(&entry->queue);
    TAILQ_INIT(&entry->waits);
    entry->used_ms = kv->now_ms;
    entry->id = id;
    if (id)
        id->entries++;
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, kv->entries, entry->key, key.len, hash, entry);
    charge(kv, id, (ptrdiff_t)cost(key.len));
    return entry;
}

struct tcpstore_entry *tcpstore_find_or_add(struct tcpstore_kv *kv,
                                            struct tcpstore_slice key)
{
    unsigned hash = hash_of(kv, key), id_hash = 0;
    struct tcpstore_entry *entry = find(kv, key, hash);
    struct tcpstore_slice name = {NULL, 0};
    struct tcpstore_id *id = NULL;
    size_t bytes = cost(key.len);

    if (entry)
        return entry;
    if (HASH_COUNT(kv->entries) >= kv->limits.max_keys) {
        tcpstore_refuse(kv, TCPSTORE_STORE_KEYS);
        return NULL;
    }
    if (kv->limits.max_id_bytes) {
        name = id_of(key);
        id_hash = hash_of(kv, name);
        HASH_FIND_BYHASHVALUE(hh, kv->ids, name.data, name.len, id_hash, id);
        bytes += id ? 0 : sizeof(*id) + name.len;
    }
    if (tcpstore_check_room(kv, id, bytes) < 0)
        return NULL;
    if (kv->limits.max_id_bytes && !id)
        id = id_add(kv, name, id_hash);
    return entry_add(kv, id, key, hash);
}

static void entry_free(struct tcpstore_kv *kv, struct tcpstore_entry *entry)
{
    assert(TAILQ_EMPTY(&entry->waits) && STAILQ_EMPTY(&entry->queue) && !entry->value);
    charge(kv, entry->id, -(ptrdiff_t)cost(entry->hh.keylen));
    id_release(kv, entry->id);
    HASH_DEL(kv->entries, entry);
    free(entry);
}

void tcpstore_entry_drop(struct tcpstore_kv *kv, struct tcpstore_entry *entry)
{
    if (!tcpstore_entry_exists(entry) && TAILQ_EMPTY(&entry->waits))
        entry_free(kv, entry);
}

/* ---- Values ---- */

/* Resize the value's memory to `capacity` bytes. If unsent replies refer to the value,
 * they keep it, and the entry gets a copy. */
static int resize(struct tcpstore_kv *kv, struct tcpstore_entry *entry, size_t capacity)
{
    struct tcpstore_value *before = entry->value;

    if (capacity > entry->capacity &&
        tcpstore_check_room(kv, entry->id, capacity - entry->capacity) < 0)
        return -1;
    if (before && before->users > 1) {
        entry->value = tcpstore_value_resize(NULL, capacity);
        memcpy(entry->value->data, before->data,
               entry->len < capacity ? entry->len : capacity);
        tcpstore_value_drop(before);
    } else {
        entry->value = tcpstore_value_resize(before, capacity);
    }
    charge(kv, entry->id, (ptrdiff_t)(capacity - entry->capacity));
    entry->capacity = capacity;
    return 0;
}

static void set_length(struct tcpstore_kv *kv, struct tcpstore_entry *entry, size_t len)
{
    entry->len = len;
    entry->value->data[len] = '\0';
    kv->n_values += !entry->has_value;
    entry->has_value = true;
}

int tcpstore_entry_set(struct tcpstore_kv *kv, struct tcpstore_entry *entry,
                       struct tcpstore_slice value)
{
    /* Reallocate if the earlier value was much longer, to free memory. */
    bool is_fit = entry->value && entry->value->users == 1 &&
                  value.len <= entry->capacity && entry->capacity / 4 <= value.len + 16;

    if (!is_fit && resize(kv, entry, value.len) < 0)
        return -1;
    memcpy(entry->value->data, value.data, value.len);
    set_length(kv, entry, value.len);
    return 0;
}

int tcpstore_entry_append(struct tcpstore_kv *kv, struct tcpstore_entry *entry,
                          struct tcpstore_slice value)
{
    size_t len = entry->len + value.len;

    /* Reserve 50 % more than needed, so that appending many small pieces does not copy
     * the value each time. */
    if ((!entry->value || len > entry->capacity) &&
        resize(kv, entry, entry->len ? len + len / 2 : len) < 0 &&
        resize(kv, entry, len) < 0)
        return -1;
    memcpy(entry->value->data + entry->len, value.data, value.len);
    set_length(kv, entry, len);
    return 0;
}

void tcpstore_entry_unset(struct tcpstore_kv *kv, struct tcpstore_entry *entry)
{
    kv->n_values--;
    charge(kv, entry->id, -(ptrdiff_t)entry->capacity);
    tcpstore_value_drop(entry->value);
    entry->value = NULL;
    entry->len = entry->capacity = 0;
    entry->has_value = false;
}

/* ---- Queues ---- */

int tcpstore_entry_push(struct tcpstore_kv *kv, struct tcpstore_entry *entry,
                        struct tcpstore_slice value)
{
    size_t size = sizeof(struct queue_item) + value.len;
    struct queue_item *item;

    if (tcpstore_check_room(kv, entry->id, size) < 0)
        return -1;
    item = memory_zeroed(1, size, "a rendezvous store");
    item->len = value.len;
    memcpy(item->data, value.data, value.len);
    STAILQ_INSERT_TAIL(&entry->queue, item, link);
    entry->queue_len++;
    entry->queue_bytes += value.len;
    charge(kv, entry->id, (ptrdiff_t)size);
    return 0;
}

void tcpstore_entry_pop(struct tcpstore_kv *kv, struct tcpstore_entry *entry)
{
    struct queue_item *item = STAILQ_FIRST(&entry->queue);

    STAILQ_REMOVE_HEAD(&entry->queue, link);
    entry->queue_len--;
    entry->queue_bytes -= item->len;
    charge(kv, entry->id, -(ptrdiff_t)(sizeof(*item) + item->len));
    free(item);
}

/* ---- The whole store ---- */

static void entry_empty(struct tcpstore_kv *kv, struct tcpstore_entry *entry)
{
    if (entry->has_value)
        tcpstore_entry_unset(kv, entry);
    while (entry->queue_len)
        tcpstore_entry_pop(kv, entry);
    entry_free(kv, entry);
}

void tcpstore_kv_expire(struct tcpstore_kv *kv, int64_t now_ms)
{
    struct tcpstore_entry *entry, *next;

    kv->now_ms = now_ms;
    HASH_ITER (hh, kv->entries, entry, next) {
        if (!TAILQ_EMPTY(&entry->waits)) {
            entry->used_ms = now_ms;
        } else if (now_ms - entry->used_ms >= kv->limits.ttl_ms) {
            kv->expired++;
            entry_empty(kv, entry);
        }
    }
}

void tcpstore_kv_usage(const struct tcpstore_kv *kv, struct tcpstore_usage *usage)
{
    usage->keys = kv->n_values;
    usage->bytes = kv->bytes;
    usage->waits = kv->n_waiting;
    usage->expired = kv->expired;
}

bool tcpstore_entry_is_secret(const struct tcpstore_kv *kv,
                              const struct tcpstore_entry *entry)
{
    size_t len = strlen(kv->secret);

    return len && entry->hh.keylen > len && entry->key[len] == '/' &&
           memcmp(entry->key, kv->secret, len) == 0;
}

json_t *tcpstore_entry_key_json(const struct tcpstore_kv *kv,
                                const struct tcpstore_entry *entry)
{
    size_t skip = tcpstore_entry_is_secret(kv, entry) ? strlen(kv->secret) + 1 : 0;

    return clean_text_json((const char *)entry->key + skip, entry->hh.keylen - skip);
}

json_t *tcpstore_kv_keys_json(const struct tcpstore_kv *kv, size_t most)
{
    const struct tcpstore_entry *entry = kv->entries;
    json_t *keys = json_array();

    if (entry)
        entry = ELMT_FROM_HH(entry->hh.tbl, entry->hh.tbl->tail);
    for (; entry && json_array_size(keys) < most; entry = entry->hh.prev)
        if (tcpstore_entry_exists(entry))
            json_array_append_new(
                keys, json_pack("{s:o, s:I}", "key", tcpstore_entry_key_json(kv, entry),
                                "bytes",
                                (json_int_t)entry->len + (json_int_t)entry->queue_bytes));
    return keys;
}

void tcpstore_kv_destroy(struct tcpstore_kv *kv)
{
    struct tcpstore_entry *entry, *next;

    HASH_ITER (hh, kv->entries, entry, next)
        entry_empty(kv, entry);
    free(kv);
}
