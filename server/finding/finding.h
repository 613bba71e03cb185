/* SPDX-License-Identifier: Apache-2.0 */
/* finding.h - builds a verdict: its evidence, and its sentence from a message template
 * (template.h, messages.h)
 *
 * A member whose name begins with '$' is available only to the sentence. After a failed
 * step, later steps do nothing and finding_end() returns NULL, so callers check only that
 * result. */
#ifndef RINGBENCH_SERVER_FINDING_FINDING_H
#define RINGBENCH_SERVER_FINDING_FINDING_H

#include <jansson.h>
#include <stdbool.h>

#include "server/finding/messages.h"

struct finding {
    json_t *members, *nodes;
    bool has_failed;
};

/* Return a finding without members. finding_end() releases its contents. */
struct finding finding_begin(void);

/* Add members in the order given. The format and values are those that json_pack()
 * accepts for an object. */
void finding_put(struct finding *finding, const char *format, ...);

/* Add a member. Takes the reference to the value. NULL adds nothing. */
void finding_set(struct finding *finding, const char *name, json_t *value);

/* Add a text from an outside source, cleaned by json_clean_string(). */
void finding_set_text(struct finding *finding, const char *name, const char *text);

/* Add a text that is rendered from a template with the members added so far. */
void finding_set_phrase(struct finding *finding, const char *name, const char *text);

/* Render the first `most` objects of a list with the template. Add the results as one
 * text: "a, b and 2 more" or "a; b; and 2 more". An object's own members take precedence
 * over the finding's. */
void finding_set_phrases(struct finding *finding, const char *name, const json_t *list,
                         size_t most, const char *separator, const char *text);

/* Add nodes that the answer is about. The verdict's `nodes` lists each node once, in the
 * order given. The sentence can insert this list as {$nodes}. NULL adds nothing. */
void finding_name(struct finding *finding, const char *node);
void finding_name_all(struct finding *finding, const json_t *nodes);

/* Return the verdict as a new object, or NULL if memory ran out or a text in
 * finding_put() was not UTF-8. mark: see verdict_json(). */
json_t *finding_end(struct finding *finding, enum message_id id, const char *mark);

#endif
