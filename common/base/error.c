/* SPDX-License-Identifier: Apache-2.0 */
/* error.c - represents an error as a code for programs and a sentence for users */
#include "common/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#undef error_set
#undef error_set_errno
#undef error_prefix

int error_set(struct error *err, enum error_code code, const char *format, ...)
{
    va_list args;

    if (!err)
        return -1;
    err->code = code;
    va_start(args, format);
    vsnprintf(err->text, sizeof(err->text), format, args);
    va_end(args);
    return -1;
}

int error_set_errno(struct error *err, enum error_code code, int errnum,
                    const char *format, ...)
{
    char reason[128];
    va_list args;
    int n;

    if (!err)
        return -1;
    err->code = code;
    va_start(args, format);
    n = vsnprintf(err->text, sizeof(err->text), format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof(err->text))
        snprintf(err->text + n, sizeof(err->text) - (size_t)n, ": %s",
                 strerror_r(errnum, reason, sizeof(reason)));
    return -1;
}

int error_prefix(struct error *err, const char *format, ...)
{
    char old[sizeof(err->text)];
    va_list args;
    int n;

    if (!err)
        return -1;
    memcpy(old, err->text, sizeof(old));
    va_start(args, format);
    n = vsnprintf(err->text, sizeof(err->text), format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof(err->text))
        snprintf(err->text + n, sizeof(err->text) - (size_t)n, ": %s", old);
    return -1;
}
