/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_schema.h - expands the short notation of schemas in openapi.json during the
 * build
 *
 * A schema may be written as a text "TYPE" or "TYPE: description". TYPE is
 *   string integer number boolean object   as in JSON Schema
 *   count             an integer, at least 0
 *   time              a string with the format date-time
 *   integer 1..64     with minimum and optional maximum; also for number
 *   a|b|c             one of these strings
 *   [TYPE] {TYPE}     an array, or an object with values, of the type
 *   Name              a reference to the schema with that name
 *   TYPE?             the type or null
 * {"closed": {name: schema}} is an object with these members and no others, and {"open":
 * ...} is an object that may contain others. A member whose name ends with "?" is
 * optional. {"closed?": ...} may be null. {"like": Name, "without": [names], "closed":
 * ...} extends the schema Name: the object has its members except those in "without", and
 * the members in "closed". */
#ifndef RINGBENCH_SERVER_API_OPENAPI_SCHEMA_H
#define RINGBENCH_SERVER_API_OPENAPI_SCHEMA_H

#include <jansson.h>

/* Return the expanded schema as a new reference. known: schemas by name. A schema to
 * which `like` refers must already be expanded in `known`. */
json_t *openapi_schema(json_t *schema, const json_t *known);

/* Return a new object {"$ref": "#/components/GROUP/NAME"}. */
json_t *openapi_ref(const char *group, const char *name);

#endif
