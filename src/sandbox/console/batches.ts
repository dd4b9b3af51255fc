import type { batchStatuses } from '../../api/enums.ts';
import { type Mood, spoken } from '../../api/order-state.ts';
import { type Content, type Html, html } from '../../platform/html.ts';
import { readBatches } from '../bulk/records.ts';
import { type Conditions, conditionOf, startsWith, userCondition } from './conditions.ts';
import { filterBar, readFilters } from './filters.ts';
import { usersToOffer } from './find-orders.ts';
import { age } from './pages/figures.ts';
import type { Page } from './pages/page.ts';
import { stateBadge } from './pages/words.ts';
import { listPage } from './paging.ts';
import { sections } from './sections.ts';
import { userNames } from './users.ts';

export const batchesPath = sections.batches.path;

type Row = ReturnType<typeof readBatches>[number];
type Batch = Row['batch'];

const moods: Readonly<Record<(typeof batchStatuses)[number], Mood>> = {
  pending: 'waiting',
  processing: 'waiting',
  completed: 'good',
  failed: 'bad',
};

/** The state of a batch; one that has ended with failed rows has not ended well. */
export const batchBadge = ({ status, failed_count }: Batch): Html =>
  stateBadge(
    status === 'completed' && failed_count > 0
      ? { text: 'completed in part', mood: 'bad' }
      : { text: spoken(status), mood: moods[status] },
  );

/** How far a batch is, as a bar and in numbers. */
export const progress = ({ id, row_count, placed_count, failed_count }: Batch): Content =>
  html`<progress max="${row_count}" value="${placed_count + failed_count}" aria-label="Rows of ${id.slice(0, 8)} that are done"></progress> ${(placed_count + failed_count).toLocaleString('en-US')} of ${row_count.toLocaleString('en-US')}`;

function batchesTable(rows: readonly Row[], nameOf: (id: string) => string, now: number): Content {
  if (rows.length === 0)
    return html`<p class="soft">No batch yet. <code>errand bulk upload orders.csv</code> makes one.</p>`;
  return html`<table class="stack"><thead><tr><th class="fit">Batch</th><th class="fit">State</th><th>File</th><th class="fit">Rows</th>
<th class="fit">Failed</th><th class="fit">By</th><th class="fit">Created</th></tr></thead><tbody>${rows.map(
    ({ batch, userId }) => {
      const { id, filename, failed_count, created_at } = batch;
      const link = `${batchesPath}/${id}`;
      return html`<tr id="batch-${id}"><td class="fit"><a class="mono" href="${link}">${id.slice(0, 8)}</a></td><td class="fit">${batchBadge(batch)}</td>
<td>${filename}</td><td class="fit" data-label="rows">${progress(batch)}</td><td class="fit" data-label="failed">${
        failed_count > 0
          ? html`<a class="bad" href="${link}?status=failed">${failed_count.toLocaleString('en-US')}<span class="unseen"> failed rows of ${id.slice(0, 8)}</span></a>`
          : 0
      }</td><td class="fit" data-label="by">${nameOf(userId)}</td><td class="fit">${age(Date.parse(created_at), now)}</td></tr>`;
    },
  )}</tbody></table>`;
}

const filterNames = ['id', 'user', 'failed'] as const;
const conditions: Conditions<(typeof filterNames)[number]> = {
  id: (value) => ({ sql: startsWith('b.id'), values: [value.toLowerCase(), value.toLowerCase()] }),
  user: (value) => userCondition('b.user_id', value),
  failed: () => ({
    sql: 'EXISTS (SELECT 1 FROM batch_rows r WHERE r.batch_seq = b.seq AND r.error IS NOT NULL)',
    values: [],
  }),
};

/** Every batch with how far it is. */
export const batchesPage: Page<'consoleBatches'> = ({ service: { store, clock }, search }) => {
  const filters = readFilters(search, filterNames);
  const count = (set: typeof filters): number => {
    const { sql, values } = conditionOf(conditions, set);
    return Number(store.get(`SELECT count(*) AS count FROM batches b WHERE ${sql}`, ...values)?.count);
  };
  return listPage({
    section: 'batches',
    search,
    filters,
    bar: filterBar({
      path: batchesPath,
      what: ['batch', 'batches'],
      filters,
      count: { all: count({ id: '', user: '', failed: '' }), found: count(filters) },
      fields: [
        { kind: 'text', name: 'id', label: 'Id' },
        { kind: 'text', name: 'user', label: 'User', offers: usersToOffer(store) },
        {
          kind: 'flag',
          name: 'failed',
          label: 'with failed rows',
          count: count({ ...filters, failed: '1' }),
        },
      ],
    }),
    read: (part) => readBatches(store, conditionOf(conditions, filters), part),
    numberOf: ({ seq }) => seq,
    table: (rows) => {
      const nameOf = userNames(
        store,
        rows.map(({ userId }) => userId),
      );
      return batchesTable(rows, nameOf, clock.now());
    },
  });
};
