/* SPDX-License-Identifier: Apache-2.0 */
/* curl_loop.h - libcurl's multi interface on a uv loop */
#ifndef RINGBENCH_AGENT_LINK_CURL_LOOP_H
#define RINGBENCH_AGENT_LINK_CURL_LOOP_H

#include <curl/curl.h>
#include <uv.h>

#include "common/base/error.h"

struct curl_loop;

/* Called when a transfer has ended; the easy handle is out of the multi handle by then.
 */
typedef void (*curl_loop_done_fn)(CURL *easy, CURLcode code);

/* So many connections are kept open when nothing goes over them. curl_global_init must
 * have been called. */
struct curl_loop *curl_loop_create(uv_loop_t *loop, long connections,
                                   curl_loop_done_fn on_done);

/* No transfer may be left. NULL is fine. */
void curl_loop_destroy(struct curl_loop *loop);

/* Start a transfer. */
int curl_loop_add(struct curl_loop *loop, CURL *easy, struct error *err);

/* End a transfer without calling on_done. */
void curl_loop_remove(struct curl_loop *loop, CURL *easy);

#endif
