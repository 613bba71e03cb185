/* SPDX-License-Identifier: Apache-2.0 */
/* conditions.h - describes the state of a node's machine during a case, as evidence for
 * or against the case's figures. An agent measures these values beside a case. Each value
 * has an entry with its meaning and the limit above which it is reported. The agent
 * writes the values, and the server checks and reports them. A unit test compares the
 * table in docs/reference/conditions.md with the entries. */
#ifndef RINGBENCH_COMMON_CONDITIONS_H
#define RINGBENCH_COMMON_CONDITIONS_H

#include <jansson.h>

enum condition {
    CONDITION_SECONDS,
    CONDITION_LOAD,
    CONDITION_OTHERS,
    CONDITION_RANKS,
    CONDITION_STEAL,
    CONDITION_INVOLUNTARY,
    CONDITION_CPU_PRESSURE,
    CONDITION_MEMORY_PRESSURE,
    CONDITION_QUOTA,
    CONDITION_THERMAL,
    CONDITION_CPU_MHZ_FIRST,
    CONDITION_CPU_MHZ_LAST,
    CONDITION_GPU_MHZ_FIRST,
    CONDITION_GPU_MHZ_LAST,
    CONDITION_GPU_SLOWED,
    CONDITION_NVLINK_BYTES,
    CONDITION_COUNT
};

struct condition_field {
    const char *name;
    const char *unit;         /* unit of the value, or "" */
    double limit;             /* values above the limit are reported; INFINITY: never */
    const char *words, *more; /* text before and after the number in the report */
    const char *meaning;
};

const struct condition_field *condition_field(enum condition condition);

/* Return a new object with the known values, i.e. those that are not NAN. */
json_t *conditions_json(const double values[CONDITION_COUNT]);

/* Read the values from a received object. Missing values become NAN. */
void conditions_read(const json_t *object, double values[CONDITION_COUNT]);

/* Return a new array with one sentence for each value above its limit. The sentences omit
 * their subject, the node. The array is usually empty. */
json_t *conditions_notes(const double values[CONDITION_COUNT]);

#endif
