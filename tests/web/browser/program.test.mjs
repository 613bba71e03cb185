/* SPDX-License-Identifier: Apache-2.0 */
/* program.test.mjs - the page of a run that runs a program, by a real server and agent */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after } from 'node:test';
import { startCluster } from '../../integration/lib/cluster.mjs';
import { binDir, buildDir, tempDir } from '../../integration/lib/fixture.mjs';
import { closeBrowser, openPage, pageTest as test, patience, skip } from '../lib/page.mjs';

after(closeBrowser);

const needed = [
  path.join(binDir, 'ringbench-server'),
  path.join(buildDir, 'share/ringbench/web/index.html'),
].find((file) => !fs.existsSync(file));
const LIMIT = {
  timeout: 120000 * patience,
  skip: skip || (needed && `${needed} is not built`),
};

function configDir(t) {
  const dir = tempDir(t);
  fs.mkdirSync(path.join(dir, 'programs.d'));
  fs.writeFileSync(
    path.join(dir, 'programs.d', 'speed.json'),
    JSON.stringify({
      argv: ['printf', 'speed: 1.5\\nspeed: 2.5\\n'],
      metrics: [
        {
          name: 'speed',
          unit: 'samples/s',
          higher_is_better: true,
          regex: 'speed: ([0-9.]+)',
        },
      ],
    }),
  );
  return dir;
}

test('the page shows what a program printed', LIMIT, async (t) => {
  const { server } = await startCluster(t, 2, { agent: { args: ['--config-dir', configDir(t)] } });
  const { id } = await server.run({ program: { name: 'speed' } });
  const run = await server.runEnds(id);
  assert.equal(run.state, 'completed', run.reason);
  const { page, errors } = await openPage(t);
  await page.goto(`${server.url}/runs/${id}`);
  /* The innermost of the sections that have it. */
  const figures = page.locator('section', { hasText: 'Figures of the program' }).last();
  const row = figures.locator('tbody tr');
  await row.waitFor();
  assert.equal((await row.innerText()).split(/\s+/).join(' '), 'speed all ranks samples/s 2.5 2 1.5 2.5 4 2');
  assert.deepEqual(await page.getByRole('heading', { name: 'Figures', exact: true }).count(), 0);
  assert.deepEqual(errors, []);
});
