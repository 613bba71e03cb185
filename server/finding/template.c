/* SPDX-License-Identifier: Apache-2.0 */
/* template.c - renders a template with the members of an object */
#include "server/finding/template.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"
#include "common/base/units.h"

#define NAME_BYTES 80
#define FORM_BYTES 160
#define TEXT_MAX ((size_t)16 << 10)

struct rendering {
    const json_t *inner, *outer;
    struct buf *out;
    bool lacks; /* true if a member named in this part is absent */
};

/* ---- Members ---- */

/* Parse "name}", "name:form}" or "name?}". Return the position after '}', or NULL. */
static const char *read_member(const char *at, char name[NAME_BYTES],
                               char form[FORM_BYTES])
{
    size_t n = strcspn(at, ":?}{[|]"), length;

    if (n == 0 || n >= NAME_BYTES)
        return NULL;
    memcpy(name, at, n);
    name[n] = form[0] = '\0';
    at += n;
    if (*at == '}')
        return at + 1;
    at += *at == ':';
    length = strcspn(at, "}");
    if (at[length] != '}' || length >= FORM_BYTES)
        return NULL;
    memcpy(form, at, length);
    form[length] = '\0';
    return at + length + 1;
}

const json_t *template_find(const json_t *object, const char *name)
{
    const char *dot = strchr(name, '.');
    char first[NAME_BYTES];

    if (!dot)
        return json_object_get(object, name);
    snprintf(first, sizeof(first), "%.*s", (int)(dot - name), name);
    return template_find(json_object_get(object, first), dot + 1);
}

static const json_t *find(const struct rendering *rendering, const char *name)
{
    const json_t *value = template_find(rendering->inner, name);

    return value ? value : template_find(rendering->outer, name);
}

static bool is_there(const json_t *value, bool is_condition)
{
    if (json_is_string(value))
        return json_string_length(value) > 0;
    if (json_is_number(value))
        return !is_condition || json_number_value(value) != 0;
    return json_is_true(value) || json_array_size(value) > 0 ||
           json_object_size(value) > 0;
}

/* ---- Forms ---- */

const char *template_number(double value, char out[32])
{
    snprintf(out, 32, fabs(value) >= 1000.0 && fabs(value) < 1e15 ? "%.0f" : "%.4g",
             value);
    return out;
}

static void put_plain(const json_t *value, struct buf *out)
{
    char number[32];

    if (json_is_string(value))
        buf_append_str(out, json_string_value(value));
    else if (json_is_integer(value))
        buf_printf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        buf_append_str(out, template_number(json_real_value(value), number));
}

/* Format a number as the form ".1f", ".4g", ".0%" or "%" requires. */
static void put_digits(double value, const char *form, struct buf *out)
{
    char *kind = NULL;
    int digits = *form == '.' ? (int)strtol(form + 1, &kind, 10) : -1;
    char last = kind ? *kind : *form;

    if (last == '%')
        value *= 100;
    if (digits < 0)
        digits = fabs(value) >= 0.05 && fabs(value) < 9.95;
    if (last == 'g')
        buf_printf(out, "%.*g", digits, value);
    else
        buf_printf(out, "%.*f%s", digits, value, last == '%' ? " %" : "");
}

/* Append a list as the form "names 3" or "names 3 of n" requires. */
static void put_names(const struct rendering *rendering, const json_t *list,
                      const char *form)
{
    char *rest;
    size_t most = strtoul(form + strlen("names"), &rest, 10);
    bool has_total = strncmp(rest, " of ", 4) == 0;
    size_t n = json_array_size(list);
    size_t total = has_total ? (size_t)json_integer_value(find(rendering, rest + 4)) : n;

    for (size_t i = 0; i < n && i < most; i++) {
        buf_append_str(rendering->out, i ? ", " : "");
        put_plain(json_array_get(list, i), rendering->out);
    }
    if (total > (n < most ? n : most))
        buf_printf(rendering->out, " and %zu more", total - (n < most ? n : most));
}

