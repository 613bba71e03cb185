/* env_policy.c - which environment variables a run may set for its workers */
#include "common/env_policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Libraries whose settings a benchmark varies. */
static const char *const allowed_prefixes[] = {"NCCL_", "UCX_",  "OMP_", "FI_",
                                               "GLOO_", "HOST_", "SIM_"};

static const char *const allowed_names[] = {
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_LAUNCH_BLOCKING", "CUDA_MODULE_LOADING"};

enum match { MATCH_NAME, MATCH_PREFIX, MATCH_SUFFIX, MATCH_PART };

struct rule {
    enum match match;
    const char *text;
    enum env_policy policy;
    const char *reason;
};

static const char loads_code[] = "makes the library load code";
static const char runs_command[] = "makes the library run a command";
static const char writes_file[] = "makes the library write files";
static const char names_file[] = "names a file or directory on the node";

/* The first match counts; looked at only for names that are allowed at all. Suffixes are
 * there because each release of these libraries brings new variables of the same kind. */
static const struct rule rules[] = {
    {MATCH_NAME, "RINGBENCH_ALLOW_FAULTS", ENV_POLICY_CONSENT,
     "switches on faults that tests inject"},
    /* Read only, and what a topology experiment is about. */
    {MATCH_NAME, "NCCL_TOPO_FILE", ENV_POLICY_ALLOW, NULL},
    {MATCH_NAME, "NCCL_GRAPH_FILE", ENV_POLICY_ALLOW, NULL},
    {MATCH_NAME, "NCCL_CONF_FILE", ENV_POLICY_CONSENT,
     "sets variables that would not be checked"},
    {MATCH_NAME, "NCCL_CUDA_PATH", ENV_POLICY_CONSENT, loads_code},
    {MATCH_NAME, "UCX_MODULES", ENV_POLICY_CONSENT, loads_code},
    {MATCH_PREFIX, "UCX_MODULE_", ENV_POLICY_CONSENT, loads_code},
    {MATCH_PREFIX, "UCX_GDB_", ENV_POLICY_CONSENT, runs_command},
    {MATCH_PREFIX, "UCX_ERROR_MAIL_", ENV_POLICY_CONSENT, runs_command},
    {MATCH_NAME, "UCX_HANDLE_ERRORS", ENV_POLICY_CONSENT, runs_command},
    {MATCH_NAME, "FI_PROVIDER_PATH", ENV_POLICY_CONSENT, loads_code},
    {MATCH_NAME, "OMP_TOOL_VERBOSE_INIT", ENV_POLICY_CONSENT, writes_file},
    {MATCH_SUFFIX, "_LIBRARIES", ENV_POLICY_CONSENT, loads_code},
    {MATCH_SUFFIX, "_LIBRARY", ENV_POLICY_CONSENT, loads_code},
    {MATCH_PART, "_PLUGIN", ENV_POLICY_CONSENT, loads_code},
    {MATCH_PART, "_DUMP_", ENV_POLICY_CONSENT, writes_file},
    {MATCH_SUFFIX, "_DUMP", ENV_POLICY_CONSENT, writes_file},
    {MATCH_SUFFIX, "_DEST", ENV_POLICY_CONSENT, writes_file},
    {MATCH_SUFFIX, "_FILE", ENV_POLICY_CONSENT, names_file},
    {MATCH_SUFFIX, "_DIR", ENV_POLICY_CONSENT, names_file},
    {MATCH_SUFFIX, "_PATH", ENV_POLICY_CONSENT, names_file},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool has_prefix(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool has_suffix(const char *name, const char *suffix)
{
    size_t len = strlen(name);
    size_t n = strlen(suffix);

    return len >= n && strcmp(name + len - n, suffix) == 0;
}

static bool rule_matches(const struct rule *rule, const char *name)
{
    switch (rule->match) {
    case MATCH_NAME:
        return strcmp(name, rule->text) == 0;
    case MATCH_PREFIX:
        return has_prefix(name, rule->text);
    case MATCH_SUFFIX:
        return has_suffix(name, rule->text);
    case MATCH_PART:
        return strstr(name, rule->text) != NULL;
    }
    return false;
}

static bool is_well_formed(const char *name)
{
    size_t len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

    return len > 0 && len <= ENV_POLICY_NAME_MAX && name[len] == '\0' &&
           !(name[0] >= '0' && name[0] <= '9');
}

static bool is_listed(const char *name)
{
    for (size_t i = 0; i < COUNT(allowed_prefixes); i++) {
        if (has_prefix(name, allowed_prefixes[i]) &&
            name[strlen(allowed_prefixes[i])] != '\0')
            return true;
    }
    for (size_t i = 0; i < COUNT(allowed_names); i++) {
        if (strcmp(name, allowed_names[i]) == 0)
            return true;
    }
    return strcmp(name, "RINGBENCH_ALLOW_FAULTS") == 0;
}

static enum env_policy judge(const char *name, const char **reason)
{
    if (!is_well_formed(name)) {
        *reason = "is not a variable's name: 1 to 128 of A-Z, 0-9 and _ are";
        return ENV_POLICY_REFUSE;
    }
    if (!is_listed(name)) {
        *reason = "is not among those that a run may set: NCCL_*, UCX_*, OMP_*, FI_*, "
                  "GLOO_*, HOST_*, SIM_* and CUDA_VISIBLE_DEVICES are";
        return ENV_POLICY_REFUSE;
    }
    for (size_t i = 0; i < COUNT(rules); i++) {
        if (rule_matches(&rules[i], name)) {
            *reason = rules[i].reason;
            return rules[i].policy;
        }
    }
    return ENV_POLICY_ALLOW;
}

enum env_policy env_policy_check(const char *name, const char **reason)
{
    const char *text = NULL;
    enum env_policy policy = judge(name, &text);

    if (reason && policy != ENV_POLICY_ALLOW)
        *reason = text;
    return policy;
}
