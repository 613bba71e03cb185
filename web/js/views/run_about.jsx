/* SPDX-License-Identifier: Apache-2.0 */
/* run_about.jsx - the run's spec, and the meaning of its numbers */
import { useState } from 'preact/hooks';
import { CopyBlock, Fold, Table } from '../parts.jsx';
import { curlLine, prettyJson, shortSpec } from '../spec_text.mjs';
import { busFactor } from '../stats.mjs';
import { useAnswer } from '../ui.jsx';
import { significant } from '../units.mjs';

export function RunSpec({ app, spec = {} }) {
  const env = Object.entries(spec.env ?? {});
  return (
    <section class="card spec">
      <h2>Spec and environment</h2>
      <h3>The same run as a shell command</h3>
      <CopyBlock
        label="the curl command"
        text={curlLine(shortSpec(spec), app.origin ?? location.origin, app.api.token() !== null)}
      />
      <h3>Effective spec</h3>
      <CopyBlock label="the spec" text={prettyJson(spec)} />
      <h3>Environment of the ranks</h3>
      {env.length === 0 ? (
        <p class="muted">The run sets no variables; each agent’s own environment applies.</p>
      ) : (
        <table class="env">
          <tbody>
            {env.map(([name, value]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{value}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

const MEANINGS = [
  [
    'time',
    `Time per call: wall time of the timed calls divided by their number, averaged
    over ranks. The spread in the chart is from the fastest to the slowest rank of
    all repeats.`,
  ],
  ['algbw', 'Algorithm bandwidth: size divided by time. It falls as ranks are added.'],
  [
    'busbw',
    `Bus bandwidth: algbw times the factor below, as nccl-tests defines it. It
    estimates what the busiest link carries, so it can be compared with the link
    speed, and between collectives and rank counts.`,
  ],
  [
    'size',
    `Bytes of the larger of the send and the receive buffer of a rank, after
    rounding to whole elements for each rank.`,
  ],
  ['in place', 'The result overwrites the input. Out of place, it goes to a buffer of its own.'],
  [
    'wrong',
    `Elements with a wrong value, over all ranks. Checked outside of the timed
    calls. A dash: not checked.`,
  ],
  [
    'skipped',
    `Sizes that were not measured, with the reason: too large for the memory, or
    too small for one element per rank.`,
  ],
  ['GB/s', '1,000,000,000 bytes in a second. Sizes are in powers of 1024: 1M is 1,048,576 bytes.'],
];

/* `ranks` is the number of ranks per communicator, or 0 if they differ. */
export function RunMeaning({ app, ranks }) {
  const [isOpen, setOpen] = useState(false);
  const { answer, error } = useAnswer(() => (isOpen ? app.api.collectives() : null), [isOpen]);
  return (
    <Fold title="About these numbers" onToggle={setOpen}>
      <dl class="meanings">
        {MEANINGS.flatMap(([name, text]) => [<dt key={name}>{name}</dt>, <dd key={`${name} is`}>{text}</dd>])}
      </dl>
      <h3>Factor from algbw to busbw</h3>
      {error && <p class="bad">{error.message}</p>}
      <Table
        label="Factors"
        name="env"
        columns={['collective', 'factor', 'this run']}
        rows={(answer?.collectives ?? []).map((fact) => [
          fact.name,
          fact.bus_factor.formula,
          ranks > 0 ? `${significant(busFactor(fact, ranks))} (n = ${ranks})` : '–',
        ])}
      />
    </Fold>
  );
}