/* Return the length of a list, or the value of a number. */
static double number_of(const json_t *value)
{
    return json_is_array(value) ? (double)json_array_size(value)
                                : json_number_value(value);
}

static void put_member(const struct rendering *rendering, const json_t *value,
                       const char *form)
{
    const char *slash = strchr(form, '/');
    char text[UNITS_TEXT_MAX];
    uint64_t bytes = (uint64_t)fmax(fmin(json_number_value(value), 1e18), 0);

    if (strncmp(form, "names", 5) == 0)
        put_names(rendering, value, form);
    else if (slash && number_of(value) == 1)
        buf_append(rendering->out, form, (size_t)(slash - form));
    else if (slash)
        buf_append_str(rendering->out, slash + 1);
    else if (strcmp(form, "bytes") == 0)
        buf_append_str(rendering->out, units_format_human(bytes, text));
    else if (strcmp(form, "size") == 0)
        buf_append_str(rendering->out, units_format_size(bytes, text));
    else if (strcmp(form, "us") == 0)
        buf_printf(rendering->out, "%.*f us", json_number_value(value) < 10 ? 2 : 0,
                   json_number_value(value));
    else if (*form && *form != '?')
        put_digits(json_number_value(value), form, rendering->out);
    else if (!*form)
        put_plain(value, rendering->out);
}

/* ---- The template ---- */

static const char *render_part(struct rendering *rendering, const char *at);

static void cut(struct buf *out, size_t length)
{
    if (!out->data)
        return;
    out->len = length;
    out->data[length] = '\0';
}

/* Render a group. `at` is the position after the group's '['. Return the position after
 * its ']'. */
static const char *render_group(struct rendering *rendering, const char *at)
{
    struct rendering part = *rendering;
    size_t length = part.out->len;
    bool is_done = false;

    do {
        part.lacks = false;
        at = render_part(&part, at);
        if (part.lacks || is_done)
            cut(part.out, length);
        is_done = is_done || !part.lacks;
        length = part.out->len;
    } while (*at && *at++ == '|');
    return at;
}

/* Render up to the enclosing group's next '|' or ']', or to the template's end. Return
 * the position of that character. */
static const char *render_part(struct rendering *rendering, const char *at)
{
    char name[NAME_BYTES], form[FORM_BYTES];

    while (*at && *at != '|' && *at != ']') {
        size_t plain = strcspn(at, "{[|]");

        buf_append(rendering->out, at, plain);
        at += plain;
        if (*at == '[') {
            at = render_group(rendering, at + 1);
        } else if (*at == '{') {
            const json_t *value;

            at = read_member(at + 1, name, form);
            if (!at)
                return "";
            value = find(rendering, name);
            rendering->lacks = rendering->lacks || !is_there(value, *form == '?');
            put_member(rendering, value, form);
        }
    }
    return at;
}

void template_render(const char *text, const json_t *inner, const json_t *outer,
                     struct buf *out)
{
    struct rendering rendering = {.inner = inner, .outer = outer, .out = out};

    render_part(&rendering, text);
}

json_t *template_text(const char *text, const json_t *inner, const json_t *outer)
{
    struct buf out;
    json_t *made;

    buf_init(&out, TEXT_MAX);
    template_render(text, inner, outer, &out);
    made = json_clean_string(out.data ? out.data : "");
    buf_release(&out);
    return made;
}

int template_members(const char *text,
                     void (*member)(void *arg, const char *name, const char *form),
                     void *arg)
{
    char name[NAME_BYTES], form[FORM_BYTES];
    int depth = 0;

    for (const char *at = text; *at;) {
        if (*at == '{') {
            at = read_member(at + 1, name, form);
            if (!at)
                return -1;
            member(arg, name, form);
            continue;
        }
        depth += (*at == '[') - (*at == ']');
        if (depth < 0 || (*at == '|' && depth == 0) || *at == '}')
            return -1;
        at++;
    }
    return depth == 0 ? 0 : -1;
}
