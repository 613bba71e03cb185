/* SPDX-License-Identifier: Apache-2.0 */
/* transport_kept.c - stores a single copy of each text and value that many processes
 * share */
#include <stdlib.h>

#include "common/base/json_util.h"
#include "server/analysis/transport_state.h"

const char *transport_kept_text(struct transport *t, const char *text)
{
    if (text && !json_object_get(t->texts, text))
        json_object_set_new(t->texts, text, json_string(text));
    return text ? json_get_str(t->texts, text, NULL) : NULL;
}

json_t *transport_kept(struct transport *t, json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS);
    json_t *kept = text ? json_object_get(t->values, text) : NULL;

    if (text && !kept) {
        json_object_set(t->values, text, value);
        kept = value;
    }
    free(text);
    return kept;
}
