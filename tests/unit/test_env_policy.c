/* test_env_policy.c - which variables a run may set */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/env_policy.h"

struct sample {
    const char *name;
    enum env_policy policy;
};

static const struct sample samples[] = {
    {"NCCL_DEBUG", ENV_POLICY_ALLOW},
    {"NCCL_P2P_DISABLE", ENV_POLICY_ALLOW},
    {"NCCL_TOPO_FILE", ENV_POLICY_ALLOW},
    {"UCX_TLS", ENV_POLICY_ALLOW},
    {"OMP_NUM_THREADS", ENV_POLICY_ALLOW},
    {"FI_PROVIDER", ENV_POLICY_ALLOW},
    {"SIM_LATENCY_US", ENV_POLICY_ALLOW},
    {"CUDA_VISIBLE_DEVICES", ENV_POLICY_ALLOW},
    {"NCCL_NET_PLUGIN", ENV_POLICY_CONSENT},
    {"NCCL_TUNER_PLUGIN", ENV_POLICY_CONSENT},
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
    {"FI_PROVIDER_PATH", ENV_POLICY_CONSENT},
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

static void judges_each_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        const char *reason = NULL;
        enum env_policy policy = env_policy_check(samples[i].name, &reason);

        if (policy != samples[i].policy)
            fail_msg("%s: %d instead of %d", samples[i].name, policy, samples[i].policy);
        assert_true((reason != NULL) == (policy != ENV_POLICY_ALLOW));
    }
}

static void refuses_a_name_that_is_too_long(void **state)
{
    char name[ENV_POLICY_NAME_MAX + 2];

    (void)state;
    memset(name, 'A', sizeof(name));
    memcpy(name, "NCCL_", 5);
    name[ENV_POLICY_NAME_MAX] = '\0';
    assert_int_equal(env_policy_check(name, NULL), ENV_POLICY_ALLOW);
    name[ENV_POLICY_NAME_MAX] = 'A';
    name[ENV_POLICY_NAME_MAX + 1] = '\0';
    assert_int_equal(env_policy_check(name, NULL), ENV_POLICY_REFUSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judges_each_name),
        cmocka_unit_test(refuses_a_name_that_is_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
