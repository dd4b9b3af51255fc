import { createHash } from 'node:crypto';
import type { Mood } from '../../api/order-state.ts';
import { type Html, html } from '../../platform/html.ts';
import { safeText } from '../../platform/redact/safe-text.ts';

export interface PageSection {
  readonly heading: string;
  readonly body: Html | readonly Html[];
  /** Lines below the section. */
  readonly notes?: readonly string[];
}

interface Page {
  readonly title: string;
  /** One-line summary of the page. */
  readonly headline?: string;
  /** Lines below the title. */
  readonly about: readonly string[];
  /** Lines at the end of the page: when, from where and by which program it was made. */
  readonly footer?: readonly string[];
  readonly sections: readonly PageSection[];
}

const style = `:root{color-scheme:light dark;--ground:#fff;--ink:#1a1c20;--faint:#5c6370;--line:#d8dce3;--bar:#3b6fd4;--warn:#a33;--good:#17703f;--wait:#7f5700}
@media (prefers-color-scheme:dark){:root{--ground:#15171b;--ink:#e6e8ec;--faint:#9aa3b2;--line:#353a43;--bar:#7aa5ff;--warn:#ff8a80;--good:#6fd39a;--wait:#e5b95c}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;overflow-wrap:anywhere;padding:2rem 1rem;background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
h1{font-size:1.6rem;margin:0}
h2{font-size:1.15rem;margin:2rem 0 .5rem}
p{margin:.25rem 0}
.note,figcaption{color:var(--faint);font-size:.9rem}
.warning,.bad{color:var(--warn)}
.good{color:var(--good)}
.waiting{color:var(--wait)}
.headline{font-size:1.35rem;margin:.35rem 0 .6rem}
footer{margin-top:2rem;border-top:1px solid var(--line)}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .6rem;text-align:left;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
th:first-child:not(.number),td:first-child:not(.number){min-width:8rem}
th{white-space:nowrap}
.number{text-align:right;white-space:nowrap}
.prose{min-width:11rem}
tfoot td{font-weight:600;border-top:2px solid var(--line)}
figure{margin:.5rem 0}
.bars{list-style:none;margin:0;padding:0}
.bars li{display:grid;grid-template-columns:12rem minmax(0,1fr) fit-content(40%);gap:0 .75rem;align-items:center;padding:.15rem 0;font-size:.9rem}
.label{overflow-wrap:anywhere}
.value{font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.bar{display:block;width:100%;height:.9rem;fill:var(--bar)}
@media (max-width:40rem){body{padding:1rem .75rem}.bars li{grid-template-columns:minmax(0,1fr) fit-content(60%)}.bars .bar{grid-row:2;grid-column:1/-1;height:.6rem}table{font-size:.85rem}th,td{padding:.3rem .4rem}}
@page{size:landscape;margin:12mm}
@media print{:root{color-scheme:light;--ground:#fff;--ink:#000;--faint:#444;--line:#bbb;--bar:#3b6fd4;--warn:#a33;--good:#17703f;--wait:#7f5700}thead{display:table-header-group}h2{break-after:avoid}body{max-width:none;padding:0}.wide{overflow:visible}table{font-size:.75rem}th,td{padding:.2rem .35rem;white-space:normal;min-width:0!important}td.number{white-space:nowrap}tr{break-inside:avoid}}
`;

const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'`;

/**
 * Renders a self-contained page without scripts or external resources. It is light or dark, as the reader prefers.
 * Untrusted text stays plain text.
 */
