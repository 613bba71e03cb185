// SPDX-License-Identifier: Apache-2.0
// states.test.mjs - docs/reference/states.md, held against what the server says of itself
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';

import { startServer } from './lib/cluster.mjs';
import { patience } from './lib/fixture.mjs';

test('docs/reference/states.md has every state', { timeout: 60000 * patience }, async (t) => {
  const { schemas } = (await (await startServer(t)).get('/openapi.json')).components;
  const page = fs.readFileSync(new URL('../../docs/reference/states.md', import.meta.url), 'utf8');
  for (const title of ['Run', 'Case', 'Rank', 'Node']) {
    const [, part] = page.match(new RegExp(`^## ${title}\\n([^]*?)(?=^## |$(?![^]))`, 'm'));
    const rows = [...part.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    assert.deepEqual(rows, schemas[title].properties.state.enum, title);
  }
});
