import type { Column } from '../../format/result.ts';
import type { Layout } from './table.ts';

type IdColumn = Pick<Column, 'name' | 'value'> & {
  /** Whether a row's number stands for its id. */
  readonly isNumbered: boolean;
};

/**
 * What a table found no room for, and how to see it: one line that does not wrap for the hidden columns, and one for an
 * id that was cut, since the next command needs it whole.
 * @param id the column of the id; what it shows is not the id itself where it has a `value` of its own.
 * @param width columns of the terminal that the lines are read on; undefined where it is none.
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
  const say = (named: number): string => {
    const rest = named < names.length ? ` and ${names.length - named} more` : '';
    const columns = names.length === 1 ? 'column' : 'columns';
    return `${names.length} ${columns} hidden: ${names.slice(0, named).join(', ')}${rest}; widen the terminal or use -o json`;
  };
  let named = names.length;
  while (named > 1 && say(named).length > width) named -= 1;
  return say(named);
}
