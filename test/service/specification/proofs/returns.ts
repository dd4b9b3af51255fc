import { expect } from 'vitest';
import { checkShape } from '../../../../src/api/schemas/check.ts';
import type { ServiceResponse, TestService } from '../../../support/service.ts';
import { type ProofsOf, proof } from '../proof.ts';
import type { returnEndpoints } from '../rows/endpoints.ts';
import type { returnStates } from '../rows/states.ts';
import { ask, expectInvalid, expectRefusal, idsOf, nobody, ordered, read, second } from '../scenes.ts';

/** Creates a return of a delivered order and reads it `ms` later. */
export async function returned(
  it: TestService,
  reason = 'damaged',
  ms = 0,
  order: Record<string, unknown> = {},
): Promise<ServiceResponse['body']> {
  const made = await ask(it, await ordered(it, 'test-success', 12 * second, order), { reason });
  expect(made.status, made.text).toBe(201);
  it.pass(ms);
  return read(it, `/returns/${made.body.id}`);
}

const requests = async (it: TestService, query: string): Promise<string[]> =>
  idsOf((await read(it, `/returns?${query}`)).return_requests);

export const returnEndpointProofs: ProofsOf<typeof returnEndpoints> = {
  'POST /returns': proof('makes a return; a second of the same items is a conflict, 409', async (it) => {
    const order = await ordered(it);
    const { status, body } = await ask(it, order);
    expect([status, body.status, body.credited_amount]).toEqual([201, 'open', 0]);
    expect(checkShape('ReturnRequest', body, 'response').issues).toBeUndefined();
    const again = await ask(it, order);
    expectRefusal(again, 409, 'already_exists');
    expect(again.body.details).toEqual({ resource: 'return_request', identifier: body.id });
  }),
  'GET /returns': proof('lists the returns and their total', async (it) => {
    const one = await returned(it);
    const list = await read(it, '/returns');
    expect(list).toMatchObject({ return_requests: [{ id: one.id }], total: 1 });
    expect(checkShape('ReturnRequestListResponse', list, 'response').issues).toBeUndefined();
  }),
  'GET /returns?limit': proof('how many at most', async (it) => {
    await returned(it);
    const newer = await returned(it);
    expect(await requests(it, 'limit=1')).toEqual([newer.id]);
    expectInvalid(await it.send('GET', '/returns?limit=0'), 'query', 'limit');
  }),
  'GET /returns?offset': proof('from where, never negative', async (it) => {
    const older = await returned(it);
    await returned(it);
    expect(await requests(it, 'offset=1')).toEqual([older.id]);
    expectInvalid(await it.send('GET', '/returns?offset=-1'), 'query', 'offset');
  }),
  'GET /returns?search': proof('finds part of an id', async (it) => {
    const one = await returned(it);
    await returned(it);
    expect(await requests(it, `search=${one.id.slice(0, 20)}`)).toEqual([one.id]);
    expect(await requests(it, 'search=nothing')).toEqual([]);
  }),
  'GET /returns?status': proof('keeps those of one status, and takes no other word', async (it) => {
    const denied = await returned(it, 'other', 4 * second);
    const open = await returned(it);
    expect(await requests(it, 'status=denied')).toEqual([denied.id]);
    expect(await requests(it, 'status=open')).toEqual([open.id]);
    expectInvalid(await it.send('GET', '/returns?status=lost'), 'query', 'status');
  }),
  'GET /returns/{return_request_id}': proof('reads one; an id that is none is a 422', async (it) => {
    const { id } = await returned(it);
    expect((await read(it, `/returns/${id}`)).id).toBe(id);
    expectRefusal(await it.send('GET', `/returns/${nobody}`), 404, 'not_found');
    expectInvalid(await it.send('GET', '/returns/1'), 'path', 'return_request_id');
  }),
};

export const returnStateProofs: ProofsOf<typeof returnStates> = {
  'return open': proof('at once', async (it) => {
    expect((await returned(it)).status).toBe('open');
  }),
  'return in_progress': proof('the filter takes it, and no return is ever in it', async (it) => {
    await returned(it);
    for (let ms = 0; ms < 8_000; ms += 500) {
      expect(await requests(it, 'status=in_progress')).toEqual([]);
      it.pass(500);
    }
  }),
  'return approved': proof('with a label and the retailer’s own number', async (it) => {
    const approved = await returned(it, 'damaged', 3.5 * second);
    expect(approved).toMatchObject({ status: 'approved', merchant_return_id: expect.any(String) });
    expect(approved.label_urls).toHaveLength(1);
  }),
  'return denied': proof('with the reason, and nothing credited', async (it) => {
    const denied = await returned(it, 'other', 10 * second);
    expect(denied).toMatchObject({
      status: 'denied',
      credited_amount: 0,
      resolution_notes: expect.any(String),
    });
  }),
  'return completed': proof('the filter takes it; one without a credit stays approved', async (it) => {
    const resolved = await returned(it, 'damaged', 10 * second, { payment: { mode: 'card' } });
    expect(resolved).toMatchObject({ status: 'approved', credited_amount: 0 });
    expect(await requests(it, 'status=completed')).toEqual([]);
  }),
  'return credited': proof('credited_amount has reached the wallet', async (it) => {
    const { id } = await returned(it);
    const { balance } = await read(it, '/wallet/me');
    it.pass(10 * second);
    const { status, credited_amount } = await read(it, `/returns/${id}`);
    expect([status, credited_amount]).toEqual(['credited', 1_999]);
    expect((await read(it, '/wallet/me')).balance).toBe(balance + credited_amount);
  }),
};
