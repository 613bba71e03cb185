/* SPDX-License-Identifier: Apache-2.0 */
/* operation.c - one operation of the emulated NCCL on its stream: its transfers */
#include "tests/nccl_emulation/operation.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/nccl_emulation/reduction.h"
#include "tests/nccl_emulation/settings.h"

#define SLOW_ONCE_US 100000

/* The transfers of an operation, and the buffer for contributions to a reduction. */
struct plan {
    struct transfer *transfers;
    size_t n;
    char *contributions; /* n * bytes; NULL: this rank does not reduce */
};

static size_t bytes_of(const struct operation *operation)
{
    return operation->count * reduction_element(operation->type);
}

static void add(struct plan *plan, bool is_send, int peer, const char *data, size_t len)
{
    plan->transfers[plan->n++] = (struct transfer){
        .peer = peer, .is_send = is_send, .data = (char *)(size_t)data, .len = len};
}

static bool is_root(const struct operation *operation)
{
    return operation->comm->rank == operation->root;
}

/* True if this rank sends to `peer`, and from which address. */
static bool gives(const struct operation *operation, int peer, const char **from)
{
    *from = operation->send;
    switch (operation->kind) {
    case OPERATION_REDUCE_SCATTER:
    case OPERATION_ALLTOALL:
        *from += (size_t)peer * bytes_of(operation);
        return true;
    case OPERATION_SCATTER:
        *from += is_root(operation) ? (size_t)peer * bytes_of(operation) : 0;
        return is_root(operation);
    case OPERATION_BROADCAST:
        return is_root(operation);
    case OPERATION_REDUCE:
    case OPERATION_GATHER:
        return peer == operation->root;
    default:
        return true;
    }
}

static bool reduces(const struct operation *operation)
{
    return operation->kind == OPERATION_ALL_REDUCE ||
           operation->kind == OPERATION_REDUCE_SCATTER ||
           (operation->kind == OPERATION_REDUCE && is_root(operation));
}

static bool gets(const struct operation *operation, const struct plan *plan, int peer,
                 char **to)
{
    size_t shift = (size_t)peer * bytes_of(operation);

    *to = operation->recv + shift;
    switch (operation->kind) {
    case OPERATION_ALL_REDUCE:
    case OPERATION_REDUCE_SCATTER:
    case OPERATION_REDUCE:
        *to = plan->contributions + shift;
        return plan->contributions != NULL;
    case OPERATION_BROADCAST:
    case OPERATION_SCATTER:
        *to = operation->recv;
        return peer == operation->root;
    case OPERATION_GATHER:
        return is_root(operation);
    default:
        return true;
    }
}

static bool make_plan(const struct operation *operation, struct plan *plan)
{
    size_t n = (size_t)operation->comm->n;

    plan->transfers = calloc(2 * n, sizeof(*plan->transfers));
    if (reduces(operation))
        plan->contributions = malloc(n * bytes_of(operation) + 1);
    if (!plan->transfers || (reduces(operation) && !plan->contributions))
        return false;
    for (int peer = 0; peer < operation->comm->n; peer++) {
        const char *from;
        char *to;
        if (gives(operation, peer, &from))
            add(plan, true, peer, from, bytes_of(operation));
        if (gets(operation, plan, peer, &to))
            add(plan, false, peer, to, bytes_of(operation));
    }
    return true;
}

const struct premul *premul_of(const struct ncclComm *comm, int op)
{
    int at = op - PREMUL_FIRST;

    return at >= 0 && at < PREMULS_MAX && comm->premuls[at].is_used ? &comm->premuls[at]
                                                                    : NULL;
}

/* In a pre-multiplied sum each rank scales its input before it sends. Returns the scaled
 * input, or NULL for other operators. */
static char *premultiply(struct operation *operation)
{
    const struct premul *premul = premul_of(operation->comm, operation->op);
    bool is_wide = operation->kind == OPERATION_REDUCE_SCATTER;
    size_t count = operation->count * (size_t)(is_wide ? operation->comm->n : 1);
    char *scaled = premul ? malloc(count * reduction_element(operation->type)) : NULL;

    if (scaled) {
        reduction_scale(operation->type, premul->scalar, operation->send, count, scaled);
        operation->send = scaled;
        operation->op = NCCL_OP_SUM;
    }
    return scaled;
}

