/* SPDX-License-Identifier: Apache-2.0 */
/* report_data.h - web/report.html, bundled into one file, as bytes. The build generates
 * report_data.c. Without the web UI, the bytes are a placeholder. */
#ifndef RINGBENCH_SERVER_API_REPORT_DATA_H
#define RINGBENCH_SERVER_API_REPORT_DATA_H

#include <stddef.h>

extern const unsigned char report_data[];
extern const size_t report_data_len;

#endif
