/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_schema.h - part of the build: the short notation of schemas in openapi.json
 *
 * Where a schema stands, a text says "TYPE" or "TYPE: description". TYPE is
 *   string integer number boolean object   as JSON Schema has them
 *   count             an integer from 0 on
 *   time              a string with the format date-time
 *   integer 1..64     with minimum and, if it is there, maximum; also with number
 *   a|b|c             one of these strings
 *   [TYPE] {TYPE}     an array of it, an object with values of it
 *   Name              the schema of that name
 *   TYPE?             or null
 * {"closed": {name: schema}} is an object that has these members and no others,
 * {"open": ...} one that may have others. A name that ends with "?" may be absent.
 * {"closed?": ...} may be null. {"like": Name, "without": [names], "closed": ...} is an
 * object like that schema's, without some of its members and with others. */
#ifndef RINGBENCH_SERVER_API_OPENAPI_SCHEMA_H
#define RINGBENCH_SERVER_API_OPENAPI_SCHEMA_H

#include <jansson.h>

/* The schema in full; a new reference. known: the schemas by name, in full as far as
 * `like` needs them. */
json_t *openapi_schema(json_t *schema, const json_t *known);

/* {"$ref": "#/components/GROUP/NAME"} */
json_t *openapi_ref(const char *group, const char *name);

#endif
