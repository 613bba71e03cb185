/* SPDX-License-Identifier: Apache-2.0 */
/* run_edit.h - changes to a run's labels and notes, as JSON merge patches (RFC 7396) */
#ifndef RINGBENCH_SERVER_RUNS_RUN_EDIT_H
#define RINGBENCH_SERVER_RUNS_RUN_EDIT_H

#include <jansson.h>

#include "common/base/problem.h"

#define RUN_NOTES_MAX 4000 /* bytes */

/* Return the editable members of a run's document: {"labels", "notes"}. A new reference.
 */
json_t *run_editable(const json_t *run);

/* Compute a client's changes to these members: {"before", "after"}, each the patch that
 * leads from the other state to this one. Both are empty if the patch changes nothing. A
 * new reference; NULL with *problems. */
json_t *run_edit(const json_t *editable, const json_t *patch, struct problems *problems);

/* Return the members after applying such a patch. A new reference. */
json_t *run_edit_apply(const json_t *editable, const json_t *patch);

#endif
