/* SPDX-License-Identifier: Apache-2.0 */
/* run_matrix.h - enumerates the cases of a run: every combination of its matrix,
 * `repeats` times */
#ifndef RINGBENCH_COMMON_SPEC_RUN_MATRIX_H
#define RINGBENCH_COMMON_SPEC_RUN_MATRIX_H

#include <jansson.h>
#include <stddef.h>

#include "common/base/problem.h"
#include "common/spec/run_spec.h"

#define RUN_CASES_MAX 1000
#define RUN_MATRIX_VALUES_MAX 64 /* maximum number of values per variable */

/* A matrix key that is not a variable: its values set the run's "nccl_lib". */
#define RUN_MATRIX_LIBRARY "nccl_lib"

/* Validate `matrix`: an object of variables, each with an array of strings and nulls
 * (null: the variable is unset). */
void run_matrix_check(json_t *matrix, const char *pointer, struct problems *problems);

/* Check the matrix against the whole spec. Adds a problem if there are too many cases, or
 * if a variable is also in `env`. */
void run_matrix_check_spec(const struct run_spec *spec, struct problems *problems);

/* Return the number of cases; without a matrix there is 1 combination. */
size_t run_matrix_cases(const struct run_spec *spec);

/* Return the index of case i's combination of the matrix. Combinations are numbered from
 * 0 in the order of cases. */
size_t run_matrix_combination(const struct run_spec *spec, size_t i);

/* run_matrix_repeat() returns the repeat (from 0) of case i. run_matrix_env() returns the
 * case's variables as a new object, or NULL without a matrix. In interleaved order, every
 * second repeat goes through the combinations backwards, so that a machine's drift does
 * not look like a variable's effect. */
int run_matrix_repeat(const struct run_spec *spec, size_t i);
json_t *run_matrix_env(const struct run_spec *spec, size_t i);

/* Return the keys of the matrix that the backend does not read, as "A, B", or "". Cases
 * that differ only in these keys measure the same. */
const char *run_matrix_unread(const struct run_spec *spec, const char *backend, char *out,
                              size_t size);

/* Format a case's variables as " (NCCL_ALGO=Ring, NCCL_PROTO unset)", or "". */
const char *run_matrix_env_text(json_t *env, char *out, size_t size);

/* Describe how a case (its document or event) differs from the run's other cases: its
 * variables, and " on a, b" if it uses only some of the run's nodes. */
const char *run_matrix_case_text(const json_t *c, char *out, size_t size);

#endif
