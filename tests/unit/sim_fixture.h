/* SPDX-License-Identifier: Apache-2.0 */
/* sim_fixture.h - a simulated cluster: nodes n0, n1, ... of as many ranks each */
#ifndef RINGBENCH_TESTS_UNIT_SIM_FIXTURE_H
#define RINGBENCH_TESTS_UNIT_SIM_FIXTURE_H

#include "agent/worker/sim/sim_model.h"
#include "tests/unit/test.h"

struct sim_cluster {
    struct case_file *file;
    struct sim_params params;
    struct sim_model model;
};

/* Racks of two nodes. */
static inline int sim_rack_of_two(const void *arg, const char *node)
{
    (void)arg;
    return atoi(node + 1) / 2 + 1;
}

/* variables: "SIM_NOISE=0 ...", separated by blanks. */
static inline void sim_params_of(struct sim_params *params, const char *variables)
{
    static char text[512];
    struct error err = {0};

    sim_params_init(params);
    snprintf(text, sizeof(text), "%s", variables);
    for (char *at = strtok(text, " "); at; at = strtok(NULL, " ")) {
        char *equals = strchr(at, '=');

        *equals = '\0';
        if (sim_params_set(params, at, equals + 1, &err))
            fail_msg("%s", err.text);
    }
}

/* Case `number` of a run; more: members of the case file, or "". */
static inline void sim_cluster_make(struct sim_cluster *cluster, int nodes, int per_node,
                                    const char *variables, int number, const char *more)
{
    struct error err = {0};
    json_t *placed = json_array();

    for (int i = 0; i < nodes; i++) {
        char name[16];

        snprintf(name, sizeof(name), "n%d", i);
        json_array_append_new(placed, json_pack("[s, i]", name, per_node));
    }
    json_t *json = json_pack("{s:i, s:i, s:i, s:i, s:o}", "world_size", nodes * per_node,
                             "case", number, "attempt", 1, "seed", 7, "placed", placed);
    json_t *further = json_loads(*more ? more : "{}", 0, NULL);
    json_object_update(json, further);
    json_decref(further);
    cluster->file = case_file_parse(json, true, &err);
    if (!cluster->file)
        fail_msg("%s", err.text);
    json_decref(json);
    sim_params_of(&cluster->params, variables);
    sim_model_init(&cluster->model, &cluster->params, cluster->file, 0, sim_rack_of_two,
                   NULL);
}

static inline void sim_cluster_release(struct sim_cluster *cluster)
{
    sim_model_release(&cluster->model);
    case_file_destroy(cluster->file);
}

#endif
