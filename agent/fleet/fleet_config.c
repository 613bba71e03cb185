/* fleet_config.c - what ringbench-sim was told */
#include "agent/fleet/fleet_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX 100000

static const char program[] = "ringbench-sim";
static const char summary[] =
    "Plays the agents of a fleet to a ringbench server. No node is there, nothing is\n"
    "measured: runs with the backend sim get a model's figures, marked simulated.";

#define FIELD(name) offsetof(struct fleet_config, name)

static const struct option table[] = {
    {"server", OPTION_STRING, FIELD(agent.server), NULL, "URL",
     "where the server is, http://HOST:PORT", 0, 0},
    {"nodes", OPTION_INT, FIELD(nodes), "16", "N", "how many nodes, sim-1 and so on", 1,
     NODES_MAX},
    {"ranks", OPTION_INT, FIELD(agent.ranks), "8", "N", "ranks that each offers", 1,
     4096},
    {"racks", OPTION_INT, FIELD(racks), "0", "N",
     "so many racks, as label rack=rack-1 and so on; 0: no label", 0, NODES_MAX},
    {"fault", OPTION_LIST, FIELD(fault), NULL, "WHAT=WHERE:VALUE",
     "slow_node=NODE:FACTOR, slow_link=NODE-NODE:FACTOR, slow_rack=RACK:FACTOR, "
     "wrong_interface=NODE:GBS, hang=NODE|RANK:OP, late=NODE|RANK:US, "
     "dying=NODE:S, flapping=NODE:S, version_skew=NODE; may be given again",
     0, 0},
    {"seed", OPTION_STRING, FIELD(seed), NULL, "N",
     "of the noise of runs that set no SIM_SEED (default: each run's own)", 0, 0},
    {"for-s", OPTION_INT, FIELD(for_s), "0", "S",
     "leave after so long; 0: at SIGTERM or SIGINT alone", 0, 1000000},
    {"token-file", OPTION_STRING, FIELD(agent.token_file), NULL, "FILE",
     "file with the agents' token", 0, 0},
    {"ca-file", OPTION_STRING, FIELD(agent.ca_file), NULL, "FILE",
     "certificates that the server's is checked against", 0, 0},
    {"config", OPTION_STRING, FIELD(agent.config), NULL, "FILE",
     "read options from a file", 0, 0},
    {NULL, OPTION_FLAG, 0, NULL, NULL, NULL, 0, 0}};

/* The number of PREFIX1 to PREFIXmost, as that is spelt; -1: none of them. */
static long numbered(const char *name, size_t len, const char *prefix, long most)
{
    size_t at = strlen(prefix);
    long number = 0;

    if (len <= at || strncmp(name, prefix, at) != 0 || name[at] == '0')
        return -1;
    for (; at < len && number <= most; at++) {
        if (name[at] < '0' || name[at] > '9')
            return -1;
        number = 10 * number + name[at] - '0';
    }
    return number <= most ? number : -1;
}

static bool is_link(const char *where, size_t len, long nodes)
{
    for (size_t i = 1; i + 1 < len; i++)
        if (where[i] == '-' && numbered(where, i, FLEET_PREFIX, nodes) > 0 &&
            numbered(where + i + 1, len - i - 1, FLEET_PREFIX, nodes) > 0)
            return true;
    return false;
}

/* Of every case, by its number. */
static bool is_rank(const struct played_fault *fault)
{
    return (fault->what == PLAYED_HANG || fault->what == PLAYED_LATE) &&
           strspn(fault->where, "0123456789") == fault->where_len;
}

static int check_fault(const struct fleet_config *config,
                       const struct played_fault *fault, struct error *err)
{
    int shown = fault->where_len < 60 ? (int)fault->where_len : 60;
    bool is_rack = fault->what == PLAYED_SLOW_RACK;
    const char *prefix = is_rack ? FLEET_RACK : FLEET_PREFIX;
    long most = is_rack ? config->racks : config->nodes;
    bool is_known = fault->what == PLAYED_SLOW_LINK
                        ? is_link(fault->where, fault->where_len, config->nodes)
                        : numbered(fault->where, fault->where_len, prefix, most) > 0;

    if (is_known || is_rank(fault))
        return 0;
    if (most == 0)
        return error_set(err, ERROR_INVALID,
                         "--fault: '%.*s': there are no racks; add "
                         "--racks N",
                         shown, fault->where);
    return error_set(
        err, ERROR_INVALID, "--fault: '%.*s' is %s %s1 to %s%ld", shown, fault->where,
        fault->what == PLAYED_SLOW_LINK ? "no two of" : "none of", prefix, prefix, most);
}

static int check(const struct fleet_config *config, struct error *err)
{
    if (config->racks > config->nodes)
        return error_set(err, ERROR_INVALID, "--racks: %ld are more than the %ld nodes",
                         config->racks, config->nodes);
    if (config->seed && (config->seed[0] == '\0' ||
                         config->seed[strspn(config->seed, "0123456789")] != '\0'))
        return error_set(err, ERROR_INVALID, "--seed: '%.40s' is not a number",
                         config->seed);
    for (size_t i = 0; i < config->faults.n; i++)
        if (check_fault(config, &config->faults.list[i], err))
            return -1;
    return 0;
}

int fleet_config_load(struct fleet_config *config, int argc, char **argv,
                      struct error *err)
{
    int result;

    memset(config, 0, sizeof(*config));
    result = options_parse(program, summary, table, config, argc, argv, err);
    if (result)
        return result;
    if (agent_config_reach(&config->agent, err) ||
        faults_read(&config->fault, &config->faults, err))
        return -1;
    return check(config, err);
}

void fleet_config_release(struct fleet_config *config)
{
    faults_release(&config->faults);
    free(config->agent.token);
    free(config->agent.server_host);
    options_release(table, config);
}

long fleet_config_index(const struct fleet_config *config, const char *name)
{
    long number = numbered(name, strlen(name), FLEET_PREFIX, config->nodes);

    return number > 0 ? number - 1 : -1;
}

long fleet_config_rack(const struct fleet_config *config, long index)
{
    return config->racks > 0 ? index * config->racks / config->nodes + 1 : 0;
}
