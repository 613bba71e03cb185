/* SPDX-License-Identifier: Apache-2.0 */
/* tcpstore_kv.c - executes a TCPStore's queries and wakes waiting clients */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/rendezvous/tcpstore_entry.h"

#define NOT_READY 1
#define WAIT_CANCELED 1
#define CALLBACK_REGISTERED 3

/* A request being executed. */
struct call {
    struct tcpstore_kv *kv;
    struct tcpstore_client *client;
    const struct tcpstore_request *request;
    struct buf *reply; /* alias of out->bytes */
    struct tcpstore_out *out;
    /* the latest entry found or added; may be new and empty */
    struct tcpstore_entry *entry;
};

/* ---- Waiting ---- */

static void end_wait(struct tcpstore_wait *wait)
{
    struct tcpstore_client *client = wait->client;
    struct tcpstore_kv *kv = client->kv;

    TAILQ_REMOVE(&wait->entry->waits, wait, of_entry);
    TAILQ_REMOVE(&client->waits, wait, of_client);
    wait->entry->used_ms = kv->now_ms;
    free(wait);
    kv->bytes -= sizeof(*wait);
    if (--client->missing)
        return;
    kv->n_waiting--;
    client->is_barrier = false;
}

static void drop_waits(struct tcpstore_client *client)
{
    struct tcpstore_wait *wait;

    while ((wait = TAILQ_FIRST(&client->waits))) {
        struct tcpstore_entry *entry = wait->entry;

        end_wait(wait);
        tcpstore_entry_drop(client->kv, entry);
    }
}

/* Mark a key as set for a waiting client. Returns true if no key is missing any more, so
 * that the client was woken. */
static bool satisfy(struct tcpstore_wait *wait)
{
    struct tcpstore_client *client = wait->client;

    end_wait(wait);
    if (client->missing)
        return false;
    client->wake(client);
    return true;
}

/* Wake the clients that wait for a key, which now has a value. Clients at a barrier are
 * woken only when the barrier is complete. */
static void wake_all(struct tcpstore_entry *entry, bool is_barrier_done)
{
    struct tcpstore_wait *wait, *next;

    for (wait = TAILQ_FIRST(&entry->waits); wait; wait = next) {
        next = TAILQ_NEXT(wait, of_entry);
        if (is_barrier_done || !wait->client->is_barrier)
            satisfy(wait);
    }
}

/* Wake one client for a pushed value. Clients ahead of it that also wait for other keys
 * keep waiting, but this key counts as set for them. */
static void wake_one(struct tcpstore_entry *entry)
{
    struct tcpstore_wait *wait, *next;

    for (wait = TAILQ_FIRST(&entry->waits); wait; wait = next) {
        next = TAILQ_NEXT(wait, of_entry);
        if (!wait->client->is_barrier && satisfy(wait))
            return;
    }
}

static int add_wait(struct tcpstore_client *client, struct tcpstore_slice key)
{
    struct tcpstore_kv *kv = client->kv;
    struct tcpstore_entry *entry = tcpstore_find_or_add(kv, key);
    struct tcpstore_wait *wait;

    if (!entry)
        return -1;
    if (tcpstore_check_room(kv, NULL, sizeof(*wait)) < 0) {
        tcpstore_entry_drop(kv, entry);
        return -1;
    }
    wait = memory_zeroed(1, sizeof(*wait), "a wait at a rendezvous store");
    kv->bytes += sizeof(*wait);
    wait->entry = entry;
    wait->client = client;
    TAILQ_INSERT_TAIL(&entry->waits, wait, of_entry);
    TAILQ_INSERT_TAIL(&client->waits, wait, of_client);
    if (client->missing++ == 0)
        kv->n_waiting++;
    return 0;
}

void tcpstore_client_init(struct tcpstore_client *client, struct tcpstore_kv *kv,
                          void (*wake)(struct tcpstore_client *client))
{
    memset(client, 0, sizeof(*client));
    client->kv = kv;
    client->wake = wake;
    TAILQ_INIT(&client->waits);
}

