/* SPDX-License-Identifier: Apache-2.0 */
/* jsx.mjs - lets node import the page's JSX, compiled by esbuild: import this module first, then
 * with import() the one that draws */
import { register } from 'node:module';

register(
  `data:text/javascript,${encodeURIComponent(`
    import { execFileSync } from 'node:child_process';
    import { readFileSync } from 'node:fs';
    import { fileURLToPath } from 'node:url';
    export async function load(url, context, next) {
      if (!url.endsWith('.jsx')) return next(url, context);
      const options = ['--loader=jsx', '--jsx=automatic', '--jsx-import-source=preact'];
      const source = execFileSync('esbuild', options, { input: readFileSync(fileURLToPath(url)) });
      return { format: 'module', shortCircuit: true, source: String(source) };
    }`)}`,
);
