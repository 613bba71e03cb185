/* choice.c - how a collective was done, as far as the library that did it tells */
#include "agent/worker/bench/choice.h"

#include <string.h>

static bool is_other(const struct choice *a, const struct choice *b)
{
    bool has_channels = a->channels && b->channels && strcmp(a->algo, "P2P") != 0;

    return strcmp(a->algo, b->algo) != 0 || strcmp(a->proto, b->proto) != 0 ||
           (has_channels && a->channels != b->channels);
}

void choice_add(struct choice *choice, const struct choice *other)
{
    float expected_us =
        choice->expected_us > 0 ? choice->expected_us : other->expected_us;

    if (!*choice->algo) {
        *choice = *other;
    } else if (*other->algo) {
        choice->ranks_differ = choice->ranks_differ || is_other(choice, other);
        if (other->channels > choice->channels)
            choice->channels = other->channels;
    }
    choice->expected_us = expected_us;
}

json_t *choice_json(const struct choice *choice)
{
    json_t *out;

    if (!*choice->algo && !(choice->expected_us > 0))
        return NULL;
    out = json_object();
    if (*choice->algo)
        json_object_set_new(out, "algo", json_string(choice->algo));
    if (*choice->proto)
        json_object_set_new(out, "proto", json_string(choice->proto));
    if (choice->channels)
        json_object_set_new(out, "channels", json_integer(choice->channels));
    if (*choice->by)
        json_object_set_new(out, "by", json_string(choice->by));
    if (choice->expected_us > 0)
        json_object_set_new(out, "expected_us", json_real((double)choice->expected_us));
    if (choice->ranks_differ)
        json_object_set_new(out, "ranks_differ", json_true());
    return out;
}
