/* SPDX-License-Identifier: Apache-2.0 */
/* problem.c - collects errors in the caller's input, and makes the problem document that
 * reports them */
#include "common/base/problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_util.h"

static const struct {
    int status;
    const char *title;
} titles[] = {
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {507, "Insufficient Storage"},
};

void problems_init(struct problems *problems)
{
    problems->count = 0;
    problems->errors = json_array();
}

void problems_release(struct problems *problems)
{
    json_decref(problems->errors);
    problems->errors = NULL;
    problems->count = 0;
}

void problems_add_below(struct problems *problems, const char *pointer,
                        const struct problems *found)
{
    json_t *fault;
    char at[300];
    size_t i;

    json_array_foreach (found->errors, i, fault) {
        snprintf(at, sizeof(at), "%s%s", pointer, json_get_str(fault, "pointer", ""));
        problems_add(problems, at, "%s", json_get_str(fault, "detail", ""));
    }
}

int problems_error(const struct problems *problems, const char *where, struct error *err)
{
    const json_t *fault = json_array_get(problems->errors, 0);

    return error_set(err, ERROR_INVALID, "%.200s: %.100s: %.200s", where,
                     json_get_str(fault, "pointer", ""),
                     json_get_str(fault, "detail", ""));
}

bool problems_are_full(const struct problems *problems)
{
    return json_array_size(problems->errors) >= PROBLEMS_MAX;
}

void problems_add(struct problems *problems, const char *pointer, const char *format, ...)
{
    char detail[512];
    va_list args;

    problems->count++;
    if (problems_are_full(problems))
        return;
    va_start(args, format);
    vsnprintf(detail, sizeof(detail), format, args);
    va_end(args);
    json_array_append_new(problems->errors,
                          json_pack("{s:o, s:o}", "pointer", json_clean_string(pointer),
                                    "detail", json_clean_string(detail)));
}

static const char *status_title(int status)
{
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
        if (titles[i].status == status)
            return titles[i].title;
    return "Error";
}

json_t *problem_document(int status, const char *detail, const struct problems *problems)
{
    json_t *document;

    document = json_pack("{s:s, s:s, s:i, s:o}", "type", "about:blank", "title",
                         status_title(status), "status", status, "detail",
                         json_clean_string(detail));
    if (document && problems && problems->count > 0)
        json_object_set(document, "errors", problems->errors);
    return document;
}
