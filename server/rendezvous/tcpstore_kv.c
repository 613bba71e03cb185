/* tcpstore_kv.c - what each query of a TCPStore does, and who is woken by it */
#include <assert.h>
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/rendezvous/tcpstore_account.h"
#include "server/rendezvous/tcpstore_entry.h"

#define NOT_READY 1
#define WAIT_CANCELED 1
#define CALLBACK_REGISTERED 3

/* One request on its way through a handler. */
struct call {
    struct tcpstore_kv *kv;
    struct tcpstore_client *client;
    const struct tcpstore_request *request;
    struct buf *reply; /* the bytes of out */
    struct tcpstore_out *out;
    enum tcpstore_refusal *why;
};

static const struct tcpstore_slice no_bytes = {(const unsigned char *)"", 0};

/* ---- Waiting ---- */

static void free_waits(struct tcpstore_client *client)
{
    assert(client->kv->n_waiting > 0);
    if (client->waits != &client->one) {
        tcpstore_charge(client->kv, client->account,
                        -(ptrdiff_t)(client->n_waits * sizeof(*client->waits)));
        free(client->waits);
    }
    client->waits = NULL;
    client->n_waits = 0;
    client->missing = 0;
    client->is_barrier = false;
    client->kv->n_waiting--;
}

static void unlink_wait(struct tcpstore_wait *wait)
{
    assert(wait->entry && wait->client->kv->n_waits > 0);
    TAILQ_REMOVE(&wait->entry->waits, wait, link);
    wait->entry = NULL;
    wait->client->kv->n_waits--;
}

static void drop_wait(struct tcpstore_client *client)
{
    if (!client->waits)
        return;
    for (size_t i = 0; i < client->n_waits; i++) {
        struct tcpstore_entry *entry = client->waits[i].entry;
        if (!entry)
            continue;
        unlink_wait(&client->waits[i]);
        tcpstore_entry_use(client->kv, entry);
        tcpstore_entry_drop(client->kv, entry);
    }
    free_waits(client);
}

/* Note one key as arrived. Returns whether that ended the client's wait. */
static bool satisfy(struct tcpstore_wait *wait)
{
    struct tcpstore_client *client = wait->client;

    unlink_wait(wait);
    assert(client->missing > 0);
    if (--client->missing)
        return false;
    free_waits(client);
    client->wake(client);
    return true;
}

/* The key has a value now. Clients at a barrier are let go only by its completion. */
static void wake_all(struct tcpstore_entry *entry, bool is_barrier_done)
{
    struct tcpstore_wait *wait = TAILQ_FIRST(&entry->waits);

    while (wait) {
        /* The next one is of another wait or, for a key that is named twice, of one that
         * does not end with this step: it stays allocated. */
        struct tcpstore_wait *next = TAILQ_NEXT(wait, link);
        if (is_barrier_done || !wait->client->is_barrier)
            satisfy(wait);
        wait = next;
    }
}

/* Something was pushed: it is for one client. Those that wait for more keys have seen
 * this one arrive, and go on waiting for the others. */
static void wake_one(struct tcpstore_entry *entry)
{
    struct tcpstore_wait *wait = TAILQ_FIRST(&entry->waits);

    while (wait) {
        struct tcpstore_wait *next = TAILQ_NEXT(wait, link);
        if (!wait->client->is_barrier && satisfy(wait))
            return;
        wait = next;
    }
}

static int add_wait(struct tcpstore_client *client, struct tcpstore_slice key,
                    enum tcpstore_refusal *why)
{
    struct tcpstore_entry *entry =
        tcpstore_find_or_add(client->kv, client->account, key, why);
    struct tcpstore_wait *wait = &client->waits[client->missing];

    assert(client->missing < client->n_waits);
    if (!entry)
        return -1;
    wait->entry = entry;
    wait->client = client;
    TAILQ_INSERT_TAIL(&entry->waits, wait, link);
    client->kv->n_waits++;
    client->missing++;
    return 0;
}

/* Prepare a client, which must not be waiting, to wait for n keys. */
static int begin_wait(struct tcpstore_client *client, size_t n,
                      enum tcpstore_refusal *why)
{
    struct tcpstore_kv *kv = client->kv;

    assert(!client->waits && n > 0 && kv->n_waits <= kv->limits.max_waits);
    if (n > kv->limits.max_waits - kv->n_waits)
        return tcpstore_refuse(why, TCPSTORE_STORE_WAITS);
    if (n == 1) {
        client->one.entry = NULL;
        client->waits = &client->one;
    } else {
        if (tcpstore_check_room(kv, client->account, n * sizeof(*client->waits), why) < 0)
            return -1;
        client->waits = calloc(n, sizeof(*client->waits));
        if (!client->waits)
            return tcpstore_refuse(why, TCPSTORE_MEMORY);
        tcpstore_charge(kv, client->account, (ptrdiff_t)(n * sizeof(*client->waits)));
    }
    client->n_waits = n;
    kv->n_waiting++;
    return 0;
}

