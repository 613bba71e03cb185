/* SPDX-License-Identifier: Apache-2.0 */
/* transport_text.c - writes the transports that a case used as comment lines */
#include "server/render/transport_text.h"

#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/json_util.h"
#include "server/finding/verdict.h"

#define WAYS_SHOWN 8

static void put_shown(struct buf *out, const char *text)
{
    if (text)
        clean_text_show(out, text, strlen(text));
}

void transport_text(const json_t *transports, struct buf *out)
{
    const json_t *ways = json_object_get(transports, "ways");
    const json_t *verdicts = json_object_get(transports, "verdicts");
    const json_t *unread = json_object_get(transports, "unread");
    const char *by =
        strcmp(json_get_str(transports, "by", ""), "host") == 0 ? "host" : "NCCL";
    size_t n = json_array_size(ways);
    long n_jobs = (long)json_get_int(transports, "n_jobs", 1);

    if (n_jobs > 1)
        buf_printf(out, "# %s: the log contains %ld jobs, which share no communicator\n",
                   by, n_jobs);
    for (size_t i = 0; i < n && i < WAYS_SHOWN; i++) {
        const char *between = json_get_str(json_array_get(ways, i), "between", "");

        buf_printf(out, "# %s: ", by);
        /* "between" is empty if the log does not contain both ends of the path. */
        if (*between) {
            put_shown(out, between);
            buf_append_str(out, ": ");
        }
        put_shown(out, json_get_str(json_array_get(ways, i), "text", "?"));
        buf_append_str(out, "\n");
    }
    if (n > WAYS_SHOWN)
        buf_printf(out, "# %s: %zu more transports\n", by, n - WAYS_SHOWN);
    if (unread) {
        long lines = (long)json_get_int(unread, "lines", 0);

        buf_printf(out, "# %s: %ld line%s of the log not understood, the first: ", by,
                   lines, lines == 1 ? "" : "s");
        put_shown(out,
                  json_string_value(json_array_get(json_object_get(unread, "first"), 0)));
        buf_append_str(out, "\n");
    }
    for (size_t i = 0; i < json_array_size(verdicts); i++) {
        const json_t *one = json_array_get(verdicts, i);

        /* The lines above already list the paths, so an OK verdict adds nothing. */
        if (verdict_has_answer(one, VERDICT_OK))
            continue;
        buf_append_str(out, "# ");
        put_shown(out, json_get_str(one, "sentence", "?"));
        buf_append_str(out, "\n");
    }
}
