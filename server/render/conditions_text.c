/* SPDX-License-Identifier: Apache-2.0 */
/* conditions_text.c - writes the conditions in which a case ran as comment lines */
#include "server/render/conditions_text.h"

#include <stdio.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/utf8.h"

void conditions_text_reset(struct conditions_text *text)
{
    text->bound[0] = '\0';
    text->notes[0] = '\0';
    text->n_noted = text->n_unbound = 0;
}

/* Record how a node's ranks are bound. The first node with unbound ranks replaces earlier
 * nodes; later nodes do not replace it. */
static void take_bind(struct conditions_text *text, const char *node, const json_t *bind)
{
    const char *to = json_get_str(bind, "to", "");

    if (strcmp(to, "none") == 0 && text->n_unbound++ == 0)
        snprintf(text->bound, sizeof(text->bound), "ranks not bound: %.300s (%.60s",
                 json_get_str(bind, "reason", "?"), node);
    else if (text->n_unbound == 0)
        snprintf(text->bound, sizeof(text->bound), "ranks bound to %s",
                 strcmp(to, "core") == 0 ? "one core each" : "memory domains");
    utf8_trim(text->bound);
}

static void take_notes(struct conditions_text *text, const char *node,
                       const json_t *notes)
{
    size_t n = json_array_size(notes), len;

    if (n == 0 || text->n_noted++ > 0)
        return;
    len = (size_t)snprintf(text->notes, sizeof(text->notes), "%.60s: ", node);
    for (size_t i = 0; i < n && len < sizeof(text->notes); i++)
        len +=
            (size_t)snprintf(text->notes + len, sizeof(text->notes) - len, "%s%.200s",
                             i ? "; " : "", json_string_value(json_array_get(notes, i)));
    utf8_trim(text->notes);
}

void conditions_text_take(struct conditions_text *text, const json_t *event)
{
    const char *node = json_get_str(event, "node", "?");
    const json_t *bind = json_object_get(event, "bind");

    /* The conditions at a case's end repeat the binding. They are recognized by the
     * duration, which only they contain. */
    if (bind && !json_object_get(event, "seconds"))
        take_bind(text, node, bind);
    take_notes(text, node, json_object_get(event, "notes"));
}

void conditions_text_begin(struct conditions_text *text, struct buf *out)
{
    if (!text->bound[0] || strcmp(text->bound, text->bound_shown) == 0)
        return;
    memcpy(text->bound_shown, text->bound, sizeof(text->bound));
    buf_printf(out, "# %s", text->bound);
    if (text->n_unbound > 1)
        buf_printf(out, " and %zu more node%s", text->n_unbound - 1,
                   text->n_unbound == 2 ? "" : "s");
    buf_append_str(out, text->n_unbound ? ")\n" : "\n");
}

void conditions_text_end(struct conditions_text *text, struct buf *out)
{
    if (text->n_noted == 0)
        return;
    buf_printf(out, "# %s", text->notes);
    if (text->n_noted > 1)
        buf_printf(out, " (and %zu more node%s)", text->n_noted - 1,
                   text->n_noted == 2 ? "" : "s");
    buf_append_str(out, "\n");
    text->n_noted = 0;
}
