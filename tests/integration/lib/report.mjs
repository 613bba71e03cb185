// SPDX-License-Identifier: Apache-2.0
// report.mjs - a run's report as one file, and what is in it
import assert from 'node:assert/strict';

export const reportOf = (server, id, method = 'GET') =>
  server.request(method, `/api/v1/runs/${id}/report.html`);

export async function page(server, id) {
  const answer = await reportOf(server, id);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.type, 'text/html; charset=utf-8');
  return answer.text;
}

export function dataOf(html) {
  const [, text] = html.match(/<script type="application\/json" id="ringbench-data">([\s\S]*?)<\/script>/);
  return JSON.parse(text);
}

const entities = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };
export const textOf = (html) =>
  html.match(/<pre class="plain">([\s\S]*?)<\/pre>/)[1].replace(/&\w+;/g, (name) => entities[name]);
