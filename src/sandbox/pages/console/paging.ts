import { type Content, html } from '../../../markup.ts';
import { readQuery } from '../../http/request.ts';
import type { SandboxResponse } from '../../http/wire.ts';
import { htmlPage } from '../html.ts';
import { siteLinks } from '../links.ts';

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

interface List<Row> {
  readonly title: string;
  /** A word on what the list is. */
  readonly lead?: string;
  readonly path: string;
  readonly search: string;
  /** Rows of a part, newest first. */
  readonly read: (part: Part) => readonly Row[];
  /** Number of a row in the store. */
  readonly numberOf: (row: Row) => number;
  readonly table: (rows: readonly Row[]) => Content;
}

/** A page of a list, with links to its newer end and to the next older part where there is one. */
export function listPage<Row>(list: List<Row>): SandboxResponse {
  const { title, lead, path, search, read, numberOf, table } = list;
  const { before, limit } = partOf(search);
  const found = read({ before, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const isFirst = before === newest.before;
  const body = html`${lead !== undefined && html`<p class="lead">${lead}</p>\n`}<section>${
    rows.length > 0 || isFirst ? table(rows) : html`<p class="soft">Nothing is older.</p>`
  }<p class="actions">${!isFirst && html`<a href="${path}">Newest</a>`}${
    found.length > limit &&
    last !== undefined &&
    html` <a href="${path}?before=${numberOf(last)}" rel="next">Older</a>`
  }</p></section>`;
  return htmlPage(title, body, { live: true, links: siteLinks });
}
