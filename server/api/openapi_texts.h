/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_texts.h - adds examples and descriptions to openapi.json during the build
 *
 * "examples" contains, by operationId, an example of the operation's "body" or "answer".
 * An example that is a string applies to text/plain if the operation lists that type,
 * otherwise to the first media type. "fields" contains descriptions of members and
 * parameters that have none in openapi.json. The key is a member's name, or "Schema.name"
 * where the name has another meaning. */
#ifndef RINGBENCH_SERVER_API_OPENAPI_TEXTS_H
#define RINGBENCH_SERVER_API_OPENAPI_TEXTS_H

#include <jansson.h>

/* Add the examples and descriptions to a document that is complete except for these
 * texts. The build fails if no operation or member uses a text. */
void openapi_add_texts(json_t *document, json_t *texts);

#endif
