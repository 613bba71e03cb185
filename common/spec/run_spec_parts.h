/* SPDX-License-Identifier: Apache-2.0 */
/* run_spec_parts.h - declares the structured fields of the run spec, and checks between
 * fields */
#ifndef RINGBENCH_COMMON_SPEC_RUN_SPEC_PARTS_H
#define RINGBENCH_COMMON_SPEC_RUN_SPEC_PARTS_H

#include "common/spec/spec_field.h"

extern const struct spec_kind spec_sizes, spec_split, spec_traffic, spec_baseline,
    spec_samples;
extern const struct spec_fields spec_baseline_fields, spec_nodes_fields, spec_nccl_fields,
    spec_samples_fields;

extern const struct spec_names spec_collective_names, spec_dtype_names, spec_redop_names;

spec_check spec_check_devices, spec_check_path;

/* Add a problem for each conflict between fields. body: the request. */
void run_spec_check_nodes(const struct run_spec *spec, struct problems *problems);
void run_spec_check_nccl(const struct run_spec *spec, struct problems *problems);
void run_spec_check_ranks(const struct run_spec *spec, const json_t *body,
                          struct problems *problems);

#endif
