/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_data.h - openapi.json as bytes. The build generates openapi_data.c. */
#ifndef RINGBENCH_SERVER_API_OPENAPI_DATA_H
#define RINGBENCH_SERVER_API_OPENAPI_DATA_H

#include <stddef.h>

extern const unsigned char openapi_data[];
extern const size_t openapi_data_len;

#endif
