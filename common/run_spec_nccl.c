/* run_spec_nccl.c - what a run asks of the NCCL backend alone */
#include <stdio.h>
#include <string.h>

#include "common/run_spec_fields.h"

#define CHOICES_MAX 4

static const struct {
    const char *name, *choices[CHOICES_MAX]; /* the first is the default */
} members[] = {
    {"registration", {"none", "local", "symmetric"}},
    {"cta_policy", {"default", "efficiency", "zero"}},
    {"stream", {"own", "null"}},
};

#define N_MEMBERS (sizeof(members) / sizeof(members[0]))

static void check_member(const char *name, const json_t *value, const char *at,
                         struct problems *problems)
{
    const char *text = json_string_value(value);
    const char *const *choices = NULL;

    for (size_t i = 0; i < N_MEMBERS; i++) {
        if (strcmp(members[i].name, name) == 0)
            choices = members[i].choices;
    }
    if (!choices) {
        problems_add(problems, at,
                     "unknown field; known are registration, cta_policy, stream");
        return;
    }
    for (size_t i = 0; text && i < CHOICES_MAX && choices[i]; i++) {
        if (strcmp(choices[i], text) == 0)
            return;
    }
    problems_add(problems, at, "must be one of %s, %s%s%s", choices[0], choices[1],
                 choices[2] ? ", " : "", choices[2] ? choices[2] : "");
}

void run_spec_parse_nccl(struct run_spec *spec, json_t *value, const char *pointer,
                         struct problems *problems)
{
    const char *key;
    json_t *member;
    char at[256];

    if (!json_is_object(value)) {
        problems_add(problems, pointer, "must be an object, not %s",
                     spec_type_name(value));
        return;
    }
    json_object_foreach(value, key, member)
    {
        spec_child_pointer(at, sizeof(at), pointer, key);
        check_member(key, member, at, problems);
    }
    json_decref(spec->nccl);
    spec->nccl = json_incref(value);
}
