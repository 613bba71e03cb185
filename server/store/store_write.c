/* SPDX-License-Identifier: Apache-2.0 */
/* store_write.c - builds a store_write from operations */
#include "server/store/store_write.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "common/base/memory.h"
#include "server/store/event_samples.h"
#include "server/store/run_listed.h"
#include "server/store/store_artifacts.h"
#include "server/store/store_trends.h"

struct store_write *store_write_create(void)
{
    struct store_write *write = memory_zeroed(1, sizeof(*write), "a write");

    STAILQ_INIT(&write->ops);
    return write;
}

static void op_destroy(struct store_op *op)
{
    json_decref(op->params);
    free(op->run);
    free((char *)(uintptr_t)op->event.type);
    free((char *)(uintptr_t)op->event.body);
    free((char *)(uintptr_t)op->event.samples);
    free(op->record);
    free(op->key);
    free(op->choice);
    free(op);
}

void store_write_destroy(struct store_write *write)
{
    if (!write)
        return;
    while (!STAILQ_EMPTY(&write->ops)) {
        struct store_op *op = STAILQ_FIRST(&write->ops);
        STAILQ_REMOVE_HEAD(&write->ops, entry);
        op_destroy(op);
    }
    free(write);
}

/* Mark the write as failed. A write that lacks an operation must not be stored, so
 * submitting it fails. */
static int write_spoil(struct store_write *write, const char *text)
{
    write->is_failed = true;
    return error_set(&write->err, ERROR_INVALID, "%s", text);
}

static struct store_op *op_add(struct store_write *write, enum store_op_kind kind)
{
    struct store_op *op = memory_zeroed(1, sizeof(*op), "a write");

    op->kind = kind;
    STAILQ_INSERT_TAIL(&write->ops, op, entry);
    return op;
}

/* params: the parameters of the kind's statements (store_ops.c). Takes ownership of them.
 */
static int add(struct store_write *write, enum store_op_kind kind, json_t *params)
{
    if (!params)
        return write_spoil(write, "a text to be stored is not valid UTF-8");
    op_add(write, kind)->params = params;
    return 0;
}

/* Return the text as a JSON string; the text is freed. */
static json_t *take_text(char *text)
{
    json_t *string = text ? json_string(text) : NULL;

    free(text);
    return string;
}

int store_write_run(struct store_write *write, const char *id, const char *state,
                    const char *name, int64_t created_ms, const json_t *labels,
                    const json_t *doc)
{
    return add(
        write, STORE_OP_RUN,
        json_pack("{s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:O*}", "run", id, "state", state,
                  "name", name ? name : "", "created_ms", (json_int_t)created_ms,
                  "labels",
                  labels ? json_incref((json_t *)(uintptr_t)labels) : json_object(),
                  "listed", run_listed(doc), "doc", json_copy((json_t *)(uintptr_t)doc),
                  "nodes", json_object_get(doc, "nodes")));
}

/* Separate a result's arrays from its text, and fill its record. */
static void add_result(struct store_op *op, const json_t *body)
{
    json_t *rest = event_samples_pack(body, &op->event);

    op->event.body = json_text(rest);
    op->record = memory_zeroed(1, sizeof(*op->record), "a write");
    result_record_read(body, op->record, &op->key, &op->choice);
    op->record->time_ms = op->event.time_ms;
    json_decref(rest);
}

int store_write_event(struct store_write *write, const char *run, int64_t time_ms,
                      const char *type, const json_t *body)
{
    struct store_op *op = op_add(write, STORE_OP_EVENT);

    assert(!json_object_get(body, "type"));
    op->run = memory_text(run, "a write");
    op->event.time_ms = time_ms;
    op->event.type = memory_text(type, "a write");
    if (strcmp(type, "result") == 0)
        add_result(op, body);
    else
        op->event.body = json_text(body);
    if (!op->event.body)
        memory_out("a write");
    op->event.body_len = strlen(op->event.body);
    write->n_events++;
    return 0;
}

int store_write_log(struct store_write *write, const char *run, int64_t time_ms,
                    int case_no, int rank, const char *stream, const char *text,
                    size_t len)
{
    return add(write, STORE_OP_LOG,
               json_pack("{s:s, s:I, s:i, s:i, s:s, s:o}", "run", run, "time_ms",
                         (json_int_t)time_ms, "case_no", case_no, "rank", rank, "stream",
                         stream, "text", json_stringn_nocheck(text, len)));
}

int store_write_ack(struct store_write *write, const char *boot_id, int64_t seq)
{
    return add(write, STORE_OP_ACK,
               json_pack("{s:s, s:I, s:I}", "boot_id", boot_id, "seq", (json_int_t)seq,
                         "now_ms", (json_int_t)clock_wall_ms()));
}

