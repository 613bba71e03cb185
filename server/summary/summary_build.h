/* summary_build.h - a summary from the records of a run's results, one after the other.
 * Pure: knows no database. */
#ifndef RINGBENCH_SERVER_SUMMARY_SUMMARY_BUILD_H
#define RINGBENCH_SERVER_SUMMARY_SUMMARY_BUILD_H

#include "server/summary/result_record.h"
#include "server/summary/summary.h"

struct summary_builder;

/* query and texts (parsed, by number; borrowed, to be there until the end) say what
 * records mean. */
struct summary_builder *summary_builder_create(const struct summary_query *query,
                                               json_t *const *texts, size_t n_texts);
void summary_builder_destroy(struct summary_builder *builder);

/* -1 when there are too many records or points. Records of an earlier attempt, or with a
 * key that is not there, are left out. */
int summary_builder_add(struct summary_builder *builder,
                        const struct result_record *record);

/* From here on these stand for the query and texts that it was made with, of which they
 * are a continuation: cases and texts may have been added. */
void summary_builder_renew(struct summary_builder *builder,
                           const struct summary_query *query, json_t *const *texts,
                           size_t n_texts);

/* Series, points and figures of the records so far; messages, recent and last_event are
 * the caller's. */
struct summary *summary_builder_finish(const struct summary_builder *builder);

#endif
