/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - leveled messages on stderr; the one place that prints what went on */
#ifndef RINGBENCH_COMMON_BASE_LOG_H
#define RINGBENCH_COMMON_BASE_LOG_H

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Set the program's name (borrowed, must outlive the process) and the least level shown.
 * Not thread safe: call it from main before any thread starts. */
void log_init(const char *program, enum log_level level);

/* Parse "error", "warn", "info" or "debug"; -1 if it is none of them. */
int log_level_parse(const char *name);

/* The name of the level that log_init has set. */
const char *log_level_name(void);

/* Print one line "TIME program LEVEL text", the text as clean_text_show has it, so that
 * nobody who is quoted in it makes lines of his own. Thread safe. A newline is added. */
void log_message(enum log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define log_error(...) log_message(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_message(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_message(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_message(LOG_DEBUG, __VA_ARGS__)

#endif