static void end_listing(struct tcpstore_client *client)
{
    if (client->is_listing)
        TAILQ_REMOVE(&client->kv->listings, &client->listing, link);
    client->is_listing = false;
}

void tcpstore_client_init(struct tcpstore_client *client, struct tcpstore_kv *kv,
                          void (*wake)(struct tcpstore_client *client))
{
    memset(client, 0, sizeof(*client));
    client->kv = kv;
    client->wake = wake;
}

int tcpstore_client_enter(struct tcpstore_client *client, const void *address,
                          enum tcpstore_refusal *why)
{
    client->account = tcpstore_account_enter(client->kv, address, why);
    return client->account ? 0 : -1;
}

void tcpstore_client_release(struct tcpstore_client *client)
{
    drop_wait(client);
    end_listing(client);
    if (client->account)
        tcpstore_account_leave(client->kv, client->account);
    client->account = NULL;
}

bool tcpstore_client_hold(struct tcpstore_client *client, ptrdiff_t bytes)
{
    struct tcpstore_account *account = client->account;

    if (!account)
        return true;
    account->held += (size_t)bytes;
    return account->held <= client->kv->limits.each.bytes;
}

/* ---- Numbers ---- */

/* As std::stoll in the C locale: blanks, a sign, digits; what follows is ignored. -1: not
 * a number, or out of range. */
