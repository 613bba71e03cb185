/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_lib.h - load NCCL at run time */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_LIB_H
#define RINGBENCH_WORKER_NCCL_NCCL_LIB_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/worker/nccl/cuda_abi.h"
#include "agent/worker/nccl/nccl_abi.h"
#include "common/base/error.h"

struct nccl_functions {
    int (*get_version)(int *);
    const char *(*error_string)(int);
    const char *(*last_error)(nccl_comm);
    int (*get_unique_id)(struct nccl_id *);
    int (*init_rank)(nccl_comm *, int, struct nccl_id, int, struct nccl_config *);
    int (*destroy)(nccl_comm);
    int (*async_error)(nccl_comm, int *);
    int (*group_start)(void);
    int (*group_end)(void);
    int (*premul_create)(int *, void *, int, int, nccl_comm);
    int (*premul_destroy)(int, nccl_comm);
    int (*all_reduce)(const void *, void *, size_t, int, int, nccl_comm, cuda_stream);
    int (*all_gather)(const void *, void *, size_t, int, nccl_comm, cuda_stream);
    int (*reduce_scatter)(const void *, void *, size_t, int, int, nccl_comm, cuda_stream);
    int (*broadcast)(const void *, void *, size_t, int, int, nccl_comm, cuda_stream);
    int (*reduce)(const void *, void *, size_t, int, int, int, nccl_comm, cuda_stream);
    int (*send)(const void *, size_t, int, int, nccl_comm, cuda_stream);
    int (*recv)(void *, size_t, int, int, nccl_comm, cuda_stream);
    /* NULL in libraries before 2.19 (mem_alloc, register_buffer), 2.23 (scalable), 2.27
     * (windows) or 2.28 (alltoall, gather, scatter). */
    int (*mem_alloc)(void **, size_t);
    int (*mem_free)(void *);
    int (*init_rank_scalable)(nccl_comm *, int, int, int, struct nccl_id *,
                              struct nccl_config *);
    int (*register_buffer)(nccl_comm, void *, size_t, void **);
    int (*deregister_buffer)(nccl_comm, void *);
    int (*register_window)(nccl_comm, void *, size_t, nccl_window *, int);
    int (*deregister_window)(nccl_comm, nccl_window);
    int (*alltoall)(const void *, void *, size_t, int, nccl_comm, cuda_stream);
    int (*gather)(const void *, void *, size_t, int, int, nccl_comm, cuda_stream);
    int (*scatter)(const void *, void *, size_t, int, int, nccl_comm, cuda_stream);
    /* Exists only in the tests' emulation of the library. */
    const int *emulated;
};

#define NCCL_CUDA_TEXT_MAX 16

struct nccl_lib {
    struct nccl_functions call;
    int version; /* 22809 is 2.28.9 */
    int driver;  /* CUDA version that the driver supports: 12040 is 12.4; 0: not known */
    const char *path;
    char cuda[NCCL_CUDA_TEXT_MAX]; /* of nccl_lib_cuda(); "": not known */
    char passed_over[512];         /* why the loader skipped another library, or "" */
    bool is_emulated;
    /* result of ncclGetLastError() when nccl_forget_error() was called */
    char stale_error[1024];
};

/* Load the first libnccl.so.2 that is new enough and that the driver supports (`driver`
 * of struct cuda_lib). If RINGBENCH_NCCL_LIB is set, only that file is tried. */
int nccl_lib_load(struct nccl_lib *nccl, int driver, struct error *err);

/* The CUDA version that a libnccl is built for, such as "13.0". Searches the whole file
 * for the version line that NCCL prints. -1: not readable, or not found. */
int nccl_lib_cuda(const char *path, char text[NCCL_CUDA_TEXT_MAX]);

/* Omit NCCL's current last error from later messages. */
void nccl_forget_error(struct nccl_lib *nccl, nccl_comm comm);

/* Set "WHAT: NCCL's text (NCCL result N), its last error: ...". Returns -1. */
int nccl_failed(const struct nccl_lib *nccl, nccl_comm comm, int result, const char *what,
                struct error *err);

/* ", NCCL's last error: ...", or "" if there is none or NCCL is not loaded. comm may be
 * NULL. */
#define NCCL_LAST_ERROR_MAX 400
const char *nccl_last_error(const struct nccl_lib *nccl, nccl_comm comm,
                            char text[NCCL_LAST_ERROR_MAX]);

/* Format a version: 22809 is "2.28.9". */
#define NCCL_VERSION_TEXT_MAX 24
const char *nccl_version_text(int version, char text[NCCL_VERSION_TEXT_MAX]);

#endif
