/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_schema.h - part of the build: the short notation of schemas in openapi.json
 *
 * In place of a schema, a text can be "TYPE" or "TYPE: description". TYPE is
 *   string integer number boolean object   as in JSON Schema
 *   count             an integer, at least 0
 *   time              a string with the format date-time
 *   integer 1..64     with minimum and optional maximum; also for number
 *   a|b|c             one of these strings
 *   [TYPE] {TYPE}     an array, or an object with values, of the type
 *   Name              a reference to the schema with that name
 *   TYPE?             the type or null
 * {"closed": {name: schema}} is an object that has these members and no others,
 * {"open": ...} one that may have others. A member whose name ends with "?" is optional.
 * {"closed?": ...} may be null. {"like": Name, "without": [names], "closed": ...} is an
 * object like that schema's, without some members and with others. */
#ifndef RINGBENCH_SERVER_API_OPENAPI_SCHEMA_H
#define RINGBENCH_SERVER_API_OPENAPI_SCHEMA_H

#include <jansson.h>

/* The schema in full; a new reference. known: the schemas by name, in full as far as
 * `like` needs them. */
json_t *openapi_schema(json_t *schema, const json_t *known);

/* {"$ref": "#/components/GROUP/NAME"} */
json_t *openapi_ref(const char *group, const char *name);

#endif