/* Check expect_own_data: if two inputs are equal, NCCL reports a remote error. */
static void expect_own_data(const struct operation *operation, const char *contributions)
{
    size_t bytes = bytes_of(operation);
    int n = emulation_setting("expect_own_data", 0) ? operation->comm->n : 1;

    for (int i = 1; i < n; i++)
        if (memcmp(contributions, contributions + (size_t)i * bytes, bytes) == 0)
            atomic_store(&operation->comm->async_result, NCCL_RESULT_REMOTE);
}

static void collective(struct operation *operation)
{
    struct plan plan = {0};
    char *scaled = premultiply(operation);

    if (make_plan(operation, &plan) &&
        wire_move(operation->comm->wire, plan.transfers, plan.n,
                  &operation->comm->is_aborted) &&
        plan.contributions) {
        expect_own_data(operation, plan.contributions);
        reduction_run(operation->type, operation->op, plan.contributions,
                      operation->comm->n, operation->count, operation->recv);
    }
    free(plan.transfers);
    free(plan.contributions);
    free(scaled);
}

static size_t received_elements(const struct operation *operation)
{
    size_t n = (size_t)operation->comm->n;

    switch (operation->kind) {
    case OPERATION_ALL_GATHER:
    case OPERATION_ALLTOALL:
        return operation->count * n;
    case OPERATION_GATHER:
        return is_root(operation) ? operation->count * n : 0;
    case OPERATION_REDUCE:
        return is_root(operation) ? operation->count : 0;
    case OPERATION_POINT_TO_POINT:
        return 0;
    default:
        return operation->count;
    }
}

static void spoil(const struct operation *operation)
{
    long index = emulation_setting("wrong", -1);
    size_t element = reduction_element(operation->type);

    if (index >= 0 && (size_t)index < received_elements(operation))
        operation->recv[((size_t)index + 1) * element - 1] ^= 0x21;
}

/* A library's bug: write to the buffer of a rank that receives nothing. */
static void scribble(const struct operation *operation)
{
    long index = emulation_setting("scribble", -1);

    if (index >= 0 && !is_root(operation) &&
        (operation->kind == OPERATION_REDUCE || operation->kind == OPERATION_GATHER))
        operation->recv[(size_t)index * reduction_element(operation->type)] ^= 0x21;
}

static void sleep_us(long us)
{
    struct timespec time = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

    nanosleep(&time, NULL);
}

static void hang(const struct ncclComm *comm)
{
    emulation_mark();
    while (!atomic_load(&comm->is_aborted))
        sleep_us(1000);
}

/* True if a fault replaces the operation. */
static bool misbehave(struct ncclComm *comm)
{
    long number = ++comm->done;

    if (number == emulation_setting("die", 0))
        kill(getpid(), SIGKILL);
    sleep_us(emulation_setting("slow_us", 0));
    if (number == emulation_setting("slow_once", 0))
        sleep_us(SLOW_ONCE_US);
    bool is_error = number == emulation_setting("async_error", 0);
    if (is_error)
        atomic_store(&comm->async_result, NCCL_RESULT_REMOTE);
    if (is_error || number == emulation_setting("stall", 0)) {
        hang(comm);
        return true;
    }
    return false;
}

static void run(void *arg)
{
    struct operation *operation = arg;
    struct ncclComm *comm = operation->comm;

    if (!misbehave(comm)) {
        if (operation->kind == OPERATION_POINT_TO_POINT) {
            wire_move(comm->wire, operation->transfers, operation->n_transfers,
                      &comm->is_aborted);
        } else {
            collective(operation);
        }
        spoil(operation);
        scribble(operation);
    }
}

static void *copy(const void *arg)
{
    const struct operation *operation = arg;
    struct operation *own = malloc(sizeof(*own));
    size_t bytes = operation->n_transfers * sizeof(*own->transfers);

    if (!own)
        return NULL;
    *own = *operation;
    if (operation->transfers) {
        own->transfers = malloc(bytes);
        if (!own->transfers) {
            free(own);
            return NULL;
        }
        memcpy(own->transfers, operation->transfers, bytes);
    }
    return own;
}

static void release(void *arg)
{
    struct operation *operation = arg;

    free(operation->transfers);
    free(operation);
}

const struct emulated_work operation_work = {run, copy, release};
