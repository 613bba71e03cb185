/* SPDX-License-Identifier: Apache-2.0 */
/* outbox.c - keeps events that wait for the server */
#include "agent/link/outbox.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clean_text.h"
#include "common/base/clock.h"
#include "common/base/json_util.h"
#include "common/base/log.h"
#include "common/base/memory.h"

struct progress {
    struct case_id id;
    int rank;
    char *line; /* NULL: sent */
    struct progress *next;
};

struct outbox {
    struct spool *spool;
    struct outbox_handlers handlers;
    struct progress *progress;
    size_t n_progress; /* waiting lines with progress */
    uint64_t replaced; /* number of the event that `replacement` replaces; 0: none */
    char *replacement;
};

struct outbox *outbox_create(struct spool *spool, const struct outbox_handlers *handlers)
{
    struct outbox *outbox = memory_zeroed(1, sizeof(*outbox), "an outbox");

    outbox->spool = spool;
    outbox->handlers = *handlers;
    return outbox;
}

static void forget_progress(struct outbox *outbox)
{
    while (outbox->progress) {
        struct progress *progress = outbox->progress;

        outbox->progress = progress->next;
        free(progress->line);
        free(progress);
    }
    outbox->n_progress = 0;
}

void outbox_destroy(struct outbox *outbox)
{
    if (!outbox)
        return;
    forget_progress(outbox);
    free(outbox->replacement);
    free(outbox);
}

/* Insert the agent's keys after the opening brace of the worker's line. The rest of the
 * line stays unchanged. */
static int frame(struct buf *out, uint64_t seq, const struct case_id *id, int rank,
                 const char *line, size_t len)
{
    const char *brace = memchr(line, '{', len);

    if (!brace)
        return -1;
    buf_append_str(out, "{");
    if (seq > 0)
        buf_printf(out, "\"seq\":%" PRIu64 ",", seq);
    buf_printf(out, "\"run\":\"%s\",\"case\":%" PRId64 ",\"attempt\":%" PRId64 ",",
               id->run, id->number, id->attempt);
    if (rank != CASE_NO_RANK)
        buf_printf(out, "\"rank\":%d,", rank);
    if (buf_printf(out, "\"time_ms\":%" PRId64 ",", clock_wall_ms()))
        return -1;
    brace++;
    return buf_append(out, brace, len - (size_t)(brace - line));
}

static uint64_t add(struct outbox *outbox, const struct case_id *id, int rank,
                    const char *line, size_t len)
{
    uint64_t seq = spool_next(outbox->spool);
    struct error err = {ERROR_MEMORY, "out of memory"};
    struct buf framed;
    int result;

    buf_init(&framed, OUTBOX_BODY_MAX);
    result = frame(&framed, seq, id, rank, line, len);
    if (result == 0)
        result = spool_append(outbox->spool, framed.data, framed.len, &err);
    buf_release(&framed);
    if (result) {
        log_error("run %s: an event of rank %d is lost: %s", id->run, rank, err.text);
        return 0;
    }
    outbox->handlers.on_ready(outbox->handlers.arg);
    return seq;
}

uint64_t outbox_add_steal(struct outbox *outbox, const struct case_id *id, int rank,
                          json_t *event)
{
    char *text = event ? json_text(event) : NULL;
    uint64_t seq = 0;

    if (text)
        seq = add(outbox, id, rank, text, strlen(text));
    else
        log_error("run %s: an event of rank %d is lost: out of memory", id->run, rank);
    free(text);
    json_decref(event);
    return seq;
}

void outbox_add_line(struct outbox *outbox, const struct case_id *id, int rank,
                     const char *line, size_t len)
{
    add(outbox, id, rank, line, len);
}

static struct progress **find_progress(struct outbox *outbox, const struct case_id *id,
                                       int rank)
{
    struct progress **at = &outbox->progress;

    while (*at && ((*at)->rank != rank || !case_id_equal(&(*at)->id, id)))
        at = &(*at)->next;
    return at;
}

void outbox_set_progress(struct outbox *outbox, const struct case_id *id, int rank,
                         const char *line, size_t len)
{
    struct progress *progress = *find_progress(outbox, id, rank);
    struct buf framed;

    if (!progress) {
        progress = memory_zeroed(1, sizeof(*progress), "a rank's progress");
        progress->id = *id;
        progress->rank = rank;
        progress->next = outbox->progress;
        outbox->progress = progress;
    }
    buf_init(&framed, OUTBOX_BODY_MAX);
    if (frame(&framed, 0, id, rank, line, len)) {
        buf_release(&framed);
        return;
    }
    outbox->n_progress += !progress->line;
    free(progress->line);
    progress->line = buf_detach(&framed, NULL);
    outbox->handlers.on_progress(outbox->handlers.arg);
}

void outbox_drop_progress(struct outbox *outbox, const struct case_id *id, int rank)
{
    struct progress **at = find_progress(outbox, id, rank);
    struct progress *progress = *at;

    if (!progress)
        return;
    assert(!progress->line || outbox->n_progress > 0);
    *at = progress->next;
    outbox->n_progress -= progress->line != NULL;
    free(progress->line);
    free(progress);
}

