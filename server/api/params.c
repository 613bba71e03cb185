/* params.c - query parameters and the choice of a format */
#include "server/api/params.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/spec/run_spec.h"

int params_parse_integer(const char *text, int64_t min, int64_t max, int64_t *value)
{
    long long number;
    char *end;

    /* strtoll would let through spaces and a plus sign. */
    if (!isdigit((unsigned char)*text) && *text != '-')
        return -1;
    errno = 0;
    number = strtoll(text, &end, 10);
    if (errno || end == text || *end != '\0' || number < min || number > max)
        return -1;
    *value = number;
    return 0;
}

bool params_integer(struct http_request *request, const char *name, int64_t min,
                    int64_t max, int64_t *value)
{
    const char *text = http_request_query(request, name);

    if (!text || params_parse_integer(text, min, max, value) == 0)
        return true;
    http_reply_problem(request, 400, NULL,
                       "the parameter %s must be a whole number from %lld to %lld", name,
                       (long long)min, (long long)max);
    return false;
}

bool params_real(struct http_request *request, const char *name, double min, double max,
                 double *value)
{
    const char *text = http_request_query(request, name);
    char *end = NULL;
    double number = text ? strtod(text, &end) : *value;

    if (!text || (end != text && !*end && number >= min && number <= max)) {
        *value = number;
        return true;
    }
    http_reply_problem(request, 400, NULL,
                       "the parameter %s must be a number from %g to %g", name, min, max);
    return false;
}

bool params_flag(struct http_request *request, const char *name, bool *value)
{
    const char *text = http_request_query(request, name);

    if (!text)
        return true;
    if (strcmp(text, "1") == 0 || strcmp(text, "true") == 0) {
        *value = true;
        return true;
    }
    if (strcmp(text, "0") == 0 || strcmp(text, "false") == 0) {
        *value = false;
        return true;
    }
    http_reply_problem(request, 400, NULL, "the parameter %s must be 0 or 1", name);
    return false;
}

bool params_likeness(struct http_request *request, enum run_likeness *likeness)
{
    const char *text = http_request_query(request, "like");

    for (int i = 0; text && run_likeness_names[i]; i++) {
        if (strcmp(run_likeness_names[i], text) == 0) {
            *likeness = (enum run_likeness)i;
            return true;
        }
    }
    if (text)
        http_reply_problem(request, 422, NULL,
                           "the parameter like must be nodes or hardware");
    return !text;
}

bool params_base(struct http_request *request, struct store_base_query *base)
{
    int64_t last = 0;

    if (!params_integer(request, "last", 0, RUN_SPEC_LAST_MAX, &last) ||
        !params_likeness(request, &base->likeness))
        return false;
    base->last = (int)last;
    return true;
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

static void list_choices(const struct params_format *formats, bool as_types, char *out,
                         size_t size)
{
    size_t len = 0;

    out[0] = '\0';
    for (; formats->name && len < size; formats++)
        len += (size_t)snprintf(out + len, size - len, "%s%s", len ? ", " : "",
                                as_types ? formats->type : formats->name);
}

static bool format_by_name(struct http_request *request,
                           const struct params_format *formats, const char *name,
                           int *value)
{
    char choices[256];

    for (const struct params_format *f = formats; f->name; f++) {
        if (strcmp(f->name, name) == 0) {
            *value = f->value;
            return true;
        }
    }
    list_choices(formats, false, choices, sizeof(choices));
    http_reply_problem(request, 422, NULL, "the parameter format must be one of %s",
                       choices);
    return false;
}

bool params_type(struct http_request *request, const char *type)
{
    const char *const types[] = {type, NULL};

    if (http_request_accepts(request, types) >= 0)
        return true;
    http_reply_problem(request, 406, NULL, "this resource comes as %s", type);
    return false;
}

bool params_format(struct http_request *request, const struct params_format *formats,
                   int *value)
{
    const char *name = http_request_query(request, "format");
    const char *types[PARAMS_FORMATS_MAX + 1] = {NULL};
    char choices[256];
    int chosen;

    if (name)
        return format_by_name(request, formats, name, value);
    for (size_t i = 0; i < PARAMS_FORMATS_MAX && formats[i].name; i++)
        types[i] = formats[i].type;
    chosen = http_request_accepts(request, types);
    if (chosen >= 0) {
        *value = formats[chosen].value;
        return true;
    }
    list_choices(formats, true, choices, sizeof(choices));
    http_reply_problem(request, 406, NULL, "this resource comes as %s", choices);
    return false;
}

void params_reply(struct http_request *request, int status,
                  const struct params_format *format, const struct buf *out)
{
    bool is_text = strncmp(format->type, "text/", 5) == 0;
    char type[64];

    snprintf(type, sizeof(type), "%s%s", format->type, is_text ? "; charset=utf-8" : "");
    http_reply_text(request, status, type, out->len ? out->data : "", out->len);
}
