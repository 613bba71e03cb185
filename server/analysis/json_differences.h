/* SPDX-License-Identifier: Apache-2.0 */
/* json_differences.h - lists the differences between JSON values, such as inventories */
#ifndef RINGBENCH_SERVER_ANALYSIS_JSON_DIFFERENCES_H
#define RINGBENCH_SERVER_ANALYSIS_JSON_DIFFERENCES_H

#include <jansson.h>

#define JSON_DIFFERENCES_MAX 1000

/* Return a new array [{"what","base","head"}] of at most JSON_DIFFERENCES_MAX
 * differences. `what` is a path such as "rdma.mlx5_1.state"; an absent value is null.
 * Objects in arrays are matched by `index`, `name` or `pci`. */
json_t *json_differences(const json_t *base, const json_t *head);

#endif