bool outbox_has_stored(const struct outbox *outbox)
{
    return spool_acked(outbox->spool) + 1 < spool_next(outbox->spool);
}

bool outbox_has_progress(const struct outbox *outbox)
{
    return outbox->n_progress > 0;
}

uint64_t outbox_acked(const struct outbox *outbox)
{
    return spool_acked(outbox->spool);
}

void outbox_batch_init(struct outbox_batch *batch)
{
    memset(batch, 0, sizeof(*batch));
    buf_init(&batch->body, OUTBOX_BODY_MAX);
}

void outbox_batch_release(struct outbox_batch *batch)
{
    buf_release(&batch->body);
}

/* Drop progress that does not fit. Ranks report progress again every second. */
static void take_progress(struct outbox *outbox, struct buf *body)
{
    for (struct progress *p = outbox->progress; p; p = p->next) {
        if (!p->line)
            continue;
        if (body->len + strlen(p->line) < OUTBOX_BODY_MAX) {
            buf_append_str(body, p->line);
            buf_append(body, "\n", 1);
        }
        free(p->line);
        p->line = NULL;
    }
    outbox->n_progress = 0;
}

int outbox_take_batch(struct outbox *outbox, int64_t max_lines,
                      struct outbox_batch *batch, struct error *err)
{
    uint64_t oldest = spool_acked(outbox->spool) + 1;

    /* outbox_ack drops an acknowledged replacement, so a pending one is never older than
     * `oldest`. */
    assert(!outbox->replaced || outbox->replaced >= oldest);
    buf_clear(&batch->body);
    batch->last = 0;
    if (outbox->replaced == oldest) {
        batch->lines = 1;
        batch->last = oldest;
        buf_append_str(&batch->body, outbox->replacement);
        if (buf_append(&batch->body, "\n", 1))
            return error_set(err, ERROR_MEMORY, "out of memory");
        return 0;
    }
    batch->lines = spool_read(outbox->spool, OUTBOX_BATCH_BYTES, max_lines, &batch->body,
                              &batch->last, err);
    if (batch->lines < 0)
        return -1;
    take_progress(outbox, &batch->body);
    return 0;
}

int outbox_ack(struct outbox *outbox, uint64_t seq, struct error *err)
{
    if (spool_ack(outbox->spool, seq, err))
        return -1;
    if (outbox->replaced > 0 && outbox->replaced <= seq) {
        free(outbox->replacement);
        outbox->replacement = NULL;
        outbox->replaced = 0;
    }
    return 0;
}

/* Read the refused event for its case and rank, so that the log line goes to its run. */
static json_t *read_refused(struct outbox *outbox, uint64_t seq)
{
    struct buf text;
    uint64_t last;
    json_t *event = NULL;

    buf_init(&text, OUTBOX_BODY_MAX);
    if (spool_read(outbox->spool, 1, 1, &text, &last, NULL) == 1 && last == seq)
        event = json_parse(text.data, text.len, NULL);
    buf_release(&text);
    return event;
}

void outbox_replace(struct outbox *outbox, uint64_t seq, const char *why)
{
    json_t *refused = read_refused(outbox, seq);
    struct case_id id = {.number = json_get_int(refused, "case", 0),
                         .attempt = json_get_int(refused, "attempt", 0)};
    const char *run = json_get_str(refused, "run", "");
    int rank = (int)json_get_int(refused, "rank", CASE_NO_RANK);
    bool again = outbox->replaced == seq;
    char text[768];
    json_t *event;
    char *line;
    struct buf framed;

    snprintf(text, sizeof(text), "the server refused an event of type '%.60s': %.500s",
             json_get_str(refused, "type", ""), why);
    if (!again)
        log_error("run %s, rank %d: %s", run, rank, text);
    /* The server may refuse the run itself, so the second replacement names no run. */
    if (again)
        rank = CASE_NO_RANK;
    else
        memcpy(id.run, run, strnlen(run, CASE_RUN_MAX));
    event = json_pack("{s:s, s:s, s:o}", "type", "log", "level", "error", "text",
                      clean_text_json(text, strlen(text)));
    line = event ? json_text(event) : NULL;
    buf_init(&framed, OUTBOX_BODY_MAX);
    if (line && frame(&framed, seq, &id, rank, line, strlen(line)) == 0) {
        free(outbox->replacement);
        outbox->replacement = buf_detach(&framed, NULL);
        outbox->replaced = outbox->replacement ? seq : 0;
    }
    buf_release(&framed);
    free(line);
    json_decref(event);
    json_decref(refused);
}

bool outbox_is_blocked(const struct outbox *outbox)
{
    return spool_is_blocked(outbox->spool);
}

void outbox_reset(struct outbox *outbox)
{
    spool_reset(outbox->spool);
    forget_progress(outbox);
    free(outbox->replacement);
    outbox->replacement = NULL;
    outbox->replaced = 0;
}
