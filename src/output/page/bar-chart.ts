import { type Html, html } from '../../markup.ts';
import { inert } from './inert.ts';

export interface Bar {
  readonly label: string;
  /** Its length beside the others; what is below 0 is drawn as nothing. */
  readonly value: number;
  /** What stands at its end: `$12.34`. */
  readonly text: string;
}

const width = 720;
const rowHeight = 24;
const labelWidth = 200;
const textWidth = 120;
const longestLabel = 28;
/** Most bars of one chart; a table beside it has them all. */
const mostBars = 60;

/**
 * Horizontal bars as inline SVG, whose colours are those of the page. @param title what it shows, for whoever hears it.
 * @param isByTime the last of too many are drawn, in place of the first.
 */
export function barChart(title: string, bars: readonly Bar[], { isByTime = false } = {}): Html {
  const drawn = isByTime ? bars.slice(-mostBars) : bars.slice(0, mostBars);
  const most = Math.max(1, ...drawn.map(({ value }) => value));
  const room = width - labelWidth - textWidth;
  const left = bars.length - drawn.length;
  const rows = drawn.map(({ label, value, text }, index) => {
    const y = index * rowHeight;
    const length = Math.max(0, Math.round((value / most) * room * 10) / 10);
    return html`<g><title>${inert(label)}: ${inert(text)}</title>
<text class="label" x="${labelWidth - 8}" y="${y + 16}" text-anchor="end">${inert(label, longestLabel)}</text>
<rect class="bar" x="${labelWidth}" y="${y + 4}" width="${length}" height="${rowHeight - 8}" rx="2"/>
<text class="value" x="${labelWidth + length + 8}" y="${y + 16}">${inert(text)}</text></g>
`;
  });
  const height = drawn.length * rowHeight;
  return html`<figure><svg role="img" aria-label="${inert(title)}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
${rows}</svg>${left > 0 && html`<figcaption>${left} more in the table.</figcaption>`}</figure>
`;
}
