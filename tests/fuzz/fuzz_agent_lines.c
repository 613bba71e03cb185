/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_agent_lines.c - what the agent reads from others: commands of the server, and the
 * event and output lines of workers */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/link/command.h"
#include "agent/case/capture.h"
#include "agent/case/event_line.h"
#include "agent/case/lines.h"
#include "common/base/clean_text.h"
#include "common/base/json_util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LINE_MAX 256 /* small, so that short inputs reach the limit */

static void on_event(void *arg, const char *line, size_t len, size_t dropped)
{
    (void)arg;
    if (!line && dropped == 0)
        abort();
    if (line)
        json_decref(event_line_parse(line, len, NULL));
}

/* Nothing but tabs is left that a terminal would act upon. */
static void check_shown(const char *line, size_t len)
{
    char fault[CLEAN_TEXT_FAULT_MAX], copy[LINE_MAX];
    struct buf shown;

    buf_init(&shown, 8 * len + 1);
    if (clean_text_show(&shown, line, len))
        abort();
    for (char *p = shown.data; p && (p = strchr(p, '\t')) != NULL;)
        *p = ' ';
    if (shown.data &&
        (strlen(shown.data) != shown.len || clean_text_fault(shown.data, fault)))
        abort();
    buf_release(&shown);
    if (clean_text_copy(copy, sizeof(copy), line, len) >= sizeof(copy))
        abort();
}

static void on_output(void *arg, const char *line, size_t len, size_t dropped)
{
    struct capture *capture = arg;
    json_t *clean = clean_text_json(line, len);

    if (!clean || dropped > 0 || len > LINE_MAX)
        abort();
    json_decref(clean);
    check_shown(line, len);
    capture_add(capture, line, len);
}

/* The bytes arrive in two pieces: the first byte says where they are cut. */
static void feed(const char *data, size_t size, enum lines_overlong overlong, lines_fn fn,
                 void *arg)
{
    size_t cut = size > 0 ? (unsigned char)data[0] % size : 0;
    struct lines lines;

    lines_init(&lines, LINE_MAX, overlong);
    lines_feed(&lines, data, cut, fn, arg);
    lines_feed(&lines, data + cut, size - cut, fn, arg);
    lines_end(&lines, fn, arg);
    lines_release(&lines);
}

static void parse_command(const char *data, size_t size)
{
    json_t *object = json_parse(data, size, NULL);
    struct command command;
    struct error err;

    if (!object)
        return;
    if (command_parse(object, &command, &err) == 0) {
        if (command.type != COMMAND_LEAVE &&
            (command.id.run[0] == '\0' || strchr(command.id.run, '/')))
            abort();
        command_release(&command);
    }
    json_decref(object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct capture capture;

    feed(text, size, LINES_DROP, on_event, NULL);
    capture_init(&capture);
    feed(text, size, LINES_CUT, on_output, &capture);
    capture_end(&capture, "stdout");
    capture_release(&capture);
    parse_command(text, size);
    return 0;
}
