import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Operation } from '../../../src/api/operation.ts';
import { operations } from '../../../src/api/operations/index.ts';
import { listCommands } from '../../support/known-commands.ts';
import { json, peer } from '../../support/peer.ts';
import { errand } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const id = '00000000-0000-4000-8000-000000000001';

/**
 * Escape sequences (a title, a cleared screen, C1), bidirectional controls, zero-width characters, a tag character,
 * line breaks, emoji.
 */
const hostile =
  '\u001b]0;title\u0007\u001b[2J\u009b31m\u202Eback\u202C z\u200Bw\u2066i\u2069\u{E0041}\ufeff\r\n\t\u{1F468}\u200D\u{1F467}';

/** Characters that text from the service must never bring to a terminal; line breaks are ours. */
const unsafe = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069\ufeff]|\u{E0041}/u;

/** Fills every scalar field with the given value. */
function responseOf(value: unknown): Record<string, unknown> {
  const item = { id: value, order_item_id: value, url: value, title: value, quantity: value, status: value };
  const product = {
    product_id: value,
    title: value,
    url: value,
    price: value,
    currency_code: value,
    stars: value,
  };
  const order = {
    id,
    status: value,
    created_at: value,
    max_price: value,
    attempts: value,
    items: [item],
    shipping_address: value,
    tracking_numbers: [{ status: value, carrier: value, tracking_number: value, checkpoints: [item] }],
    job_result: { error: value, error_type: value, price_components: { total: value, currency: value } },
    fulfillment: { concessions: [{ concern: value, message: value }] },
  };
  const returned = {
    id,
    order_id: id,
    reason: value,
    items: [item],
    label_urls: [value],
    credited_amount: value,
  };
  const batch = { id, status: 'completed', filename: value, row_count: value, placed_count: value };
  const row = { index: 0, status: 'placed', order_status: 'order_placed', error: value, recipient: value };
  return {
    ...Object.fromEntries(
      Object.values<Operation>(operations)
        .flatMap(rowsOf)
        .map((rows) => [rows, [item]]),
    ),
    ...product,
    ...returned,
    ...order,
    short_id: value,
    email: value,
    claimed: value,
    balance: value,
    orderable: value,
    available_balance: value,
    openapi: value,
    paths: {},
    results: [product],
    orders: [order],
    order_id: id,
    shipments: [{ status: value, carrier: value, items: [item], checkpoints: [item] }],
    destination: { city: value },
    return_requests: [{ ...returned, status: value }],
    credentials: [
      { id, short_id: value, email: value, retailer: value, has_totp: value, forwarding_email: value },
    ],
    retailers: [{ id: value, name: value, support: value, no_account_needed: value }],
    batches: [batch],
    milestones: [{ type: value, at: value, description: value }],
    metrics: { calls: { total: value, prev_total: value, series: [value] }, other: value },
    recent: [{ endpoint: value, at: value }],
    window_days: value,
    products: [{ url: value, outcome: value }],
    offers: [{ offer_id: value, price: value, seller: value }],
    filename: value,
    row_count: value,
    invalid_rows: value,
    estimated_total_cents: value,
    wallet_balance_cents: value,
    rows: [{ ...row, ok: false, errors: value }],
  };
}

const rowsOf = ({ response }: Operation): string[] =>
  response.type === 'json' && response.rows !== undefined ? [response.rows] : [];

const lines: readonly (readonly string[])[] = [
  ...(await listCommands()).map((command) => command.split(' ')),
  ['search', 'x'],
  ['product', 'search', 'x', '--retailer', 'a'],
  ['product', 'get', 'p', '--retailer', 'a'],
  ['product', 'offers', 'p', '--retailer', 'a'],
  ['retailer', 'check', 'https://x.example/1'],
  ['order', 'get', id],
  ['order', 'timeline', id],
  ['order', 'watch', id, '--timeout', '1s'],
  ['return', 'get', id],
  ['bulk', 'get', id],
  ['bulk', 'watch', id, '--timeout', '2s'],
  ['bulk', 'validate', 'orders.csv'],
  ['track', id],
  ['wallet'],
  ['usage'],
  ['sandbox', 'status'],
  ['schema', 'diff'],
];

const oddities: readonly (readonly [string, unknown])[] = [
  ['text that would move the cursor', hostile],
  ['null', null],
  ['an object', { a: [1] }],
  ['an array', [[], { b: null }]],
];

let workspace: Workspace;
beforeEach(async () => {
  workspace = makeWorkspace({ ERRAND_API_KEY: 'xx_test_0123456789abcdef' });
  writeFileSync(join(workspace.folder, 'orders.csv'), (await errand(workspace, ['bulk', 'template'])).stdout);
});
afterEach(() => workspace.remove());

describe.each(oddities)('a service that responds with %s where a plain value stands', (_, value) => {
  test('is shown safely and plainly by every command that reads', async () => {
    const { url } = await peer(json(responseOf(value)));
    workspace.environment.ERRAND_BASE_URL = url;
    for (const line of lines) await isPlain(line);
  });
});

async function isPlain(line: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await errand(workspace, line);
  const shown = `${line.join(' ')}\n${stdout}${stderr}--- exit ${code}`;
  expect(code, shown).not.toBe(1);
  expect(code, shown).not.toBeNull();
  expect(stdout + stderr, shown).not.toMatch(unsafe);
  expect(stdout + stderr, shown).not.toMatch(/\[object Object\]|\bNaN\b|\bundefined\b|\bnull x\b/);
}

describe('where no response of the service can be read', () => {
  const workspace = makeWorkspace({ ERRAND_API_KEY: 'sbx_test_0123456789abcdef0123' });
  afterAll(() => workspace.remove());

  test('a watch ends in place of asking for ever', async () => {
    const service = await peer((response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>');
    });
    const watched = await errand(workspace, ['order', 'watch', id, '--base-url', service.url]);
    expect(watched).toMatchObject({ code: 9, stdout: '' });
    expect(watched.stderr).toContain('returned HTML');
  });

  test('a cancel says what became of it, not of the look at the order after it', async () => {
    const service = await peer((_, __, socket) => void socket.destroy());
    const args = ['order', 'cancel', id, '--base-url', service.url, '--retries', '0', '-o', 'json'];
    const { code, stderr } = await errand(workspace, args);
    expect(code).toBe(9);
    expect(JSON.parse(stderr).error).toMatchObject({
      message: expect.stringContaining(`POST ${service.url}/orders/${id}/cancel`),
      outcome: 'unknown',
    });
  });
});
