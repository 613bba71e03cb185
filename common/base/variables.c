/* variables.c - variables of the environment that look like ours and mean nothing */
#include "common/base/variables.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "common/base/env_names.h"

#define PREFIX "RINGBENCH_"
#define NAME_MAX_BYTES 64

/* What other programs heed, without the prefix; "PORT_*" stands for all that begin so. An
 * agent, a server and a script often start from the same environment. */
static const char *const others[] = {
#include "option_names.h" /* those of the server and the agent, from their tables */
    "STORE_RESERVE_BYTES", "AGENT_OPTIONS",
    /* the workers' */
    "ADDRESS", "CASE", "CPUS", "CUDART_LIB", "DEVICE", "HOSTID", "NCCL_LIB", "NODE",
    "NVML_LIB", "RANKS_PER_NCCL_ID",
    /* those of scripts/ and tests/ */
    "BIN_DIR", "BUILD_DIR", "CHROMIUM", "EMULATION*", "MACHINE", "ROOT", "SKIP_DEPS",
    "TEST_*", "WRITE_GOLDEN",
    /* Kubernetes', for a service of the name ringbench */
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

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;

    return least < c ? least : c;
}

/* Levenshtein's distance: letters to add, drop or change. Both up to NAME_MAX_BYTES. */
static size_t distance(const char *a, const char *b)
{
    size_t row[NAME_MAX_BYTES + 1], len = strlen(b);

    for (size_t j = 0; j <= len; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < len; j++) {
            size_t above = row[j + 1];

            row[j + 1] = smallest(above + 1, row[j] + 1, diagonal + (a[i] != b[j]));
            diagonal = above;
        }
    }
    return row[len];
}

/* Sets `nearest` to the variable of the likest option, or to "". Returns whether `name`
 * is one itself. */
static bool find_option(const struct option *table, const char *name,
                        char nearest[OPTION_VARIABLE_MAX])
{
    size_t len = strlen(name), best = len / 3 + 1;
    char variable[OPTION_VARIABLE_MAX];

    nearest[0] = '\0';
    for (; len <= NAME_MAX_BYTES && table->name; table++) {
        option_variable(table, variable);
        size_t off = distance(name, variable + strlen(PREFIX));

        if (off < best) {
            best = off;
            memcpy(nearest, variable, sizeof(variable));
        }
    }
    return best == 0;
}

void variables_check(FILE *out, const char *program, const struct option *table)
{
    char nearest[OPTION_VARIABLE_MAX];

    for (char **at = environ; at && *at; at++) {
        size_t len = strcspn(*at, "=");
        char name[256];

        if (strncmp(*at, PREFIX, strlen(PREFIX)) != 0 || len >= sizeof(name))
            continue;
        memcpy(name, *at, len);
        name[len] = '\0';
        if (find_option(table, name + strlen(PREFIX), nearest) ||
            is_of_others(name + strlen(PREFIX)))
            continue;
        fprintf(out, "%s: warning: the variable %s means nothing here%s%s; see --help\n",
                program, name, nearest[0] ? ", should it be " : "", nearest);
    }
}
