/* SPDX-License-Identifier: Apache-2.0 */
/* safe_regex.h - matches foreign regular expressions (PCRE2) in bounded time and
 * memory */
#ifndef RINGBENCH_COMMON_BASE_SAFE_REGEX_H
#define RINGBENCH_COMMON_BASE_SAFE_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

#define SAFE_REGEX_MAX 256 /* maximum length of a pattern in bytes */
/* maximum number of steps per match, which take some milliseconds */
#define SAFE_REGEX_STEPS_MAX 50000

struct safe_regex;

enum safe_regex_result { SAFE_REGEX_NO, SAFE_REGEX_YES, SAFE_REGEX_GAVE_UP };

/* Compile a pattern. is_whole: true if the pattern must match the entire text. Return
 * NULL with err if the pattern is too long or invalid. */
struct safe_regex *safe_regex_compile(const char *pattern, bool is_whole,
                                      struct error *err);
void safe_regex_destroy(struct safe_regex *regex);

size_t safe_regex_groups(const struct safe_regex *regex);

/* Match a text. *group (group may be NULL) is set to the start of the first group, or to
 * NULL if that group did not participate. Gives up after SAFE_REGEX_STEPS_MAX steps. */
enum safe_regex_result safe_regex_match(const struct safe_regex *regex, const char *text,
                                        size_t len, const char **group,
                                        size_t *group_len);

#endif
