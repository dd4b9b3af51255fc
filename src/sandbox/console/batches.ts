import { batchRowStatuses, type batchStatuses } from '../../api/enums.ts';
import { operations } from '../../api/operations/index.ts';
import { type Mood, spoken } from '../../api/order-state.ts';
import { type Content, type Html, html } from '../../platform/html.ts';
import { findAnyBatch, readBatches, readBatchRows } from '../bulk/records.ts';
import { retryableCount, retryFailed } from '../bulk/retry-failed.ts';
import type { SandboxConfig } from '../config.ts';
import type { Service } from '../server/service.ts';
import { formAction, onceField, onceIn, seeOther } from './form-action.ts';
import {
  type Column,
  type Conditions,
  conditionOf,
  filterLinks,
  listPage,
  pagedTable,
  pageSize,
  readFilters,
  startsWith,
  userCondition,
  userKey,
  userNames,
  usersToOffer,
  windowOf,
} from './lists.ts';
import { consolePage, notThere, type Page } from './page.ts';
import { age, sameAs, stateBadge } from './parts.ts';
import { ordersPath, sections, walletPath } from './sections.ts';
import { sameFromTerminal, sameRequest } from './terminal-commands.ts';

const batchesPath = sections.batches.path;

type Row = ReturnType<typeof readBatches>[number];
type Batch = Row['batch'];

const moods: Readonly<Record<(typeof batchStatuses)[number], Mood>> = {
  pending: 'waiting',
  processing: 'waiting',
  completed: 'good',
  failed: 'bad',
};

/** Status badge of a batch. A completed batch with failed rows does not count as a success. */
const batchBadge = ({ status, failed_count }: Batch): Html =>
  stateBadge(
    status === 'completed' && failed_count > 0
      ? { text: 'completed in part', mood: 'bad' }
      : { text: spoken(status), mood: moods[status] },
  );

/** Progress of a batch, as a bar and as numbers. */
const progress = ({ id, row_count, placed_count, failed_count }: Batch): Content =>
  html`<progress max="${row_count}" value="${placed_count + failed_count}" aria-label="Rows of ${id.slice(0, 8)} that are done"></progress> ${(placed_count + failed_count).toLocaleString('en-US')} of ${row_count.toLocaleString('en-US')}`;

function batchesTable(
  rows: readonly Row[],
  head: Content,
  { nameOf, now }: { readonly nameOf: (id: string) => string; readonly now: number },
): Content {
  if (rows.length === 0)
    return html`<p class="soft">No batch yet. <code>errand bulk upload orders.csv</code> makes one.</p>`;
  return html`<table class="stack">${head}<tbody>${rows.map(({ batch, userId }) => {
    const { id, filename, failed_count, created_at } = batch;
    const link = `${batchesPath}/${id}`;
    return html`<tr id="batch-${id}"><td class="fit"><a class="mono" href="${link}">${id.slice(0, 8)}</a></td><td class="fit">${batchBadge(batch)}</td>
<td>${filename}</td><td class="fit" data-label="rows">${progress(batch)}</td><td class="fit" data-label="failed">${
      failed_count > 0
        ? html`<a class="bad" href="${link}?status=failed">${failed_count.toLocaleString('en-US')}<span class="unseen"> failed rows of ${id.slice(0, 8)}</span></a>`
        : 0
    }</td><td class="fit" data-label="by">${nameOf(userId)}</td><td class="fit">${age(Date.parse(created_at), now)}</td></tr>`;
  })}</tbody></table>`;
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

/** Lists all batches with their progress. */
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
    bar: {
      what: ['batch', 'batches'],
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
    },
    columns,
    read: (part) =>
      readBatches(store, conditionOf(conditions, filters), {
        ...windowOf(part, { from: 'batches b', seq: 'b.seq' }),
        limit: part.limit,
      }),
    numberOf: ({ seq }) => seq,
    csv: {
      id: ({ batch }) => batch.id,
      state: ({ batch }) => batch.status,
      file: ({ batch }) => batch.filename,
      rows: ({ batch }) => batch.row_count,
      placed: ({ batch }) => batch.placed_count,
      failed: ({ batch }) => batch.failed_count,
      by: ({ userId }) => userNames(store, [userId])(userId),
      created_at: ({ batch }) => batch.created_at,
    },
    table: (rows, head) => {
      const nameOf = userNames(
        store,
        rows.map(({ userId }) => userId),
      );
      return batchesTable(rows, head, { nameOf, now: clock.now() });
    },
  });
};

const columns: readonly Column[] = [
  { name: 'Batch', look: 'fit' },
  { name: 'State', look: 'fit' },
  { name: 'File', by: "lower(coalesce(b.filename, ''))" },
  { name: 'Rows', look: 'fit', by: 'b.row_count' },
  {
    name: 'Failed',
    look: 'fit',
    by: '(SELECT count(*) FROM batch_rows r WHERE r.batch_seq = b.seq AND r.error IS NOT NULL)',
  },
  { name: 'By', look: 'fit', by: userKey('b.user_id') },
  { name: 'Created', look: 'fit', by: 'b.seq', isAge: true },
];

