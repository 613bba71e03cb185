/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_texts.h - part of the build: examples and descriptions for openapi.json
 *
 * "examples": by operationId an example of its "body" or of its "answer". A text is an
 * example of text/plain if the operation lists that type, else of the first media type.
 * "fields": descriptions of members and parameters without their own, by name, or by
 * "Schema.name" where the name has another meaning. */
#ifndef RINGBENCH_SERVER_API_OPENAPI_TEXTS_H
#define RINGBENCH_SERVER_API_OPENAPI_TEXTS_H

#include <jansson.h>

/* Add the examples and descriptions to an otherwise complete document. An unused text
 * fails the build. */
void openapi_add_texts(json_t *document, json_t *texts);

#endif
