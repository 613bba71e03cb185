/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - allocates memory, and ends the program if memory runs out */
#ifndef RINGBENCH_COMMON_BASE_MEMORY_H
#define RINGBENCH_COMMON_BASE_MEMORY_H

#include <stddef.h>

/* Log the purpose `what` of the failed allocation and end the process. The next process
 * resumes from the state on disk, which is safer than an incomplete answer. */
_Noreturn void memory_out(const char *what);

/* Allocate zeroed memory as calloc() does, without failing; see memory_out() for `what`.
 */
void *memory_zeroed(size_t count, size_t size, const char *what);

/* Copy a text as strdup() does, without failing. Return NULL for NULL. */
char *memory_text(const char *text, const char *what);

/* Resize to n items as realloc() does, without failing. */
void *memory_resized(void *items, size_t n, size_t size, const char *what);

/* Make room for one more item in an array of n items (NULL if n is 0) by doubling its
 * capacity. Return the array. */
void *memory_grown(void *items, size_t n, size_t *capacity, size_t size,
                   const char *what);

#endif
