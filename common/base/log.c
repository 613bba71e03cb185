/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - prints leveled log messages to stderr */
#include "common/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clean_text.h"
#include "common/base/clock.h"

static const char *const level_names[] = {"error", "warn", "info", "debug"};

/* Set once by main before any thread starts, and only read afterwards. */
static struct {
    const char *program;
    enum log_level level;
} log_setup = {"ringbench", LOG_INFO};

void log_init(const char *program, enum log_level level)
{
    log_setup.program = program;
    log_setup.level = level;
}

int log_level_parse(const char *name)
{
    for (size_t i = 0; i < sizeof(level_names) / sizeof(level_names[0]); i++)
        if (strcmp(name, level_names[i]) == 0)
            return (int)i;
    return -1;
}

const char *log_level_name(void)
{
    return level_names[log_setup.level];
}

void log_message(enum log_level level, const char *format, ...)
{
    char text[2048], line[2048];
    char time[CLOCK_TEXT_MAX];
    va_list args;
    ssize_t written;
    int head, n;

    if (level > log_setup.level)
        return;
    head =
        snprintf(line, sizeof(line), "%s %s %s ", clock_format_ms(clock_wall_ms(), time),
                 log_setup.program, level_names[level]);
    va_start(args, format);
    n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (n < 0)
        return;
    /* Clean the text, because messages often quote foreign text. */
    n = head + (int)clean_text_copy(line + head, sizeof(line) - (size_t)head - 1, text,
                                    strlen(text));
    line[n] = '\n';
    /* A single write(2) keeps the lines of different threads and processes separate. */
    written = write(STDERR_FILENO, line, (size_t)n + 1);
    (void)written;
}
