/* SPDX-License-Identifier: Apache-2.0 */
/* collective_json.h - writes the properties of collectives, data types and reductions as
 * JSON, for the web page and API clients */
#ifndef RINGBENCH_COMMON_SPEC_COLLECTIVE_JSON_H
#define RINGBENCH_COMMON_SPEC_COLLECTIVE_JSON_H

#include <jansson.h>

/* Return {"collectives": [...], "dtypes": [...], "redops": [...]} as in
 * docs/reference/api.md, in the order of the enums. The result is a new reference. */
json_t *collective_json(void);

#endif
