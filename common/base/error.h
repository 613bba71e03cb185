/* SPDX-License-Identifier: Apache-2.0 */
/* error.h - represents an error as a code for programs and a sentence for users */
#ifndef RINGBENCH_COMMON_BASE_ERROR_H
#define RINGBENCH_COMMON_BASE_ERROR_H

enum error_code {
    ERROR_NONE = 0,
    ERROR_INVALID,     /* the caller's input is wrong */
    ERROR_NOT_FOUND,   /* the requested object does not exist */
    ERROR_DENIED,      /* the caller cannot prove its identity */
    ERROR_CONFLICT,    /* the object exists already, or its state forbids the operation */
    ERROR_LIMIT,       /* a stated limit is exceeded */
    ERROR_UNSUPPORTED, /* the input is valid, but this build or backend does not support
                          it */
    ERROR_MEMORY,      /* out of memory */
    ERROR_IO,          /* the system or the network failed */
    ERROR_TIMEOUT,     /* a deadline passed */
    ERROR_PEER,        /* a peer died, closed the connection or sent invalid data */
    ERROR_UNREACHABLE, /* a peer no longer responds */
    ERROR_UNAVAILABLE, /* a temporary condition; a later attempt can succeed */
    ERROR_INTERNAL     /* a bug in ringbench */
};

struct error {
    enum error_code code;
    char text[512];
};

/* Fill *err (may be NULL) and return -1, so that callers can `return error_set(...)`. */
int error_set(struct error *err, enum error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As error_set(), but append ": " and the text of the errno value `errnum`. */
int error_set_errno(struct error *err, enum error_code code, int errnum,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Put the formatted text and ": " before the text in *err. Returns -1. */
int error_prefix(struct error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#ifdef __clang_analyzer__
/* The static analyzer sees one file at a time, so without these macros it would assume
 * that the functions can return 0. */
#define error_set(...) (error_set(__VA_ARGS__), -1)
#define error_set_errno(...) (error_set_errno(__VA_ARGS__), -1)
#define error_prefix(...) (error_prefix(__VA_ARGS__), -1)
#endif

#endif
