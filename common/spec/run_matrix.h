/* SPDX-License-Identifier: Apache-2.0 */
/* run_matrix.h - the cases of a run: every combination of its matrix, `repeats` times */
#ifndef RINGBENCH_COMMON_SPEC_RUN_MATRIX_H
#define RINGBENCH_COMMON_SPEC_RUN_MATRIX_H

#include <jansson.h>
#include <stddef.h>

#include "common/base/problem.h"
#include "common/spec/run_spec.h"

#define RUN_CASES_MAX 1000
#define RUN_MATRIX_VALUES_MAX 64 /* of one variable */

/* A key of the matrix that is no variable: its values are the run's "nccl_lib". */
#define RUN_MATRIX_LIBRARY "nccl_lib"

/* Check `matrix`: an object of variables, each with an array of strings and nulls (null:
 * the variable is unset). */
void run_matrix_check(json_t *matrix, const char *pointer, struct problems *problems);

/* What only the whole spec shows: too many cases, a variable that `env` has too. */
void run_matrix_check_spec(const struct run_spec *spec, struct problems *problems);

/* Cases of the run; 1 combination where there is no matrix. */
size_t run_matrix_cases(const struct run_spec *spec);

/* Which combination of the matrix case i is of, from 0 in the order of the cases. */
size_t run_matrix_combination(const struct run_spec *spec, size_t i);

/* Which repeat case i is (from 0), and its variables: a new object, or NULL where there
 * is no matrix. Interleaved, every second repeat goes through the combinations backwards,
 * so that a drift of the machine does not look like an effect of a variable. */
int run_matrix_repeat(const struct run_spec *spec, size_t i);
json_t *run_matrix_env(const struct run_spec *spec, size_t i);

/* A case's variables as " (NCCL_ALGO=Ring, NCCL_PROTO unset)"; "" where it has none. */
const char *run_matrix_env_text(json_t *env, char *out, size_t size);

/* What tells a case (its document or event) from the others of its run: its variables,
 * and " on a, b" where its nodes are some of the run's. */
const char *run_matrix_case_text(const json_t *c, char *out, size_t size);

#endif
