/* SPDX-License-Identifier: Apache-2.0 */
/* store_write.h - the operations of a store_write, in order */
#ifndef RINGBENCH_SERVER_STORE_STORE_WRITE_H
#define RINGBENCH_SERVER_STORE_STORE_WRITE_H

#include <sys/queue.h>

#include "server/store/store.h"
#include "server/summary/result_record.h"

enum store_op_kind {
    STORE_OP_RUN,
    STORE_OP_EVENT,
    STORE_OP_LOG,
    STORE_OP_ACK,
    STORE_OP_UNACK,
    STORE_OP_IDEMPOTENCY,
    STORE_OP_DELETE,
    STORE_OP_EXPIRE,
    STORE_OP_PRUNE,
    STORE_OP_NODE,
    STORE_OP_JOB,
    STORE_OP_WATCHED,
    STORE_OP_UNWATCHED,
    STORE_OP_DISOWN,
    STORE_OP_VALUES,
    STORE_OP_ARTIFACT,
    STORE_OP_BASELINE,
    STORE_OP_BASELINE_END,
    STORE_OP_COUNT
};

/* All members are owned. */
struct store_op {
    STAILQ_ENTRY(store_op) entry;
    enum store_op_kind kind;
    json_t *params; /* parameters of the kind's statements, by name; NULL for an event */
    /* Members of an event: */
    char *run;
    struct store_event event;
    struct result_record *record; /* record of a result; NULL for other events */
    char *key, *choice;           /* texts of the record; choice may be NULL */
};

STAILQ_HEAD(store_op_list, store_op);
STAILQ_HEAD(store_write_list, store_write);

struct store_write {
    STAILQ_ENTRY(store_write) entry;
    struct store_op_list ops;
    size_t n_events;
    int64_t submitted_ns;
    bool retry;
    /* the write failed with err; set before submission if an operation could not be
     * added */
    bool is_failed;
    struct error err;
    store_written *done;
    void *arg;
};

#define STORE_ACK_KEEP_MS (INT64_C(30) * 24 * 3600 * 1000)
#define STORE_IDEMPOTENCY_KEEP_MS (INT64_C(24) * 3600 * 1000)

/* Delete the oldest ended run that is no baseline, if it is not among the `keep` newest
 * runs (0: no limit) or was created before a time. ERROR_NOT_FOUND if there is no such
 * run. */
int store_write_expire(struct store_write *write, int64_t keep,
                       int64_t created_before_ms);

/* Forget acknowledgements, nodes' changes of state and idempotency keys older than these
 * times. */
int store_write_prune(struct store_write *write, int64_t acks_before_ms,
                      int64_t idempotency_before_ms);

#endif
