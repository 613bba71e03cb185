/* clang-format off */
/* template.h - the sentence that a template makes of the members of an object
 *
 * {name} is a member; {name.inner} is a member of a member. The form after a colon says
 * how it is written:
 *   {n}                        a text; an integer; a real number with four digits
 *   {x:.1f} {x:.4g}            a real number with so many digits, as printf writes it
 *   {x:.0%} {x:%}              a share in per cent; without digits, one digit below 10 %
 *   {n:rank/ranks}             the first word for 1, else the second; also for a list's length
 *   {list:names 3}             at most so many texts, as in "a, b, c and 4 more"
 *   {list:names 3 of n}        the same of n texts, of which the list has only the first
 *   {n:bytes} {n:size}         "1.5 GiB"; "1536M"
 *   {x:us}                     "1.25 us", "13 us"
 *   {name?}                    nothing: a condition for the group that it stands in
 * [this|that] is the first of its parts whose members are all there. A part without members
 * always is. A member is not there if it is absent, null or empty; as a condition also if it
 * is false or 0.
 */
/* clang-format on */
#ifndef RINGBENCH_SERVER_FINDING_TEMPLATE_H
#define RINGBENCH_SERVER_FINDING_TEMPLATE_H

#include <jansson.h>

#include "common/base/buf.h"

/* Append the sentence. `inner` (or NULL) has priority over `outer`. */
void template_render(const char *text, const json_t *inner, const json_t *outer,
                     struct buf *out);

/* The same as a new string. */
json_t *template_text(const char *text, const json_t *inner, const json_t *outer);

/* Call `member` with the name of each member in the template and its form, "" if it has
 * none. Returns -1 if the template is malformed. */
int template_members(const char *text,
                     void (*member)(void *arg, const char *name, const char *form),
                     void *arg);

/* The member that a name of a template stands for: "inner.name"; NULL: there is none. */
const json_t *template_find(const json_t *object, const char *name);

/* Four digits, no exponent but for what is tiny; returns out. */
const char *template_number(double value, char out[32]);

#endif
