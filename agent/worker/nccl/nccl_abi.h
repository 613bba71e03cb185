/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_abi.h - the part of NCCL's binary interface that the worker uses
 *
 * The worker loads the library at run time. With these declarations it builds without
 * nccl.h. Values and layouts are those of NVIDIA's nccl.h 2.18 to 2.30, which only
 * appends members. tests/unit/test_nccl_releases.c checks the declarations against each
 * release, test_nccl_abi.c against the header if it is installed. All names differ from
 * the header's, so that both can be included. */
#ifndef RINGBENCH_WORKER_NCCL_NCCL_ABI_H
#define RINGBENCH_WORKER_NCCL_NCCL_ABI_H

#include <limits.h>
#include <stddef.h>

#define NCCL_ABI_VERSION(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))
#define NCCL_OLDEST NCCL_ABI_VERSION(2, 18, 0)
#define NCCL_WITH_FP8 NCCL_ABI_VERSION(2, 24, 0)
/* On older GPUs, NCCL before 2.28 refuses fp8 in all its collectives. Later versions
 * refuse it only in collectives that reduce (taskAppend in src/enqueue.cc). */
#define NCCL_COPIES_FP8 NCCL_ABI_VERSION(2, 28, 0)
#define NCCL_WITH_NVLINK_SCHED NCCL_ABI_VERSION(2, 28, 0)

#define NCCL_ID_BYTES 128

enum {
    NCCL_RESULT_SUCCESS = 0,
    NCCL_RESULT_CUDA = 1,
    NCCL_RESULT_SYSTEM = 2,
    NCCL_RESULT_INTERNAL = 3,
    NCCL_RESULT_ARGUMENT = 4,
    NCCL_RESULT_USAGE = 5,
    NCCL_RESULT_REMOTE = 6,
    NCCL_RESULT_IN_PROGRESS = 7
};

enum {
    NCCL_TYPE_INT8 = 0,
    NCCL_TYPE_UINT8 = 1,
    NCCL_TYPE_INT32 = 2,
    NCCL_TYPE_UINT32 = 3,
    NCCL_TYPE_INT64 = 4,
    NCCL_TYPE_UINT64 = 5,
    NCCL_TYPE_FLOAT16 = 6,
    NCCL_TYPE_FLOAT32 = 7,
    NCCL_TYPE_FLOAT64 = 8,
    NCCL_TYPE_BFLOAT16 = 9,
    NCCL_TYPE_FLOAT8E4M3 = 10,
    NCCL_TYPE_FLOAT8E5M2 = 11
};

enum {
    NCCL_OP_SUM = 0,
    NCCL_OP_PROD = 1,
    NCCL_OP_MAX = 2,
    NCCL_OP_MIN = 3,
    NCCL_OP_AVG = 4
};

/* ncclScalarResidence_t: the scalar is in host memory and is copied immediately. */
enum { NCCL_SCALAR_HOST = 1 };

struct nccl_id {
    char bytes[NCCL_ID_BYTES];
};

#define NCCL_CONFIG_MAGIC 0xcafebeefu
#define NCCL_CONFIG_UNSET INT_MIN
#define NCCL_CONFIG_VERSION NCCL_ABI_VERSION(2, 28, 0) /* the members up to 2.28 */
#define NCCL_WITH_P2P_PEERS NCCL_ABI_VERSION(2, 30, 0)

/* ncclConfig_t of 2.30. An older library reads only the members that it knows. */
struct nccl_config {
    size_t size;
    unsigned magic;
    unsigned version;
    int blocking;
    int cga_cluster_size;
    int min_ctas;
    int max_ctas;
    const char *net_name;
    int split_share;
    int traffic_class;
    const char *comm_name;
    int collnet_enable;
    int cta_policy;
    int shrink_share;
    int nvls_ctas;
    int n_channels_per_net_peer;
    int nvlink_centric_sched;
    /* Since 2.29. */
    int graph_usage_mode;
    int num_rma_ctx;
    /* Since 2.30. */
    int max_p2p_peers;
    int graph_stream_ordering;
};

#define NCCL_CONFIG_BYTES offsetof(struct nccl_config, graph_usage_mode)

typedef struct ncclComm *nccl_comm;
typedef struct ncclWindow_vidmem *nccl_window;

enum { NCCL_WINDOW_SYMMETRIC = 0x01 };

#endif
