import type { Column } from '../../format/result.ts';
import type { Layout } from './table.ts';

type IdColumn = Pick<Column, 'name' | 'value'> & {
  /** Whether row numbers can be used in place of ids. */
  readonly isNumbered: boolean;
};

/**
 * Writes notes about what a table omitted, and how to see it. All hidden columns share one unwrapped line. A truncated
 * id gets a line of its own, because the next command needs the whole id.
 * @param id is the column of the id. If that column has its own `value`, it does not show the id itself.
 * @param width is the terminal width in columns; undefined without a TTY.
 */
export function leftOut(
  { hidden, narrowed }: Pick<Layout, 'hidden' | 'narrowed'>,
  id: IdColumn | undefined,
  width: number | undefined,
): string[] {
  const lines = hidden.length > 0 ? [hiddenColumns(hidden, width ?? Number.POSITIVE_INFINITY)] : [];
  if (id === undefined || !narrowed.includes(id.name)) return lines;
  const first = id.isNumbered ? '@1 names the first row, ' : '';
  return [...lines, `${id.name} is cut short; ${first}${id.value ? '-o json' : '-o id'} prints it whole`];
}

function hiddenColumns(names: readonly string[], width: number): string {
  const render = (named: number): string => {
    const rest = named < names.length ? ` and ${names.length - named} more` : '';
    const columns = names.length === 1 ? 'column' : 'columns';
    return `${names.length} ${columns} hidden: ${names.slice(0, named).join(', ')}${rest}; widen the terminal or use -o json`;
  };
  let named = names.length;
  while (named > 1 && render(named).length > width) named -= 1;
  return render(named);
}
