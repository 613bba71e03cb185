/* SPDX-License-Identifier: Apache-2.0 */
/* conditions.h - the state of a node's machine while it ran its ranks of a case
 *
 * An agent measures these values beside a case, as evidence for or against its figures.
 * Each has an entry with its meaning and the limit above which it is reported. The agent
 * writes the values, the server checks and reports them, and a unit test compares the
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
    const char *unit;         /* or "" */
    double limit;             /* above it there is a sentence; INFINITY: there is none */
    const char *words, *more; /* before and after the number in that sentence */
    const char *meaning;
};

const struct condition_field *condition_field(enum condition condition);

/* A new object of those values that are known, those that are not NAN. */
json_t *conditions_json(const double values[CONDITION_COUNT]);

/* The values of such an object that has come from elsewhere; NAN where there is none. */
void conditions_read(const json_t *object, double values[CONDITION_COUNT]);

/* What is worth saying of them: a new array of sentences without a subject, mostly empty.
 */
json_t *conditions_notes(const double values[CONDITION_COUNT]);

#endif
