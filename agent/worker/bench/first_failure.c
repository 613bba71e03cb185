/* SPDX-License-Identifier: Apache-2.0 */
/* first_failure.c - agree on the rank that failed first */
#include "agent/worker/bench/first_failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"

#define KEY "ringbench/first_failure"
#define TIMEOUT_MS 500
#define RECORD_MAX 4096

static void adopt(const char *text, size_t len, struct first_failure *failure)
{
    json_t *record = json_parse(text, len, NULL);
    int rank = (int)json_get_int(record, "rank", -1);

    if (rank >= 0)
        failure->is_cancelled = json_get_bool(record, "cancelled", false);
    if (rank >= 0 && rank != failure->rank) {
        failure->rank = rank;
        error_set(&failure->error, ERROR_PEER, "%s",
                  json_get_str(record, "text", "lost"));
    }
    json_decref(record);
}

void first_failure_settle(struct rendezvous_client *store, struct first_failure *failure)
{
    struct buf stored;
    json_t *record = json_pack("{s:i, s:b, s:s}", "rank", failure->rank, "cancelled",
                               failure->is_cancelled, "text", failure->error.text);
    char *text = record ? json_text(record) : NULL;

    json_decref(record);
    if (!store || !text) {
        free(text);
        return;
    }
    buf_init(&stored, RECORD_MAX);
    rendezvous_client_ignore_stop(store);
    rendezvous_client_set_timeout(store, TIMEOUT_MS);
    if (!rendezvous_client_compare_set(store, KEY, "", text, &stored, NULL) &&
        stored.len > 0)
        adopt(stored.data, stored.len, failure);
    buf_release(&stored);
    free(text);
}
