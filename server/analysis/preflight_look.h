/* SPDX-License-Identifier: Apache-2.0 */
/* preflight_look.h - helpers for preflight checks that read inventories and report
 * findings, and declarations of the network checks that preflight_checks.c lists */
#ifndef RINGBENCH_SERVER_ANALYSIS_PREFLIGHT_LOOK_H
#define RINGBENCH_SERVER_ANALYSIS_PREFLIGHT_LOOK_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/json_util.h"
#include "server/analysis/preflight_check.h"

static inline void find(struct preflight_result *result, const char *subject,
                        const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Report a finding, unless the check has already reported one for the node. */
static inline void find(struct preflight_result *result, const char *subject,
                        const char *format, ...)
{
    va_list args;

    if (result->answer == VERDICT_FINDING)
        return;
    result->answer = VERDICT_FINDING;
    snprintf(result->subject, sizeof(result->subject), "%s", subject);
    va_start(args, format);
    vsnprintf(result->sentence, sizeof(result->sentence), format, args);
    va_end(args);
}

/* Add a value. NULL or "" means that there is no value. */
static inline void add_fact_of_port(struct preflight_facts *facts, const char *what,
                                    const char *value, const char *subject, int port)
{
    if (value && *value)
        facts->take(facts, what, value, subject, port);
}

static inline void add_fact(struct preflight_facts *facts, const char *what,
                            const char *value, const char *subject)
{
    add_fact_of_port(facts, what, value, subject, 0);
}

static inline void pass(struct preflight_result *result)
{
    if (result->answer != VERDICT_FINDING)
        result->answer = VERDICT_OK;
}

static inline const json_t *member(const struct preflight_node *node, const char *key)
{
    return json_object_get(node->inventory, key);
}

static inline bool is(const json_t *object, const char *key, const char *value)
{
    return strcmp(json_get_str(object, key, ""), value) == 0;
}

static inline const char *name_of(const json_t *device)
{
    const char *name = json_get_str(device, "name", NULL);

    return name ? name : json_get_str(device, "pci", "?");
}

void preflight_gather_ports(const struct preflight_node *node,
                            struct preflight_facts *facts);
bool preflight_is_port_wanted(const json_t *env, const char *device, int port);
void preflight_look_at_gids(const struct preflight_node *node,
                            const struct preflight_use *use,
                            struct preflight_result *result);
void preflight_gather_gids(const struct preflight_node *node,
                           struct preflight_facts *facts);
void preflight_gather_mtus(const struct preflight_node *node,
                           struct preflight_facts *facts);
/* Check the interface that NCCL chooses for its sockets. */
void preflight_look_at_choice(const struct preflight_node *node,
                              const struct preflight_use *use,
                              struct preflight_result *result);

#endif
