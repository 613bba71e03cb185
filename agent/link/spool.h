/* SPDX-License-Identifier: Apache-2.0 */
/* spool.h - the event lines that the server has not acknowledged, in order
 *
 * A database bounds the agent's memory during a long outage, and outlives an agent that
 * was killed: the next one on the directory delivers what it left. New lines wait in
 * memory for spool_flush. The file is not synced, so it does not outlive a loss of power.
 * Line number N begins with {"seq":N, */
#ifndef RINGBENCH_AGENT_LINK_SPOOL_H
#define RINGBENCH_AGENT_LINK_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/error.h"

struct spool;

/* Open the directory (made if it is missing, private to this user, on no shared file
 * system) and lock it; ERROR_CONFLICT when another agent holds it. */
struct spool *spool_open(const char *dir, struct error *err);

/* One in memory, for an agent that leaves nothing behind; it has no directory. */
struct spool *spool_create(void);

/* Remove our files, and the directory if spool_open made it; but keep lines that are not
 * acknowledged. NULL is fine. */
void spool_close(struct spool *spool);

/* Lines that are not acknowledged; just after spool_open, those that were left. */
uint64_t spool_count(const struct spool *spool);

/* Call fn for each line on disk. */
void spool_each(const struct spool *spool, void (*fn)(void *arg, const char *line),
                void *arg);

/* The directory's path, absolute. Borrowed. */
const char *spool_dir(const struct spool *spool);

/* The sequence number that the next line gets, from 1; the highest acknowledged one. */
uint64_t spool_next(const struct spool *spool);
uint64_t spool_acked(const struct spool *spool);

/* Append a line (without newline) as number spool_next. -1 when there is too much. */
int spool_append(struct spool *spool, const char *line, size_t len, struct error *err);

/* Write what waits in memory, all in one transaction. -1 with the reason: there is no
 * room. The spool is then blocked, and the caller should stop what makes lines until a
 * flush has succeeded or nothing waits. */
int spool_flush(struct spool *spool, struct error *err);
bool spool_wants_flush(const struct spool *spool);
bool spool_is_blocked(const struct spool *spool);

/* Append to *out (cleared first) the oldest unacknowledged lines, each with its newline:
 * at least one if there is any, and no more than max_lines or max_bytes. Returns how
 * many, with the number of the last one in *last; -1 if the file can't be read. */
int64_t spool_read(struct spool *spool, size_t max_bytes, int64_t max_lines,
                   struct buf *out, uint64_t *last, struct error *err);

/* Forget every line up to seq. ERROR_INVALID if it was never appended, or if lines after
 * it are forgotten already: the other side then has another past than we have. */
int spool_ack(struct spool *spool, uint64_t seq, struct error *err);

/* Forget everything and count from 1 again, for a new boot id. */
void spool_reset(struct spool *spool);

/* The name of a file system that nodes share, by statfs()'s f_type; NULL: it is none. */
const char *spool_shared_system(long type);

#endif
