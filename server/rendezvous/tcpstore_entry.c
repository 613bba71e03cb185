/* tcpstore_entry.c - the inside of tcpstore_kv: keys with their values and queues */
#include "server/rendezvous/tcpstore_entry.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "server/rendezvous/tcpstore_account.h"

struct tcpstore_kv *tcpstore_kv_create(const struct tcpstore_limits *limits)
{
    struct tcpstore_kv *kv = calloc(1, sizeof(*kv));

    if (!kv)
        return NULL;
    kv->limits = *limits;
    TAILQ_INIT(&kv->by_use);
    TAILQ_INIT(&kv->listings);
    /* An unseeded hash is as correct, only easier to provoke. */
    if (getrandom(&kv->seed, sizeof(kv->seed), GRND_NONBLOCK) < 0)
        kv->seed = 0;
    return kv;
}

void tcpstore_entry_use(struct tcpstore_kv *kv, struct tcpstore_entry *entry)
{
    if (!kv->limits.ttl_ms || entry->used_ms == kv->now_ms)
        return;
    entry->used_ms = kv->now_ms;
    TAILQ_REMOVE(&kv->by_use, entry, by_use);
    TAILQ_INSERT_TAIL(&kv->by_use, entry, by_use);
}

static struct tcpstore_entry *find(struct tcpstore_kv *kv, struct tcpstore_slice key,
                                   unsigned hash)
{
    struct tcpstore_entry *entry;

    HASH_FIND_BYHASHVALUE(hh, kv->entries, key.data, key.len, hash, entry);
    if (entry)
        tcpstore_entry_use(kv, entry);
    return entry;
}

struct tcpstore_entry *tcpstore_find(struct tcpstore_kv *kv, struct tcpstore_slice key)
{
    return find(kv, key, tcpstore_hash(kv, key.data, key.len));
}

bool tcpstore_entry_exists(const struct tcpstore_entry *entry)
{
    return entry && (entry->has_value || entry->queue_len);
}

static void entry_free(struct tcpstore_kv *kv, struct tcpstore_entry *entry)
{
    struct tcpstore_listing *listing;

    assert(TAILQ_EMPTY(&entry->waits) && STAILQ_EMPTY(&entry->queue));
    assert(kv->n_entries > 0);
    TAILQ_FOREACH (listing, &kv->listings, link)
        if (listing->next == entry)
            listing->next = entry->hh.next;
    tcpstore_account_adopt(kv, NULL, entry);
    tcpstore_charge(kv, NULL, -(ptrdiff_t)tcpstore_entry_bytes(entry));
    HASH_DEL(kv->entries, entry);
    kv->n_entries--;
    if (kv->limits.ttl_ms)
        TAILQ_REMOVE(&kv->by_use, entry, by_use);
    tcpstore_value_drop(entry->value);
    free(entry);
}

void tcpstore_entry_drop(struct tcpstore_kv *kv, struct tcpstore_entry *entry)
{
    if (!entry->has_value && !entry->queue_len && TAILQ_EMPTY(&entry->waits))
        entry_free(kv, entry);
}

int tcpstore_check_room(const struct tcpstore_kv *kv,
                        const struct tcpstore_account *account, size_t bytes,
                        enum tcpstore_refusal *why)
{
    if (bytes > kv->limits.max_bytes || kv->bytes > kv->limits.max_bytes - bytes)
        return tcpstore_refuse(why, TCPSTORE_STORE_BYTES);
    return tcpstore_account_check(kv, account, 0, bytes, why);
}

static int check_new(const struct tcpstore_kv *kv, const struct tcpstore_account *account,
                     size_t key_len, enum tcpstore_refusal *why)
{
    if (kv->n_entries >= kv->limits.max_keys)
        return tcpstore_refuse(why, TCPSTORE_STORE_KEYS);
    if (tcpstore_account_check(kv, account, 1, 0, why) < 0)
        return -1;
    return tcpstore_check_room(kv, account, tcpstore_entry_cost(key_len), why);
}

