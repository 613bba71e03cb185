/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_texts.h - part of the build: what openapi.json has for readers alone
 *
 * "examples": by operationId one of its "body" or of its "answer"; a text is one of
 * text/plain where there is that, else the first media type has it. "fields":
 * descriptions of members and parameters that have none of their own, by name, or by
 * "Schema.name" where the name has another meaning. */
#ifndef RINGBENCH_SERVER_API_OPENAPI_TEXTS_H
#define RINGBENCH_SERVER_API_OPENAPI_TEXTS_H

#include <jansson.h>

/* Add them to a document that is complete otherwise. A text that nothing needs ends the
 * build. */
void openapi_add_texts(json_t *document, json_t *texts);

#endif
