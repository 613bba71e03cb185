/* vectors.test.mjs - the page computes what the server computes: tests/vectors is run by
 * the C units, too */
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {busFactor} from '../../../web/js/stats.mjs';
import {formatSize, parseSize} from '../../../web/js/units.mjs';

const vectors = name =>
  JSON.parse(readFileSync(new URL(`../../vectors/${name}.json`, import.meta.url)));

test('bus factors come from the facts that the server gives', () => {
  const {served, factors} = vectors('collectives');
  assert.equal(factors.length, served.collectives.length);
  for (const {collective, at} of factors) {
    const facts = served.collectives.find(({name}) => name === collective);
    for (const [n, factor] of at) {
      assert.ok(Math.abs(busFactor(facts, n) - factor) < 1e-12, `${collective} of ${n}`);
    }
  }
});

test('sizes are read and written alike', () => {
  const {read, refused, written} = vectors('sizes');
  read.forEach(([text, bytes]) => assert.equal(parseSize(text), bytes, text));
  refused.forEach(text => assert.equal(parseSize(text), null, text));
  for (const [bytes, text] of written) {
    assert.equal(formatSize(bytes), text);
    assert.equal(parseSize(text), bytes);
  }
});
