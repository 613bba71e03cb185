/* SPDX-License-Identifier: Apache-2.0 */
/* safe_regex.h - regular expressions that someone else wrote (PCRE2), matched in bounded
 * time and memory */
#ifndef RINGBENCH_COMMON_BASE_SAFE_REGEX_H
#define RINGBENCH_COMMON_BASE_SAFE_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

#define SAFE_REGEX_MAX 256         /* bytes of a pattern */
#define SAFE_REGEX_STEPS_MAX 50000 /* of one match, some milliseconds */

struct safe_regex;

enum safe_regex_result { SAFE_REGEX_NO, SAFE_REGEX_YES, SAFE_REGEX_GAVE_UP };

/* is_whole: it has to match a text from end to end. NULL with the reason: it is too long
 * or no regular expression. */
struct safe_regex *safe_regex_compile(const char *pattern, bool is_whole,
                                      struct error *err);
void safe_regex_destroy(struct safe_regex *regex);

size_t safe_regex_groups(const struct safe_regex *regex);

/* group (NULL: not wanted) gets begin and length of the first one, NULL where that took
 * no part. Gives up when the text takes more than SAFE_REGEX_STEPS_MAX steps. */
enum safe_regex_result safe_regex_match(const struct safe_regex *regex, const char *text,
                                        size_t len, const char **group,
                                        size_t *group_len);

#endif
