import { batchRowStatuses } from '../../api/enums.ts';
import { operations } from '../../api/operations/index.ts';
import { spoken } from '../../api/order-state.ts';
import { type Content, html } from '../../platform/html.ts';
import { findAnyBatch, readBatchRows } from '../bulk/records.ts';
import type { SandboxConfig } from '../config.ts';
import { retryForm } from './batch-actions.ts';
import { batchBadge, batchesPath, progress } from './batches.ts';
import { consolePage, notThere } from './console-page.ts';
import { walletPath } from './console-paths.ts';
import { filterLinks, readFilters } from './filters.ts';
import { ordersPath } from './orders.ts';
import { sameAs } from './pages/copied.ts';
import { age } from './pages/figures.ts';
import type { Page } from './pages/page.ts';
import { sameRequest } from './pages/same-request.ts';
import { pagedTable } from './paging.ts';
import { userNames } from './users.ts';

type Rows = readonly ReturnType<typeof readBatchRows>[number][];

/** A batch: how far it is, and each row with its order, or why it is none. */
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
      // Rows are read from the first on: a later one has a smaller number.
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
