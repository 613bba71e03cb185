/* sim_params.c - what a simulation is told */
#include "agent/worker/sim/sim_params.h"

#include <stddef.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PREFIX "SIM_"
#define AT(member) offsetof(struct sim_params, member)

struct number {
    const char *name;
    size_t offset;
    double fallback, min, max;
    const char *help;
};

/* The latencies are those of NCCL 2.28's ring with the protocol Simple, src/graph/
 * tuning.cc; the bandwidths are one 400 Gbit/s adapter and a fast GPU link. */
static const struct number numbers[] = {
    {"SIM_BASE_US", AT(base_us), 8.4, 0, 1e9, "base latency of a call"},
    {"SIM_LATENCY_US", AT(latency_us), 14, 0, 1e9, "latency of a hop between nodes"},
    {"SIM_INTRA_LATENCY_US", AT(intra_latency_us), 3.4, 0, 1e9,
     "latency of a hop within a node"},
    {"SIM_OVERHEAD_US", AT(overhead_us), 1, 0, 1e9,
     "least latency of any hop once there are several nodes"},
    {"SIM_MESSAGE_US", AT(message_us), 1, 0, 1e9,
     "for each peer in alltoall, gather and scatter"},
    {"SIM_FIRST_US", AT(first_us), 500, 0, 1e9,
     "what the first call of a collective takes longer"},
    {"SIM_BANDWIDTH_GBS", AT(bandwidth_gbs), 50, 1e-6, 1e9,
     "GB/s of a node's link to the network, each way"},
    {"SIM_INTRA_BANDWIDTH_GBS", AT(intra_bandwidth_gbs), 300, 1e-6, 1e9,
     "GB/s of a rank's link to the others of its node, each way"},
    {"SIM_CHANNELS", AT(channels), 16, 1, 1024, "channels of a ring"},
    {"SIM_NOISE", AT(noise), 0.02, 0, 2, "standard deviation of log(time) of a call"},
    {"SIM_CASE_NOISE", AT(case_noise), -1, 0, 2,
     "the same of all that a case takes; half of SIM_NOISE if it is not set"},
    {"SIM_OUTLIERS", AT(outliers), 0, 0, 1, "part of the cases that something disturbs"},
    {"SIM_OUTLIER_FACTOR", AT(outlier_factor), 2, 1e-3, 1e3,
     "how many times as long these take"},
    {"SIM_STATES", AT(states), 0, 0, 1,
     "part of the cases that find the machine in its slow state"},
    {"SIM_STATE_FACTOR", AT(state_factor), 3, 1e-3, 1e3,
     "how many times as long all takes in it"},
    {"SIM_STATE_CASES", AT(state_cases), 3, 1, 1e6,
     "cases after which, on average, the state is drawn anew"},
    {"SIM_SLEEP_FRACTION", AT(sleep_fraction), 1, 0, 1000,
     "of the modelled time that really passes; 0: none"},
    {"SIM_MEMORY_GIB", AT(memory_gib), 80, 1e-6, 16384, "memory of a rank's device"},
    {"SIM_SEED", AT(seed), -1, 0, 9007199254740992.0,
     "of the noise; the case's own if it is not set"},
};

struct text {
    const char *name;
    size_t offset;
    const char *help;
};

static const struct text texts[] = {
    {"SIM_SLOW_NODE", AT(slow_nodes), "NODE:FACTOR,... on the bandwidth of all links"},
    {"SIM_SLOW_RANK", AT(slow_ranks), "RANK:FACTOR,... on the rank's link in its node"},
    {"SIM_SLOW_LINK", AT(slow_links), "NODE-NODE:FACTOR,... on what they exchange"},
    {"SIM_WRONG_INTERFACE", AT(wrong_interfaces), "NODE:GBS,... in place of its link"},
};

static const char *const algorithm_names[] = {"RING", "TREE", "PAT", "P2P"};
static const char *const protocol_names[] = {"LL", "LL128", "SIMPLE"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *sim_algorithm_name(enum sim_algorithm algorithm)
{
    return algorithm_names[algorithm];
}

const char *sim_protocol_name(enum sim_protocol protocol)
{
    return protocol_names[protocol];
}

static void *member(struct sim_params *params, size_t offset)
{
    return (char *)params + offset;
}

static void set_defaults(struct sim_params *params)
{
    memset(params, 0, sizeof(*params));
    for (size_t i = 0; i < COUNT(numbers); i++)
        memcpy(member(params, numbers[i].offset), &numbers[i].fallback, sizeof(double));
    params->algorithms = (1u << SIM_ALGORITHMS) - 1;
    params->protocols = (1u << SIM_PROTOCOLS) - 1;
}

static int read_number(const struct number *number, const char *text,
                       struct sim_params *params, struct error *err)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !isfinite(value) || value < number->min ||
        value > number->max) {
        return error_set(err, ERROR_INVALID, "%s=%.80s must be a number from %g to %g",
                         number->name, text, number->min, number->max);
    }
    memcpy(member(params, number->offset), &value, sizeof(value));
    return 0;
}

