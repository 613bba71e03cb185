/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.h - the emulated NCCL: it moves real bytes between processes of one machine
 *
 * It has the functions that agent/worker/nccl/nccl_lib.c binds. Built with EMULATED_OLD
 * it has only those of NCCL 2.18. */
#ifndef RINGBENCH_TESTS_NCCL_EMULATION_NCCL_H
#define RINGBENCH_TESTS_NCCL_EMULATION_NCCL_H

#include <stddef.h>

#include "agent/worker/nccl/cuda_abi.h"
#include "agent/worker/nccl/nccl_abi.h"

extern const int ringbench_emulated;

/* Set the text of ncclGetLastError. Returns the result. */
int emulated_fail(int result, const char *text);

int ncclGetVersion(int *version);
const char *ncclGetErrorString(int result);
const char *ncclGetLastError(nccl_comm comm);
int ncclGetUniqueId(struct nccl_id *id);
int ncclCommInitRankConfig(nccl_comm *out, int n, struct nccl_id id, int rank,
                           struct nccl_config *config);
int ncclCommInitRankScalable(nccl_comm *out, int n, int rank, int n_ids,
                             struct nccl_id *ids, struct nccl_config *config);
int ncclCommDestroy(nccl_comm comm);
int ncclCommAbort(nccl_comm comm);
int ncclCommGetAsyncError(nccl_comm comm, int *result);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclRedOpCreatePreMulSum(int *op, void *scalar, int type, int residence,
                             nccl_comm comm);
int ncclRedOpDestroy(int op, nccl_comm comm);
int ncclMemAlloc(void **out, size_t bytes);
int ncclMemFree(void *memory);
int ncclCommRegister(nccl_comm comm, void *memory, size_t bytes, void **handle);
int ncclCommDeregister(nccl_comm comm, void *handle);
int ncclCommWindowRegister(nccl_comm comm, void *memory, size_t bytes,
                           nccl_window *window, int flags);
int ncclCommWindowDeregister(nccl_comm comm, nccl_window window);
int ncclAllReduce(const void *send, void *recv, size_t count, int type, int op,
                  nccl_comm comm, cuda_stream stream);
int ncclAllGather(const void *send, void *recv, size_t count, int type, nccl_comm comm,
                  cuda_stream stream);
int ncclReduceScatter(const void *send, void *recv, size_t count, int type, int op,
                      nccl_comm comm, cuda_stream stream);
int ncclBroadcast(const void *send, void *recv, size_t count, int type, int root,
                  nccl_comm comm, cuda_stream stream);
int ncclReduce(const void *send, void *recv, size_t count, int type, int op, int root,
               nccl_comm comm, cuda_stream stream);
int ncclSend(const void *send, size_t count, int type, int peer, nccl_comm comm,
             cuda_stream stream);
int ncclRecv(void *recv, size_t count, int type, int peer, nccl_comm comm,
             cuda_stream stream);
int ncclAlltoAll(const void *send, void *recv, size_t count, int type, nccl_comm comm,
                 cuda_stream stream);
int ncclGather(const void *send, void *recv, size_t count, int type, int root,
               nccl_comm comm, cuda_stream stream);
int ncclScatter(const void *send, void *recv, size_t count, int type, int root,
                nccl_comm comm, cuda_stream stream);

#endif
