/* SPDX-License-Identifier: Apache-2.0 */
/* verdict_text.c - writes a verdict as text for a user or a script */
#include "server/render/verdict_text.h"

#include <stdbool.h>

#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "server/render/columns.h"

static bool has_command(const json_t *checks)
{
    const json_t *check;
    size_t i;

    json_array_foreach (checks, i, check)
        if (json_object_get(check, "command"))
            return true;
    return false;
}

int verdict_text_append(json_t *verdict, struct buf *out)
{
    json_t *shown = clean_text_shown(verdict, false);
    const json_t *checks =
        json_object_get(json_object_get(verdict, "evidence"), "checks");
    const struct column columns[] = {
        COLUMN("ANSWER", "answer"),
        COLUMN("CHECK", "check"),
        COLUMN("WHAT", "sentence"),
        COLUMN(has_command(checks) ? "FIX" : NULL, "command"),
        COLUMNS_END,
    };
    struct columns_layout layout = {0};

    buf_printf(out, "%s: %s\n", json_get_str(shown, "answer", "?"),
               json_get_str(shown, "sentence", ""));
    columns_write(columns, checks, FORM_TEXT, &layout, out);
    json_decref(shown);
    return out->is_cut ? -1 : 0;
}
