/* SPDX-License-Identifier: Apache-2.0 */
/* config.c - the options of ringbench-sim */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/fleet/fleet.h"
#include "agent/worker/sim/sim_params.h"
#include "common/base/memory.h"

#define NODES_MAX 100000
#define SLOW_MAX 1048576 /* limit of the text in bytes, with its terminating NUL */

static const char program[] = "ringbench-sim";
static const char summary[] =
    "Simulates the agents of a fleet for a ringbench server. Nothing is measured: runs\n"
    "with the backend sim get a model's figures, marked simulated.";

#define FIELD(name) offsetof(struct fleet_config, name)

static const struct option table[] = {
    {"server", OPTION_STRING, FIELD(agent.server), NULL, "URL",
     "URL of the server, http://HOST:PORT", 0, 0},
    {"nodes", OPTION_INT, FIELD(nodes), "16", "N",
     "number of nodes, named sim-1, sim-2, ...", 1, NODES_MAX},
    {"ranks", OPTION_INT, FIELD(agent.ranks), "8", "N", "ranks that each node offers", 1,
     4096},
    {"racks", OPTION_INT, FIELD(racks), "0", "N",
     "number of racks, given by labels rack=rack-1, rack=rack-2, ...; 0: no label", 0,
     NODES_MAX},
    {"slow", OPTION_STRING, FIELD(slow), NULL, "PLACE:FACTOR,...|@FILE",
     "slow places, such as sim-6:0.5, sim-1/sim-2:0.5 or rack-2:0.7; factor 0: they "
     "hang. A file "
     "is read again for each case",
     0, 0},
    {"seed", OPTION_STRING, FIELD(seed), NULL, "N",
     "seed of the noise, for runs without SIM_SEED (default: each run's own)", 0, 0},
    {"for-s", OPTION_INT, FIELD(for_s), "0", "S",
     "leave after this time; 0: at SIGTERM or SIGINT only", 0, 1000000},
    {"token-file", OPTION_STRING, FIELD(agent.token_file), NULL, "FILE",
     "file with the agents' token", 0, 0},
    {"ca-file", OPTION_STRING, FIELD(agent.ca_file), NULL, "FILE",
     "file with CA certificates that verify the server", 0, 0},
    {"config", OPTION_STRING, FIELD(agent.config), NULL, "FILE",
     "read options from a file", 0, 0},
    {NULL, OPTION_FLAG, 0, NULL, NULL, NULL, 0, 0}};

/* Return the number in a name such as sim-12, from 1 to `most`, or 0 for other names. */
static long numbered(const char *name, size_t len, const char *prefix, long most)
{
    char text[64], *end;
    size_t at = strlen(prefix);
    long number;

    if (len <= at || len >= sizeof(text) || strncmp(name, prefix, at) != 0)
        return 0;
    snprintf(text, sizeof(text), "%.*s", (int)(len - at), name + at);
    number = strtol(text, &end, 10);
    return isdigit((unsigned char)text[0]) && text[0] != '0' && !*end && number <= most
               ? number
               : 0;
}

static bool is_place(const struct fleet_config *config, const char *place, size_t len)
{
    const char *slash = memchr(place, '/', len);
    size_t first = slash ? (size_t)(slash - place) : len;

    if (slash) {
        long a = numbered(place, first, "sim-", config->nodes);
        long b = numbered(slash + 1, len - first - 1, "sim-", config->nodes);
        return a && b && a != b;
    }
    return (len == 1 && *place == '*') || numbered(place, len, "sim-", config->nodes) ||
           numbered(place, len, "rack-", config->racks);
}

static int check_slow(const struct fleet_config *config, const char *list,
                      struct error *err)
{
    struct sim_slow item;
    int found;

    while ((found = sim_slow_next(&list, &item)) > 0) {
        if (!is_place(config, item.place, item.place_len))
            return error_set(
                err, ERROR_INVALID,
                "--slow: '%.*s' is not a node (sim-1 to sim-%ld), a rack "
                "(rack-1 to rack-%ld, see --racks), a pair (sim-1/sim-2) or *",
                item.place_len < 60 ? (int)item.place_len : 60, item.place, config->nodes,
                config->racks);
    }
    return found == 0 ? 0 : sim_slow_malformed(err, "--slow", list);
}

/* Turns white space into commas. */
static int read_slow(const char *path, char out[SLOW_MAX], struct error *err)
{
    FILE *file = fopen(path, "re");
    size_t len = file ? fread(out, 1, SLOW_MAX, file) : 0, kept = 0;
    int failure = file && !ferror(file) ? 0 : errno;

    if (file)
        fclose(file);
    if (failure)
        return error_set_errno(err, ERROR_INVALID, failure, "--slow: %s", path);
    if (len == SLOW_MAX)
        return error_set(err, ERROR_INVALID, "--slow: %s is larger than %d bytes", path,
                         SLOW_MAX - 1);
    for (size_t i = 0; i < len; i++)
        if (!isspace((unsigned char)out[i]))
            out[kept++] = out[i] ? out[i] : '?';
        else if (kept > 0 && out[kept - 1] != ',')
            out[kept++] = ',';
    out[kept > 0 && out[kept - 1] == ',' ? kept - 1 : kept] = '\0';
    return 0;
}

char *fleet_config_slow(const struct fleet_config *config, struct error *err)
{
    const char *slow = config->slow ? config->slow : "";
    bool is_file = *slow == '@';
    char *list =
        is_file ? memory_zeroed(SLOW_MAX, 1, "places") : memory_text(slow, "places");

    if ((!is_file || read_slow(slow + 1, list, err) == 0) &&
        check_slow(config, list, err) == 0)
        return list;
    free(list);
    return NULL;
}

int fleet_config_load(struct fleet_config *config, int argc, char **argv,
                      struct error *err)
{
    const char *seed;
    char *slow;
    int result;

    memset(config, 0, sizeof(*config));
    result = options_parse(program, summary, table, config, argc, argv, err);
    if (result)
        return result;
    seed = config->seed;
    if (config->racks > config->nodes)
        return error_set(err, ERROR_INVALID,
                         "--racks: there are %ld racks, but only %ld nodes",
                         config->racks, config->nodes);
    if (seed && (!*seed || seed[strspn(seed, "0123456789")]))
        return error_set(err, ERROR_INVALID, "--seed: '%.40s' is not a number", seed);
    slow = fleet_config_slow(config, err);
    free(slow);
    return slow ? agent_config_reach(&config->agent, err) : -1;
}

void fleet_config_release(struct fleet_config *config)
{
    free(config->agent.token);
    free(config->agent.server_host);
    options_release(table, config);
}

int fleet_config_rack(const void *arg, const char *node)
{
    const struct fleet_config *config = arg;
    long number = numbered(node, strlen(node), "sim-", config->nodes);

    return config->racks > 0 && number > 0
               ? (int)((number - 1) * config->racks / config->nodes + 1)
               : 0;
}
