/* safe_regex.c - POSIX extended regular expressions that someone else wrote */
#include "common/safe_regex.h"

#include <stdlib.h>
#include <string.h>

/* Nested intervals multiply: a{9}, then (a{9}){9}, ... */
#define COPIES_MAX 2048
#define DEPTH_MAX 16

/* The larger bound of an interval "{m}", "{m,}" or "{m,n}" at `text`; 0 when it is none.
 */
static long interval_bound(const char *text)
{
    char *end;
    long low, high;

    if (text[1] < '0' || text[1] > '9')
        return 0;
    low = strtol(text + 1, &end, 10);
    high = low;
    if (*end == ',' && end[1] >= '0' && end[1] <= '9')
        high = strtol(end + 1, &end, 10);
    return high > low ? high : low;
}

/* Behind the bracket expression that begins at `at`. */
static const char *skip_brackets(const char *at)
{
    at += at[1] == '^' ? 2 : 1;
    if (*at == ']')
        at++;
    while (*at && *at != ']') {
        /* [:alpha:], [.x.] and [=x=] may hold a bracket of their own. */
        if (at[0] == '[' && at[1] && strchr(":.=", at[1])) {
            char close[3] = {at[1], ']', '\0'};
            const char *end = strstr(at + 2, close);

            at = end ? end + 2 : at + 1;
        } else {
            at++;
        }
    }
    return *at ? at + 1 : at;
}

static int check_size(const char *pattern, struct error *err)
{
    long copies = 1, depth = 0, bound;

    if (strlen(pattern) > SAFE_REGEX_MAX)
        return error_set(err, ERROR_LIMIT, "is longer than %d bytes", SAFE_REGEX_MAX);
    for (const char *at = pattern; *at;) {
        if (*at == '[') {
            at = skip_brackets(at);
            continue;
        }
        if (*at == '\\' && at[1] >= '0' && at[1] <= '9')
            return error_set(err, ERROR_INVALID, "refers back with \\%c", at[1]);
        if (*at == '(' && ++depth > DEPTH_MAX)
            return error_set(err, ERROR_LIMIT, "has more than %d groups", DEPTH_MAX);
        bound = *at == '{' ? interval_bound(at) : 0;
        copies *= bound > 0 && bound <= COPIES_MAX ? bound : 1;
        if (bound > COPIES_MAX || copies > COPIES_MAX)
            return error_set(err, ERROR_LIMIT,
                             "repeats more than %d times, all intervals together",
                             COPIES_MAX);
        at += *at == '\\' && at[1] ? 2 : 1;
    }
    return 0;
}

int safe_regex_compile(regex_t *regex, const char *pattern, int flags, struct error *err)
{
    char why[200];
    int code;

    if (check_size(pattern, err))
        return -1;
    code = regcomp(regex, pattern, REG_EXTENDED | flags);
    if (code == 0)
        return 0;
    regerror(code, regex, why, sizeof(why));
    return error_set(err, ERROR_INVALID, "is no regular expression: %s", why);
}
