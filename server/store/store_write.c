/* store_write.c - building a store_write */
#include "server/store/store_write.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/json_util.h"
#include "server/store/event_samples.h"
#include "server/store/run_listed.h"
#include "server/store/store_artifacts.h"
#include "server/store/store_trends.h"

#define BODY_HASH_MAX 64

struct store_write *store_write_create(void)
{
    struct store_write *write = calloc(1, sizeof(*write));

    if (write)
        STAILQ_INIT(&write->ops);
    return write;
}

static void op_destroy(struct store_op *op)
{
    switch (op->kind) {
    case STORE_OP_RUN:
        free(op->row.state);
        free(op->row.name);
        free(op->row.labels);
        free(op->row.listed);
        free(op->row.doc);
        free(op->row.nodes);
        break;
    case STORE_OP_CASE:
        free(op->run_case.doc);
        break;
    case STORE_OP_EVENT:
        free((char *)(uintptr_t)op->event.type);
        free((char *)(uintptr_t)op->event.body);
        free((char *)(uintptr_t)op->event.samples);
        free(op->key);
        free(op->choice);
        free(op->record);
        break;
    case STORE_OP_NODE:
        free(op->node.state);
        free(op->node.detail);
        break;
    case STORE_OP_LOG:
        free(op->log.stream);
        free(op->log.text);
        break;
    case STORE_OP_IDEMPOTENCY:
        free(op->idempotency.run);
        free(op->idempotency.body_hash);
        break;
    case STORE_OP_JOB:
    case STORE_OP_VALUES:
    case STORE_OP_ARTIFACT:
    case STORE_OP_BASELINE:
    case STORE_OP_BASELINE_END:
        json_decref(op->params);
        break;
    case STORE_OP_ACK:
    case STORE_OP_UNACK:
    case STORE_OP_DISOWN:
    case STORE_OP_DELETE:
    case STORE_OP_PRUNE:
    case STORE_OP_COUNT:
        break;
    }
    free(op->run);
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

/* A write that lacks one of its operations must not be stored: submitting it fails. */
static int write_spoil(struct store_write *write, enum error_code code, const char *text)
{
    if (!write)
        return -1;
    write->is_failed = true;
    return error_set(&write->err, code, "%s", text);
}

static struct store_op *op_create(enum store_op_kind kind, const char *run)
{
    struct store_op *op = calloc(1, sizeof(*op));

    if (!op)
        return NULL;
    op->kind = kind;
    op->run = strdup(run);
    if (!op->run) {
        free(op);
        return NULL;
    }
    return op;
}

/* Append op if it is whole, else destroy it and spoil the write. */
static int op_finish(struct store_write *write, struct store_op *op, bool is_whole)
{
    if (!write || !is_whole) {
        if (op)
            op_destroy(op);
        return write_spoil(write, ERROR_MEMORY, "out of memory");
    }
    STAILQ_INSERT_TAIL(&write->ops, op, entry);
    return 0;
}

static char *listed_text(const json_t *doc)
{
    json_t *listed = run_listed(doc);
    char *text = json_text(listed);

    json_decref(listed);
    return text;
}

int store_write_run(struct store_write *write, const char *id, const char *state,
                    const char *name, int64_t created_ms, const json_t *labels,
                    const json_t *doc)
{
    struct store_op *op = op_create(STORE_OP_RUN, id);
    const json_t *nodes = json_object_get(doc, "nodes");
    bool has_nodes = json_array_size(nodes) > 0;

    if (op) {
        op->row.state = strdup(state);
        op->row.name = strdup(name ? name : "");
        op->row.created_ms = created_ms;
        op->row.labels = labels ? json_text(labels) : strdup("{}");
        op->row.listed = listed_text(doc);
        op->row.doc = json_text(doc);
        op->row.nodes = has_nodes ? json_text(nodes) : NULL;
    }
    return op_finish(write, op,
                     op && op->row.state && op->row.name && op->row.labels &&
                         op->row.listed && op->row.doc && (op->row.nodes || !has_nodes));
}

int store_write_case(struct store_write *write, const char *run, size_t case_no,
                     char *doc)
{
    struct store_op *op = op_create(STORE_OP_CASE, run);

    if (op) {
        op->run_case.number = case_no;
        op->run_case.doc = doc;
    } else {
        free(doc);
    }
    return op_finish(write, op, op && doc);
}

/* Put a result's record beside its text. */
static bool add_record(struct store_op *op, const json_t *body)
{
    op->record = malloc(sizeof(*op->record));
    if (op->record)
        result_record_read(body, op->record, &op->key, &op->choice);
    return op->key != NULL;
}

static bool add_body(struct store_op *op, const json_t *body)
{
    op->event.body = json_text(body);
    op->event.body_len = op->event.body ? strlen(op->event.body) : 0;
    return op->event.body != NULL;
}

/* Its samples beside the text, and its record. */
static bool add_result(struct store_op *op, const json_t *body)
{
    json_t *rest = event_samples_pack(body, &op->event);
    bool is_whole = rest && add_body(op, rest) && add_record(op, body);

    json_decref(rest);
    return is_whole;
}

int store_write_event(struct store_write *write, const char *run, int64_t time_ms,
                      const char *type, const json_t *body)
{
    struct store_op *op = op_create(STORE_OP_EVENT, run);
    bool is_whole = op != NULL;
    int rc;

    assert(!json_object_get(body, "type"));
    if (op) {
        op->event.time_ms = time_ms;
        op->event.type = strdup(type);
        is_whole =
            (strcmp(type, "result") == 0 ? add_result(op, body) : add_body(op, body)) &&
            op->event.type;
    }
    rc = op_finish(write, op, is_whole);
    if (rc == 0)
        write->n_events++;
    return rc;
}

int store_write_log(struct store_write *write, const char *run, int64_t time_ms,
                    int case_no, int rank, const char *stream, const char *text,
                    size_t len)
{
    struct store_op *op = op_create(STORE_OP_LOG, run);

    if (op) {
        op->log.time_ms = time_ms;
        op->log.case_no = case_no;
        op->log.rank = rank;
        op->log.stream = strdup(stream);
        op->log.text = malloc(len + 1);
        op->log.len = len;
    }
    if (op && op->log.text) {
        memcpy(op->log.text, text, len);
        op->log.text[len] = '\0';
    }
    return op_finish(write, op, op && op->log.stream && op->log.text);
}

int store_write_ack(struct store_write *write, const char *boot_id, int64_t seq)
{
    struct store_op *op = op_create(STORE_OP_ACK, boot_id);

    if (op) {
        op->ack.seq = seq;
        op->ack.now_ms = clock_wall_ms();
    }
    return op_finish(write, op, op);
}

int store_write_unack(struct store_write *write, const char *boot_id)
{
    struct store_op *op = op_create(STORE_OP_UNACK, boot_id);

    return op_finish(write, op, op);
}

int store_write_idempotency(struct store_write *write, const char *key,
                            const char *body_hash, const char *run)
{
    struct store_op *op;

    if (strlen(body_hash) > BODY_HASH_MAX || strlen(run) > ID_RUN_LENGTH)
        return write_spoil(write, ERROR_INVALID, "the hash or run id is too long");
    op = op_create(STORE_OP_IDEMPOTENCY, key);
    if (op) {
        op->idempotency.body_hash = strdup(body_hash);
        op->idempotency.run = strdup(run);
        op->idempotency.now_ms = clock_wall_ms();
    }
    return op_finish(write, op, op && op->idempotency.body_hash && op->idempotency.run);
}

int store_write_disown(struct store_write *write, const char *run, int case_no)
{
    struct store_op *op = op_create(STORE_OP_DISOWN, run);

    if (op)
        op->case_no = case_no;
    return op_finish(write, op, op);
}

int store_write_delete(struct store_write *write, const char *run)
{
    struct store_op *op = op_create(STORE_OP_DELETE, run);

    return op_finish(write, op, op);
}

int store_write_prune(struct store_write *write, int64_t acks_before_ms,
                      int64_t idempotency_before_ms)
{
    struct store_op *op = op_create(STORE_OP_PRUNE, "");

    if (op) {
        op->prune.acks_before_ms = acks_before_ms;
        op->prune.idempotency_before_ms = idempotency_before_ms;
    }
    return op_finish(write, op, op);
}

int store_write_node(struct store_write *write, const char *node, int64_t time_ms,
                     const char *state, const char *detail)
{
    struct store_op *op = op_create(STORE_OP_NODE, node);

    if (op) {
        op->node.time_ms = time_ms;
        op->node.state = strdup(state);
        op->node.detail = detail ? strdup(detail) : NULL;
    }
    return op_finish(write, op, op && op->node.state && (op->node.detail || !detail));
}

/* params: taken. */
static int add_params(struct store_write *write, enum store_op_kind kind, const char *run,
                      json_t *params)
{
    struct store_op *op = op_create(kind, run);

    if (op)
        op->params = params;
    else
        json_decref(params);
    return op_finish(write, op, op && params);
}

int store_write_values(struct store_write *write, const char *run, const json_t *values)
{
    json_t *params = json_copy((json_t *)(uintptr_t)values);

    json_object_set_new(params, "run", json_string(run));
    return add_params(write, STORE_OP_VALUES, run, params);
}

int store_write_artifact(struct store_write *write, const struct store_artifact *item)
{
    return add_params(write, STORE_OP_ARTIFACT, item->run,
                      json_pack("{s:s, s:i, s:s, s:s, s:s, s:I, s:s?}", "run", item->run,
                                "case", item->case_no, "node", item->node, "name",
                                item->name, "digest", item->digest, "bytes",
                                (json_int_t)(item->text ? strlen(item->text) : 0), "text",
                                item->text));
}

int store_write_job(struct store_write *write, const char *id, int64_t ended_ms,
                    const json_t *doc)
{
    return add_params(write, STORE_OP_JOB, id,
                      json_pack("{s:s, s:o, s:O}", "id", id, "ended_ms",
                                ended_ms ? json_integer(ended_ms) : json_null(), "doc",
                                doc));
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
    return add_params(write, STORE_OP_BASELINE, baseline->run, baseline_params(baseline));
}

int store_write_baseline_end(struct store_write *write,
                             const struct store_baseline *baseline)
{
    return add_params(write, STORE_OP_BASELINE_END, baseline->id,
                      baseline_params(baseline));
}
