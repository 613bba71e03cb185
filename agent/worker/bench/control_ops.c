/* control_ops.c - what the control series time: one repetition of each */
#include "agent/worker/bench/control_ops.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"

int control_ops_init(struct control_ops *ops, struct bench *bench, enum control_kind kind,
                     struct error *err)
{
    size_t n = (size_t)bench->file->world_size;
    size_t text = (size_t)bench->file->spec->control.object_bytes;

    memset(ops, 0, sizeof(*ops));
    ops->bench = bench;
    if (kind != CONTROL_GATHER_OBJECT)
        return 0;
    ops->object_most = control_object_most(&bench->file->spec->control);
    ops->filler = calloc(text + 1, 1);
    ops->lengths = calloc(n, sizeof(*ops->lengths));
    ops->texts = calloc(n, ops->object_most);
    if (!ops->filler || !ops->lengths || !ops->texts) {
        control_ops_release(ops);
        return error_set(err, ERROR_MEMORY, "control: out of memory");
    }
    memset(ops->filler, 'x', text);
    return 0;
}

void control_ops_release(struct control_ops *ops)
{
    free(ops->filler);
    free(ops->lengths);
    free(ops->texts);
    memset(ops, 0, sizeof(*ops));
}

/* One collective from `at` bytes into the send buffer to as far into the other. */
static int begin(struct control_ops *ops, const struct backend_call *call,
                 uint64_t send_at, uint64_t recv_at, struct error *err)
{
    struct bench *bench = ops->bench;
    struct backend_call placed = *call;

    placed.root = -1;
    placed.send = bench->send + send_at;
    placed.recv = bench->recv + recv_at;
    progress_begin(bench->progress);
    return bench->backend->run(bench->comm, &placed, err);
}

static int end(struct control_ops *ops, struct error *err)
{
    struct bench *bench = ops->bench;

    if (bench->backend->wait(bench->comm, err))
        return -1;
    progress_finish(bench->progress);
    return bench_stopped(bench, err);
}

/* Data of a model are not there to be written or read. */
static int put(struct control_ops *ops, uint64_t at, const void *data, size_t len,
               struct error *err)
{
    struct bench *bench = ops->bench;

    return bench->backend->is_simulated
               ? 0
               : bench->backend->write(bench->comm, bench->send + at, data, len, err);
}

static int get(struct control_ops *ops, void *data, uint64_t at, size_t len,
               struct error *err)
{
    struct bench *bench = ops->bench;

    return bench->backend->is_simulated
               ? 0
               : bench->backend->read(bench->comm, data, bench->recv + at, len, err);
}

int control_ops_reduce_flag(struct control_ops *ops, struct error *err)
{
    static const struct backend_call call = {.kind = COLLECTIVE_ALL_REDUCE,
                                             .dtype = DTYPE_FLOAT32,
                                             .redop = REDOP_MAX,
                                             .count = 1};
    uint64_t at = ops->turn++ % 2 * CONTROL_ALIGNMENT;
    /* Another number each time, and larger than any that lies in the buffers before. */
    float raised = 0x1p100f * (float)(2 + ops->turn % 1024);
    float flag = ops->bench->rank == ops->bench->file->world_size - 1 ? raised : 0;
    float any = raised;

    if (put(ops, at, &flag, sizeof(flag), err) || begin(ops, &call, at, at, err) ||
        end(ops, err) || get(ops, &any, at, sizeof(any), err))
        return -1;
    return any == raised ? 0
                         : error_set(err, ERROR_INTERNAL,
                                     "control: the flag of the last rank did not arrive");
}

int control_ops_barrier(struct control_ops *ops, struct error *err)
{
    struct bench *bench = ops->bench;
    static const struct backend_call call = {.kind = COLLECTIVE_ALL_REDUCE,
                                             .dtype = DTYPE_FLOAT32,
                                             .redop = REDOP_MAX,
                                             .count = 1};
    uint64_t at = ops->turn++ % 2 * CONTROL_ALIGNMENT;

    if (!bench->backend->has_own_barrier)
        return begin(ops, &call, at, at, err) || end(ops, err) ? -1 : 0;
    progress_begin(bench->progress);
    if (bench_barrier(bench, err))
        return -1;
    progress_finish(bench->progress);
    return bench_stopped(bench, err);
}

/* This rank's object as text, which the caller frees. */
static char *serialise(struct control_ops *ops, size_t *len, struct error *err)
{
    int rank = ops->bench->rank, last = ops->bench->file->world_size - 1;
    json_t *object = json_pack("{s:i, s:b, s:s}", "rank", rank, "raised", rank == last,
                               "text", ops->filler);
    char *text = json_text(object);

    json_decref(object);
    *len = text ? strlen(text) : 0;
    if (!text || *len > ops->object_most) {
        free(text);
        error_set(err, text ? ERROR_INTERNAL : ERROR_MEMORY,
                  "control: can't serialise an object");
        return NULL;
    }
    return text;
}

