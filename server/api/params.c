/* SPDX-License-Identifier: Apache-2.0 */
/* params.c - reads query parameters and the body, and chooses the format of the answer */
#include "server/api/params.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/json_util.h"

#define CHOICES_MAX ((size_t)1024)
#define PARAMS_FORMATS_MAX 8

int params_parse_integer(const char *text, int64_t min, int64_t max, int64_t *value)
{
    long long number;
    char *end;

    /* Check the first character, because strtoll also accepts spaces and a plus sign. */
    if (!isdigit((unsigned char)*text) && *text != '-')
        return -1;
    errno = 0;
    number = strtoll(text, &end, 10);
    if (errno || end == text || *end != '\0' || number < min || number > max)
        return -1;
    *value = number;
    return 0;
}

static bool refuse(struct http_request *request, int status, const struct param *param,
                   const char *must_be)
{
    http_reply_problem(request, status, NULL, "the parameter %s must be %s", param->name,
                       must_be);
    return false;
}

static bool read_integer(struct http_request *request, const struct param *param,
                         const char *text, int64_t *value)
{
    char must_be[80];

    *value = param->absent;
    if (!text || params_parse_integer(text, param->min, param->max, value) == 0)
        return true;
    snprintf(must_be, sizeof(must_be), "a whole number from %lld to %lld",
             (long long)param->min, (long long)param->max);
    return refuse(request, 400, param, must_be);
}

static bool read_real(struct http_request *request, const struct param *param,
                      const char *text, double *value)
{
    char must_be[80], *end = NULL;
    double number = text ? strtod(text, &end) : 0;

    if (!text ||
        (end != text && !*end && number >= param->least && number <= param->most)) {
        *value = number;
        return true;
    }
    snprintf(must_be, sizeof(must_be), "a number from %g to %g", param->least,
             param->most);
    return refuse(request, 400, param, must_be);
}

static bool read_flag(struct http_request *request, const struct param *param,
                      const char *text, bool *value)
{
    *value = strcmp(text, "1") == 0 || strcmp(text, "true") == 0;
    if (*value || strcmp(text, "0") == 0 || strcmp(text, "false") == 0)
        return true;
    return refuse(request, 400, param, "0 or 1");
}

/* Return the text's index among the parameter's words. If the text is none of them,
 * return -1 and list all words in must_be. */
static int find_word(const struct param *param, const char *text, struct buf *must_be)
{
    const char *word;

    buf_append_str(must_be, "one of ");
    for (int i = 0;
         (word = param->names ? param->names->count > i ? param->names->name(i) : NULL
                              : param->choices[i]);
         i++) {
        if (strcmp(word, text) == 0)
            return i;
        buf_printf(must_be, "%s%s", i ? ", " : "", word);
    }
    return -1;
}

static bool read_choice(struct http_request *request, const struct param *param,
                        const char *text, int *value)
{
    struct buf must_be;
    int found = (int)param->absent;

    buf_init(&must_be, CHOICES_MAX);
    if (text)
        found = find_word(param, text, &must_be);
    if (text && found < 0) {
        buf_printf(&must_be, ", not %.60s", text);
        refuse(request, 422, param, must_be.data);
    }
    buf_release(&must_be);
    *value = found;
    return !text || found >= 0;
}

bool params_is_line(const char *text, size_t max)
{
    size_t len = text ? strlen(text) : 0;

    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ')
            return false;
    return len > 0 && len <= max;
}

static bool read_line(struct http_request *request, const struct param *param,
                      const char *text, const char **value)
{
    char must_be[80];

    *value = text;
    if (params_is_line(text, (size_t)param->max))
        return true;
    snprintf(must_be, sizeof(must_be), "a text of 1 to %lld bytes without line breaks",
             (long long)param->max);
    return refuse(request, 422, param, must_be);
}

