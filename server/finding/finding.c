/* SPDX-License-Identifier: Apache-2.0 */
/* finding.c - assembles a verdict from its evidence and its sentence */
#include "server/finding/finding.h"

#include <stdarg.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/json_util.h"
#include "server/finding/template.h"

#define SENTENCE_MAX ((size_t)16 << 10)

struct finding finding_begin(void)
{
    struct finding finding = {.members = json_object()};

    finding.has_failed = !finding.members;
    return finding;
}

void finding_put(struct finding *finding, const char *format, ...)
{
    json_error_t error;
    json_t *more;
    va_list args;

    va_start(args, format);
    more = json_vpack_ex(&error, 0, format, args);
    va_end(args);
    if (!more || json_object_update(finding->members, more))
        finding->has_failed = true;
    json_decref(more);
}

void finding_set(struct finding *finding, const char *name, json_t *value)
{
    if (value && json_object_set_new(finding->members, name, value))
        finding->has_failed = true;
}

void finding_set_text(struct finding *finding, const char *name, const char *text)
{
    json_t *value = json_clean_string(text);

    if (text && !value)
        finding->has_failed = true;
    finding_set(finding, name, value);
}

void finding_set_phrase(struct finding *finding, const char *name, const char *text)
{
    json_t *value = template_text(text, NULL, finding->members);

    if (!value)
        finding->has_failed = true;
    finding_set(finding, name, value);
}

void finding_set_phrases(struct finding *finding, const char *name, const json_t *list,
                         size_t most, const char *separator, const char *text)
{
    size_t n = json_array_size(list);
    struct buf out;

    buf_init(&out, SENTENCE_MAX);
    for (size_t i = 0; i < n && i < most; i++) {
        buf_append_str(&out, i ? separator : "");
        template_render(text, json_array_get(list, i), finding->members, &out);
    }
    if (n > most)
        buf_printf(&out, "%sand %zu more", *separator == ',' ? " " : separator, n - most);
    finding_set_text(finding, name, out.data ? out.data : "");
    buf_release(&out);
}

void finding_name(struct finding *finding, const char *node)
{
    const json_t *one;
    size_t i;

    json_array_foreach (finding->nodes, i, one)
        if (node && strcmp(json_string_value(one), node) == 0)
            return;
    if (!finding->nodes)
        finding->nodes = json_array();
    if (node && json_array_append_new(finding->nodes, json_clean_string(node)))
        finding->has_failed = true;
}

void finding_name_all(struct finding *finding, const json_t *nodes)
{
    const json_t *node;
    size_t i;

    json_array_foreach (nodes, i, node)
        finding_name(finding, json_string_value(node));
}

json_t *finding_end(struct finding *finding, enum message_id id, const char *mark)
{
    const struct message *message = &messages[id];
    json_t *value, *verdict = NULL;
    struct buf sentence;
    const char *name;
    void *next;

    finding_set(finding, "$nodes", json_incref(finding->nodes));
    buf_init(&sentence, SENTENCE_MAX);
    template_render(message->text, NULL, finding->members, &sentence);
    json_object_foreach_safe(finding->members, next, name, value) if (*name == '$')
        json_object_del(finding->members, name);
    if (!finding->has_failed)
        verdict = verdict_json(
            message->kind, message->answer, sentence.data ? sentence.data : "", mark,
            json_incref(finding->nodes), json_incref(finding->members));
    buf_release(&sentence);
    json_decref(finding->members);
    json_decref(finding->nodes);
    finding->members = finding->nodes = NULL;
    return verdict;
}