static int parse_number(const unsigned char *text, size_t len, int64_t *number)
{
    uint64_t value = 0, max = INT64_MAX;
    bool is_negative = false;
    size_t i = 0, first;

    while (i < len && (text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r')))
        i++;
    if (i < len && (text[i] == '-' || text[i] == '+')) {
        is_negative = text[i++] == '-';
        max += is_negative;
    }
    for (first = i; i < len && text[i] >= '0' && text[i] <= '9'; i++) {
        unsigned digit = text[i] - '0';
        if (value > (max - digit) / 10)
            return -1;
        value = value * 10 + digit;
    }
    if (i == first)
        return -1;
    *number = (int64_t)(is_negative ? -value : value);
    return 0;
}

static int entry_number(const struct tcpstore_entry *entry, int64_t *number,
                        enum tcpstore_refusal *why)
{
    *number = 0;
    if (!entry->has_value || parse_number(entry->value->data, entry->len, number) == 0)
        return 0;
    return tcpstore_refuse(why, TCPSTORE_ADD_TO_TEXT);
}

/* ---- Values ---- */

static struct tcpstore_entry *find_or_add(struct call *call, struct tcpstore_slice key)
{
    return tcpstore_find_or_add(call->kv, call->client->account, key, call->why);
}

/* Store a value without waking anyone. NULL after a failure, which changed nothing. */
static struct tcpstore_entry *store(struct call *call, struct tcpstore_slice key,
                                    struct tcpstore_slice value)
{
    struct tcpstore_entry *entry = find_or_add(call, key);

    if (!entry || tcpstore_entry_set(call->kv, entry, value, call->why) == 0)
        return entry;
    tcpstore_entry_drop(call->kv, entry);
    return NULL;
}

static int store_number(struct tcpstore_kv *kv, struct tcpstore_entry *entry,
                        int64_t number, enum tcpstore_refusal *why)
{
    char text[24];
    int len = snprintf(text, sizeof(text), "%" PRId64, number);
    struct tcpstore_slice value = {(const unsigned char *)text, (size_t)len};

    return tcpstore_entry_set(kv, entry, value, why);
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
    const struct tcpstore_request *request = call->request;
    struct tcpstore_entry *entry = store(call, request->key, request->value);

    if (!entry)
        return -1;
    wake_all(entry, false);
    return 0;
}

static int do_compare_set(struct call *call)
{
    const struct tcpstore_request *request = call->request;
    struct tcpstore_entry *entry = tcpstore_find(call->kv, request->key);
    struct tcpstore_slice current = no_bytes;

    if (entry && entry->has_value) {
        current.data = entry->value->data;
        current.len = entry->len;
    }
    if (current.len == request->value.len &&
        !memcmp(current.data, request->value.data, current.len)) {
        entry = store(call, request->key, request->desired);
        if (!entry)
            return -1;
        wake_all(entry, false);
        return tcpstore_put_blob(call->reply, request->desired.data,
                                 request->desired.len);
    }
    /* libtorch's servers answer for an absent key with what the client expected. */
    if (!entry || !entry->has_value)
        return tcpstore_put_blob(call->reply, request->value.data, request->value.len);
    return put_value_reply(call, entry);
}

static int do_get(struct call *call)
{
    return put_value_reply(call, tcpstore_find(call->kv, call->request->key));
}

static int do_add(struct call *call)
{
    struct tcpstore_entry *entry = find_or_add(call, call->request->key);
    int64_t number;

    if (!entry)
        return -1;
    if (entry_number(entry, &number, call->why) < 0)
        return -1;
    number = (int64_t)((uint64_t)number + (uint64_t)call->request->number);
    if (store_number(call->kv, entry, number, call->why) < 0) {
        tcpstore_entry_drop(call->kv, entry);
        return -1;
    }
    wake_all(entry, false);
    return tcpstore_put_i64(call->reply, number);
}

static int do_append(struct call *call)
{
    struct tcpstore_slice value = call->request->value;
    struct tcpstore_entry *entry = find_or_add(call, call->request->key);
    size_t len;

    if (!entry)
        return -1;
    len = (entry->has_value ? entry->len : 0) + value.len;
    /* Half as much again, so that many small pieces don't cost a copy each. */
    if ((!entry->value || len > entry->capacity) &&
        tcpstore_entry_resize(call->kv, entry, entry->len ? len + len / 2 : len, NULL) <
            0 &&
        tcpstore_entry_resize(call->kv, entry, len, call->why) < 0) {
        tcpstore_entry_drop(call->kv, entry);
        return -1;
    }
    memcpy(entry->value->data + len - value.len, value.data, value.len);
    entry->len = len;
    call->kv->n_values += !entry->has_value;
    entry->has_value = true;
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

/* What MULTI_SET would add to the store, and to the client's account. */
struct growth {
    size_t keys, bytes;
    size_t own_keys, own_bytes;
};

static void add_pair(struct growth *growth, const struct tcpstore_client *client,
                     const struct tcpstore_entry *entry, size_t key_len, size_t value_len)
{
    size_t bytes = tcpstore_entry_cost(key_len) + value_len;

    if (entry)
        bytes = value_len > entry->capacity ? value_len - entry->capacity : 0;
    growth->keys += !entry;
    growth->bytes += bytes;
    growth->own_bytes += bytes;
    if (!entry || entry->account == client->account) {
        growth->own_keys += !entry;
    } else {
        growth->own_keys++;
        growth->own_bytes += tcpstore_entry_bytes(entry);
    }
}

/* Whether all pairs will fit, so that none is stored if not. A key that is new to the
 * store or the account and is named twice counts twice. */
static int check_pairs(struct call *call)
{
    struct tcpstore_kv *kv = call->kv;
    struct tcpstore_slice list = call->request->list, key, value;
    struct growth growth = {0, 0, 0, 0};

    for (uint64_t i = 0; i < call->request->count; i++) {
        tcpstore_list_next(&list, &key, &value);
        add_pair(&growth, call->client, tcpstore_find(kv, key), key.len, value.len);
    }
    if (growth.keys > kv->limits.max_keys - kv->n_entries)
        return tcpstore_refuse(call->why, TCPSTORE_STORE_KEYS);
    if (tcpstore_account_check(kv, call->client->account, growth.own_keys,
                               growth.own_bytes, call->why) < 0)
        return -1;
    return tcpstore_check_room(kv, NULL, growth.bytes, call->why);
}

static int do_multi_set(struct call *call)
{
    struct tcpstore_slice list = call->request->list, key, value;

    if (check_pairs(call) < 0)
        return -1;
    for (uint64_t i = 0; i < call->request->count; i++) {
        struct tcpstore_entry *entry;
        tcpstore_list_next(&list, &key, &value);
        entry = store(call, key, value);
        if (!entry)
            return -1;
        wake_all(entry, false);
    }
    return 0;
}

static int do_wait(struct call *call)
{
    struct tcpstore_client *client = call->client;
    struct tcpstore_slice list = call->request->list, key;
    size_t missing = 0;

    /* A client has one wait: it could not tell the replies of two apart. */
    drop_wait(client);
    for (uint64_t i = 0; i < call->request->count; i++) {
        tcpstore_list_next(&list, &key, NULL);
        missing += !tcpstore_entry_exists(tcpstore_find(call->kv, key));
    }
    if (missing == 0)
        return tcpstore_put_u8(call->reply, TCPSTORE_STOP_WAITING);
    if (begin_wait(client, missing, call->why) < 0)
        return -1;
    list = call->request->list;
    for (uint64_t i = 0; i < call->request->count; i++) {
        tcpstore_list_next(&list, &key, NULL);
        if (tcpstore_entry_exists(tcpstore_find(call->kv, key)) ||
            add_wait(client, key, call->why) == 0)
            continue;
        drop_wait(client);
        return -1;
    }
    return 0;
}

static int do_cancel_wait(struct call *call)
{
    drop_wait(call->client);
    return tcpstore_put_u8(call->reply, WAIT_CANCELED);
}

static bool is_listed(const struct tcpstore_kv *kv, const struct tcpstore_entry *entry)
{
    struct tcpstore_slice key = {entry->key, entry->hh.keylen};

    tcpstore_kv_hide_secret(kv, &key);
    return entry->has_value && key.len == entry->hh.keylen;
}

static int list_step(struct tcpstore_client *client, struct buf *reply)
{
    struct tcpstore_listing *listing = &client->listing;
    size_t most = TCPSTORE_LIST_STEP;
    uint64_t count;

    for (; most && listing->left && listing->next; most--, listing->left--) {
        const struct tcpstore_entry *entry = listing->next;

        if (is_listed(client->kv, entry)) {
            if (tcpstore_put_blob(reply, entry->key, entry->hh.keylen) < 0) {
                end_listing(client);
                return -1;
            }
            listing->count++;
        }
        listing->next = entry->hh.next;
    }
    if (listing->left && listing->next)
        return 0;
    end_listing(client);
    count = htole64((uint64_t)listing->count);
    memcpy(reply->data + listing->count_at, &count, sizeof(count));
    return 0;
}

static int do_list_keys(struct call *call)
{
    struct tcpstore_client *client = call->client;

    client->listing = (struct tcpstore_listing){.next = call->kv->entries,
                                                .left = call->kv->n_entries,
                                                .count_at = call->reply->len};
    /* The number comes first, and is known last. */
    if (tcpstore_put_i64(call->reply, 0) < 0)
        return -1;
    client->is_listing = true;
    TAILQ_INSERT_TAIL(&call->kv->listings, &client->listing, link);
    return list_step(client, call->reply);
}

/* ---- Queues and barriers ---- */

static int do_queue_push(struct call *call)
{
    struct tcpstore_entry *entry = find_or_add(call, call->request->key);

    if (!entry)
        return -1;
    if (tcpstore_entry_push(call->kv, entry, call->request->value, call->why) < 0) {
        tcpstore_entry_drop(call->kv, entry);
        return -1;
    }
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

static int park_at_barrier(struct call *call)
{
    struct tcpstore_client *client = call->client;

    if (begin_wait(client, 1, call->why) < 0)
        return -1;
    client->is_barrier = true;
    return add_wait(client, call->request->key, call->why);
}

/* The count never starts again: who comes after the last one passes at once. */
static int do_barrier(struct call *call)
{
    struct tcpstore_kv *kv = call->kv;
    struct tcpstore_entry *entry;
    int64_t count;

    drop_wait(call->client);
    entry = find_or_add(call, call->request->key);
    if (!entry || entry_number(entry, &count, call->why) < 0)
        return -1;
    count = (int64_t)((uint64_t)count + 1);
    if (count < call->request->number && park_at_barrier(call) < 0)
        goto fail;
    if (store_number(kv, entry, count, call->why) < 0)
        goto fail;
    if (count < call->request->number)
        return 0;
    wake_all(entry, true);
    return tcpstore_put_u8(call->reply, TCPSTORE_STOP_WAITING);

fail:
    /* Keep the entry until its last user is done with it. */
    if (call->client->waits)
        drop_wait(call->client);
    else
        tcpstore_entry_drop(kv, entry);
    return -1;
}

/* ---- The rest ---- */

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

/* Nothing in torch 1.13 uses the notifications that it asks for here. */
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
    struct call call = {client->kv, client, request, &reply->bytes, reply, why};

    if (client->is_v1)
        drop_wait(client);
    *why = TCPSTORE_NOT_REFUSED;
    if (handlers[request->query](&call) == 0)
        return 0;
    if (*why == TCPSTORE_NOT_REFUSED)
        tcpstore_refuse(why, TCPSTORE_REPLY_SIZE);
    return -1;
}

int tcpstore_kv_list_on(struct tcpstore_client *client, struct tcpstore_out *reply,
                        enum tcpstore_refusal *why)
{
    if (!client->is_listing || list_step(client, &reply->bytes) == 0)
        return 0;
    return tcpstore_refuse(why, TCPSTORE_REPLY_SIZE);
}

void tcpstore_client_each_wait(const struct tcpstore_client *client, size_t most,
                               void (*each)(void *arg, const void *key, size_t key_len),
                               void *arg)
{
    for (size_t i = 0; i < client->n_waits && most; i++) {
        const struct tcpstore_entry *entry = client->waits[i].entry;
        if (!entry)
            continue;
        each(arg, entry->key, entry->hh.keylen);
        most--;
    }
}
