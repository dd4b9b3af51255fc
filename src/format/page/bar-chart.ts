import { type Html, html } from '../../platform/html.ts';
import { inert } from './inert.ts';

export interface Bar {
  readonly label: string;
  /** Its length beside the others; what is below 0 is drawn as nothing. */
  readonly value: number;
  /** What stands at its end: `$12.34`. */
  readonly text: string;
}

const longestLabel = 80;
/** Most bars of one chart; a table beside it has them all. */
const mostBars = 60;

/**
 * Horizontal bars, each with its label and its value as text that wraps, so that they are read on a telephone too. Bars are
 * inline SVG, whose colours are those of the page. @param title what it shows, for whoever hears it.
 * @param isByTime the last of too many are drawn, in place of the first.
 */
export function barChart(title: string, bars: readonly Bar[], { isByTime = false } = {}): Html {
  const drawn = isByTime ? bars.slice(-mostBars) : bars.slice(0, mostBars);
  const most = Math.max(1, ...drawn.map(({ value }) => value));
  const left = bars.length - drawn.length;
  const rows = drawn.map(({ label, value, text }) => {
    const length = Math.max(0, Math.round((value / most) * 1000) / 10);
    return html`<li><span class="label">${inert(label, longestLabel)}</span><svg class="bar" aria-hidden="true" viewBox="0 0 100 10" preserveAspectRatio="none"><rect width="${length}" height="10"/></svg><span class="value">${inert(text)}</span></li>
`;
  });
  return html`<figure><ul class="bars" aria-label="${inert(title)}">
${rows}</ul>${left > 0 && html`<figcaption>${left} more in the table.</figcaption>`}</figure>
`;
}
