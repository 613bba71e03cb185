/* SPDX-License-Identifier: Apache-2.0 */
/* run_edit.h - changes a run's labels and notes by JSON merge patches (RFC 7396) */
#ifndef RINGBENCH_SERVER_RUNS_RUN_EDIT_H
#define RINGBENCH_SERVER_RUNS_RUN_EDIT_H

#include <jansson.h>

#include "common/base/problem.h"

#define RUN_NOTES_MAX 4000 /* limit of the notes, bytes */

/* Return the editable members of a run's document: {"labels", "notes"}. A new reference.
 */
json_t *run_editable(const json_t *run);

/* Compute a client's changes to the editable members: {"before", "after"}. "after" is the
 * merge patch that makes the change, and "before" the patch that reverts it. Both are
 * empty if nothing changes. A new reference; NULL with *problems. */
json_t *run_edit(const json_t *editable, const json_t *patch, struct problems *problems);

/* Return the editable members after applying a merge patch. A new reference. */
json_t *run_edit_apply(const json_t *editable, const json_t *patch);

#endif
