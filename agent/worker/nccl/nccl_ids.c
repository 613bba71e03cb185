/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_ids.c - exchange ncclUniqueIds through the store */
#include "agent/worker/nccl/nccl_ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_PER_ID 128
#define KEY_MAX 64

int nccl_ids_count(const struct nccl_lib *nccl, int world_size)
{
    const char *text = getenv("RINGBENCH_RANKS_PER_NCCL_ID");
    int per_id = text ? atoi(text) : RANKS_PER_ID;

    if (!nccl->call.init_rank_scalable)
        return 1;
    per_id = per_id > 0 ? per_id : RANKS_PER_ID;
    int count = (world_size + per_id - 1) / per_id;
    return count < NCCL_IDS_MAX ? count : NCCL_IDS_MAX;
}

static const char *key_of(const char *scope, int number, char key[KEY_MAX])
{
    if (number == 0)
        snprintf(key, KEY_MAX, "ringbench/%snccl_id", scope);
    else
        snprintf(key, KEY_MAX, "ringbench/%snccl_id/%d", scope, number);
    return key;
}

static int maker_of(int number, int world_size, int n_ids)
{
    return (int)((long)number * world_size / n_ids);
}

static int publish(const struct nccl_lib *nccl, struct rendezvous_client *store,
                   const char *scope, int number, struct error *err)
{
    struct nccl_id id;
    char key[KEY_MAX];

    int result = nccl->call.get_unique_id(&id);
    if (result)
        return nccl_failed(nccl, NULL, result, "ncclGetUniqueId", err);
    return rendezvous_client_set(store, key_of(scope, number, key), id.bytes,
                                 sizeof(id.bytes), err);
}

static int fetch(struct rendezvous_client *store, const char *scope, int number,
                 int64_t timeout_ms, struct nccl_id *id, struct error *err)
{
    char key[KEY_MAX];
    const char *keys[] = {key_of(scope, number, key)};
    struct buf value;
    int status;

    buf_init(&value, 4096);
    status = rendezvous_client_wait(store, keys, 1, timeout_ms, err) ||
             rendezvous_client_get(store, key, &value, err);
    if (!status && value.len != sizeof(id->bytes)) {
        status = error_set(err, ERROR_PEER, "%s is %zu bytes long instead of %zu", key,
                           value.len, sizeof(id->bytes));
    }
    if (!status)
        memcpy(id->bytes, value.data, sizeof(id->bytes));
    buf_release(&value);
    return status ? -1 : 0;
}

int nccl_ids_exchange(const struct nccl_lib *nccl, struct rendezvous_client *store,
                      const struct nccl_ids_ranks *ranks, int64_t timeout_ms,
                      struct nccl_id *ids, struct error *err)
{
    for (int i = 0; i < ranks->n_ids; i++)
        if (maker_of(i, ranks->world_size, ranks->n_ids) == ranks->rank &&
            publish(nccl, store, ranks->scope, i, err))
            return -1;
    for (int i = 0; i < ranks->n_ids; i++)
        if (fetch(store, ranks->scope, i, timeout_ms, &ids[i], err))
            return error_prefix(err, "NCCL's unique id");
    return 0;
}
