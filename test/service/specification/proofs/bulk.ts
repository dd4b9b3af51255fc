import { expect } from 'vitest';
import { checkShape } from '../../../../src/api/schemas/check.ts';
import { type ProofsOf, proof } from '../proof.ts';
import type { bulkEndpoints } from '../rows/endpoints.ts';
import type { batchStates } from '../rows/states.ts';
import {
  bulkRow,
  expectInvalid,
  expectRefusal,
  idsOf,
  nobody,
  placedBatch,
  read,
  second,
  upload,
} from '../scenes.ts';

export const bulkEndpointProofs: ProofsOf<typeof bulkEndpoints> = {
  'POST /orders/bulk/validate': proof('judges every row, sums the spend, places nothing', async (it) => {
    const rows = [bulkRow(it), bulkRow(it, { city: '' })];
    const { status, body } = await it.send('POST', '/orders/bulk/validate', { rows });
    expect(status).toBe(200);
    expect(body).toMatchObject({ valid_rows: 1, invalid_rows: 1, estimated_total_cents: 4000 + 100 });
    expect(body.rows.map(({ ok }: { ok: boolean }) => ok)).toEqual([true, false]);
    expect(checkShape('BulkValidateResponse', body, 'response').issues).toBeUndefined();
    expect([(await read(it, '/orders')).total, (await read(it, '/orders/bulk')).total]).toEqual([0, 0]);
  }),
  'POST /orders/bulk': proof('returns 201 at once, and places one order for each row later', async (it) => {
    const { status, body } = await upload(it, bulkRow(it), bulkRow(it));
    expect(status).toBe(201);
    expect(body).toMatchObject({ placed_count: 0, row_count: 2 });
    expect(checkShape('BulkBatchResponse', body, 'response').issues).toBeUndefined();
    await placedBatch(it, body.id);
    expect((await read(it, '/orders')).total).toBe(2);
  }),
  'GET /orders/bulk': proof("lists the caller's batches, newest first", async (it) => {
    const older = (await upload(it, bulkRow(it))).body.id;
    const newer = (await upload(it, bulkRow(it))).body.id;
    expect(idsOf((await read(it, '/orders/bulk')).batches)).toEqual([newer, older]);
    it.key = await it.mint();
    expect((await read(it, '/orders/bulk')).batches).toEqual([]);
  }),
  'GET /orders/bulk?limit': proof('1 to 200 and nothing else', async (it) => {
    await upload(it, bulkRow(it));
    await upload(it, bulkRow(it));
    expect((await read(it, '/orders/bulk?limit=1')).batches).toHaveLength(1);
    expect((await read(it, '/orders/bulk?limit=200')).batches).toHaveLength(2);
    for (const value of [0, 201])
      expectInvalid(await it.send('GET', `/orders/bulk?limit=${value}`), 'query', 'limit');
  }),
  'GET /orders/bulk?offset': proof('0 unless told, and never negative', async (it) => {
    const older = (await upload(it, bulkRow(it))).body.id;
    await upload(it, bulkRow(it));
    expect(idsOf((await read(it, '/orders/bulk?offset=1')).batches)).toEqual([older]);
    expect((await read(it, '/orders/bulk?offset=0')).batches).toHaveLength(2);
    expectInvalid(await it.send('GET', '/orders/bulk?offset=-1'), 'query', 'offset');
  }),
  'GET /orders/bulk/{batch_id}': proof('shows each row with the status its order has now', async (it) => {
    const { id } = (await upload(it, bulkRow(it), bulkRow(it, { city: '' }))).body;
    const [first, second_] = (await placedBatch(it, id)).rows;
    expect([first.status, first.order_status, second_.status]).toEqual(['placed', 'pending', 'failed']);
    it.pass(20 * second);
    expect((await read(it, `/orders/bulk/${id}`)).rows[0].order_status).toBe('order_placed');
    expectRefusal(await it.send('GET', `/orders/bulk/${nobody}`), 404, 'not_found');
    expectInvalid(await it.send('GET', '/orders/bulk/1'), 'path', 'batch_id');
  }),
  'GET /orders/bulk/{batch_id}/results.csv': proof('echoes each row and its custom columns', async (it) => {
    const { id } = (await upload(it, bulkRow(it, { shelf: '7' }), bulkRow(it, { city: '' }))).body;
    await placedBatch(it, id);
    const { headers, text } = await it.send('GET', `/orders/bulk/${id}/results.csv`);
    expect(headers.get('content-type')).toContain('text/csv');
    expect(headers.get('content-disposition')).toContain('attachment');
    const [head, ...lines] = text.trim().split('\r\n');
    expect(head).toBe('index,status,order_id,order_status,error,recipient,product_urls,shelf');
    expect(lines).toEqual([expect.stringMatching(/^0,placed,.*,7$/), expect.stringMatching(/^1,failed,/)]);
    expectInvalid(await it.send('GET', '/orders/bulk/1/results.csv'), 'path', 'batch_id');
  }),
};

export const batchStateProofs: ProofsOf<typeof batchStates> = {
  'batch pending': proof('a new batch has placed nothing yet', async (it) => {
    expect((await upload(it, bulkRow(it))).body.status).toBe('pending');
  }),
  'batch processing': proof('a long batch is seen while its rows are placed', async (it) => {
    const { id } = (await upload(it, ...Array.from({ length: 100 }, () => bulkRow(it, { max_price: '10' }))))
      .body;
    const seen = new Set<string>();
    for (let turn = 0; turn < 500 && !seen.has('completed'); turn += 1) {
      seen.add((await read(it, `/orders/bulk/${id}`)).status);
      it.pass(second / 100);
    }
    expect([...seen]).toEqual(['pending', 'processing', 'completed']);
  }),
  'batch completed': proof('every row is placed or has failed', async (it) => {
    const { id } = (await upload(it, bulkRow(it), bulkRow(it, { city: '' }))).body;
    expect(await placedBatch(it, id)).toMatchObject({
      status: 'completed',
      placed_count: 1,
      failed_count: 1,
    });
  }),
  'batch failed': proof('a batch of which no row is an order', async (it) => {
    const { id } = (await upload(it, bulkRow(it, { city: '' }))).body;
    expect(await placedBatch(it, id)).toMatchObject({ status: 'failed', placed_count: 0, failed_count: 1 });
  }),
};
