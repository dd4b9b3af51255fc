import { plainHeading } from '../../api/bulk-columns.ts';
import type { BulkIssue } from '../../api/bulk-row.ts';
import type { MapPreset } from '../../config/maps.ts';
import type { Reference } from '../../journal/attempts.ts';
import {
  composedReference,
  referenceKey,
  referenceOf,
  referenceProblem,
} from '../../orders/needs/reference.ts';
import { shellWord } from '../../platform/shell.ts';
import { foldedHeading } from './decode.ts';
import { lostDigits, withoutTextMarks } from './spreadsheet-text.ts';

/** The columns that give each row's reference, according to the user or a saved map. */
export interface ReferenceSource {
  /** Each entry is a heading, or several headings separated by commas. Empty if only the namespace is known. */
  readonly columns: readonly string[];
  /** Namespace of the references; empty if none is given. */
  readonly namespace: string;
  /** The saved map that names the columns; undefined if a flag names them. */
  readonly savedAs?: string | undefined;
}

/** The columns of one file that give each row's reference. */
export interface ReferencePlan {
  readonly indexes: readonly number[];
  /** The headings of these columns, as in the file. */
  readonly headings: readonly string[];
  readonly namespace: string;
}

/** What the headings of a file reveal about references. */
export interface FoundReference {
  readonly plan: ReferencePlan | undefined;
  /** Headings that could give references, although neither the user nor a map says so. */
  readonly unused: UnusedReference | undefined;
  readonly problems: readonly string[];
}

/**
 * Headings that could give references: a column with a name like `reference`, or the columns of a preset that lacks a
 * namespace.
 */
export interface UnusedReference {
  readonly headings: readonly string[];
  readonly by: 'name' | 'preset';
}

/**
 * Whether a heading is that of the reference column in our template. Its cells are references even without any option.
 */
export const isReferenceHeading = (heading: string): boolean => plainHeading(heading) === plainReferenceKey;

const plainReferenceKey = plainHeading(referenceKey);

/** Common headings for columns with references, in normalized form. */
const likeReference: ReadonlySet<string> = new Set(
  ['reference', 'ref', 'order reference', 'reference number', 'my_reference', 'referenz', 'riferimento'].map(
    plainHeading,
  ),
);

interface Given {
  readonly reference?: ReferenceSource | undefined;
  readonly preset?: MapPreset | undefined;
  readonly isAsBefore?: boolean | undefined;
}

/**
 * Finds the columns that give references. These are the named columns. If none are named, it is the column of our
 * template, or else the columns of a preset that has a namespace. @param isMapped tells whether a map says what a
 * heading means.
 */
export function findReference(
  headings: readonly string[],
  { reference, preset, isAsBefore = false }: Given,
  isMapped: (heading: string) => boolean,
): FoundReference {
  const { columns = [], namespace = '', savedAs } = reference ?? {};
  const isOwn = (heading: string): boolean =>
    !isAsBefore && !isMapped(heading) && isReferenceHeading(heading);
  const own = headings.findIndex(isOwn);
  if (columns.length > 0) {
    const { indexes, problems } = namedColumns(headings, columns, savedAs);
    if (own >= 0 && !indexes.includes(own))
      problems.push(
        `"${headings[own]}" is the reference, and ${namer(savedAs)} names others; take the column out, or keep it as your own with --own ${shellWord(headings[own] ?? '')}`,
      );
    return found(indexes, problems);
  }
  if (own >= 0) return found([own], []);
  const parts = preset && presetColumns(headings, preset);
  if (namespace !== '') {
    if (parts) return found(parts, []);
    const what = preset
      ? `the map ${preset.name} takes references from ${namesText(preset.reference.map(([first = '']) => first))}, which are not all there`
      : `the namespace ${namespace} is for references, and no column holds one`;
    return found([], [`${what}; name the columns by --reference-column`]);
  }
  const unused = parts
    ? { headings: parts.map((index) => headings[index] ?? ''), by: 'preset' as const }
    : unnamed();
  return { plan: undefined, unused, problems: [] };

  function found(indexes: readonly number[], problems: readonly string[]): FoundReference {
    const plan = { indexes, headings: indexes.map((index) => headings[index] ?? ''), namespace };
    return { plan: indexes.length > 0 ? plan : undefined, unused: undefined, problems };
  }

  function unnamed(): UnusedReference | undefined {
    if (isAsBefore) return undefined;
    const like = headings.find((heading) => !isMapped(heading) && likeReference.has(plainHeading(heading)));
    return like === undefined ? undefined : { headings: [like], by: 'name' };
  }
}

const namer = (savedAs: string | undefined): string =>
  savedAs === undefined ? '--reference-column' : `the map ${savedAs}`;

/** Resolves named columns. A text that equals a whole heading means that heading, even if it contains a comma. */
function namedColumns(headings: readonly string[], columns: readonly string[], savedAs: string | undefined) {
  const indexOf = (name: string): number =>
    headings.findIndex((heading) => foldedHeading(heading) === foldedHeading(name));
  const names = columns.flatMap((text) => (indexOf(text) >= 0 ? text : text.split(',')));
  const absent = names.filter((name) => indexOf(name) < 0).map((name) => name.trim());
  const indexes = names.map(indexOf).filter((index) => index >= 0);
  const what = absent.length === 1 ? 'a heading that is' : 'headings that are';
  const problems =
    absent.length > 0 ? [`${namer(savedAs)} names ${what} not there: ${absent.join(', ')}`] : [];
  if (new Set(indexes).size < indexes.length) problems.push(`${namer(savedAs)} names a column twice`);
  return { indexes, problems };
}

function presetColumns(headings: readonly string[], { reference }: MapPreset): number[] | undefined {
  const indexes = reference.map((candidates) => {
    const there = candidates.map((candidate) =>
      headings.findIndex((heading) => plainHeading(heading) === plainHeading(candidate)),
    );
    return there.find((index) => index >= 0) ?? -1;
  });
  return indexes.every((index) => index >= 0) ? indexes : undefined;
}

export const namesText = (headings: readonly string[]): string =>
  headings.map((heading) => `"${foldedHeading(heading)}"`).join(' and ');

/** A row's reference, or the issue that makes it invalid. */
export type ReadReference = { readonly reference: Reference } | { readonly issue: BulkIssue };

export function readReference(
  { indexes, headings, namespace }: ReferencePlan,
  cells: readonly string[],
): ReadReference {
  const parts = indexes.map((index) => withoutTextMarks(cells[index] ?? ''));
  for (const [at, part] of parts.entries()) {
    const damage = lostDigits(part);
    if (damage !== undefined) return issueOf(headings[at], part, damage);
  }
  const text = composedReference(parts);
  const problem = referenceProblem(text);
  if (problem === undefined) return { reference: referenceOf(text, namespace) };
  for (const [at, part] of parts.entries()) {
    const ofPart = part === '' ? undefined : referenceProblem(part);
    if (ofPart !== undefined) return issueOf(headings[at], part, `as a reference ${ofPart}`);
  }
  const message = text === '' ? 'has no reference; give each row its own' : problem;
  return issueOf(headings.join(', '), text, message);
}

const issueOf = (column = '', value = '', message: string): ReadReference => ({
  issue: { column, value, message },
});

/** The issue of a row whose reference an earlier row already has. */
export const repeatedReference = (
  { headings }: ReferencePlan,
  { text }: Reference,
  row: number,
): BulkIssue => ({
  column: headings.join(', '),
  value: text,
  message: `is the reference of row ${row} already; two orders have two references`,
});
