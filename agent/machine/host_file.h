/* SPDX-License-Identifier: Apache-2.0 */
/* host_file.h - reads small text files of /proc and /sys */
#ifndef RINGBENCH_AGENT_MACHINE_HOST_FILE_H
#define RINGBENCH_AGENT_MACHINE_HOST_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

FILE *host_file_open(const char *root, const char *path);

/* Without the newline. False if there is no line. */
bool host_file_line(const char *root, const char *path, char *line, size_t size);

/* The value of the first line "KEY<blanks>SEPARATOR<blanks>VALUE". */
bool host_file_value(const char *root, const char *path, const char *key, char separator,
                     char *value, size_t size);

/* This process's cgroup of version 2, "" for the root. Returns false if there is none. */
bool host_file_cgroup(const char *root, char *path, size_t size);

#endif
