/* heat_svg.mjs - a heat map (heat_map.mjs) as an SVG document of its own. No DOM. */
import { escapeXml, tag } from './xml.mjs';
import { heatColour } from './heat.mjs';

/* The cells of each colour are one path. `tone` is HeatMap's. */
export function heatToSvg(title, grid, tone) {
  const {
    width,
    left,
    foot,
    rows,
    columns,
    cell: [w, h],
    gap,
    font,
    names,
    cells,
  } = grid;
  const height = rows * h + foot;
  const paths = new Map();
  for (const { x, y, shade, isFailed } of cells) {
    const fill = shade ? heatColour(shade) : isFailed ? 'url(#failed)' : tone.ground;
    const at = `M${left + x * w} ${y * h}h${Math.max(1, w - gap)}v${Math.max(1, h - 1)}h-${Math.max(1, w - gap)}z`;
    paths.set(fill, (paths.get(fill) ?? '') + at);
  }
  const hatch = tag(
    'pattern',
    { id: 'failed', width: 4, height: 4, patternUnits: 'userSpaceOnUse' },
    tag('path', { d: 'M0 4L4 0', stroke: tone.bad }),
  );
  const labels = names.map(
    ({ y, text, isNamed }) =>
      tag(
        'text',
        {
          x: 0,
          y: (y + 0.5) * h,
          'dominant-baseline': 'middle',
          'font-size': font,
          fill: isNamed ? tone.text : tone.muted,
        },
        escapeXml(text),
      ) +
      (isNamed
        ? tag('rect', {
            x: left + 1,
            y: y * h,
            width: columns * w,
            height: h,
            fill: 'none',
            stroke: tone.text,
            'stroke-width': 2,
          })
        : ''),
  );
  return tag(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      'font-family': 'sans-serif',
    },
    tag('title', {}, escapeXml(title)) +
      tag('defs', {}, hatch) +
      tag('rect', { width, height, fill: tone.surface }) +
      tag('rect', { x: left, width: columns * w, height: rows * h, fill: tone.blank }) +
      [...paths].map(([fill, d]) => tag('path', { d, ...fillOf(fill) })).join('') +
      labels.join(''),
  );
}

/* "rgb(1 2 3 / 40%)" as every reader of SVG knows it. */
function fillOf(colour) {
  const [, rgb, percent] = /^rgb\((.*) \/ (.*)%\)$/.exec(colour) ?? [];
  return rgb ? { fill: `rgb(${rgb.replaceAll(' ', ',')})`, 'fill-opacity': percent / 100 } : { fill: colour };
}
