import { isNarrow, type Measure } from '../../format/width.ts';
import { gap, type PlacedColumn } from './layout.ts';

export interface Cell {
  /** Plain, and cut to its column where it may be. */
  readonly text: string;
  readonly paint?: (text: string) => string;
}

/** Stands for a column of a text that cli-table3 would measure wrongly; in no narrow text. */
const placeholder = '\ue000';

const unpainted = (text: string): string => text;

const borderless = {
  chars: {
    top: '',
    'top-mid': '',
    'top-left': '',
    'top-right': '',
    bottom: '',
    'bottom-mid': '',
    'bottom-left': '',
    'bottom-right': '',
    left: '',
    'left-mid': '',
    mid: '',
    'mid-mid': '',
    right: '',
    'right-mid': '',
    middle: ' '.repeat(gap),
  },
  style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
};

/**
 * Draws one page, a line for each row, without borders or trailing spaces. cli-table3 measures wide, combining and
 * emoji characters by an older Unicode than terminals do, and cuts a text that is wider than its column: such texts are
 * measured here, and put in place of placeholders of their width. Its time grows with the square of the rows.
 */
export async function drawRows(
  rows: readonly (readonly Cell[])[],
  columns: readonly PlacedColumn[],
  measure: Measure,
): Promise<string[]> {
  const { default: CliTable } = await import('cli-table3');
  const table = new CliTable({
    ...borderless,
    colWidths: columns.map(({ width }) => width),
    colAligns: columns.map(({ align }) => align),
  });
  const measured: string[] = [];
  for (const row of rows) {
    table.push(
      columns.map(({ width, align }, index) => {
        const { text, paint = unpainted }: Cell = row[index] ?? { text: '' };
        if (isNarrow(text) && text.length <= width) return paint(text);
        const spaces = ' '.repeat(Math.max(0, width - measure(text)));
        measured.push(align === 'left' ? paint(text) + spaces : spaces + paint(text));
        return placeholder.repeat(Math.max(1, width));
      }),
    );
  }
  const texts = measured.values();
  return table
    .toString()
    .split('\n')
    .map((line) => line.replace(/\ue000+/g, () => texts.next().value ?? '').trimEnd());
}
