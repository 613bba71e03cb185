/* SPDX-License-Identifier: Apache-2.0 */
/* xml.mjs - writes XML from plain values and from preact elements without hooks. No DOM. */

/* XML forbids most control characters, so they are removed. */
export const escapeXml = (text) =>
  String(text)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

export function tag(name, attributes, content = '') {
  const list = Object.entries(attributes)
    .filter(([key, value]) => value !== undefined && value !== null && key !== 'children')
    .map(([key, value]) => ` ${key}="${escapeXml(value)}"`)
    .join('');
  return `<${name}${list}>${content}</${name}>`;
}

/** @returns {string} */
export function toXml(node) {
  if (Array.isArray(node)) {
    return node.map(toXml).join('');
  }
  if (node === null || node === undefined || typeof node === 'boolean') {
    return '';
  }
  if (typeof node !== 'object') {
    return escapeXml(node);
  }
  return typeof node.type === 'function'
    ? toXml(node.type(node.props))
    : tag(node.type, node.props, toXml(node.props.children));
}
