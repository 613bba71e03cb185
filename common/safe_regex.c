/* safe_regex.c - POSIX extended regular expressions that someone else wrote */
#include "common/safe_regex.h"

#include <stdlib.h>
#include <string.h>

/* glibc copies what is repeated: a+ becomes aa*, a{9} nine times a, and what is inside of
 * it is copied with it, so that a++++ doubles with every sign. */
#define COPIES_MAX 2048 /* single characters and the like, when all is copied */
#define DEPTH_MAX 16

/* Inside of a group, or of none. */
struct level {
    long sum, last; /* of all but the last piece, of the last one */
};

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

struct measure {
    struct level levels[DEPTH_MAX + 1];
    int depth;
};

static void add_piece(struct measure *m, long size)
{
    struct level *level = &m->levels[m->depth];

    level->sum += level->last;
    level->last = size;
}

static void repeat_piece(struct measure *m, long times)
{
    struct level *level = &m->levels[m->depth];

    level->last = level->last > 0 ? level->last * times : 1;
}

/* Take the piece of a pattern at `at`; what comes behind it, NULL when groups nest too
 * deep. */
static const char *measure_piece(struct measure *m, const char *at)
{
    long bound = *at == '{' ? interval_bound(at) : 0;
    const char *close = bound > 0 ? strchr(at, '}') : NULL;

    if (*at == '[') {
        add_piece(m, 1);
        return skip_brackets(at);
    }
    if (close) {
        repeat_piece(m, bound < COPIES_MAX ? bound : COPIES_MAX + 1);
        return close + 1;
    }
    if (*at == '(') {
        if (m->depth == DEPTH_MAX)
            return NULL;
        m->levels[++m->depth] = (struct level){0, 0};
    } else if (*at == ')' && m->depth > 0) {
        const struct level *inner = &m->levels[m->depth--];

        add_piece(m, inner->sum + inner->last + 1);
    } else if (*at == '+') {
        repeat_piece(m, 2);
    } else if (*at != '*' && *at != '?') {
        add_piece(m, 1);
    }
    return at + (*at == '\\' && at[1] ? 2 : 1);
}

static int check_size(const char *pattern, struct error *err)
{
    struct measure m = {.depth = 0};

    if (strlen(pattern) > SAFE_REGEX_MAX)
        return error_set(err, ERROR_LIMIT, "is longer than %d bytes", SAFE_REGEX_MAX);
    for (const char *at = pattern; *at;) {
        const struct level *level;

        if (*at == '\\' && at[1] >= '0' && at[1] <= '9')
            return error_set(err, ERROR_INVALID, "refers back with \\%c", at[1]);
        at = measure_piece(&m, at);
        if (!at)
            return error_set(err, ERROR_LIMIT, "nests more than %d groups", DEPTH_MAX);
        level = &m.levels[m.depth];
        if (level->sum + level->last > COPIES_MAX)
            return error_set(err, ERROR_LIMIT,
                             "becomes more than %d pieces when what repeats is copied",
                             COPIES_MAX);
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
