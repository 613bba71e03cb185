/* json_members.h - walk the members of a JSON object's text without building the object:
 * a stored event is copied from the database to a client with a member or two left out */
#ifndef RINGBENCH_SERVER_RENDER_JSON_MEMBERS_H
#define RINGBENCH_SERVER_RENDER_JSON_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

struct json_member {
    const char *key; /* without the quotes, escapes as written */
    size_t key_len;
    const char *value; /* as written */
    size_t value_len;
};

/* The next member of a valid JSON object. *pos starts at 0. False at the end, or where
 * the text is not an object after all. */
bool json_members_next(const char *text, size_t len, size_t *pos,
                       struct json_member *member);

/* Whether a member has this key; keys with escapes never match. */
bool json_member_is(const struct json_member *member, const char *key);

#endif
