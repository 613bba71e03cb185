/* SPDX-License-Identifier: Apache-2.0 */
/* report_data.h - web/report.html as the build made one file of it; the build makes the
 * .c file from that. A byte or so, and no page, without the web UI. */
#ifndef RINGBENCH_SERVER_API_REPORT_DATA_H
#define RINGBENCH_SERVER_API_REPORT_DATA_H

#include <stddef.h>

extern const unsigned char report_data[];
extern const size_t report_data_len;

#endif
