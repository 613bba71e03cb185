/* SPDX-License-Identifier: Apache-2.0 */
/* run_links.jsx - links from a run to comparisons, and to the nodes and logs named by its
 * failure */
import { pairsOf } from '../matrix.mjs';
import { shorten } from '../units.mjs';
import { compareQuery, formatAddress } from '../url_state.mjs';
import { Button } from '../ui.jsx';

const LAST_RUNS = 5;
const NAMED_MAX = 4;

const compareAddress = (query) => `/compare?${compareQuery(query)}`;

/* `run` is the answer of GET /runs/{id}. `blamed` are the {rank, node} named by the failure. */
export function RunLinks({ run, blamed, change }) {
  const { id, spec } = run;
  const compares =
    run.state === 'completed' && !spec?.program
      ? [
          ['with the baseline', compareAddress({ base: ['baseline'], head: [id] })],
          [
            `with the last ${LAST_RUNS} comparable runs`,
            compareAddress({ base: ['baseline'], head: [id], last: LAST_RUNS }),
          ],
          ...pairsOf(spec).map(({ base, head, label }) => [
            label,
            compareAddress({ base: [id], base_env: base, head: [id], head_env: head }),
          ]),
        ]
      : [];
  const named = blamed.slice(0, NAMED_MAX);
  const nodes = [...new Set(named.map(({ node }) => node).filter(Boolean))];
  const ranks = [...new Set(named.map(({ rank }) => rank).filter((rank) => rank !== null))];
  return (
    <>
      {named.length > 0 && (
        <nav class="run-links" aria-label="Named by the failure">
          <span class="muted">Look at</span>
          {nodes.map((node) => (
            <a key={node} href={formatAddress({ view: 'node', id: node })}>
              {shorten(node, 60)}
            </a>
          ))}
          {run.nodes?.length > 1 &&
            nodes.map((node) => (
              <a
                key={`without ${node}`}
                href={formatAddress({ view: 'new', query: { from: id, without: node } })}
              >
                Run again without {shorten(node, 60)}
              </a>
            ))}
          {ranks.map((rank) => (
            <Button class="quiet" key={rank} onClick={() => change({ tab: 'logs', rank })}>
              Log of rank {rank}
            </Button>
          ))}
        </nav>
      )}
      {compares.length > 0 && (
        <nav class="run-links" aria-label="Compare this run">
          <span class="muted">Compare</span>
          {compares.map(([text, href]) => (
            <a key={text} href={href}>
              {text}
            </a>
          ))}
          <a href={trendAddress(run)}>Trend of comparable runs</a>
        </nav>
      )}
    </>
  );
}

/* Trend of the run's first collective. */
const trendAddress = ({ id, collectives, spec }) =>
  formatAddress({
    view: 'trends',
    query: {
      run: id,
      collective: collectives?.[0] ?? 'all_reduce',
      dtype: spec?.dtypes?.[0] ?? 'float32',
      in_place: spec?.in_place === true ? '1' : '0',
    },
  });
