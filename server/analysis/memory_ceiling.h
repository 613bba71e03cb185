/* memory_ceiling.h - the bus bandwidth that the memory of a host allows the ranks on it,
 * from the triad that they measured. Plain functions; docs/method.md has the reasons. */
#ifndef RINGBENCH_SERVER_ANALYSIS_MEMORY_CEILING_H
#define RINGBENCH_SERVER_ANALYSIS_MEMORY_CEILING_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* What the ranks of a case said of their memory. */
struct memory_triad {
    double gbs; /* of all together */
    int ranks;  /* 2 or more */
    int64_t cache_bytes;
};

/* Read a worker's event `triad`; false: it is not one. */
bool memory_triad_read(const json_t *event, struct memory_triad *out);

/* The verdict of ceiling.h, with two more keys of its evidence: "triad_gbs" and
 * "from_bytes": {COLLECTIVE: the size from which the figure holds}. A new object; NULL
 * when memory is out. */
json_t *memory_ceiling_verdict(const struct memory_triad *triad);

/* Whether a ceiling says more than one that came before (may be NULL): it is measured,
 * and not of a slower moment. */
bool memory_ceiling_is_better(const json_t *ceiling, const json_t *before);

#endif
