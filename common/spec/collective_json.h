/* SPDX-License-Identifier: Apache-2.0 */
/* collective_json.h - the facts of collectives, data types and reductions for those who
 * can't read C: the page, and whoever asks the server */
#ifndef RINGBENCH_COMMON_SPEC_COLLECTIVE_JSON_H
#define RINGBENCH_COMMON_SPEC_COLLECTIVE_JSON_H

#include <jansson.h>

/* {"collectives": [...], "dtypes": [...], "redops": [...]} as docs/reference/api.md shows
 * it, in the order of the enums. A new reference. */
json_t *collective_json(void);

#endif