static struct tcpstore_entry *add(struct tcpstore_kv *kv, struct tcpstore_slice key,
                                  unsigned hash)
{
    struct tcpstore_entry *entry = calloc(1, sizeof(*entry) + key.len);

    if (!entry)
        return NULL;
    memcpy(entry->key, key.data, key.len);
    STAILQ_INIT(&entry->queue);
    TAILQ_INIT(&entry->waits);
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, kv->entries, entry->key, key.len, hash, entry);
    if (entry->is_lost) {
        free(entry);
        return NULL;
    }
    kv->n_entries++;
    entry->used_ms = kv->now_ms;
    if (kv->limits.ttl_ms)
        TAILQ_INSERT_TAIL(&kv->by_use, entry, by_use);
    return entry;
}

struct tcpstore_entry *tcpstore_find_or_add(struct tcpstore_kv *kv,
                                            struct tcpstore_account *account,
                                            struct tcpstore_slice key,
                                            enum tcpstore_refusal *why)
{
    unsigned hash = tcpstore_hash(kv, key.data, key.len);
    struct tcpstore_entry *entry = find(kv, key, hash);

    if (entry && entry->account != account) {
        if (tcpstore_account_check(kv, account, 1, tcpstore_entry_bytes(entry), why) < 0)
            return NULL;
        tcpstore_account_adopt(kv, account, entry);
    }
    if (entry)
        return entry;
    if (check_new(kv, account, key.len, why) < 0)
        return NULL;
    entry = add(kv, key, hash);
    if (!entry) {
        tcpstore_refuse(why, TCPSTORE_MEMORY);
        return NULL;
    }
    tcpstore_charge(kv, NULL, (ptrdiff_t)tcpstore_entry_bytes(entry));
    tcpstore_account_adopt(kv, account, entry);
    return entry;
}

/* Its value, if it has one, with other memory; or a copy, if replies under way have it.
 */
static struct tcpstore_value *resized(const struct tcpstore_entry *entry, size_t capacity)
{
    struct tcpstore_value *value = entry->value;

    if (!value)
        return tcpstore_value_create(capacity);
    if (value->users == 1)
        return realloc(value, sizeof(*value) + capacity);
    value = tcpstore_value_create(capacity);
    if (value) {
        memcpy(value->data, entry->value->data,
               entry->len < capacity ? entry->len : capacity);
        tcpstore_value_drop(entry->value);
    }
    return value;
}

int tcpstore_entry_resize(struct tcpstore_kv *kv, struct tcpstore_entry *entry,
                          size_t capacity, enum tcpstore_refusal *why)
{
    struct tcpstore_value *value;

    if (capacity > entry->capacity &&
        tcpstore_check_room(kv, entry->account, capacity - entry->capacity, why) < 0)
        return -1;
    value = resized(entry, capacity);
    if (!value)
        return tcpstore_refuse(why, TCPSTORE_MEMORY);
    tcpstore_charge(kv, entry->account, (ptrdiff_t)(capacity - entry->capacity));
    entry->value = value;
    entry->capacity = capacity;
    return 0;
}

/* Memory for a value of len bytes, giving back what a much longer one had. */
static int fit_value(struct tcpstore_kv *kv, struct tcpstore_entry *entry, size_t len,
                     enum tcpstore_refusal *why)
{
    if (entry->value && entry->value->users == 1 && len <= entry->capacity &&
        entry->capacity / 4 <= len + 16)
        return 0;
    return tcpstore_entry_resize(kv, entry, len, why);
}

int tcpstore_entry_set(struct tcpstore_kv *kv, struct tcpstore_entry *entry,
                       struct tcpstore_slice value, enum tcpstore_refusal *why)
{
    if (fit_value(kv, entry, value.len, why) < 0)
        return -1;
    memcpy(entry->value->data, value.data, value.len);
    entry->len = value.len;
    kv->n_values += !entry->has_value;
    entry->has_value = true;
    return 0;
}

void tcpstore_entry_unset(struct tcpstore_kv *kv, struct tcpstore_entry *entry)
{
    kv->n_values--;
    tcpstore_charge(kv, entry->account, -(ptrdiff_t)entry->capacity);
    tcpstore_value_drop(entry->value);
    entry->value = NULL;
    entry->len = entry->capacity = 0;
    entry->has_value = false;
}

/* ---- Queues ---- */

