/* SPDX-License-Identifier: Apache-2.0 */
/* error.h - an error as a code for programs and a sentence for users */
#ifndef RINGBENCH_COMMON_BASE_ERROR_H
#define RINGBENCH_COMMON_BASE_ERROR_H

enum error_code {
    ERROR_NONE = 0,
    ERROR_INVALID,     /* the caller's input is wrong */
    ERROR_NOT_FOUND,   /* it does not exist */
    ERROR_DENIED,      /* the caller is not who it says it is */
    ERROR_CONFLICT,    /* it exists already, or is in a state that forbids this */
    ERROR_LIMIT,       /* a stated limit is exceeded */
    ERROR_UNSUPPORTED, /* valid, but this build or backend cannot do it */
    ERROR_MEMORY,      /* out of memory */
    ERROR_IO,          /* the system or the network failed */
    ERROR_TIMEOUT,     /* a deadline passed */
    ERROR_PEER,        /* a peer died, closed the connection or sent invalid data */
    ERROR_UNREACHABLE, /* a peer no longer responds */
    ERROR_UNAVAILABLE, /* temporary: try again later */
    ERROR_INTERNAL     /* a bug in ringbench */
};

struct error {
    enum error_code code;
    char text[512];
};

/* Fill *err (may be NULL) and return -1, so that callers can `return error_set(...)`. */
int error_set(struct error *err, enum error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As error_set, with ": " and the text of errno value `errnum` appended. */
int error_set_errno(struct error *err, enum error_code code, int errnum,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Put "context: " before the text that *err already holds; returns -1. */
int error_prefix(struct error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#ifdef __clang_analyzer__
/* The analyzer sees one file at a time. Without this macro it would follow paths on which
 * these failures count as success. */
#define error_set(...) (error_set(__VA_ARGS__), -1)
#define error_set_errno(...) (error_set_errno(__VA_ARGS__), -1)
#define error_prefix(...) (error_prefix(__VA_ARGS__), -1)
#endif

#endif
