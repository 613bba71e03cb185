/* SPDX-License-Identifier: Apache-2.0 */
/* variables.c - warns of unknown environment variables that start with RINGBENCH_ */
#include "common/base/variables.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "common/base/env_names.h"

#define PREFIX "RINGBENCH_"

/* Variables of other programs, without the prefix. "PORT_*" matches every name that
 * begins with "PORT_". An agent, a server and a script often start from the same
 * environment. */
static const char *const others[] = {
#include "option_names.h" /* options of the server and the agent, from their tables */
    "STORE_RESERVE_BYTES", "AGENT_OPTIONS",
    /* used by the workers */
    "ADDRESS", "CASE", "CPUS", "CUDART_LIB", "DEVICE", "HOSTID", "NCCL_LIB", "NODE",
    "NVML_LIB", "RANKS_PER_NCCL_ID",
    /* used by scripts/ and tests/ */
    "BIN_DIR", "BUILD_DIR", "CHROMIUM", "EMULATION*", "MACHINE", "ROOT", "SKIP_DEPS",
    "TEST_*", "WRITE_GOLDEN",
    /* set by Kubernetes for a service named ringbench */
    "PORT", "PORT_*", "SERVICE_*"};

void option_variable(const struct option *option, char out[OPTION_VARIABLE_MAX])
{
    snprintf(out, OPTION_VARIABLE_MAX, PREFIX "%s", option->name);
    for (char *p = out; *p; p++)
        *p = *p == '-' ? '_' : (char)toupper((unsigned char)*p);
}

static bool is_of_others(const char *name)
{
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (env_name_matches(others[i], name))
            return true;
    return false;
}

static bool is_option(const struct option *table, const char *name)
{
    char variable[OPTION_VARIABLE_MAX];

    for (; table->name; table++) {
        option_variable(table, variable);
        if (strcmp(variable, name) == 0)
            return true;
    }
    return false;
}

void variables_check(FILE *out, const char *program, const struct option *table)
{
    for (char **at = environ; at && *at; at++) {
        size_t len = strcspn(*at, "=");
        char name[256];

        if (strncmp(*at, PREFIX, strlen(PREFIX)) != 0 || len >= sizeof(name))
            continue;
        memcpy(name, *at, len);
        name[len] = '\0';
        if (!is_option(table, name) && !is_of_others(name + strlen(PREFIX)))
            fprintf(out,
                    "%s: warning: the variable %s is unknown and has no effect; see "
                    "--help\n",
                    program, name);
    }
}