int tcpstore_entry_push(struct tcpstore_kv *kv, struct tcpstore_entry *entry,
                        struct tcpstore_slice value, enum tcpstore_refusal *why)
{
    struct queue_item *item;

    if (tcpstore_check_room(kv, entry->account, sizeof(*item) + value.len, why) < 0)
        return -1;
    item = malloc(sizeof(*item) + value.len);
    if (!item)
        return tcpstore_refuse(why, TCPSTORE_MEMORY);
    item->len = value.len;
    memcpy(item->data, value.data, value.len);
    STAILQ_INSERT_TAIL(&entry->queue, item, link);
    entry->queue_len++;
    entry->queue_bytes += value.len;
    tcpstore_charge(kv, entry->account, (ptrdiff_t)(sizeof(*item) + value.len));
    return 0;
}

void tcpstore_entry_pop(struct tcpstore_kv *kv, struct tcpstore_entry *entry)
{
    struct queue_item *item = STAILQ_FIRST(&entry->queue);

    assert(item && entry->queue_len > 0);
    STAILQ_REMOVE_HEAD(&entry->queue, link);
    entry->queue_len--;
    entry->queue_bytes -= item->len;
    tcpstore_charge(kv, entry->account, -(ptrdiff_t)(sizeof(*item) + item->len));
    free(item);
}

/* ---- Expiry ---- */

static void entry_empty(struct tcpstore_kv *kv, struct tcpstore_entry *entry)
{
    if (entry->has_value)
        tcpstore_entry_unset(kv, entry);
    while (entry->queue_len)
        tcpstore_entry_pop(kv, entry);
    entry_free(kv, entry);
}

bool tcpstore_kv_expire(struct tcpstore_kv *kv, int64_t now_ms, size_t most)
{
    struct tcpstore_entry *entry;

    kv->now_ms = now_ms;
    for (; kv->limits.ttl_ms && most; most--) {
        entry = TAILQ_FIRST(&kv->by_use);
        if (!entry || now_ms - entry->used_ms < kv->limits.ttl_ms)
            return false;
        if (TAILQ_EMPTY(&entry->waits)) {
            kv->expired++;
            entry_empty(kv, entry);
        } else {
            tcpstore_entry_use(kv, entry);
        }
    }
    return kv->limits.ttl_ms != 0;
}

/* ---- The whole ---- */

void tcpstore_kv_usage(const struct tcpstore_kv *kv, struct tcpstore_usage *usage)
{
    usage->keys = kv->n_values;
    usage->bytes = kv->bytes;
    usage->waits = kv->n_waiting;
    usage->addresses = HASH_COUNT(kv->accounts);
    usage->expired = kv->expired;
}

void tcpstore_kv_set_secret(struct tcpstore_kv *kv, const char *secret)
{
    snprintf(kv->secret, sizeof(kv->secret), "%s", secret);
}

const char *tcpstore_kv_secret(const struct tcpstore_kv *kv)
{
    return kv->secret;
}

void tcpstore_kv_hide_secret(const struct tcpstore_kv *kv, struct tcpstore_slice *key)
{
    size_t len = strlen(kv->secret);

    if (len && key->len > len && key->data[len] == '/' &&
        memcmp(key->data, kv->secret, len) == 0) {
        key->data += len + 1;
        key->len -= len + 1;
    }
}

void tcpstore_kv_each_key(const struct tcpstore_kv *kv, size_t most,
                          void (*each)(void *arg, const void *key, size_t key_len,
                                       size_t value_len),
                          void *arg)
{
    bool is_by_use = kv->limits.ttl_ms != 0;
    const struct tcpstore_entry *entry =
        is_by_use ? TAILQ_LAST(&kv->by_use, entry_list) : kv->entries;

    while (entry && most) {
        if (tcpstore_entry_exists(entry)) {
            each(arg, entry->key, entry->hh.keylen, entry->len + entry->queue_bytes);
            most--;
        }
        entry = is_by_use ? TAILQ_PREV(entry, entry_list, by_use) : entry->hh.next;
    }
}

void tcpstore_kv_destroy(struct tcpstore_kv *kv)
{
    struct tcpstore_entry *entry, *next;

    if (!kv)
        return;
    HASH_ITER (hh, kv->entries, entry, next)
        entry_empty(kv, entry);
    free(kv);
}
