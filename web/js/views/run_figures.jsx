/* SPDX-License-Identifier: Apache-2.0 */
/* run_figures.jsx - table of figures reported by a program, over all ranks and for rank 0 */
import { Table } from '../parts.jsx';

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
        <Table
          label="Figures"
          columns={hasRank0 ? [...COLUMNS, 'rank 0, mean'] : COLUMNS}
          isNumber={(i) => i > 2}
          rows={items.map(({ metric, label, sum, rank0 }) => [
            <span title={metric.higherIsBetter ? 'higher is better' : 'lower is better'}>
              {metric.metric}
            </span>,
            label || 'all ranks',
            metric.unit,
            ...[sum.last, sum.sum / sum.count, sum.min, sum.max].map(number),
            sum.count,
            ...(hasRank0 ? [number(rank0?.count ? rank0.sum / rank0.count : null)] : []),
          ])}
        />
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

/* Formats six digits, so that repeated measurements can be distinguished. */
function number(value) {
  return value === null || value === undefined ? '–' : String(Number(value.toPrecision(6)));
}
