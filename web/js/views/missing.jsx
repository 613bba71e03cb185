/* SPDX-License-Identifier: Apache-2.0 */
/* missing.jsx - the view for an unknown address */
import { useEffect } from 'preact/hooks';

export default function Missing({ app }) {
  useEffect(() => app.title('Not found'), []);
  return (
    <>
      <h1>Page not found</h1>
      <p>
        See <a href="/">all runs</a> or <a href="/nodes">all nodes</a>.
      </p>
    </>
  );
}
