import { meaningOf, plainHeading } from '../api/bulk-columns.ts';
import type { MapPreset } from '../config/map-presets.ts';
import { isCentsHeading } from './amounts.ts';
import { visible } from './hidden-characters.ts';

/** Headings of a file to the columns they stand for. */
export type ColumnMap = Readonly<Record<string, string>>;

/** What the headings of a file mean, where they do not say it themselves. */
export interface HeadingMap {
  readonly map: ColumnMap;
  /** What an export means in whose headings the file is written; the map goes before it. */
  readonly preset?: MapPreset | undefined;
  /** The saved map that is part of `map`. */
  readonly saved?: { readonly name: string; readonly map: ColumnMap } | undefined;
  /** The file was uploaded before each heading had to be accounted for, and is read as it was then. */
  readonly isAsBefore?: boolean | undefined;
}

/** What a map has for a heading that stays a column of the file's own: its name, in a way that means no column. */
export const ownName = (heading: string): string =>
  columnOf(heading) === undefined ? heading : `file.${heading}`;

/** A heading as maps name it: without what nobody sees, and a space for each break and run of spaces. */
export const foldedHeading = (heading: string): string => visible(heading).replace(/\s+/g, ' ').trim();

/** What a map has for a heading of a file; a column that it keeps has the name that the file gives it. */
export function entryOf(map: ColumnMap, heading: string): string | undefined {
  const key = Object.hasOwn(map, heading) ? heading : foldedHeading(heading);
  if (!Object.hasOwn(map, key)) return undefined;
  return isKeptOwn(map, key) ? ownName(heading) : map[key];
}

/** Whether a map keeps a heading as a column of the file's own. */
export const isKeptOwn = (map: ColumnMap, heading: string): boolean =>
  Object.hasOwn(map, heading) && map[heading] === ownName(heading);

/** The headings of a file as they are read; a spreadsheet writes columns that were used once, though nothing stands in them. */
export function readHeadings(
  cells: readonly string[],
  { isAsBefore = false }: HeadingMap,
): readonly string[] {
  const headings = cells.map((cell) => (isAsBefore ? cell : visible(cell)).trim());
  return headings.slice(0, headings.findLastIndex((heading) => heading !== '') + 1);
}

/** The headings of a file, each as the column that it stands for; what is no column keeps its name. */
export interface NamedHeadings {
  readonly names: readonly string[];
  /** Where phone numbers stand that are used where the row's own is empty. */
  readonly phoneIndexes: readonly number[];
}

/** The column that a heading names; undefined for one that is the file's own. */
export function columnOf(heading: string): string | undefined {
  if (isCentsHeading(heading)) return 'max_price';
  const meaning = meaningOf(heading);
  if ('passthrough' in meaning) return undefined;
  return 'column' in meaning ? meaning.column : `metadata.${meaning.metadataKey}`;
}

/** Columns that say the same in two ways: where a map names one, a heading that means the other is the file's own. */
const sameAs: Readonly<Record<string, readonly string[]>> = {
  name: ['first_name', 'last_name'],
  first_name: ['name'],
  last_name: ['name'],
};

/** Names the headings of a file. What a map or preset says goes before what a heading means by itself. */
export function nameHeadings(headings: readonly string[], { map, preset }: HeadingMap): NamedHeadings {
  const names = headings.map((heading) => entryOf(map, heading));
  const mapped = new Set(names.flatMap((name) => (name === undefined ? [] : (columnOf(name) ?? []))));
  const { presetColumns, phoneIndexes } = nameByPreset(headings, names, preset, mapped);
  const isShadowed = (heading: string): boolean => {
    const column = columnOf(heading);
    // Of two columns of prices none is chosen silently.
    if (column === undefined || column === 'max_price') return false;
    const others = sameAs[column] ?? [];
    if (mapped.has(column) || others.some((other) => mapped.has(other) || presetColumns.has(other)))
      return true;
    // Who writes a column's own name beside an export means it: that both are there is refused.
    return presetColumns.has(column) && heading !== column;
  };
  return {
    names: headings.map(
      (heading, index) => names[index] ?? (isShadowed(heading) ? `file.${heading}` : heading),
    ),
    phoneIndexes,
  };
}

/** Fills in what a preset says of headings that no map names. */
function nameByPreset(
  headings: readonly string[],
  names: (string | undefined)[],
  preset: MapPreset | undefined,
  mapped: ReadonlySet<string>,
) {
  const presetColumns = new Set<string>();
  const phoneIndexes: number[] = [];
  for (const [column, candidates] of Object.entries(preset?.columns ?? {})) {
    if (mapped.has(column)) continue;
    const wanted = candidates.map(plainHeading);
    const found = wanted
      .map((heading) => headings.findIndex((one, at) => !names[at] && plainHeading(one) === heading))
      .filter((index) => index >= 0);
    const [first, ...others] = found;
    if (first === undefined) continue;
    names[first] = column;
    presetColumns.add(column);
    if (column === 'phone_number') phoneIndexes.push(...others);
  }
  return { presetColumns, phoneIndexes };
}

/** Whether a text heads a column that is known, by itself or by what a map says. */
export function isKnownHeading(text: string, { map, preset }: HeadingMap): boolean {
  if (entryOf(map, text) !== undefined || columnOf(text) !== undefined) return true;
  if (!preset) return false;
  const plain = plainHeading(text);
  return Object.values(preset.columns).some((names) => names.some((name) => plainHeading(name) === plain));
}
