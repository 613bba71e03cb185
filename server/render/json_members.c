/* json_members.c - walk the members of a JSON object's text */
#include "server/render/json_members.h"

#include <string.h>

struct scan {
    const char *text;
    size_t len, pos;
};

static void skip(struct scan *scan, const char *set)
{
    while (scan->pos < scan->len && scan->text[scan->pos] &&
           strchr(set, scan->text[scan->pos]))
        scan->pos++;
}

/* From an opening quote to behind the closing one. */
static bool skip_string(struct scan *scan)
{
    for (scan->pos++; scan->pos < scan->len; scan->pos++) {
        if (scan->text[scan->pos] == '\\') {
            scan->pos++;
        } else if (scan->text[scan->pos] == '"') {
            scan->pos++;
            return true;
        }
    }
    return false;
}

static bool skip_value(struct scan *scan)
{
    size_t depth = 0;

    while (scan->pos < scan->len) {
        char c = scan->text[scan->pos];

        if (depth == 0 && (c == ',' || c == '}'))
            return true;
        if (c == '"') {
            if (!skip_string(scan))
                return false;
            continue;
        }
        if (c == '{' || c == '[')
            depth++;
        else if (c == '}' || c == ']')
            depth--;
        scan->pos++;
    }
    return false;
}

bool json_members_next(const char *text, size_t len, size_t *pos,
                       struct json_member *member)
{
    static const char space[] = " \t\r\n";
    struct scan scan = {.text = text, .len = len, .pos = *pos};

    skip(&scan, *pos == 0 ? " \t\r\n{" : " \t\r\n,");
    if (scan.pos >= len || text[scan.pos] != '"')
        return false;
    member->key = text + scan.pos + 1;
    if (!skip_string(&scan))
        return false;
    member->key_len = (size_t)(text + scan.pos - 1 - member->key);
    skip(&scan, " \t\r\n:");
    member->value = text + scan.pos;
    if (!skip_value(&scan))
        return false;
    member->value_len = (size_t)(text + scan.pos - member->value);
    while (member->value_len > 0 && strchr(space, member->value[member->value_len - 1]))
        member->value_len--;
    *pos = scan.pos;
    return true;
}

bool json_member_is(const struct json_member *member, const char *key)
{
    return strlen(key) == member->key_len &&
           memcmp(key, member->key, member->key_len) == 0;
}
