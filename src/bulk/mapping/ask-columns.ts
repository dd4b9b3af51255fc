import { planColumns } from '../../api/bulk-columns.ts';
import { mapPresets, presetLike } from '../../config/map-presets.ts';
import type { Column } from '../../format/result.ts';
import { refusedBy } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { missingColumns, planTable } from '../columns.ts';
import { type ColumnMap, columnOf, type HeadingMap, nameHeadings, ownName } from '../headings.ts';
import type { FileSample } from './file-sample.ts';
import { likeliest, type MappedColumn, mistakenFor, optionalColumns } from './likeness.ts';

const meanings: Readonly<Record<MappedColumn, string>> = {
  product_url: 'the URL of the product to buy',
  max_price: 'the most that the order may cost',
  name: 'first and last name of who receives it',
  first_name: 'of who receives it',
  last_name: 'of who receives it',
  address_line1: 'street and number',
  address_line2: 'more of the address',
  city: 'where it goes',
  state: 'two letters, such as TX',
  postal_code: 'where it goes',
  phone_number: 'for the carrier',
  country: 'two letters; US without it',
  quantity: 'how many; 1 without it',
};

/** Columns that a file can do without; they are asked about where a heading looks like one. */
const optional: readonly string[] = optionalColumns;

/**
 * Asks which headings are the columns that a file lacks. @returns undefined where it lacks none, or has too few headings.
 * @throws ErrandError interrupted.
 */
export async function askColumns(
  context: Context,
  name: string,
  sample: FileSample,
  given: HeadingMap,
): Promise<HeadingMap | undefined> {
  if (refusedBy(() => planTable(name, sample.headings, given))('') === undefined) return undefined;
  if (lackingIn(sample, given).length === 0 || sample.headings.length < 2) return undefined;
  context.note(`${name} has no column for ${lackingIn(sample, given).join(', ')}; choose their headings`);
  const preset = given.preset ?? (await askPreset(context, sample, given));
  let map = given.map;
  for (const column of askedColumns(sample, { map, preset })) {
    const isNeeded = !optional.includes(column);
    let heading = await askHeading(context, column, sample, { map, preset });
    if (heading === undefined && isNeeded && (await choosesAgain(context, name, column)))
      heading = await askHeading(context, column, sample, { map, preset });
    if (heading !== undefined) map = { ...map, [heading]: column };
    else if (isNeeded) break;
    // Who says that none of them is the column keeps them as they are.
    else map = { ...map, ...keptOwn(column, sample, { map, preset }) };
  }
  return { map, preset };
}

function lackingIn({ headings }: FileSample, given: HeadingMap): string[] {
  const names = nameHeadings(headings, given).names.map((name) => columnOf(name) ?? name);
  return missingColumns(planColumns(names), given.preset);
}

/** Who has an export is spared the questions that its preset answers. */
async function askPreset(context: Context, { headings }: FileSample, { map }: HeadingMap) {
  const like = Object.keys(map).length === 0 ? presetLike(headings) : undefined;
  if (!like) return undefined;
  const yes = `yes, like --use-map ${like.name}`;
  const prompt = await context.prompt();
  const question = `It looks like ${like.description.split(';')[0]}. Read it so?`;
  const chosen = await prompt.askChoice(context, question, [yes, 'no, choose each column']);
  return chosen === yes ? mapPresets.get(like.name) : undefined;
}

/** The columns that are needed and lack a heading, in the order of an order, and those that a heading looks like. */
function askedColumns(sample: FileSample, given: HeadingMap): MappedColumn[] {
  const { headings } = sample;
  const lacking = new Set<string>(lackingIn(sample, given));
  const isFree = freeIn(sample, given);
  const looks = (column: MappedColumn): boolean => likeliest(column, headings, isFree) !== undefined;
  if (lacking.has('name') && !looks('name') && looks('first_name') && looks('last_name')) {
    lacking.delete('name');
    lacking.add('first_name').add('last_name');
  }
  const there = new Set(nameHeadings(headings, given).names.map(columnOf));
  for (const column of optionalColumns) if (!there.has(column) && looks(column)) lacking.add(column);
  return (Object.keys(meanings) as MappedColumn[]).filter((column) => lacking.has(column));
}

/** The headings that would be mistaken for a column, as columns of the file's own. */
function keptOwn(column: MappedColumn, sample: FileSample, given: HeadingMap): ColumnMap {
  const isFree = freeIn(sample, given);
  const alike = sample.headings.filter((heading, index) => isFree(index) && mistakenFor(heading) === column);
  return Object.fromEntries(alike.map((heading) => [heading, ownName(heading)]));
}

/** Whether a heading can still be chosen: no map and no preset says what it is. */
function freeIn({ headings }: FileSample, given: HeadingMap): (index: number) => boolean {
  const { names } = nameHeadings(headings, given);
  return (index) => {
    const heading = headings[index] ?? '';
    const isOwn = names[index] === heading || names[index] === `file.${heading}`;
    return heading !== '' && !Object.hasOwn(given.map, heading) && isOwn;
  };
}

const none = 'none of these';

/** An Enter too many does not end the questions: whether a column that a file needs is looked for once more. */
async function choosesAgain(context: Context, name: string, column: MappedColumn): Promise<boolean> {
  const again = 'choose its heading again';
  const question = `${name} cannot be read without ${column}`;
  const chosen = await (await context.prompt()).askChoice(context, question, [again, 'end here']);
  return chosen === again;
}

/** The heading of a column; undefined where there is none. */
async function askHeading(
  context: Context,
  column: MappedColumn,
  sample: FileSample,
  given: HeadingMap,
): Promise<string | undefined> {
  const { headings, cells, row } = sample;
  const isFree = freeIn(sample, given);
  const { names } = nameHeadings(headings, given);
  const suggested =
    likeliest(column, headings, isFree) ?? (column === 'product_url' ? urlIn(sample, isFree) : undefined);
  const rows = headings.flatMap((heading, index) =>
    isFree(index) ? { heading, sample: cells[index] ?? '', is: meaningOf(names[index]) } : [],
  );
  const prompt = await context.prompt();
  const first = rows.find(({ heading }) => suggested !== undefined && heading === headings[suggested]);
  const chosen = await prompt.askRow(context, `${column}: ${meanings[column]}`, rows, columnsOf(row), {
    others: [none],
    // What nothing looks like is not chosen by an Enter.
    first: first ?? none,
  });
  return typeof chosen === 'string' ? undefined : chosen.heading;
}

/** A column whose cell is a URL, where it is the only one. */
function urlIn({ cells }: FileSample, isFree: (index: number) => boolean): number | undefined {
  const urls = cells.flatMap((cell, index) => (isFree(index) && /^https?:\/\//i.test(cell) ? index : []));
  return urls.length === 1 ? urls[0] : undefined;
}

const meaningOf = (name = ''): string => {
  const column = columnOf(name);
  return column === undefined ? '' : `read as ${column}`;
};

const columnsOf = (row: number): readonly Column[] => [
  { name: 'heading', path: 'heading', weight: 10 },
  { name: `row ${row}`, path: 'sample', weight: 9, keeps: 'ends' },
  { name: 'is', path: 'is', weight: 8 },
];

/** What was chosen beyond what was given. */
export const addedTo = (given: ColumnMap, chosen: ColumnMap): ColumnMap =>
  Object.fromEntries(Object.entries(chosen).filter(([heading]) => !Object.hasOwn(given, heading)));