type Rows = readonly ReturnType<typeof readBatchRows>[number][];

/** Page of a batch: its progress, and for each row the order or the reason why the row became no order. */
export const batchPage: Page<'consoleBatch'> = ({ service, path: { id }, search }) => {
  const { store, clock, config } = service;
  const found = findAnyBatch(store, id);
  if (!found) return notThere('No such batch', 'No batch has this id here.', { section: 'batches' });
  const { seq, userId, batch } = found;
  const { filename, row_count, placed_count, failed_count, created_at } = batch;
  const path = `${batchesPath}/${batch.id}`;
  const filters = readFilters(search, ['status']);
  const status = batchRowStatuses.find((known) => known === filters.status);
  const counts = {
    pending: row_count - placed_count - failed_count,
    placed: placed_count,
    failed: failed_count,
  };
  const choices = batchRowStatuses.map((value) => ({ value, text: value, count: counts[value] }));
  const body = html`<p>${batchBadge(batch)} ${progress(batch)} <span class="soft">created ${age(Date.parse(created_at), clock.now())} by <a href="${walletPath(userId)}">${userNames(store, [userId])(userId)}</a></span></p>
${retryForm(service, batch.id)}<section id="rows"><header><h2>Rows${filename !== null && ` of ${filename}`}</h2></header>${filterLinks(path, filters, { name: 'status', label: 'Rows', choices })}${pagedTable(
    {
      path,
      search,
      filters,
      // Lists page towards smaller numbers, but the rows of a batch are shown in ascending order. Therefore later rows
      // get smaller numbers.
      read: ({ before, limit }) => readBatchRows(store, seq, { after: row_count - before, limit, status }),
      numberOf: ({ index }) => row_count - index,
      table: rowsTable,
      words: { first: 'First rows', next: 'Next rows' },
    },
  )}</section>
<div class="card" id="same">${copies(config, batch.id)}</div>`;
  return consolePage(`Batch ${batch.id.slice(0, 8)}`, body, { live: true, section: 'batches' });
};

const copies = (config: SandboxConfig, id: string): Content =>
  sameAs(
    'this batch',
    sameRequest(config, { method: 'GET', target: operations['bulk.get'].path.replace('{batch_id}', id) }),
  );

const rowsTable = (rows: Rows): Content =>
  rows.length === 0
    ? html`<p class="soft">No row.</p>`
    : html`<table class="stack"><thead><tr><th class="fit number">Row</th><th class="fit">State</th><th>Recipient</th><th class="half">Products, or why it failed</th><th class="fit">Order</th></tr></thead><tbody>${rows.map(
        ({ index, status, order_id, order_status, error, recipient, product_urls }) =>
          html`<tr id="row-${index}"><td class="fit number" data-label="row">${index + 1}</td><td class="fit"><span class="badge ${status === 'failed' ? 'bad' : status === 'placed' ? 'good' : 'wait'}">${status}</span></td>
<td>${recipient}</td><td class="half">${error === null ? product_urls.join(', ') : html`<span class="bad">${error}</span>`}</td><td class="fit">${
            order_id !== null &&
            html`<a class="mono" href="${ordersPath}/${order_id}">${order_id.slice(0, 8)}</a>${order_status !== null && html` <small>${spoken(order_status)}</small>`}`
          }</td></tr>`,
      )}</tbody></table>`;

/** URL of a batch's row on the page of the batch. @param place index of the row, from 0. */
export function batchRowPath(
  id: string,
  { place, count }: { readonly place: number; readonly count: number },
): string {
  // Pages can start at any row. Start the page at this row.
  const part = place < pageSize ? '' : `?before=${count - place + 1}`;
  return `${batchesPath}/${id}${part}#row-${place}`;
}

/** Caps the count, because live pages repeat it every second. */
const maxCounted = 200;

/** Renders a button that retries the failed rows of a batch; null if no row can be retried. */
function retryForm({ store, config }: Service, id: string): Content {
  const count = retryableCount(store, id, maxCounted);
  if (count === 0) return null;
  return html`<form method="post" action="${batchesPath}/${id}/retry" id="retry-${id}" class="actions">${onceField()}<button>Retry ${count === maxCounted ? 'the' : count} failed ${count === 1 ? 'row' : 'rows'}<span class="unseen"> of batch ${id.slice(0, 8)}</span></button> <small>became no order, or one that failed; in a new batch, each at most once</small></form>${sameFromTerminal(
    config,
    `same-retry-${id}`,
    [{ what: `retrying batch ${id.slice(0, 8)}`, errand: ['bulk', 'retry', id], curl: null }],
    'On the machine that uploaded it, with the key that did in ERRAND_API_KEY; the service itself has no call for it.',
  )}`;
}

/** Handles the retry button of a batch. */
export const retryBatch = formAction<'consoleRetryBatch'>(
  ({ path: { id } }) => ({ path: `${batchesPath}/${id}`, text: 'Back to the batch' }),
  async ({ service, path: { id } }, form) => {
    const newId = onceIn(form);
    await retryFailed(service, id, newId, service.clock.now());
    return seeOther(`${batchesPath}/${newId}`);
  },
);
