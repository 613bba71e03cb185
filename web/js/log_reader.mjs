/* SPDX-License-Identifier: Apache-2.0 */
/* log_reader.mjs - reads the log lines of a run page by page, and keeps the latest lines. No
 * DOM. */

const LINES_ASKED = 1000;
const LINES_KEPT = 5000;

export class LogReader {
  /** @type {Schema.LogLine[]} */
  lines = [];
  after = 0;
  hasMore = false;
  dropped = 0;

  /* `filter` selects a rank or case. */
  constructor(api, id, filter = {}) {
    this.api = api;
    this.id = id;
    this.filter = Object.entries(filter).filter(([, value]) => value !== null);
  }

  /* Read the next page. Resolves to true if there were new lines. */
  async read() {
    const params = new URLSearchParams([
      ['limit', String(LINES_ASKED)],
      ['after', String(this.after)],
      ...this.filter,
    ]);
    const { lines, next } = await this.api.logs(this.id, params);
    const fresh = lines.filter((line) => line.seq > this.after);
    this.lines.push(...fresh);
    this.after = this.lines[this.lines.length - 1]?.seq ?? this.after;
    this.hasMore = next !== null && next !== undefined;
    const surplus = Math.max(0, this.lines.length - LINES_KEPT);
    this.lines.splice(0, surplus);
    this.dropped += surplus;
    return fresh.length > 0;
  }

  /* Returns the lines that contain `text`, ignoring case. */
  find(text) {
    const wanted = text.toLowerCase();
    return this.lines.filter((line) => line.text.toLowerCase().includes(wanted));
  }
}
