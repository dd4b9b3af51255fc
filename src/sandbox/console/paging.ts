import { type Content, html } from '../../platform/html.ts';
import { readQuery } from '../server/request.ts';
import type { SandboxResponse } from '../server/wire.ts';
import { consolePage } from './console-page.ts';
import { addressOf, type Filters, isFiltered } from './filters.ts';
import { type SectionName, sections } from './sections.ts';

/** Where a part of a list begins: below a number of the store, or at the newest. */
export interface Part {
  readonly before: number;
  readonly limit: number;
}

export const pageSize = 25;

/** On the front page each list shows this many. */
export const newest: Part = { before: Number.MAX_SAFE_INTEGER, limit: 8 };

/** The part of a list that a query requests, one page. */
export function partOf(search: string): Part {
  const [before = ''] = readQuery(search).before ?? [];
  return { before: /^[1-9]\d{0,15}$/.test(before) ? Number(before) : newest.before, limit: pageSize };
}

interface Paged<Row> {
  readonly path: string;
  readonly search: string;
  readonly filters?: Filters;
  /** Rows of a part, newest first. */
  readonly read: (part: Part) => readonly Row[];
  /** Number of a row in the store. */
  readonly numberOf: (row: Row) => number;
  readonly table: (rows: readonly Row[]) => Content;
  /** What its links say; as a rule a list begins with the newest. */
  readonly words?: { readonly first: string; readonly next: string };
}

interface List<Row> extends Paged<Row> {
  readonly section: SectionName;
  readonly title?: string;
  /** A word on what the list is. */
  readonly lead?: string;
  /** The bar that its filters are set with. */
  readonly bar?: Content;
}

/** A page of a list that is a section of its own. */
export function listPage<Row>({
  section,
  title,
  lead,
  bar,
  ...paged
}: Omit<List<Row>, 'path'>): SandboxResponse {
  const { path, text } = sections[section];
  const body = html`${lead !== undefined && html`<p class="lead">${lead}</p>\n`}${bar}<section>${pagedTable({ path, ...paged })}</section>`;
  return consolePage(title ?? text, body, { live: true, section, isList: true });
}

const usualWords = { first: 'Newest', next: 'Older' };

/** A part of a list, with links to its newer end and to the next older part where there is one. */
export function pagedTable<Row>(paged: Paged<Row>): Content {
  const { path, search, filters = {}, read, numberOf, table, words = usualWords } = paged;
  const { before, limit } = partOf(search);
  const found = read({ before, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const isFirst = before === newest.before;
  const newer = !isFirst && html`<a href="${addressOf(path, filters)}">${words.first}</a>`;
  const older =
    found.length > limit &&
    last !== undefined &&
    html`<a href="${addressOf(path, { ...filters, before: String(numberOf(last)) })}" rel="next">${words.next}</a>`;
  return html`${rows.length > 0 ? table(rows) : nothing(paged, isFirst)}${
    (newer || older) && html`<p class="actions">${newer} ${older}</p>`
  }`;
}

function nothing<Row>({ table, filters = {} }: Paged<Row>, isFirst: boolean): Content {
  if (!isFirst) return html`<p class="soft">Nothing is older.</p>`;
  return isFiltered(filters) ? html`<p class="soft">Nothing is like that.</p>` : table([]);
}
