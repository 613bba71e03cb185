/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_comm.c - turn failures of CUDA and NCCL into errors that name the lost peer */
#include "agent/worker/nccl/nccl_comm.h"

#include <time.h>

#include "common/base/clock.h"

/* wait at most this long for notice of the loss that made NCCL fail */
#define LOSS_NS 1000000000

int comm_cuda(struct backend_comm *comm, int code, const char *what, struct error *err)
{
    return code ? cuda_failed(&comm->cuda, code, what, err) : 0;
}

static void nap(void)
{
    struct timespec time = {.tv_nsec = 1000000};

    nanosleep(&time, NULL);
}

int comm_lost(struct backend_comm *comm, struct error *err)
{
    const struct error *cause = &comm->tree->watch.error;
    char last[NCCL_LAST_ERROR_MAX];

    return error_set(err, cause->code, "%s%s", cause->text,
                     nccl_last_error(&comm->nccl, comm->comm, last));
}

int comm_nccl(struct backend_comm *comm, int result, const char *what, struct error *err)
{
    int64_t deadline = clock_monotonic_ns() + LOSS_NS;
    struct error words = {0};

    if (result == NCCL_RESULT_SUCCESS)
        return 0;
    nccl_failed(&comm->nccl, comm->comm, result, what, &words);
    bool is_ours = result == NCCL_RESULT_ARGUMENT || result == NCCL_RESULT_USAGE ||
                   result == NCCL_RESULT_CUDA;
    while (!is_ours && clock_monotonic_ns() < deadline) {
        if (watch_check(&comm->tree->watch)) {
            const struct error *cause = &comm->tree->watch.error;
            return error_set(err, cause->code, "%s; NCCL: %s", cause->text, words.text);
        }
        nap();
    }
    return error_set(err, words.code, "%s", words.text);
}
