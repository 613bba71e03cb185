/* size.test.mjs - the page stays small: all that is served, as it is served */
import assert from 'node:assert/strict';
import {existsSync, readdirSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';

const WEB = fileURLToPath(new URL('../../../web/', import.meta.url));
const LIBRARY = join(WEB, 'node_modules/uplot/dist/uPlot.iife.min.js');
const LIMIT_BYTES = 300000;

const bytesOf = file => (statSync(file).isDirectory()
    ? readdirSync(file).reduce((sum, name) => sum + bytesOf(join(file, name)), 0)
    : statSync(file).size);

test('the page and its chart library take less than 300 kB',
  {skip: !existsSync(LIBRARY) && 'the chart library is not installed'}, () => {
    const own = ['index.html', 'icon.svg', 'css', 'js'].map(name => join(WEB, name));
    const bytes = [...own, LIBRARY].reduce((sum, file) => sum + bytesOf(file), 0);
    assert.ok(bytes > 100000 && bytes < LIMIT_BYTES, `${bytes} bytes`);
  });
