/* SPDX-License-Identifier: Apache-2.0 */
/* safe_regex.c - matches foreign regular expressions (PCRE2) */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "common/base/safe_regex.h"
#include "common/base/memory.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#define HEAP_MAX_KIB 4096
#define BYTES_A_STEP 16 /* scanning this many bytes takes about as long as one step */

struct safe_regex {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
};

struct effort {
    size_t steps, at; /* at: offset in the text */
};

/* Count steps, because PCRE2's own match limit restarts at each start position in the
 * text. PCRE2 calls this function before each pattern item. Each call counts as one step,
 * plus one step per BYTES_A_STEP bytes that the previous item consumed. */
static int on_item(pcre2_callout_block *block, void *arg)
{
    struct effort *effort = arg;
    size_t at = block->current_position;

    effort->steps += 1 + (at > effort->at ? at - effort->at : 0) / BYTES_A_STEP;
    effort->at = at;
    return effort->steps > SAFE_REGEX_STEPS_MAX ? PCRE2_ERROR_CALLOUT : 0;
}

static pcre2_code *compile(const char *pattern, bool is_whole, struct error *err)
{
    uint32_t options = PCRE2_AUTO_CALLOUT | PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY |
                       PCRE2_NEVER_UTF | PCRE2_NEVER_UCP | PCRE2_NEVER_BACKSLASH_C;
    PCRE2_UCHAR why[200];
    PCRE2_SIZE offset;
    pcre2_code *code;
    int number;

    if (strlen(pattern) > SAFE_REGEX_MAX) {
        error_set(err, ERROR_LIMIT, "is longer than %d bytes", SAFE_REGEX_MAX);
        return NULL;
    }
    if (is_whole)
        options |= PCRE2_ANCHORED | PCRE2_ENDANCHORED;
    code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &number,
                         &offset, NULL);
    if (code)
        return code;
    pcre2_get_error_message(number, why, sizeof(why));
    error_set(err, ERROR_INVALID, "is not a valid regular expression: %s, at offset %zu",
              (const char *)why, offset);
    return NULL;
}

struct safe_regex *safe_regex_compile(const char *pattern, bool is_whole,
                                      struct error *err)
{
    pcre2_code *code = compile(pattern, is_whole, err);
    struct safe_regex *regex;

    if (!code)
        return NULL;
    regex = memory_zeroed(1, sizeof(*regex), "a pattern");
    *regex = (struct safe_regex){code, pcre2_match_data_create(2, NULL),
                                 pcre2_match_context_create(NULL)};
    if (!regex->data || !regex->context)
        memory_out("a pattern");
    pcre2_set_heap_limit(regex->context, HEAP_MAX_KIB);
    return regex;
}

void safe_regex_destroy(struct safe_regex *regex)
{
    if (!regex)
        return;
    pcre2_code_free(regex->code);
    pcre2_match_data_free(regex->data);
    pcre2_match_context_free(regex->context);
    free(regex);
}

size_t safe_regex_groups(const struct safe_regex *regex)
{
    uint32_t n = 0;

    pcre2_pattern_info(regex->code, PCRE2_INFO_CAPTURECOUNT, &n);
    return n;
}

enum safe_regex_result safe_regex_match(const struct safe_regex *regex, const char *text,
                                        size_t len, const char **group, size_t *group_len)
{
    struct effort effort = {0, 0};
    const PCRE2_SIZE *ends;
    int result;

    pcre2_set_callout(regex->context, on_item, &effort);
    result = pcre2_match(regex->code, (PCRE2_SPTR)text, len, 0, 0, regex->data,
                         regex->context);
    if (result == PCRE2_ERROR_NOMATCH)
        return SAFE_REGEX_NO;
    if (result < 0)
        return SAFE_REGEX_GAVE_UP;
    ends = pcre2_get_ovector_pointer(regex->data);
    if (group) {
        *group = result != 1 && ends[2] <= ends[3] ? text + ends[2] : NULL;
        *group_len = *group ? ends[3] - ends[2] : 0;
    }
    return SAFE_REGEX_YES;
}
