/* json_differences.h - in what two values of JSON differ, such as inventories */
#ifndef RINGBENCH_SERVER_ANALYSIS_JSON_DIFFERENCES_H
#define RINGBENCH_SERVER_ANALYSIS_JSON_DIFFERENCES_H

#include <jansson.h>

#define JSON_DIFFERENCES_MAX 1000

/* [{"what","base","head"}], new: `what` is a path, "rdma.mlx5_1.state"; null where there
 * is nothing. Objects in arrays are held against those of the same `index`, `name` or
 * `pci`.
 * Further differences are left out. */
json_t *json_differences(const json_t *base, const json_t *head);

#endif
