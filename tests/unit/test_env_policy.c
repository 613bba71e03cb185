/* SPDX-License-Identifier: Apache-2.0 */
/* test_env_policy.c - which variables a run may set */
#include "common/base/env_policy.h"
#include "tests/unit/test.h"

struct sample {
    const char *name;
    enum env_policy policy;
};

static const struct sample samples[] = {
    {"NCCL_DEBUG", ENV_POLICY_ALLOW},
    {"NCCL_P2P_DISABLE", ENV_POLICY_ALLOW},
    {"NCCL_ALGO", ENV_POLICY_ALLOW},
    /* The first and the last of their table. */
    {"NCCL_AGG_CHANNEL_SIZE", ENV_POLICY_ALLOW},
    {"NCCL_WORK_FIFO_DEPTH", ENV_POLICY_ALLOW},
    {"NCCL_IB_HCA", ENV_POLICY_ALLOW},
    {"NCCL_SOCKET_IFNAME", ENV_POLICY_ALLOW},
    {"UCX_TLS", ENV_POLICY_ALLOW},
    {"UCX_NET_DEVICES", ENV_POLICY_ALLOW},
    {"UCX_RC_VERBS_TX_QUEUE_LEN", ENV_POLICY_ALLOW},
    {"UCX_IB_GPU_DIRECT_RDMA", ENV_POLICY_ALLOW},
    {"OMP_NUM_THREADS", ENV_POLICY_ALLOW},
    {"FI_PROVIDER", ENV_POLICY_ALLOW},
    {"FI_EFA_USE_DEVICE_RDMA", ENV_POLICY_ALLOW},
    {"GLOO_SOCKET_IFNAME", ENV_POLICY_ALLOW},
    {"SIM_RING_US", ENV_POLICY_ALLOW},
    {"CUDA_VISIBLE_DEVICES", ENV_POLICY_ALLOW},
    {"NCCL_NET_PLUGIN", ENV_POLICY_CONSENT},
    {"NCCL_TUNER_PLUGIN", ENV_POLICY_CONSENT},
    {"NCCL_IBVERBS_LIB", ENV_POLICY_CONSENT},
    {"NCCL_COMM_ID", ENV_POLICY_CONSENT},
    {"NCCL_RAS_ADDR", ENV_POLICY_CONSENT},
    {"NCCL_PROXY_PROFILE", ENV_POLICY_CONSENT},
    {"NCCL_TOPO_FILE", ENV_POLICY_CONSENT},
    {"NCCL_ALG", ENV_POLICY_CONSENT},
    {"NCCL_ALGO_", ENV_POLICY_CONSENT},
    {"NCCL_ALGO2", ENV_POLICY_CONSENT},
    {"NCCL_PROFILER_PLUGIN", ENV_POLICY_CONSENT},
    {"NCCL_CONF_FILE", ENV_POLICY_CONSENT},
    {"NCCL_DEBUG_FILE", ENV_POLICY_CONSENT},
    {"NCCL_TOPO_DUMP_FILE", ENV_POLICY_CONSENT},
    {"NCCL_INSPECTOR_DUMP_DIR", ENV_POLICY_CONSENT},
    {"NCCL_CUDA_PATH", ENV_POLICY_CONSENT},
    {"UCX_MODULE_DIR", ENV_POLICY_CONSENT},
    {"UCX_GDB_COMMAND", ENV_POLICY_CONSENT},
    {"UCX_LOG_FILE", ENV_POLICY_CONSENT},
    {"UCX_STATS_DEST", ENV_POLICY_CONSENT},
    {"UCX_POSIX_DIR", ENV_POLICY_CONSENT},
    {"UCX_PROFILE_MODE", ENV_POLICY_CONSENT},
    {"UCX_RC_VERBS_FROM_TOMORROW", ENV_POLICY_CONSENT},
    {"UCX_TOMORROW_TX_QUEUE_LEN", ENV_POLICY_CONSENT},
    {"UCX_RC_VERBS", ENV_POLICY_CONSENT},
    {"UCX_RC_", ENV_POLICY_CONSENT},
    {"FI_PROVIDER_PATH", ENV_POLICY_CONSENT},
    {"FI_LOG_LOCATION", ENV_POLICY_CONSENT},
    {"FI_HOOK", ENV_POLICY_CONSENT},
    {"FI_OFI_HOOK_MONITOR_BASEPATH", ENV_POLICY_CONSENT},
    {"FI_UCX_CONFIG", ENV_POLICY_CONSENT},
    {"FI_CXI_COLL_FABRIC_MGR_URL", ENV_POLICY_CONSENT},
    {"FI_CXI_COLL_FABRIC_MGR_CACERT", ENV_POLICY_CONSENT},
    {"FI_VERBS_NIC_AFFINITY_CONFIG", ENV_POLICY_CONSENT},
    {"OMP_TOOL_LIBRARIES", ENV_POLICY_CONSENT},
    {"RINGBENCH_ALLOW_FAULTS", ENV_POLICY_CONSENT},
    {"RINGBENCH_TOKEN_FILE", ENV_POLICY_REFUSE},
    {"RINGBENCH_HOSTID", ENV_POLICY_REFUSE},
    {"RANK", ENV_POLICY_REFUSE},
    {"MASTER_ADDR", ENV_POLICY_REFUSE},
    {"LD_PRELOAD", ENV_POLICY_REFUSE},
    {"PATH", ENV_POLICY_REFUSE},
    {"CUDA_INJECTION64_PATH", ENV_POLICY_REFUSE},
    {"NCCL_", ENV_POLICY_REFUSE},
    {"nccl_debug", ENV_POLICY_REFUSE},
    {"NCCL_DEBUG=INFO", ENV_POLICY_REFUSE},
    {"NCCL DEBUG", ENV_POLICY_REFUSE},
    {"0NCCL_DEBUG", ENV_POLICY_REFUSE},
    {"", ENV_POLICY_REFUSE},
};

TEST(judges_each_name)
{
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        const char *reason = NULL;
        enum env_policy policy = env_policy_check(samples[i].name, &reason);

        if (policy != samples[i].policy)
            fail_msg("%s: %d instead of %d", samples[i].name, policy, samples[i].policy);
        assert_true((reason != NULL) == (policy != ENV_POLICY_ALLOW));
    }
}

TEST(refuses_a_name_that_is_too_long)
{
    char name[ENV_POLICY_NAME_MAX + 2];

    memset(name, 'A', sizeof(name));
    memcpy(name, "NCCL_", 5);
    name[ENV_POLICY_NAME_MAX] = '\0';
    assert_int_equal(env_policy_check(name, NULL), ENV_POLICY_CONSENT);
    name[ENV_POLICY_NAME_MAX] = 'A';
    name[ENV_POLICY_NAME_MAX + 1] = '\0';
    assert_int_equal(env_policy_check(name, NULL), ENV_POLICY_REFUSE);
}
