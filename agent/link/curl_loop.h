/* SPDX-License-Identifier: Apache-2.0 */
/* curl_loop.h - runs libcurl's multi interface on a uv loop */
#ifndef RINGBENCH_AGENT_LINK_CURL_LOOP_H
#define RINGBENCH_AGENT_LINK_CURL_LOOP_H

#include <curl/curl.h>
#include <uv.h>

#include "common/base/error.h"

struct curl_loop;

/* Called after a transfer has ended and its easy handle has left the multi handle. */
typedef void (*curl_loop_done_fn)(CURL *easy, CURLcode code);

/* `connections` limits the idle connections that stay open. The caller has called
 * curl_global_init. */
struct curl_loop *curl_loop_create(uv_loop_t *loop, long connections,
                                   curl_loop_done_fn on_done);

/* Destroy the loop after all transfers have ended. Accepts NULL. */
void curl_loop_destroy(struct curl_loop *loop);

int curl_loop_add(struct curl_loop *loop, CURL *easy, struct error *err);

/* End a transfer without calling on_done. */
void curl_loop_remove(struct curl_loop *loop, CURL *easy);

#endif