static bool read_time(struct http_request *request, const struct param *param,
                      const char *text, int64_t *ms)
{
    size_t len = text ? strlen(text) : 0;

    *ms = len > 0 && text[len - 1] == 'Z' ? clock_parse_ms(text) : 0;
    if (!text || *ms > 0)
        return true;
    return refuse(request, 422, param, "a time in UTC such as 2026-01-31T23:59:59.000Z");
}

struct texts_reading {
    const struct param *param;
    struct param_texts *texts;
    const char *bad; /* an invalid value, or NULL */
    bool is_too_many;
};

static void take_text(void *arg, const char *text)
{
    struct texts_reading *reading = arg;
    const struct param *param = reading->param;
    bool is_good = param->kind != PARAM_LABELS || (text[0] != '=' && strchr(text, '='));

    for (size_t i = 0; param->choices && is_good; i++) {
        is_good = param->choices[i] != NULL;
        if (is_good && strcmp(param->choices[i], text) == 0)
            break;
    }
    if (!is_good)
        reading->bad = text;
    else if (reading->texts->n == (size_t)param->max)
        reading->is_too_many = true;
    else
        reading->texts->at[reading->texts->n++] = text;
}

static bool read_texts(struct http_request *request, const struct param *param,
                       struct param_texts *texts)
{
    struct texts_reading reading = {param, texts, NULL, false};
    struct buf must_be;

    texts->n = 0;
    http_request_query_each(request, param->name, take_text, &reading);
    if (!reading.bad && !reading.is_too_many)
        return true;
    buf_init(&must_be, CHOICES_MAX);
    if (!reading.bad)
        buf_printf(&must_be, "given at most %d times", (int)param->max);
    else if (param->kind == PARAM_LABELS)
        buf_append_str(&must_be, "KEY=VALUE");
    else if (param->choices)
        find_word(param, "", &must_be);
    else
        buf_append_str(&must_be, "a text");
    if (reading.bad)
        buf_printf(&must_be, ", not %.60s", reading.bad);
    refuse(request, 422, param, must_be.data);
    buf_release(&must_be);
    return false;
}

static bool read_param(struct http_request *request, const struct param *param,
                       void *value)
{
    const char *text = http_request_query(request, param->name);

    if (!text)
        text = param->usual;
    switch (param->kind) {
    case PARAM_INTEGER:
        return read_integer(request, param, text, value);
    case PARAM_REAL:
        return read_real(request, param, text, value);
    case PARAM_FLAG:
        return read_flag(request, param, text, value);
    case PARAM_CHOICE:
        return read_choice(request, param, text, value);
    case PARAM_TEXT:
        *(const char **)value = text;
        return true;
    case PARAM_LINE:
        return read_line(request, param, text, value);
    case PARAM_TIME:
        return read_time(request, param, text, value);
    case PARAM_TEXTS:
    case PARAM_LABELS:
        return param->max == 0 || read_texts(request, param, value);
    }
    return true;
}

bool params_read(struct http_request *request, const struct route_params *route,
                 void *into)
{
    const struct params_format *format;

    if (!route)
        return params_type(request, "application/json");
    if (route->type && !params_type(request, route->type))
        return false;
    if (route->formats) {
        format = params_format(request, route->formats);
        if (!format)
            return false;
        *(const struct params_format **)(void *)((char *)into + route->format_offset) =
            format;
    }
    for (size_t i = 0; i < route->n; i++)
        if (!read_param(request, &route->list[i], (char *)into + route->list[i].offset))
            return false;
    return true;
}

