/* SPDX-License-Identifier: Apache-2.0 */
/* sim_params.c - the environment variables of a simulation */
#include "agent/worker/sim/sim_params.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PREFIX "SIM_"
#define AT(member) offsetof(struct sim_params, member)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum type { NUMBER, SLOW, ALGORITHMS };

static const struct variable {
    const char *name;
    enum type type;
    size_t offset;
    double fallback, min, max; /* used only by kind NUMBER; fallback -1: no default */
    const char *help;
} variables[] = {
    {"SIM_BASE_US", NUMBER, AT(base_us), 8, 0, 1e9, "fixed latency of a call"},
    {"SIM_RING_US", NUMBER, AT(step_us[SIM_RING]), 2, 0, 1e9,
     "latency of a ring step, and of a message in point-to-point collectives"},
    {"SIM_RING_GBS", NUMBER, AT(gbs[SIM_RING]), 48, 1e-6, 1e9,
     "bus bandwidth of the ring and of point-to-point collectives, GB/s"},
    {"SIM_TREE_US", NUMBER, AT(step_us[SIM_TREE]), 5, 0, 1e9, "latency of a tree level"},
    {"SIM_TREE_GBS", NUMBER, AT(gbs[SIM_TREE]), 24, 1e-6, 1e9,
     "bus bandwidth of the tree, GB/s"},
    {"NCCL_ALGO", ALGORITHMS, AT(algorithms), -1, 0, 0,
     "algorithms to choose from: Ring, Tree; with ^ in front, all others"},
    {"SIM_SLOW", SLOW, AT(slow), -1, 0, 0,
     "PLACE:FACTOR,... multiplies the bandwidth of a place: NODE, NODE/NODE, rack-N or "
     "*; "
     "@FIRST or @FIRST-LAST after the factor limits it to these cases"},
    {"SIM_NOISE", NUMBER, AT(noise), 0.02, 0, 2,
     "standard deviation of log(time) of a call"},
    {"SIM_CASE_NOISE", NUMBER, AT(case_noise), -1, 0, 2,
     "the same for a whole case; default: half of SIM_NOISE"},
    {"SIM_RUN_NOISE", NUMBER, AT(run_noise), 0, 0, 2, "the same for a whole run"},
    {"SIM_DRIFT", NUMBER, AT(drift), 0, -0.5, 0.5,
     "relative growth of all times per night"},
    {"SIM_NIGHT", NUMBER, AT(night), 0, 0, 1e5,
     "night of the run, counted from 0 among the runs with the same SIM_SEED"},
    {"SIM_SEED", NUMBER, AT(seed), -1, 0, 9007199254740992.0,
     "seed of the noise; default: the run's"},
    {"SIM_SLEEP_FRACTION", NUMBER, AT(sleep_fraction), 1, 0, 1000,
     "factor from simulated time to the time for which the worker sleeps; 0: no sleep"},
};

static const char *const algorithm_names[] = {"RING", "TREE", "P2P"};

const char *sim_algorithm_name(enum sim_algorithm algorithm)
{
    return algorithm_names[algorithm];
}

static void *member(struct sim_params *params, size_t offset)
{
    return (char *)params + offset;
}

static int read_number(const struct variable *variable, const char *text,
                       struct sim_params *params, struct error *err)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !isfinite(value) || value < variable->min ||
        value > variable->max) {
        return error_set(err, ERROR_INVALID, "%s=%.80s must be a number from %g to %g",
                         variable->name, text, variable->min, variable->max);
    }
    memcpy(member(params, variable->offset), &value, sizeof(value));
    return 0;
}

/* Parse a number >= 0 at *at that ends at a byte of `ends` or at the text's end. */
static bool read_part(const char **at, const char *ends, double *out)
{
    char *end;

    *out = strtod(*at, &end);
    if (end == *at || !isfinite(*out) || *out < 0 || !strchr(ends, *end))
        return false;
    *at = end;
    return true;
}

