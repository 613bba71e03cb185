/* finding.h - build a verdict: its evidence, and the sentence that a message's template
 * (template.h, messages.h) makes of it
 *
 * A member whose name begins with '$' is in the sentence only. If one step fails, the
 * others do nothing and the verdict is NULL, so only the end has to be checked. */
#ifndef RINGBENCH_SERVER_FINDING_FINDING_H
#define RINGBENCH_SERVER_FINDING_FINDING_H

#include <jansson.h>
#include <stdbool.h>

#include "server/finding/messages.h"

struct finding {
    json_t *members, *nodes;
    bool has_failed;
};

/* Begin with no members. finding_end() releases what it holds. */
struct finding finding_begin(void);

/* Add members in the order given; format and values are those of an object of
 * json_pack(). */
void finding_put(struct finding *finding, const char *format, ...);

/* Add a member; the value is taken. NULL adds none. */
void finding_set(struct finding *finding, const char *name, json_t *value);

/* Add a text that others gave: json_clean_string. */
void finding_set_text(struct finding *finding, const char *name, const char *text);

/* Add the text that a template makes of the members so far. */
void finding_set_phrase(struct finding *finding, const char *name, const char *text);

/* Add one text for the first `most` items of a list of objects, each by the template, in
 * which the item's members come first: "a, b and 2 more"; "a; b; and 2 more". */
void finding_set_phrases(struct finding *finding, const char *name, const json_t *list,
                         size_t most, const char *separator, const char *text);

/* Name a node, or several, that the answer is about: each is in the verdict's `nodes`
 * once, in this order, and the sentence has the list as {$nodes}. NULL names none. */
void finding_name(struct finding *finding, const char *node);
void finding_name_all(struct finding *finding, const json_t *nodes);

/* The verdict; mark: verdict_json. A new object. NULL if memory was out, or a text in
 * finding_put was no UTF-8. */
json_t *finding_end(struct finding *finding, enum message_id id, const char *mark);

#endif
