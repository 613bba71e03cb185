/* SPDX-License-Identifier: Apache-2.0 */
/* stack_quote.c - extracts the part of a worker's stacks that a failure reason quotes */
#include "agent/case/stack_quote.h"

#include <stdio.h>
#include <string.h>

#define PREFIX "stack: "

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Return false for functions at the outer end of every stack, such as main. */
static bool is_informative(const char *name)
{
    return strcmp(name, "main") != 0 && strcmp(name, "_start") != 0 &&
           !starts(name, "__libc_start");
}

/* Read the function of a frame such as "#1 ncclCommInitRank+0x15 (libnccl.so.2+0x61191)",
 * or the file if the function has no name. Returns false if the text is not a frame. */
static bool read_frame(const char *text, char *name, size_t size)
{
    const char *at = strchr(text, ' '), *end;

    if (text[0] != '#' || !at)
        return false;
    at++;
    if (starts(at, "? ("))
        at += strlen("? (");
    end = at + strcspn(at, "+ )");
    snprintf(name, size, "%.*s", (int)(end - at), at);
    return true;
}

static void add(struct stack_quote *quote, const char *name)
{
    size_t len = strlen(quote->text);

    /* Nested calls in a file without function names count once. */
    if (quote->names >= STACK_QUOTE_NAMES || strcmp(name, quote->last) == 0)
        return;
    snprintf(quote->last, sizeof(quote->last), "%s", name);
    snprintf(quote->text + len, sizeof(quote->text) - len, "%s%s",
             quote->names ? " <- " : "", name);
    quote->names++;
}

bool stack_quote_line(struct stack_quote *quote, const char *line, size_t len)
{
    char text[200] = "", name[sizeof(quote->last)];
    size_t n = 0;

    if (len < strlen(PREFIX) || strncmp(line, PREFIX, strlen(PREFIX)) != 0)
        return false;
    for (size_t i = strlen(PREFIX); i < len && n < sizeof(text) - 1; i++)
        text[n++] = line[i] >= ' ' && line[i] <= '~' ? line[i] : '?';
    text[n] = '\0';
    if (starts(text, "thread "))
        quote->threads++;
    else if (strcmp(text, "end") == 0)
        quote->has_ended = true;
    else if (quote->threads == 1 && starts(text, "  ")) {
        if (!read_frame(text + 2, name, sizeof(name)))
            /* not a frame, but the reason why there are no frames */
            snprintf(name, sizeof(name), "%s", text + 2);
        if (is_informative(name))
            add(quote, name);
    }
    return true;
}
