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
    {"SIM_RING_US", AT(algorithm_us[SIM_RING]), -1, 0, 1e9,
     "latency of a call by ring; from the hops if it is not set"},
    {"SIM_RING_GBS", AT(algorithm_gbs[SIM_RING]), -1, 1e-6, 1e9,
     "GB/s of bus bandwidth that a ring reaches at most; no limit if it is not set"},
    {"SIM_TREE_US", AT(algorithm_us[SIM_TREE]), -1, 0, 1e9, "the same of a tree"},
    {"SIM_TREE_GBS", AT(algorithm_gbs[SIM_TREE]), -1, 1e-6, 1e9, "the same of a tree"},
    {"SIM_CHANNELS", AT(channels), 16, 1, 1024, "channels of a ring"},
    {"SIM_NOISE", AT(noise), 0.02, 0, 2, "standard deviation of log(time) of a call"},
    {"SIM_CASE_NOISE", AT(case_noise), -1, 0, 2,
     "the same of all that a case takes; half of SIM_NOISE if it is not set"},
    {"SIM_RUN_NOISE", AT(run_noise), 0, 0, 2, "the same of all that a run takes"},
    {"SIM_NIGHT", AT(night), 0, 0, 1e5,
     "number of the run among those with one SIM_SEED"},
    {"SIM_CORRELATION", AT(correlation), 0, 0, 0.999,
     "of SIM_RUN_NOISE between one night and the next"},
    {"SIM_DRIFT", AT(drift), 0, -0.5, 0.5,
     "part by which everything takes longer with each night"},
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
    {"SIM_CHANGE", AT(changes),
     "CASE:FACTOR,... or SECONDs:FACTOR,... from there on all takes FACTOR times as "
     "long"},
};

static const char *const algorithm_names[] = {"RING", "TREE", "PAT", "P2P"};
static const char *const protocol_names[] = {"LL", "LL128", "SIMPLE"};

/* NCCL's own variables, in its syntax but for lists by collective. P2P can't be chosen.
 */
static const struct choice_variable {
    const char *name;
    const char *const *known;
    size_t n;
    const char *help;
} choice_variables[] = {
    {"NCCL_ALGO", algorithm_names, SIM_P2P, "Ring, Tree, PAT"},
    {"NCCL_PROTO", protocol_names, SIM_PROTOCOLS, "LL, LL128, Simple"},
};

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
    for (int i = 0; i < SIM_ALGORITHMS; i++)
        params->algorithm_us[i] = params->algorithm_gbs[i] = -1;
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

bool sim_change_read(const struct sim_item *item, double *at, bool *is_seconds)
{
    char *end;

    *at = strtod(item->name, &end);
    *is_seconds = *end == 's';
    end += *is_seconds;
    return end == item->name + item->name_len && end > item->name && *at >= 0;
}

static int read_text(const struct text *text, const char *value,
                     struct sim_params *params, struct error *err)
{
    bool is_change = text->offset == AT(changes), is_seconds;
    const char *rest = value;
    struct sim_item item;
    double at;
    int found;

    while ((found = sim_list_next(&rest, &item)) > 0) {
        if (is_change && !sim_change_read(&item, &at, &is_seconds)) {
            return error_set(err, ERROR_INVALID,
                             "%s=%.80s: %.*s must be the number of a case, or seconds as "
                             "in 0.5s",
                             text->name, value, (int)item.name_len, item.name);
        }
    }
    if (found < 0) {
        return error_set(err, ERROR_INVALID,
                         "%s=%.80s must be a list of NAME:VALUE with values above 0",
                         text->name, value);
    }
    memcpy(member(params, text->offset), &value, sizeof(value));
    return 0;
}

/* A list of names, separated by commas, as a mask; ^ in front: all others. */
static int read_choice(const struct choice_variable *variable, const char *value,
                       unsigned *mask, struct error *err)
{
    bool is_inverted = *value == '^';
    const char *at = value + is_inverted;
    unsigned found = 0, all = (1u << variable->n) - 1;

    while (*at) {
        size_t len = strcspn(at, ","), i = 0;
        while (i < variable->n && (strlen(variable->known[i]) != len ||
                                   strncasecmp(variable->known[i], at, len) != 0))
            i++;
        if (i == variable->n) {
            return error_set(
                err, ERROR_INVALID, "%s=%.80s: the simulation has no \"%.*s\"; it has %s",
                variable->name, value, len < 40 ? (int)len : 40, at, variable->help);
        }
        found |= 1u << i;
        at += len + (at[len] == ',');
    }
    if (is_inverted)
        found = all & ~found;
    if (is_inverted && !found)
        return error_set(err, ERROR_INVALID, "%s=%.80s leaves none of %s", variable->name,
                         value, variable->help);
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
    /* A name that is written wrong would have no effect, and nobody would notice. */
    return error_set(err, ERROR_INVALID, "%s is no variable of the simulation", name);
}

int sim_params_read(char *const *environment, struct sim_params *out, struct error *err)
{
    unsigned *const masks[] = {&out->algorithms, &out->protocols};

    set_defaults(out);
    for (; *environment; environment++) {
        const char *equals = strchr(*environment, '=');
        char name[64];

        if (!equals)
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)(equals - *environment), *environment);
        for (size_t i = 0; i < COUNT(choice_variables); i++)
            if (strcmp(name, choice_variables[i].name) == 0 &&
                read_choice(&choice_variables[i], equals + 1, masks[i], err))
                return -1;
        if (strncmp(name, PREFIX, strlen(PREFIX)) == 0 &&
            read_variable(name, equals + 1, out, err))
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
    for (size_t i = 0; i < COUNT(choice_variables); i++)
        fprintf(
            out,
            "| `%s` | all | those to choose from: %s; with ^ in front, all others |\n",
            choice_variables[i].name, choice_variables[i].help);
    for (size_t i = 0; i < COUNT(texts); i++)
        fprintf(out, "| `%s` | | %s |\n", texts[i].name, texts[i].help);
}