int sim_list_next(const char **list, struct sim_item *out)
{
    const char *at = *list, *colon;
    char *end;

    if (!at || !*at)
        return 0;
    size_t len = strcspn(at, ",");
    colon = memchr(at, ':', len);
    if (!colon || colon == at)
        return -1;
    out->name = at;
    out->name_len = (size_t)(colon - at);
    out->value = strtod(colon + 1, &end);
    if (end != at + len || end == colon + 1 || !isfinite(out->value) || out->value <= 0)
        return -1;
    *list = at + len + (at[len] == ',');
    return 1;
}

static int read_text(const struct text *text, const char *value,
                     struct sim_params *params, struct error *err)
{
    const char *rest = value;
    struct sim_item item;
    int found;

    do {
        found = sim_list_next(&rest, &item);
    } while (found > 0);
    if (found < 0) {
        return error_set(err, ERROR_INVALID,
                         "%s=%.80s must be a list of NAME:VALUE with values above 0",
                         text->name, value);
    }
    memcpy(member(params, text->offset), &value, sizeof(value));
    return 0;
}

/* A list of names, separated by commas, as a mask. */
static int read_names(const char *name, const char *value, const char *const *known,
                      size_t n, unsigned *mask, struct error *err)
{
    const char *at = value;
    unsigned found = 0;

    while (*at) {
        size_t len = strcspn(at, ","), i = 0;
        while (i < n && (strlen(known[i]) != len || strncasecmp(known[i], at, len) != 0))
            i++;
        if (i == n) {
            return error_set(err, ERROR_INVALID, "%s=%.80s: \"%.*s\" is not known", name,
                             value, len < 40 ? (int)len : 40, at);
        }
        found |= 1u << i;
        at += len + (at[len] == ',');
    }
    if (found)
        *mask = found;
    return 0;
}

static int read_variable(const char *name, const char *value, struct sim_params *params,
                         struct error *err)
{
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (strcmp(numbers[i].name, name) == 0)
            return read_number(&numbers[i], value, params, err);
    for (size_t i = 0; i < COUNT(texts); i++)
        if (strcmp(texts[i].name, name) == 0)
            return read_text(&texts[i], value, params, err);
    if (strcmp(name, "SIM_ALGO") == 0) {
        return read_names(name, value, algorithm_names, SIM_P2P, &params->algorithms,
                          err);
    }
    if (strcmp(name, "SIM_PROTO") == 0) {
        return read_names(name, value, protocol_names, SIM_PROTOCOLS, &params->protocols,
                          err);
    }
    /* A name that is written wrong would have no effect, and nobody would notice. */
    return error_set(err, ERROR_INVALID, "%s is no variable of the simulation", name);
}

int sim_params_read(char *const *environment, struct sim_params *out, struct error *err)
{
    set_defaults(out);
    for (; *environment; environment++) {
        const char *equals = strchr(*environment, '=');
        char name[64];

        if (strncmp(*environment, PREFIX, strlen(PREFIX)) != 0 || !equals)
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)(equals - *environment), *environment);
        if (read_variable(name, equals + 1, out, err))
            return -1;
    }
    out->algorithms |= 1u << SIM_P2P;
    return 0;
}

void sim_params_print(FILE *out)
{
    for (size_t i = 0; i < COUNT(numbers); i++) {
        if (numbers[i].fallback < 0) {
            fprintf(out, "| `%s` | | %s |\n", numbers[i].name, numbers[i].help);
        } else {
            fprintf(out, "| `%s` | %g | %s |\n", numbers[i].name, numbers[i].fallback,
                    numbers[i].help);
        }
    }
    fprintf(out, "| `SIM_ALGO` | all | those to choose from: ring, tree, pat |\n");
    fprintf(out, "| `SIM_PROTO` | all | those to choose from: LL, LL128, Simple |\n");
    for (size_t i = 0; i < COUNT(texts); i++)
        fprintf(out, "| `%s` | | %s |\n", texts[i].name, texts[i].help);
}
