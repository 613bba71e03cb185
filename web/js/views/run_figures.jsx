/* SPDX-License-Identifier: Apache-2.0 */
/* run_figures.jsx - table of figures reported by a program, over all ranks and for rank 0 */
import { Head, Region } from '../parts.jsx';

const COLUMNS = ['metric', 'series', 'unit', 'last', 'mean', 'lowest', 'highest', 'count'];

export function RunFigures({ state, program }) {
  const items = [...state.metrics.values()].flatMap(linesOf);
  const hasRank0 = items.some(({ rank0 }) => rank0?.count);
  if (!program && items.length === 0) {
    return null;
  }
  return (
    <section class="card">
      <h2>
        Figures of the program<span class="muted note">{program?.name}</span>
      </h2>
      {items.length === 0 ? (
        <p class="muted">No figures yet.</p>
      ) : (
        <Region label="Figures">
          <table class="list">
            <caption class="visually-hidden">Figures: one row per metric and line</caption>
            <Head columns={hasRank0 ? [...COLUMNS, 'rank 0, mean'] : COLUMNS} isNumber={(i) => i > 2} />
            <tbody>
              {items.map(({ metric, label, sum, rank0 }) => (
                <tr key={`${metric.metric}/${label}`}>
                  <th scope="row" title={metric.higherIsBetter ? 'higher is better' : 'lower is better'}>
                    {metric.metric}
                  </th>
                  <td>{label || 'all ranks'}</td>
                  <td>{metric.unit}</td>
                  {[sum.last, sum.sum / sum.count, sum.min, sum.max].map((value, i) => (
                    <td key={COLUMNS[i + 3]} class="number">
                      {number(value)}
                    </td>
                  ))}
                  <td class="number">{sum.count}</td>
                  {hasRank0 && (
                    <td class="number">{number(rank0?.count ? rank0.sum / rank0.count : null)}</td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </Region>
      )}
    </section>
  );
}

/* A metric with a single line has one row, others a row per line. */
function linesOf(metric) {
  if (metric.lines.size < 2) {
    const [line] = metric.lines.values();
    return [
      {
        metric,
        label: line?.label ?? '',
        sum: { ...line?.all, ...metric.all },
        rank0: metric.rank0,
      },
    ];
  }
  return [...metric.lines.values()].map((line) => ({
    metric,
    label: line.label,
    sum: line.all,
    rank0: null,
  }));
}

/* Six digits, so that repeated measurements can be told apart. */
function number(value) {
  return value === null || value === undefined ? '–' : String(Number(value.toPrecision(6)));
}
