import { type Html, html } from '../../platform/html.ts';
import { inert } from './inert.ts';

export interface PageColumn {
  readonly name: string;
  /** Amounts and counts: to the right. */
  readonly isNumber?: boolean;
  /** Words: never broken within one as long as the page can be scrolled. */
  readonly isProse?: boolean;
}

/** A table for a page; a row of `totals` is set apart at its end. Cells are text as it stands anywhere. */
export function pageTable(
  columns: readonly PageColumn[],
  rows: readonly (readonly string[])[],
  totals: readonly (readonly string[])[] = [],
): Html {
  const cell = (text: string, at: number): Html => {
    if (columns[at]?.isNumber) return html`<td class="number">${inert(text)}</td>`;
    return columns[at]?.isProse ? html`<td class="prose">${inert(text)}</td>` : html`<td>${inert(text)}</td>`;
  };
  const line = (cells: readonly string[]): Html => html`<tr>${cells.map(cell)}</tr>
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
