/* SPDX-License-Identifier: Apache-2.0 */
/* env_policy.c - decides which environment variables a run may set for its workers */
#include "common/base/env_policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "common/base/env_names.h"

static const char loads_code[] = "makes the library load code";
static const char runs_command[] = "makes the library run a command";
static const char writes_file[] = "makes the library write files";
static const char reads_file[] = "makes the library read a file on the node";
static const char sets_more[] = "can set further variables, which are not checked";
static const char listens[] = "makes the library listen for connections";
static const char goes_out[] =
    "makes the library connect to an address that the run chooses";
static const char takes_signal[] = "changes the worker's reaction to a signal";

/* Known variables that need the node's consent; a final '*' matches any rest of the name.
 * Other variables that are not known to be harmless need consent too, because each
 * library release adds variables that nobody has reviewed. */
static const struct rule {
    const char *name;
    const char *reason;
} held_back[] = {
    {"RINGBENCH_ALLOW_FAULTS", "enables the injection of faults"},
    {"NCCL_COMM_ID", goes_out},
    {"NCCL_CONF_FILE", sets_more},
    {"NCCL_CUDA_PATH", loads_code},
    {"NCCL_DEBUG_FILE", writes_file},
    {"NCCL_ENV_PLUGIN", loads_code},
    {"NCCL_GIN_PLUGIN", loads_code},
    {"NCCL_GRAPH_DUMP_FILE", writes_file},
    {"NCCL_GRAPH_FILE", reads_file},
    {"NCCL_IBVERBS_LIB", loads_code},
    {"NCCL_INSPECTOR_*", writes_file},
    {"NCCL_NET_PLUGIN", loads_code},
    {"NCCL_PROFILER_PLUGIN", loads_code},
    {"NCCL_PROFILE_DUMP_FILE", writes_file},
    {"NCCL_PROXY_DUMP_SIGNAL", takes_signal},
    {"NCCL_PROXY_PROFILE", writes_file},
    {"NCCL_RAS_ADDR", listens},
    {"NCCL_RMA_PLUGIN", loads_code},
    {"NCCL_RMA_PROXY_DUMP_SIGNAL", takes_signal},
    {"NCCL_TESTS_ALLTOALLV_MATRIX_FILE", reads_file},
    {"NCCL_TOPO_DUMP_FILE", writes_file},
    {"NCCL_TOPO_FILE", reads_file},
    {"NCCL_TUNER_CONFIG_FILE", sets_more},
    {"NCCL_TUNER_PLUGIN", loads_code},
    {"UCX_ASYNC_SIGNO", takes_signal},
    {"UCX_CONFIG_DIR", sets_more},
    {"UCX_DEBUG_SIGNO", takes_signal},
    {"UCX_ERROR_MAIL_*", runs_command},
    {"UCX_ERROR_SIGNALS", takes_signal},
    {"UCX_GDB_COMMAND", runs_command},
    {"UCX_HANDLE_ERRORS", runs_command},
    {"UCX_LOG_FILE", writes_file},
    {"UCX_LOG_FILE_ROTATE", writes_file},
    {"UCX_LOG_FILE_SIZE", writes_file},
    {"UCX_MEMTRACK_DEST", writes_file},
    {"UCX_MEM_DLOPEN_PROCESS_RPATH", loads_code},
    {"UCX_MODULES", loads_code},
    {"UCX_MODULE_DIR", loads_code},
    {"UCX_PLUGIN_PATH", loads_code},
    {"UCX_POSIX_DIR", writes_file},
    {"UCX_PROFILE_*", writes_file},
    {"UCX_PROTO_INFO_DIR", writes_file},
    {"UCX_STATS_DEST", writes_file},
    {"UCX_STATS_TRIGGER", takes_signal},
    {"UCX_VFS_*", listens},
    {"FI_CXI_COLL_FABRIC_MGR_*", goes_out},
    {"FI_CXI_COLL_JOB_*", goes_out},
    {"FI_CXI_COLL_MCAST_TOKEN", goes_out},
    {"FI_CXI_TELEMETRY", reads_file},
    {"FI_HOOK", writes_file},
    {"FI_LOG_LOCATION*", writes_file},
    {"FI_OFI_HOOK_*", writes_file},
    {"FI_OPX_SIMPCI_V", reads_file},
    {"FI_OPX_TRACER_*", writes_file},
    {"FI_PROVIDER_PATH", loads_code},
    {"FI_PSM2_NAME_SERVER", listens},
    {"FI_PSM3_NAME_SERVER", listens},
    {"FI_PSM_NAME_SERVER", listens},
    {"FI_UCX_CONFIG", sets_more},
    {"FI_UCX_NS_*", listens},
    {"FI_VERBS_DGRAM_NAME_SERVER_PORT", listens},
    {"FI_VERBS_DGRAM_USE_NAME_SERVER", listens},
    {"FI_VERBS_NIC_AFFINITY_CONFIG", reads_file},
    {"FI_VERBS_XRCD_FILENAME", writes_file},
    {"OMP_TOOL_LIBRARIES", loads_code},
    {"OMP_TOOL_VERBOSE_INIT", writes_file},
    {"GLOO_DEVICE_TRANSPORT_TCP_TLS_*", reads_file},
};

/* Return why the variable needs consent, or NULL if no rule matches. */
static const char *find_rule(const char *name)
{
    for (size_t i = 0; i < sizeof(held_back) / sizeof(held_back[0]); i++)
        if (env_name_matches(held_back[i].name, name))
            return held_back[i].reason;
    return NULL;
}

static bool is_well_formed(const char *name)
{
    size_t len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

    return len > 0 && len <= ENV_POLICY_NAME_MAX && name[len] == '\0' &&
           !(name[0] >= '0' && name[0] <= '9');
}

static enum env_policy judge(const char *name, const char **reason)
{
    const struct env_library *library = env_library_of(name);

    if (!is_well_formed(name)) {
        *reason = "is not a valid variable name: 1 to 128 characters of A-Z, 0-9 and _";
        return ENV_POLICY_REFUSE;
    }
    *reason = find_rule(name);
    if (*reason)
        return ENV_POLICY_CONSENT;
    if (library && env_library_knows_harmless(library, name))
        return ENV_POLICY_ALLOW;
    if (library && !library->is_complete) {
        *reason = "is not among the library's variables that are known to be harmless";
        return ENV_POLICY_CONSENT;
    }
    *reason =
        "is not among the variables that a run may set: NCCL_*, UCX_*, OMP_*, FI_*, "
        "GLOO_*, HOST_*, SIM_* and CUDA_VISIBLE_DEVICES";
    return ENV_POLICY_REFUSE;
}

enum env_policy env_policy_check(const char *name, const char **reason)
{
    const char *text = NULL;
    enum env_policy policy = judge(name, &text);

    if (reason && policy != ENV_POLICY_ALLOW)
        *reason = text;
    return policy;
}
