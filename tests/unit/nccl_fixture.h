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
#define NOTICE_NS (30 * INT64_C(1000000000))

/* What the workers have said. */
struct nccl_seen {
    json_t *hello[RANKS], *connected[RANKS], *done[RANKS];
    int64_t done_ns[RANKS];
    json_t *results;
    int progress, steps;       /* steps: in which rank 0 had finished more than before */
    int64_t finished, checked; /* of rank 0 */
    bool is_running;
};

/* Members of a case: what is measured. */
extern const char nccl_quick[], nccl_endless[];
/* And how. */
extern const char nccl_plain[];

/* Write the case that the next workers read; more "": nccl_plain. */
void nccl_write_case(const char *members, const char *more);

/* Start the workers under settings of the emulation (settings.h); read until they end. */
void nccl_start(struct worker_group *group, struct nccl_seen *seen,
                const char *emulation);
void nccl_run(struct worker_group *group, struct nccl_seen *seen, const char *emulation);
/* Read until that rank is in a call that the settings have hang. */
void nccl_await_hang(struct worker_group *group, struct nccl_seen *seen, int rank);
void nccl_end(struct worker_group *group, struct nccl_seen *seen);

/* A handler for worker_group_read. */
void nccl_note(void *arg, int rank, const char *line, size_t len);

/* A member of the error that a rank ended with, "none" without one. */
const char *nccl_error_of(const struct nccl_seen *seen, int rank, const char *key);

/* The first rank whose error says that, or -1. Where all meet the same fault, one that
 * has not met it yet may hear of another's end before. */
int nccl_rank_saying(const struct nccl_seen *seen, const char *words);

void nccl_assert_all_ok(const struct worker_group *group, const struct nccl_seen *seen);
void nccl_assert_rows_right(const struct nccl_seen *seen, size_t rows);

/* What the worker's --probe says under those settings; a new object. */
json_t *nccl_probe(const char *emulation);

/* Of a group of tests. */
int nccl_set_up(void **state);
int nccl_tear_down(void **state);

#endif