/* Whether any object says that its rank has raised its flag. */
static int read_objects(struct control_ops *ops, size_t longest, bool *any,
                        struct error *err)
{
    for (int rank = 0; rank < ops->bench->file->world_size; rank++) {
        const char *text = ops->texts + (size_t)rank * longest;
        json_t *object = json_parse(text, (size_t)ops->lengths[rank], NULL);
        bool is_its = json_get_int(object, "rank", -1) == rank;

        *any = *any || json_get_bool(object, "raised", false);
        json_decref(object);
        if (!is_its) {
            return error_set(err, ERROR_INTERNAL,
                             "control: the object of rank %d did not arrive", rank);
        }
    }
    return 0;
}

/* Every rank's length, and the longest. */
static int exchange_lengths(struct control_ops *ops, uint64_t at, size_t len,
                            size_t *longest, struct error *err)
{
    static const struct backend_call call = {
        .kind = COLLECTIVE_ALL_GATHER, .dtype = DTYPE_INT64, .redop = -1, .count = 1};
    size_t n = (size_t)ops->bench->file->world_size;
    int64_t own = (int64_t)len;

    for (size_t i = 0; i < n; i++)
        ops->lengths[i] = own; /* in a model all are alike */
    if (put(ops, at, &own, sizeof(own), err) || begin(ops, &call, at, at, err) ||
        end(ops, err) || get(ops, ops->lengths, at, n * sizeof(own), err))
        return -1;
    *longest = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t each = ops->lengths[i];
        if (each < 1 || each > (int64_t)ops->object_most) {
            return error_set(err, ERROR_INTERNAL,
                             "control: the length of rank %zu's object did not arrive",
                             i);
        }
        *longest = (size_t)each > *longest ? (size_t)each : *longest;
    }
    return 0;
}

/* Every rank's bytes, padded to the longest. */
static int exchange_bytes(struct control_ops *ops, uint64_t at, const char *text,
                          size_t len, size_t longest, struct error *err)
{
    struct backend_call call = {.kind = COLLECTIVE_ALL_GATHER,
                                .dtype = DTYPE_UINT8,
                                .redop = -1,
                                .count = longest};
    size_t n = (size_t)ops->bench->file->world_size;

    return put(ops, at, text, len, err) || begin(ops, &call, at, at, err) ||
                   end(ops, err) || get(ops, ops->texts, at, n * longest, err)
               ? -1
               : 0;
}

int control_ops_gather_object(struct control_ops *ops, struct error *err)
{
    int n = ops->bench->file->world_size;
    uint64_t lengths_bytes = control_lengths_bytes(n);
    uint64_t at = ops->turn++ % 2 * (lengths_bytes + (uint64_t)n * ops->object_most);
    bool any = ops->bench->backend->is_simulated;
    size_t len, longest;

    char *text = serialise(ops, &len, err);
    if (!text)
        return -1;
    int status = exchange_lengths(ops, at, len, &longest, err) ||
                         exchange_bytes(ops, at + lengths_bytes, text, len, longest, err)
                     ? -1
                     : 0;
    free(text);
    if (!status && !any)
        status = read_objects(ops, longest, &any, err);
    if (!status && !any) {
        status = error_set(err, ERROR_INTERNAL,
                           "control: the flag of the last rank did not arrive");
    }
    return status;
}

static int reduce_pieces(struct control_ops *ops, uint64_t pieces, struct error *err)
{
    uint64_t bytes = control_chunk_bytes(&ops->bench->file->spec->control) / pieces;
    struct backend_call call = {.kind = COLLECTIVE_ALL_REDUCE,
                                .dtype = DTYPE_FLOAT32,
                                .redop = REDOP_SUM,
                                .count = bytes / sizeof(float)};

    for (uint64_t i = 0; i < pieces; i++) {
        if (begin(ops, &call, i * bytes, i * bytes, err) ||
            bench_stopped(ops->bench, err))
            return -1;
        if (!ops->bench->backend->is_async)
            progress_finish(ops->bench->progress);
    }
    return end(ops, err);
}

int control_ops_one_large(struct control_ops *ops, struct error *err)
{
    return reduce_pieces(ops, 1, err);
}

int control_ops_many_small(struct control_ops *ops, struct error *err)
{
    return reduce_pieces(ops, (uint64_t)ops->bench->file->spec->control.pieces, err);
}
