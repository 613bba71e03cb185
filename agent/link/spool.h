/* SPDX-License-Identifier: Apache-2.0 */
/* spool.h - stores the event lines that the server has not acknowledged, in order
 *
 * A database bounds the agent's memory during a long outage. The database survives a
 * killed agent: the next agent on the directory delivers the remaining lines. New lines
 * wait in memory for spool_flush. The file is not synced, so it may not survive a power
 * failure. Line number N begins with {"seq":N, */
#ifndef RINGBENCH_AGENT_LINK_SPOOL_H
#define RINGBENCH_AGENT_LINK_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/error.h"

struct spool;

/* Create the directory if it is missing, and lock it. The directory must be private to
 * this user and must not be on a shared file system. ERROR_CONFLICT if another agent
 * holds the lock. */
struct spool *spool_open(const char *dir, struct error *err);

/* Create a spool in memory, without a directory. */
struct spool *spool_create(void);

/* Close the spool. If all lines are acknowledged, remove its file, and the directory if
 * spool_open created it and it is empty. Accepts NULL. */
void spool_close(struct spool *spool);

/* The number of unacknowledged lines. After spool_open, these are lines of an earlier
 * agent. */
uint64_t spool_count(const struct spool *spool);

/* Call fn for each line on disk. */
void spool_each(const struct spool *spool, void (*fn)(void *arg, const char *line),
                void *arg);

/* The absolute path of the directory, borrowed. */
const char *spool_dir(const struct spool *spool);

/* The sequence number of the next line, from 1, and the highest acknowledged one. */
uint64_t spool_next(const struct spool *spool);
uint64_t spool_acked(const struct spool *spool);

/* Append a line (without newline) as number spool_next. Returns -1 if the lines in memory
 * would exceed their limit. */
int spool_append(struct spool *spool, const char *line, size_t len, struct error *err);

/* Write the waiting lines to disk in one transaction. Returns -1 with the reason if the
 * disk is full or fails. The spool is then blocked, and the caller should pause ranks
 * until a flush succeeds or no line waits. */
int spool_flush(struct spool *spool, struct error *err);
bool spool_needs_flush(const struct spool *spool);
bool spool_is_blocked(const struct spool *spool);

/* Clear *out and copy the oldest unacknowledged lines with their newlines into it: at
 * least one line if there is any, at most max_lines or max_bytes. Returns their count,
 * with the last sequence number in *last; -1 if the file cannot be read. */
int64_t spool_read(struct spool *spool, size_t max_bytes, int64_t max_lines,
                   struct buf *out, uint64_t *last, struct error *err);

/* Forget every line up to seq. ERROR_INVALID if seq was never appended, or if later lines
 * are already forgotten: the server has then lost or replaced its database. */
int spool_ack(struct spool *spool, uint64_t seq, struct error *err);

/* Forget everything and count from 1 again, for a new boot id. */
void spool_reset(struct spool *spool);

/* The name of a shared file system by statfs()'s f_type; NULL if the type is not one. */
const char *spool_shared_system(long type);

#endif
