/* safe_regex.h - POSIX extended regular expressions that someone else wrote: those whose
 * compiling or matching can take unbounded time or memory are refused */
#ifndef RINGBENCH_COMMON_SAFE_REGEX_H
#define RINGBENCH_COMMON_SAFE_REGEX_H

#include <regex.h>

#include "common/error.h"

#define SAFE_REGEX_MAX 256 /* bytes of a pattern */

/* As regcomp with REG_EXTENDED and `flags`. -1 with the reason when it is no regular
 * expression, too long, refers back (exponential in glibc), or repeats so often that the
 * compiled form is large. Release a compiled one with regfree. */
int safe_regex_compile(regex_t *regex, const char *pattern, int flags, struct error *err);

#endif
