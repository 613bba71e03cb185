/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - generate input data and expected results of checks
 *
 * Input and expected result are functions of (seed, rank, index), so a rank needs no
 * other rank's data. Results are exact for every order of the reduction:
 *
 * - A rank's position is its number rotated by a hash of the index. A table assigns a
 *   small integer p to each position.
 * - sum, avg: the input is s * p, where s is a scale hashed from the index. The result is
 *   s * P with the table's total P. No partial sum has more significant bits than the
 *   type. With too many ranks for this limit, some positions are zero. For avg of
 *   floating-point types all but two are zero, because libraries that scale inputs round
 *   each term.
 * - mulsum: the same terms, each divided by its rank's scalar beforehand.
 * - prod: position 0 contributes s. The other positions contribute -1 and powers of two
 *   whose product stays within a factor of four.
 * - min, max: s * p with distinct p and s a power of two; for integers s + p.
 * - Integer sum and prod wrap around. Their tables are odd.
 * - Without a reduction, elements are hashed bits of (seed, source rank, index). */
#ifndef RINGBENCH_WORKER_DATA_PATTERN_H
#define RINGBENCH_WORKER_DATA_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/spec/collective.h"

#define PATTERN_TEXT_MAX 32

struct pattern;

/* redop -1: no reduction. n >= 1: ranks. */
struct pattern *pattern_create(enum dtype type, int redop, int n, uint64_t seed);
void pattern_destroy(struct pattern *pattern);

/* Compute elements first to first + count - 1 of the input of `rank`. */
void pattern_input(const struct pattern *pattern, int rank, uint64_t first, size_t count,
                   void *out);

/* Compute elements first to first + count - 1 of the receive buffer of `rank` after a
 * collective of call_count elements. `kind` must match redop. Call only if
 * pattern_receives() is true. */
void pattern_expected(const struct pattern *pattern, enum collective_kind kind, int rank,
                      int root, size_t call_count, uint64_t first, size_t count,
                      void *out);

/* True if the rank's receive buffer gets a result. In reduce and gather only the root's
 * does. */
bool pattern_receives(enum collective_kind kind, int rank, int root);

/* Distance of two elements in units in the last place. 0: equal. UINT64_MAX: unequal
 * integers, NaN, or different signs. */
uint64_t pattern_distance(enum dtype type, const void *a, const void *b);

/* Exact decimal numbers; "0x.." for NaN. Returns text. */
const char *pattern_format(enum dtype type, const void *element,
                           char text[PATTERN_TEXT_MAX]);

/* The scalar by which mulsum multiplies the rank's input. */
void pattern_scalar(enum dtype type, int rank, void *element);

#endif