static json_t *texts_json(const struct param_texts *texts)
{
    json_t *list = texts->n > 0 ? json_array() : json_null();

    for (size_t i = 0; i < texts->n; i++)
        if (json_array_append_new(list, json_string(texts->at[i]))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *param_json(const struct param *param, const void *value)
{
    const char *text;

    switch (param->kind) {
    case PARAM_INTEGER:
        return json_integer(*(const int64_t *)value);
    case PARAM_REAL:
        return json_real(*(const double *)value);
    case PARAM_FLAG:
        return json_boolean(*(const bool *)value);
    case PARAM_CHOICE:
        return json_integer(*(const int *)value);
    case PARAM_TEXT:
    case PARAM_LINE:
        text = *(const char *const *)value;
        return text ? json_string(text) : json_null();
    case PARAM_TIME:
        return *(const int64_t *)value ? json_integer(*(const int64_t *)value)
                                       : json_null();
    case PARAM_TEXTS:
    case PARAM_LABELS:
        return texts_json(value);
    }
    return json_null();
}

json_t *params_json(const struct route_params *route, const void *values)
{
    json_t *params = json_object();

    for (size_t i = 0; i < route->n; i++) {
        const struct param *param = &route->list[i];

        if (json_object_set_new(
                params, param->name,
                param_json(param, (const char *)values + param->offset))) {
            json_decref(params);
            return NULL;
        }
    }
    return params;
}

json_t *params_body(struct http_request *request)
{
    struct error err;
    size_t len;
    const char *text = http_request_body(request, &len);
    json_t *body = json_parse(text, len, &err);

    if (!body)
        http_reply_problem(request, 400, NULL, "%s", err.text);
    return body;
}

bool params_read_body(struct http_request *request, const struct spec_fields *fields,
                      void *into, const char *refusal)
{
    json_t *body = params_body(request);
    struct problems problems;
    bool is_read;

    if (!body)
        return false;
    problems_init(&problems);
    spec_fields_read_into(fields, body, into, "", &problems);
    is_read = problems.count == 0;
    if (!is_read)
        http_reply_problem(request, 422, &problems, "%s", refusal);
    problems_release(&problems);
    json_decref(body);
    return is_read;
}

static void list_choices(const struct params_format *formats, bool as_types, char *out,
                         size_t size)
{
    size_t len = 0;

    out[0] = '\0';
    for (; formats->name && len < size; formats++)
        len += (size_t)snprintf(out + len, size - len, "%s%s", len ? ", " : "",
                                as_types ? formats->type : formats->name);
}

static const struct params_format *format_by_name(struct http_request *request,
                                                  const struct params_format *formats,
                                                  const char *name)
{
    char choices[256];

    for (const struct params_format *f = formats; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    list_choices(formats, false, choices, sizeof(choices));
    http_reply_problem(request, 422, NULL, "the parameter format must be one of %s",
                       choices);
    return NULL;
}

bool params_type(struct http_request *request, const char *type)
{
    const char *const types[] = {type, NULL};

    if (http_request_accepts(request, types) >= 0)
        return true;
    http_reply_problem(request, 406, NULL, "this resource is available only as %s", type);
    return false;
}

const struct params_format *params_format(struct http_request *request,
                                          const struct params_format *formats)
{
    const char *name = http_request_query(request, "format");
    const char *types[PARAMS_FORMATS_MAX + 1] = {NULL};
    char choices[256];
    int chosen;

    if (name)
        return format_by_name(request, formats, name);
    for (size_t i = 0; i < PARAMS_FORMATS_MAX && formats[i].name; i++)
        types[i] = formats[i].type;
    chosen = http_request_accepts(request, types);
    if (chosen >= 0)
        return &formats[chosen];
    list_choices(formats, true, choices, sizeof(choices));
    http_reply_problem(request, 406, NULL, "this resource is available only as %s",
                       choices);
    return NULL;
}

void params_content_type(const struct params_format *format, char type[PARAMS_TYPE_MAX])
{
    bool is_text = strncmp(format->type, "text/", 5) == 0;

    snprintf(type, PARAMS_TYPE_MAX, "%s%s", format->type,
             is_text ? "; charset=utf-8" : "");
}

void params_reply(struct http_request *request, int status,
                  const struct params_format *format, const struct buf *out)
{
    char type[PARAMS_TYPE_MAX];

    params_content_type(format, type);
    http_reply_text(request, status, type, out->len ? out->data : "", out->len);
}
