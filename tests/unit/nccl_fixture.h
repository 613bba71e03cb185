/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_fixture.h - four processes of the NCCL worker over emulated libraries */
#ifndef RINGBENCH_TESTS_NCCL_FIXTURE_H
#define RINGBENCH_TESTS_NCCL_FIXTURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/worker_group.h"

#define RANKS 4
#define QUIET_MS 60000

/* Far below what NCCL would wait; the usual time is some milliseconds, but a busy machine
 * may be late. */
#define NOTICE_NS (120 * INT64_C(1000000000))

/* The workers of the case that runs, or has run last, and what they have said. */
struct nccl_case {
    struct worker_group group;
    json_t *hello[RANKS], *connected[RANKS], *done[RANKS];
    int64_t done_ns[RANKS];
    json_t *results; /* NULL: none was started */
    int steps; /* reports of progress in which rank 0 had finished more than before */
    int64_t finished, checked; /* of rank 0 */
    bool has_begun[RANKS], is_loading[RANKS];
    bool has_read; /* an event */
};

extern struct nccl_case nccl;

/* Members of a case: what is measured. */
extern const char nccl_quick[], nccl_endless[];
/* And how. */
extern const char nccl_plain[];

/* Write the case that the next workers read; more "": nccl_plain. */
void nccl_write_case(const char *members, const char *more);

/* Start the workers under settings of the emulation (settings.h); those of the case
 * before are ended. */
void nccl_start(const char *emulation);
/* Read until all have ended. */
void nccl_read(void);
/* Both. */
void nccl_run(const char *emulation);
/* Read until every rank has reported progress; on a busy machine some are not in NCCL's
 * init by then. */
void nccl_await_progress(void);
/* Read until that rank has said that it is loading CUDA and NCCL. */
void nccl_await_loading(int rank);
/* Read until that rank is in a call or an operation that the settings have hang. */
void nccl_await_hang(int rank);

/* A member of the error that a rank ended with, "none" without one. */
const char *nccl_error_of(int rank, const char *key);

/* The first rank whose error says that, or -1. Where all meet the same fault, one that
 * has not met it yet may hear of another's end before. */
int nccl_rank_saying(const char *words);

void nccl_assert_all_ok(void);
void nccl_assert_rows_right(size_t rows);

/* What the worker's --probe says under those settings; a new object. */
json_t *nccl_probe(const char *emulation);

/* GROUP_FIXTURE(nccl_set_up, nccl_tear_down); EACH_FIXTURE(NULL, nccl_end); */
int nccl_set_up(void **state);
int nccl_tear_down(void **state);
int nccl_end(void **state);

#endif