void tcpstore_client_release(struct tcpstore_client *client)
{
    drop_waits(client);
}

/* ---- Numbers ---- */

/* Parse a number as libtorch's servers do with std::stoll: blanks, a sign, digits, then
 * arbitrary text. */
static int entry_number(struct tcpstore_kv *kv, const struct tcpstore_entry *entry,
                        int64_t *number)
{
    const char *text;
    char *end;

    *number = 0;
    if (!entry->has_value)
        return 0;
    text = (const char *)entry->value->data;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return end > text && errno == 0 ? 0 : tcpstore_refuse(kv, TCPSTORE_ADD_TO_TEXT);
}

/* ---- Values ---- */

/* Find or add the key's entry. The caller must store a value in the entry. */
static struct tcpstore_entry *take(struct call *call, struct tcpstore_slice key)
{
    call->entry = tcpstore_find_or_add(call->kv, key);
    return call->entry;
}

static int set(struct call *call, struct tcpstore_slice key, struct tcpstore_slice value)
{
    struct tcpstore_entry *entry = take(call, key);

    if (!entry || tcpstore_entry_set(call->kv, entry, value) < 0)
        return -1;
    wake_all(entry, false);
    return 0;
}

static int set_number(struct tcpstore_kv *kv, struct tcpstore_entry *entry,
                      int64_t number)
{
    char text[24];
    int len = snprintf(text, sizeof(text), "%" PRId64, number);
    struct tcpstore_slice value = {(const unsigned char *)text, (size_t)len};

    return tcpstore_entry_set(kv, entry, value);
}

static int put_value_reply(struct call *call, const struct tcpstore_entry *entry)
{
    if (!entry || !entry->has_value)
        return tcpstore_put_blob(call->reply, "", 0);
    return tcpstore_put_i64(call->reply, (int64_t)entry->len) ||
                   tcpstore_out_put_value(call->out, entry->value, entry->len)
               ? -1
               : 0;
}

static int do_set(struct call *call)
{
    return set(call, call->request->key, call->request->value);
}

static int do_compare_set(struct call *call)
{
    const struct tcpstore_request *request = call->request;
    const struct tcpstore_entry *entry = tcpstore_find(call->kv, request->key);
    bool has_value = entry && entry->has_value;

    if (has_value ? entry->len != request->value.len ||
                        memcmp(entry->value->data, request->value.data, entry->len) != 0
                  : request->value.len > 0)
        /* For an absent key, libtorch's servers reply with the expected value. */
        return has_value ? put_value_reply(call, entry)
                         : tcpstore_put_blob(call->reply, request->value.data,
                                             request->value.len);
    if (set(call, request->key, request->desired) < 0)
        return -1;
    return tcpstore_put_blob(call->reply, request->desired.data, request->desired.len);
}

static int do_get(struct call *call)
{
    return put_value_reply(call, tcpstore_find(call->kv, call->request->key));
}

static int do_add(struct call *call)
{
    struct tcpstore_entry *entry = take(call, call->request->key);
    int64_t number;

    if (!entry || entry_number(call->kv, entry, &number) < 0)
        return -1;
    number = (int64_t)((uint64_t)number + (uint64_t)call->request->number);
    if (set_number(call->kv, entry, number) < 0)
        return -1;
    wake_all(entry, false);
    return tcpstore_put_i64(call->reply, number);
}

static int do_append(struct call *call)
{
    struct tcpstore_entry *entry = take(call, call->request->key);

    if (!entry || tcpstore_entry_append(call->kv, entry, call->request->value) < 0)
        return -1;
    wake_all(entry, false);
    return 0;
}

static int do_delete(struct call *call)
{
    struct tcpstore_kv *kv = call->kv;
    struct tcpstore_entry *entry = tcpstore_find(kv, call->request->key);

    if (!entry || !entry->has_value)
        return tcpstore_put_i64(call->reply, 0);
    tcpstore_entry_unset(kv, entry);
    tcpstore_entry_drop(kv, entry);
    return tcpstore_put_i64(call->reply, 1);
}