export function pageText({ title, headline, about, sections, footer = [] }: Page): string {
  const lines = (texts: readonly string[]): Html[] =>
    texts.map(
      (text) => html`<p class="note">${inert(text)}</p>
`,
    );
  // The style is trusted: its hash in the content security policy covers exactly these bytes.
  const head = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>${style}</style>
`;
  return `${head}${
    html`<title>${inert(title)}</title>
</head>
<body>
<header><h1>${inert(title)}</h1>${headline !== undefined && html`<p class="headline">${inert(headline)}</p>`}
${lines(about)}</header>
<main>
${sections.map(
  ({ heading, body, notes = [] }) => html`<section><h2>${inert(heading)}</h2>
${body}${lines(notes)}</section>
`,
)}</main>${footer.length > 0 && html`<footer>${lines(footer)}</footer>`}
</body>
</html>
`.text
  }`;
}

/**
 * Prepares untrusted text for a page: puts it on one line, truncates it, and makes control and invisible characters
 * visible. The result is not escaped yet.
 */
const inert = (text: string, limit = 500): string => safeText(text, limit);

export interface Bar {
  readonly label: string;
  /** The length of the bar. If the value is negative, no bar is drawn. */
  readonly value: number;
  /** Text at the end of the bar: `$12.34`. */
  readonly text: string;
}

const maxLabelLength = 80;
/** Maximum number of bars in a chart. The table next to the chart has all values. */
const maxBars = 60;

/**
 * Draws horizontal bars. Labels and values are text that wraps, so that people can read them on phones, too. Bars are
 * inline SVG in the page's colors. @param title is for screen readers. @param isByTime keeps the last bars, rather than
 * the first ones, if there are too many.
 */
export function barChart(title: string, bars: readonly Bar[], { isByTime = false } = {}): Html {
  const drawn = isByTime ? bars.slice(-maxBars) : bars.slice(0, maxBars);
  const max = Math.max(1, ...drawn.map(({ value }) => value));
  const left = bars.length - drawn.length;
  const rows = drawn.map(({ label, value, text }) => {
    const length = Math.max(0, Math.round((value / max) * 1000) / 10);
    return html`<li><span class="label">${inert(label, maxLabelLength)}</span><svg class="bar" aria-hidden="true" viewBox="0 0 100 10" preserveAspectRatio="none"><rect width="${length}" height="10"/></svg><span class="value">${inert(text)}</span></li>
`;
  });
  return html`<figure><ul class="bars" aria-label="${inert(title)}">
${rows}</ul>${left > 0 && html`<figcaption>${left} more in the table.</figcaption>`}</figure>
`;
}

export interface PageColumn {
  readonly name: string;
  /** Whether the column contains amounts or counts, which are right-aligned. */
  readonly isNumber?: boolean;
  /** Whether the column contains prose. Words of prose are never broken, as long as the page can scroll. */
  readonly isProse?: boolean;
}

/** Text of a cell. If the outcome is known, the cell has a mood, which determines its color. */
type Cell = string | { readonly text: string; readonly mood: Mood };

/** Renders a table for a page. Rows of `totals` are set apart at the end. Cells may contain any text. */
export function pageTable(
  columns: readonly PageColumn[],
  rows: readonly (readonly Cell[])[],
  totals: readonly (readonly string[])[] = [],
): Html {
  const cell = (given: Cell, at: number): Html => {
    const { text, mood = '' } = typeof given === 'string' ? { text: given } : given;
    if (mood !== '')
      return html`<td class="${columns[at]?.isProse ? 'prose ' : ''}${mood}">${inert(text)}</td>`;
    if (columns[at]?.isNumber) return html`<td class="number">${inert(text)}</td>`;
    return columns[at]?.isProse ? html`<td class="prose">${inert(text)}</td>` : html`<td>${inert(text)}</td>`;
  };
  const line = (cells: readonly Cell[]): Html => html`<tr>${cells.map(cell)}</tr>
`;
  return html`<div class="wide" tabindex="0"><table><thead><tr>${columns.map(({ name, isNumber }) =>
    isNumber
      ? html`<th scope="col" class="number">${inert(name)}</th>`
      : html`<th scope="col">${inert(name)}</th>`,
  )}</tr></thead>
<tbody>${rows.map(line)}</tbody>
${totals.length > 0 && html`<tfoot>${totals.map(line)}</tfoot>`}</table></div>
`;
}
