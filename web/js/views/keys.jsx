/* SPDX-License-Identifier: Apache-2.0 */
/* keys.jsx - dialog with the keyboard shortcuts */
import { Dialog } from '../ui.jsx';

/* [where, [[keys, effect], ...]] */
const KEYS = [
  ['Anywhere', [['?', 'list the keys']]],
  [
    'Runs',
    [
      ['/', 'filter'],
      ['↑ ↓ or k j', 'previous, next run'],
      ['x', 'select the run'],
      ['Enter', 'open the run'],
    ],
  ],
  [
    'Charts',
    [
      ['← →', 'read out the previous, the next point'],
      ['Shift ← →', 'select a range; Enter zooms to it'],
      ['0', 'show all'],
      ['Enter', 'in a trend: compare the run'],
      ['Escape', 'close the readout, leave the full screen'],
    ],
  ],
  [
    'Maps of pairs and ranks',
    [
      ['↑ ↓ ← →', 'read out a cell'],
      ['Enter', 'open the cell'],
    ],
  ],
  ['Tabs', [['← → Home End', 'choose a tab']]],
];

export const Keys = ({ onClose }) => (
  <Dialog title="Keys" onSubmit={() => true} onClose={onClose}>
    {KEYS.map(([where, keys]) => (
      <section key={where}>
        <h3>{where}</h3>
        <dl class="facts">
          {keys.map(([key, effect]) => [<dt key={key}>{key}</dt>, <dd key={effect}>{effect}</dd>])}
        </dl>
      </section>
    ))}
    <div class="actions">
      <button type="submit" class="primary">
        Close
      </button>
    </div>
  </Dialog>
);
