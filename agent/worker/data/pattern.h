/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - what the buffers hold when a result is checked
 *
 * An input is a function of (seed, rank, index) and so is the expected result; neither
 * needs another rank's data. Every result is exact whatever the order of the reduction:
 *
 * - Each rank has a position, its number rotated by a hash of the index, and each
 * position a small whole number p from a table. sum, avg: the input is s * p, with s a
 * scale hashed from the index, and the result s * P with P the table's total. The sizes
 * are chosen so that |s * any partial sum| has no more significant bits than the type.
 *   Where there are more ranks than that allows the other positions are zero, and for
 * avg of floating point numbers all but two: libraries that scale inputs round each term.
 * - mulsum: the same terms, each divided by its rank's scalar beforehand.
 * - prod: position 0 holds s, the others powers of two whose product stays within a
 *   factor of four, and -1.
 * - min, max: s * p with distinct p and s a power of two, or for integers s + p.
 * - Integer sum and prod are taken modulo the type's range with odd tables.
 * - Where nothing is reduced the elements are hashed bits of (seed, source rank, index).
 */
#ifndef RINGBENCH_WORKER_DATA_PATTERN_H
#define RINGBENCH_WORKER_DATA_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/spec/collective.h"

#define PATTERN_TEXT_MAX 32

struct pattern;

/* redop -1: nothing is reduced. n: ranks, 1 or more. */
struct pattern *pattern_create(enum dtype type, int redop, int n, uint64_t seed);
void pattern_destroy(struct pattern *pattern);

/* Elements first .. first + count - 1 of what `rank` sends. */
void pattern_input(const struct pattern *pattern, int rank, uint64_t first, size_t count,
                   void *out);

/* Elements of a receive buffer of `rank` after a collective of `count` elements. `kind`
 * must agree with the redop. For ranks that receive nothing see pattern_receives(). */
void pattern_expected(const struct pattern *pattern, enum collective_kind kind, int rank,
                      int root, size_t call_count, uint64_t first, size_t count,
                      void *out);

/* Whether the rank's receive buffer holds a result: only the root's does in a rooted
 * reduce or gather. */
bool pattern_receives(enum collective_kind kind, int rank, int root);

/* Distance of two elements in units in the last place; 0 when equal, UINT64_MAX when they
 * cannot be compared (integers, NaN, other sign). */
uint64_t pattern_distance(enum dtype type, const void *a, const void *b);

/* An element as text: decimal for numbers, exact; "0x.." for NaN. Returns text. */
const char *pattern_format(enum dtype type, const void *element,
                           char text[PATTERN_TEXT_MAX]);

/* What mulsum multiplies the rank's input with before it is added. */
void pattern_scalar(enum dtype type, int rank, void *element);

#endif