/* ---- Lists ---- */

static int do_check(struct call *call)
{
    struct tcpstore_slice list = call->request->list, key;
    bool is_ready = true;

    for (uint64_t i = 0; is_ready && i < call->request->count; i++) {
        tcpstore_list_next(&list, &key, NULL);
        is_ready = tcpstore_entry_exists(tcpstore_find(call->kv, key));
    }
    return tcpstore_put_u8(call->reply, is_ready ? 0 : NOT_READY);
}

static int do_multi_get(struct call *call)
{
    struct tcpstore_slice list = call->request->list, key;

    for (uint64_t i = 0; i < call->request->count; i++) {
        tcpstore_list_next(&list, &key, NULL);
        if (put_value_reply(call, tcpstore_find(call->kv, key)) < 0)
            return -1;
    }
    return 0;
}

static int do_multi_set(struct call *call)
{
    struct tcpstore_slice list = call->request->list, key, value;

    for (uint64_t i = 0; i < call->request->count; i++) {
        tcpstore_list_next(&list, &key, &value);
        if (set(call, key, value) < 0)
            return -1;
    }
    return 0;
}

static int do_wait(struct call *call)
{
    struct tcpstore_client *client = call->client;
    struct tcpstore_slice list = call->request->list, key;

    /* A client can have only one wait, because it could not distinguish two replies. */
    drop_waits(client);
    for (uint64_t i = 0; i < call->request->count; i++) {
        tcpstore_list_next(&list, &key, NULL);
        if (tcpstore_entry_exists(tcpstore_find(call->kv, key)) ||
            add_wait(client, key) == 0)
            continue;
        drop_waits(client);
        return -1;
    }
    return client->missing ? 0 : tcpstore_put_u8(call->reply, TCPSTORE_STOP_WAITING);
}

static int do_cancel_wait(struct call *call)
{
    drop_waits(call->client);
    return tcpstore_put_u8(call->reply, WAIT_CANCELED);
}

static int do_list_keys(struct call *call)
{
    const struct tcpstore_entry *entry;
    size_t count_at = call->reply->len;
    uint64_t count = 0;

    /* The number of keys precedes the keys in the reply but is known only at the end, so
     * write a placeholder. */
    if (tcpstore_put_i64(call->reply, 0) < 0)
        return -1;
    for (entry = call->kv->entries; entry; entry = entry->hh.next) {
        if (!entry->has_value || tcpstore_entry_is_secret(call->kv, entry))
            continue;
        if (tcpstore_put_blob(call->reply, entry->key, entry->hh.keylen) < 0)
            return -1;
        count++;
    }
    count = htole64(count);
    memcpy(call->reply->data + count_at, &count, sizeof(count));
    return 0;
}

/* ---- Queues and barriers ---- */

static int do_queue_push(struct call *call)
{
    struct tcpstore_entry *entry = take(call, call->request->key);

    if (!entry || tcpstore_entry_push(call->kv, entry, call->request->value) < 0)
        return -1;
    wake_one(entry);
    return 0;
}

static int do_queue_pop(struct call *call)
{
    struct tcpstore_entry *entry = tcpstore_find(call->kv, call->request->key);
    const struct queue_item *item;

    if (!entry || !entry->queue_len)
        return tcpstore_put_i64(call->reply, 0);
    item = STAILQ_FIRST(&entry->queue);
    if (tcpstore_put_i64(call->reply, (int64_t)entry->queue_len) < 0 ||
        tcpstore_put_blob(call->reply, item->data, item->len) < 0)
        return -1;
    tcpstore_entry_pop(call->kv, entry);
    tcpstore_entry_drop(call->kv, entry);
    return 0;
}

static int do_queue_len(struct call *call)
{
    const struct tcpstore_entry *entry = tcpstore_find(call->kv, call->request->key);

    return tcpstore_put_i64(call->reply, entry ? (int64_t)entry->queue_len : 0);
}