int store_write_unack(struct store_write *write, const char *boot_id)
{
    return add(write, STORE_OP_UNACK, json_pack("{s:s}", "boot_id", boot_id));
}

int store_write_idempotency(struct store_write *write, const char *key,
                            const char *body_hash, const char *run)
{
    int64_t now_ms = clock_wall_ms();

    if (strlen(body_hash) > STORE_BODY_HASH_MAX || strlen(run) > ID_RUN_LENGTH)
        return write_spoil(write, "the hash or run id is too long");
    return add(write, STORE_OP_IDEMPOTENCY,
               json_pack("{s:s, s:s, s:s, s:I, s:I}", "key", key, "body_hash", body_hash,
                         "run", run, "now_ms", (json_int_t)now_ms, "expired_ms",
                         (json_int_t)(now_ms - STORE_IDEMPOTENCY_KEEP_MS)));
}

int store_write_disown(struct store_write *write, const char *run, int case_no)
{
    return add(write, STORE_OP_DISOWN,
               json_pack("{s:s, s:i}", "run", run, "case_no", case_no));
}

int store_write_delete(struct store_write *write, const char *run)
{
    return add(write, STORE_OP_DELETE, json_pack("{s:s}", "run", run));
}

int store_write_expire(struct store_write *write, int64_t keep, int64_t created_before_ms)
{
    return add(write, STORE_OP_EXPIRE,
               json_pack("{s:I, s:I}", "keep", (json_int_t)keep, "created_before_ms",
                         (json_int_t)created_before_ms));
}

int store_write_prune(struct store_write *write, int64_t acks_before_ms,
                      int64_t idempotency_before_ms)
{
    return add(write, STORE_OP_PRUNE,
               json_pack("{s:I, s:I}", "acks_ms", (json_int_t)acks_before_ms, "keys_ms",
                         (json_int_t)idempotency_before_ms));
}

int store_write_node(struct store_write *write, const char *node, int64_t time_ms,
                     const char *state, const char *detail)
{
    return add(write, STORE_OP_NODE,
               json_pack("{s:s, s:I, s:s, s:s?, s:i}", "node", node, "time_ms",
                         (json_int_t)time_ms, "state", state, "detail", detail, "most",
                         STORE_NODE_HISTORY_MAX));
}

int store_write_values(struct store_write *write, const char *run, const json_t *values)
{
    json_t *params = json_copy((json_t *)(uintptr_t)values);

    json_object_set_new(params, "run", json_string(run));
    return add(write, STORE_OP_VALUES, params);
}

int store_write_artifact(struct store_write *write, const struct store_artifact *item)
{
    return add(write, STORE_OP_ARTIFACT,
               json_pack("{s:s, s:i, s:s, s:s, s:s, s:I, s:s?}", "run", item->run, "case",
                         item->case_no, "node", item->node, "name", item->name, "digest",
                         item->digest, "bytes",
                         (json_int_t)(item->text ? strlen(item->text) : 0), "text",
                         item->text));
}

int store_write_job(struct store_write *write, const char *id, int64_t ended_ms,
                    const json_t *doc)
{
    return add(write, STORE_OP_JOB,
               json_pack("{s:s, s:o, s:o, s:i}", "id", id, "ended_ms",
                         ended_ms ? json_integer(ended_ms) : json_null(), "doc",
                         take_text(json_text(doc)), "most", STORE_JOBS_ENDED_MAX));
}

int store_write_watched(struct store_write *write, const char *kind, const char *id,
                        const json_t *doc)
{
    if (!doc)
        return add(write, STORE_OP_UNWATCHED,
                   json_pack("{s:s, s:s}", "kind", kind, "id", id));
    return add(write, STORE_OP_WATCHED,
               json_pack("{s:s, s:s, s:o}", "kind", kind, "id", id, "doc",
                         take_text(json_text(doc))));
}

static json_t *baseline_params(const struct store_baseline *baseline)
{
    return json_pack("{s:s, s:s?, s:s, s:s, s:s, s:s, s:I}", "id", baseline->id, "run",
                     baseline->run, "by", baseline->by, "why", baseline->why, "peer",
                     baseline->peer, "likeness", run_likeness_names[baseline->likeness],
                     "time_ms", (json_int_t)baseline->time_ms);
}

int store_write_baseline(struct store_write *write, const struct store_baseline *baseline)
{
    return add(write, STORE_OP_BASELINE, baseline_params(baseline));
}

int store_write_baseline_end(struct store_write *write,
                             const struct store_baseline *baseline)
{
    return add(write, STORE_OP_BASELINE_END, baseline_params(baseline));
}
