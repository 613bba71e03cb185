/* SPDX-License-Identifier: Apache-2.0 */
/* spec_text.mjs - writes a request as text: shortened, as JSON, and as a shell command. No DOM. */
import { formatSize } from './units.mjs';

/* [8, 16, 32, 64, 128] is {min: 8, max: 128, factor: 2}. Null if the list is no geometric
 * series. */
export function listAsRange(list) {
  const factor = list.length >= 3 ? list[1] / list[0] : NaN;
  const isRange =
    Number.isInteger(factor) &&
    factor > 1 &&
    list.every((size, i) => i === 0 || size === list[i - 1] * factor);
  return isRange ? { min: list[0], max: list[list.length - 1], factor } : null;
}

/* Returns an equivalent of an effective spec: without unset members, and sizes as a range. */
export function shortSpec(spec) {
  const isSaid = (value) =>
    value !== null && value !== '' && (typeof value !== 'object' || Object.keys(value).length > 0);
  const short = {};
  for (const [key, value] of Object.entries(spec)) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    const told =
      isObject && key !== 'matrix'
        ? Object.fromEntries(Object.entries(value).filter(([, part]) => part !== null))
        : value;
    if (isSaid(told)) {
      short[key] = told;
    }
  }
  const range = Array.isArray(spec.sizes) ? listAsRange(spec.sizes) : null;
  if (range) {
    const { min, max, factor } = range;
    short.sizes = { min: formatSize(min), max: formatSize(max), factor };
  }
  return short;
}

/* Returns JSON with lists of plain values on one line. JSON.stringify escapes line ends in
 * strings, so each line end is formatting. */
export const prettyJson = (value) =>
  JSON.stringify(value, null, 2).replace(/\[\n[^[\]{}]*\n *\]/g, (list) =>
    list.replace(/,\n */g, ', ').replace(/\n */g, ''),
  );

const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/* Returns the curl command for a request. The token is a shell variable. */
export function curlLine(spec, origin, withToken) {
  const parts = ['curl -sSN', "-H 'Accept: text/plain'"];
  if (withToken) {
    parts.push('-H "Authorization: Bearer $RINGBENCH_TOKEN"');
  }
  parts.push(`-d ${quote(JSON.stringify(spec))}`, `${origin}/api/v1/runs`);
  return parts.join(' ');
}

/* Returns a key that makes a repeated POST of the same body harmless. crypto.randomUUID does not
 * exist on plain HTTP. */
export function idempotencyKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