/* Count the client, and complete the barrier if it is the last. The count never restarts,
 * so a client that arrives later passes at once. */
static int do_barrier(struct call *call)
{
    const struct tcpstore_request *request = call->request;
    struct tcpstore_client *client = call->client;
    struct tcpstore_entry *entry;
    int64_t count;

    drop_waits(client);
    entry = take(call, request->key);
    if (!entry || entry_number(call->kv, entry, &count) < 0)
        return -1;
    count = (int64_t)((uint64_t)count + 1);
    if (set_number(call->kv, entry, count) < 0)
        return -1;
    if (count >= request->number) {
        wake_all(entry, true);
        return tcpstore_put_u8(call->reply, TCPSTORE_STOP_WAITING);
    }
    if (add_wait(client, request->key) < 0)
        return -1;
    client->is_barrier = true;
    return 0;
}

/* ---- Others ---- */

static int do_nothing(struct call *call)
{
    (void)call;
    return 0;
}

static int do_getnumkeys(struct call *call)
{
    return tcpstore_put_i64(call->reply, (int64_t)call->kv->n_values);
}

static int do_ping(struct call *call)
{
    return tcpstore_put_u32(call->reply, (uint32_t)call->request->number);
}

/* Confirm the request without sending notifications: torch 1.13 never uses them. */
static int do_watch_key(struct call *call)
{
    return tcpstore_put_u8(call->reply, CALLBACK_REGISTERED);
}

static int (*const handlers[TCPSTORE_QUERY_COUNT])(struct call *) = {
    [TCPSTORE_VALIDATE] = do_nothing,
    [TCPSTORE_SET] = do_set,
    [TCPSTORE_COMPARE_SET] = do_compare_set,
    [TCPSTORE_GET] = do_get,
    [TCPSTORE_ADD] = do_add,
    [TCPSTORE_CHECK] = do_check,
    [TCPSTORE_WAIT] = do_wait,
    [TCPSTORE_GETNUMKEYS] = do_getnumkeys,
    [TCPSTORE_DELETE_KEY] = do_delete,
    [TCPSTORE_APPEND] = do_append,
    [TCPSTORE_MULTI_GET] = do_multi_get,
    [TCPSTORE_MULTI_SET] = do_multi_set,
    [TCPSTORE_CANCEL_WAIT] = do_cancel_wait,
    [TCPSTORE_PING] = do_ping,
    [TCPSTORE_QUEUE_PUSH] = do_queue_push,
    [TCPSTORE_QUEUE_POP] = do_queue_pop,
    [TCPSTORE_QUEUE_LEN] = do_queue_len,
    [TCPSTORE_LIST_KEYS] = do_list_keys,
    [TCPSTORE_BARRIER] = do_barrier,
    [TCPSTORE_WATCH_KEY] = do_watch_key,
};

int tcpstore_kv_execute(struct tcpstore_client *client,
                        const struct tcpstore_request *request,
                        struct tcpstore_out *reply, enum tcpstore_refusal *why)
{
    struct tcpstore_kv *kv = client->kv;
    struct call call = {kv, client, request, &reply->bytes, reply, NULL};

    if (client->is_v1)
        drop_waits(client);
    kv->why = TCPSTORE_REPLY_SIZE;
    *why = TCPSTORE_NOT_REFUSED;
    if (handlers[request->query](&call) == 0)
        return 0;
    *why = kv->why;
    if (call.entry)
        tcpstore_entry_drop(kv, call.entry);
    return -1;
}

json_t *tcpstore_client_keys_json(const struct tcpstore_client *client, size_t most)
{
    const struct tcpstore_wait *wait;
    json_t *keys = json_array();

    TAILQ_FOREACH (wait, &client->waits, of_client)
        if (json_array_size(keys) < most)
            json_array_append_new(keys, tcpstore_entry_key_json(client->kv, wait->entry));
    return keys;
}
