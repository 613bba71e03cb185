/* verdict_text.c - a verdict as text for a person or a script at a terminal */
#include "server/render/verdict_text.h"

#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "server/render/columns.h"

static const struct column columns[] = {
    {"ANSWER", "answer", NULL, COLUMN_TEXT},
    {"CHECK", "check", NULL, COLUMN_TEXT},
    {"WHAT", "sentence", NULL, COLUMN_TEXT},
    {NULL, NULL, NULL, COLUMN_TEXT},
};

/* Of a preflight: with what mends it. */
static const struct column preflight_columns[] = {
    {"ANSWER", "answer", NULL, COLUMN_TEXT}, {"CHECK", "check", NULL, COLUMN_TEXT},
    {"WHAT", "sentence", NULL, COLUMN_TEXT}, {"MEND", "command", NULL, COLUMN_TEXT},
    {NULL, NULL, NULL, COLUMN_TEXT},
};

int verdict_text_append(json_t *verdict, struct buf *out)
{
    json_t *shown = clean_text_shown(verdict, false);
    const json_t *checks =
        json_object_get(json_object_get(verdict, "evidence"), "checks");
    bool is_preflight = strcmp(json_get_str(verdict, "kind", ""), "preflight") == 0;
    struct columns_layout layout = {0};
    int result = buf_printf(out, "%s: %s\n", json_get_str(shown, "answer", "?"),
                            json_get_str(shown, "sentence", ""));

    json_decref(shown);
    return result || columns_append(is_preflight ? preflight_columns : columns, checks,
                                    &layout, out)
               ? -1
               : 0;
}
