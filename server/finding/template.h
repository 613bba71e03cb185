/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/* template.h - renders a template with the members of an object
 *
 * {name} inserts a member, and {name.inner} a member of a member. The form after a colon
 * selects the notation:
 *   {n}                        a text; an integer; a real number with four digits
 *   {x:.1f} {x:.4g}            a real number with that many digits, as in printf
 *   {x:.0%} {x:%}              a share in percent; {x:%} shows one digit below 10 %
 *   {n:rank/ranks}             the first word for 1, else the second; for a list, by its length
 *   {list:names 3}             at most that many texts, as in "a, b, c and 4 more"
 *   {list:names 3 of n}        the same if the list holds only the first of n texts
 *   {n:bytes} {n:size}         "1.5 GiB"; "1536M"
 *   {x:us}                     "1.25 us", "13 us"
 *   {name?}                    nothing: a condition for the enclosing group
 * [this|that] renders its first part whose members are all present. A part without
 * members always qualifies. A member is absent if it is missing, null or empty; in a
 * condition also if it is false or 0. */
/* clang-format on */
#ifndef RINGBENCH_SERVER_FINDING_TEMPLATE_H
#define RINGBENCH_SERVER_FINDING_TEMPLATE_H

#include <jansson.h>

#include "common/base/buf.h"

/* Append the rendered template to out. `inner` (or NULL) has priority over `outer`. */
void template_render(const char *text, const json_t *inner, const json_t *outer,
                     struct buf *out);

/* Return the rendered template as a new string. */
json_t *template_text(const char *text, const json_t *inner, const json_t *outer);

/* Call `member` with the name and form of each member in the template; the form is "" if
 * there is none. Return -1 if the template is malformed. */
int template_members(const char *text,
                     void (*member)(void *arg, const char *name, const char *form),
                     void *arg);

/* Return the member that a template name such as "inner.name" refers to, or NULL. */
const json_t *template_find(const json_t *object, const char *name);

/* Format a number with four significant digits, or as an integer from 1000 on. Return
 * `out`. */
const char *template_number(double value, char out[32]);

#endif
