import { type Content, html } from '../../platform/html.ts';
import { prettyJson } from './parts.ts';

/** Maximum number of lines to compare. Comparing more lines would take too long. */
const maxLines = 600;
/** Number of unchanged lines shown around a change. */
const context = 3;

interface Line {
  readonly kind: 'same' | 'gone' | 'new';
  readonly text: string;
}

/** Compares two JSON texts line by line, and marks removed and added lines. */
export function difference(before: string, after: string): Content {
  const [one, other] = [before, after].map((json) => prettyJson(json).split('\n').slice(0, maxLines));
  const lines = compared(one ?? [], other ?? []);
  const changed = lines.filter(({ kind }) => kind !== 'same').length;
  if (changed === 0) return html`<p class="soft">No difference.</p>`;
  return html`<p class="soft">${changed} ${changed === 1 ? 'line' : 'lines'} differ.</p><pre class="diff" tabindex="0">${shown(lines)}</pre>`;
}

function shown(lines: readonly Line[]): Content {
  const isNear = (index: number): boolean =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(({ kind }) => kind !== 'same');
  return lines.map(({ kind, text }, index) => {
    if (kind === 'gone') return html`<del>− ${text}</del>\n`;
    if (kind === 'new') return html`<ins>+ ${text}</ins>\n`;
    if (isNear(index)) return html`  ${text}\n`;
    return isNear(index - 1) || index === 0 ? '  …\n' : null;
  });
}

/** Finds the longest common subsequence of two texts. All other lines were removed or added. */
function compared(before: readonly string[], after: readonly string[]): Line[] {
  const width = after.length + 1;
  const lengths = new Uint16Array((before.length + 1) * width);
  const lengthAt = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1)
    for (let column = after.length - 1; column >= 0; column -= 1)
      lengths[row * width + column] =
        before[row] === after[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const [gone, added] = [before[row], after[column]];
    if (gone !== undefined && gone === added) {
      lines.push({ kind: 'same', text: gone });
      row += 1;
      column += 1;
    } else if (
      gone !== undefined &&
      (added === undefined || lengthAt(row + 1, column) >= lengthAt(row, column + 1))
    ) {
      lines.push({ kind: 'gone', text: gone });
      row += 1;
    } else {
      lines.push({ kind: 'new', text: added ?? '' });
      column += 1;
    }
  }
  return lines;
}
