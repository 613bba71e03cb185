/* SPDX-License-Identifier: Apache-2.0 */
/* choice.c - NCCL's choice for a collective */
#include "agent/worker/bench/choice.h"

#include <ctype.h>
#include <string.h>

static bool is_other(const struct choice *a, const struct choice *b)
{
    bool has_channels = a->channels && b->channels && strcmp(a->algo, "P2P") != 0;

    return strcmp(a->algo, b->algo) != 0 || strcmp(a->proto, b->proto) != 0 ||
           (has_channels && a->channels != b->channels);
}

void choice_add(struct choice *choice, const struct choice *other)
{
    if (!*choice->algo) {
        *choice = *other;
    } else if (*other->algo) {
        choice->ranks_differ = choice->ranks_differ || is_other(choice, other);
        choice->is_unrequested = choice->is_unrequested || other->is_unrequested;
        if (other->channels > choice->channels)
            choice->channels = other->channels;
    }
}

/* Compare `length` bytes of a with b, ignoring case and '_'. */
static bool is_name(const char *a, size_t length, const char *b)
{
    const char *end = a + length;

    for (;;) {
        while (a < end && *a == '_')
            a++;
        while (*b == '_')
            b++;
        if (a == end || !*b)
            return a == end && !*b;
        if (tolower((unsigned char)*a++) != tolower((unsigned char)*b++))
            return false;
    }
}

/* True if a value of NCCL_ALGO or NCCL_PROTO allows the name. "Ring,Tree" lists the
 * allowed names; "^Tree" allows all others. */
static bool is_listed(const char *list, size_t length, const char *name)
{
    const char *end = list + length;
    bool is_inverted = length > 0 && *list == '^', is_found = false;

    for (const char *at = list + is_inverted; at < end;) {
        size_t n = strcspn(at, ",;");
        is_found = is_found || is_name(at, n, name);
        at += n + 1;
    }
    return is_found != is_inverted;
}

bool choice_is_requested(const char *setting, enum collective_kind kind, const char *name)
{
    bool is_requested = true;

    /* Later parts override earlier ones, as in NCCL. */
    while (setting && *setting) {
        size_t length = strcspn(setting, ";");
        const char *colon = memchr(setting, ':', length);
        const char *list = colon ? colon + 1 : setting;

        if (list < setting + length &&
            (!colon ||
             is_name(setting, (size_t)(colon - setting), collective_name(kind))))
            is_requested = is_listed(list, length - (size_t)(list - setting), name);
        setting += length + (setting[length] == ';');
    }
    return is_requested;
}

json_t *choice_json(const struct choice *choice)
{
    json_t *out;

    if (!*choice->algo)
        return NULL;
    out = json_pack("{s:s}", "algo", choice->algo);
    if (*choice->proto)
        json_object_set_new(out, "proto", json_string(choice->proto));
    if (choice->channels)
        json_object_set_new(out, "channels", json_integer(choice->channels));
    if (*choice->by)
        json_object_set_new(out, "by", json_string(choice->by));
    if (choice->ranks_differ)
        json_object_set_new(out, "ranks_differ", json_true());
    if (choice->is_unrequested)
        json_object_set_new(out, "unrequested", json_true());
    return out;
}
