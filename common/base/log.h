/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - prints leveled log messages to stderr */
#ifndef RINGBENCH_COMMON_BASE_LOG_H
#define RINGBENCH_COMMON_BASE_LOG_H

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Set the program's name (borrowed, must live as long as the process) and the least
 * important level to print. Not thread safe: call it from main before any thread
 * starts. */
void log_init(const char *program, enum log_level level);

/* Parse "error", "warn", "info" or "debug". Return -1 for any other text. */
int log_level_parse(const char *name);

/* Return the name of the level set by log_init(). */
const char *log_level_name(void);

/* Print one line "TIME program LEVEL text" and add a newline. The text passes
 * clean_text_show(), so that quoted foreign text cannot forge lines. Thread safe. */
void log_message(enum log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define log_error(...) log_message(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_message(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_message(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_message(LOG_DEBUG, __VA_ARGS__)

#endif