int sim_slow_next(const char **list, struct sim_slow *out)
{
    const char *at = *list;

    if (!at || !*at)
        return 0;
    out->place = at;
    out->place_len = strcspn(at, ":,");
    out->from_case = 0;
    out->last = HUGE_VAL;
    at += out->place_len;
    if (out->place_len == 0 || *at++ != ':' || !read_part(&at, ",@", &out->factor))
        return -1;
    if (*at == '@') {
        at++;
        if (!read_part(&at, ",-", &out->from_case))
            return -1;
        if (*at == '-' && (at++, !read_part(&at, ",", &out->last)))
            return -1;
        if (out->last < out->from_case)
            return -1;
    }
    *list = at + (*at == ',');
    return 1;
}

int sim_slow_malformed(struct error *err, const char *name, const char *list)
{
    return error_set(
        err, ERROR_INVALID,
        "%s: '%.80s' must be PLACE:FACTOR, with a factor of 0 or more, as in "
        "node-3:0.5 or node-3:0.5@4-7",
        name, list);
}

static int read_slow(const struct variable *variable, const char *value,
                     struct sim_params *params, struct error *err)
{
    const char *rest = value;
    struct sim_slow item;
    int found;

    while ((found = sim_slow_next(&rest, &item)) > 0)
        ;
    if (found < 0)
        return sim_slow_malformed(err, variable->name, rest);
    params->slow = value;
    return 0;
}

/* Parse NCCL_ALGO, in NCCL's syntax except for lists per collective. */
static int read_algorithms(const struct variable *variable, const char *value,
                           struct sim_params *params, struct error *err)
{
    bool is_inverted = *value == '^';
    const char *at = value + is_inverted;
    unsigned found = 0, all = 1u << SIM_RING | 1u << SIM_TREE;

    while (*at) {
        size_t len = strcspn(at, ","), i = 0;
        while (i < SIM_P2P && (strlen(algorithm_names[i]) != len ||
                               strncasecmp(algorithm_names[i], at, len) != 0))
            i++;
        if (i == SIM_P2P) {
            return error_set(err, ERROR_INVALID,
                             "%s=%.80s: algorithm \"%.*s\" is unknown; the simulation "
                             "offers Ring and Tree",
                             variable->name, value, len < 40 ? (int)len : 40, at);
        }
        found |= 1u << i;
        at += len + (at[len] == ',');
    }
    if (is_inverted)
        found = all & ~found;
    if (is_inverted && !found)
        return error_set(err, ERROR_INVALID, "%s=%.80s excludes both Ring and Tree",
                         variable->name, value);
    params->algorithms = found ? found : all;
    return 0;
}

int sim_params_set(struct sim_params *params, const char *name, const char *value,
                   struct error *err)
{
    static int (*const readers[])(const struct variable *, const char *,
                                  struct sim_params *, struct error *) = {
        [NUMBER] = read_number, [SLOW] = read_slow, [ALGORITHMS] = read_algorithms};

    for (size_t i = 0; i < COUNT(variables); i++)
        if (strcmp(variables[i].name, name) == 0)
            return readers[variables[i].type](&variables[i], value, params, err);
    /* Without this check a misspelled name would silently have no effect. */
    return strncmp(name, PREFIX, strlen(PREFIX)) == 0
               ? error_set(err, ERROR_INVALID, "%s is not a variable of the simulation",
                           name)
               : 0;
}

void sim_params_init(struct sim_params *params)
{
    memset(params, 0, sizeof(*params));
    for (size_t i = 0; i < COUNT(variables); i++)
        if (variables[i].type == NUMBER)
            memcpy(member(params, variables[i].offset), &variables[i].fallback,
                   sizeof(double));
    params->algorithms = 1u << SIM_RING | 1u << SIM_TREE;
}

int sim_params_read(char *const *environment, struct sim_params *out, struct error *err)
{
    sim_params_init(out);
    for (; *environment; environment++) {
        const char *equals = strchr(*environment, '=');
        char name[64];

        if (!equals)
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)(equals - *environment), *environment);
        if (sim_params_set(out, name, equals + 1, err))
            return -1;
    }
    return 0;
}

void sim_params_print(FILE *out)
{
    for (size_t i = 0; i < COUNT(variables); i++) {
        const struct variable *variable = &variables[i];
        char text[32] = "";

        if (variable->fallback >= 0)
            snprintf(text, sizeof(text), "%g ", variable->fallback);
        fprintf(out, "| `%s` | %s| %s |\n", variable->name,
                variable->type == ALGORITHMS ? "all " : text, variable->help);
    }
}
