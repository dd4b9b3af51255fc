import { readQuery } from '../../read-request.ts';
import { type Content, html } from '../markup.ts';

/** Where a part of a list begins: below a number of the store, or at the newest. */
export interface Part {
  readonly before: number;
  readonly limit: number;
}

const pageSize = 25;

/** On the front page each list shows this many. */
export const newest: Part = { before: Number.MAX_SAFE_INTEGER, limit: 8 };

/** The part of a list that a query asks for, a page of it. */
export function partOf(search: string): Part {
  const [before = ''] = readQuery(search).before ?? [];
  return { before: /^[1-9]\d{0,15}$/.test(before) ? Number(before) : newest.before, limit: pageSize };
}

/** To the newer end and to the next older part. @param last number of the last row shown. */
export const pager = (
  path: string,
  { before, limit }: Part,
  rows: number,
  last: number | undefined,
): Content =>
  html`<p class="actions">${before !== newest.before && html`<a href="${path}">Newest</a>`}${
    rows === limit && last !== undefined && html` <a href="${path}?before=${last}" rel="next">Older</a>`
  }</p>`;
