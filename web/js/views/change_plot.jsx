/* SPDX-License-Identifier: Apache-2.0 */
/* change_plot.jsx - chart of the change at each size, with the sizes where settings cross */
import { useState } from 'preact/hooks';
import { changePanel } from '../change_model.mjs';
import { Panels } from '../panels.jsx';
import { flipped } from '../ui.jsx';
import { useTheme } from '../theme.jsx';

export function ChangePlot({ answer }) {
  const theme = useTheme();
  const [keys, setKeys] = useState([]);
  const panel = changePanel(answer, keys, theme);
  return (
    panel && (
      <section class="card chart-card" aria-label="Change by size">
        <Panels
          panels={[panel]}
          spread
          mark=""
          name="Changes"
          onToggle={(key) => setKeys(flipped(keys, key))}
        />
        <p class="muted">
          Error bars: 95 % confidence interval of each single size, not corrected for multiple testing.
        </p>
      </section>
    )
  );
}
