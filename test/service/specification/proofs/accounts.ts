import { expect } from 'vitest';
import { checkShape } from '../../../../src/api/schemas/check.ts';
import { type ProofsOf, proof } from '../proof.ts';
import type { accountEndpoints } from '../rows/endpoints.ts';
import { addAccount, expectInvalid, expectRefusal, read } from '../scenes.ts';

const secret = 'S'.repeat(64);
const emails = (list: { credentials: { email: string }[] }) => list.credentials.map(({ email }) => email);

export const accountEndpointProofs: ProofsOf<typeof accountEndpoints> = {
  'GET /managed-accounts': proof('returns the stored accounts and their total', async (it) => {
    const { body } = await addAccount(it);
    expect(await read(it, '/managed-accounts')).toEqual({ credentials: [body], total: 1 });
  }),
  'GET /managed-accounts?limit': proof('how many at most', async (it) => {
    for (const name of ['a', 'b']) await addAccount(it, { email: `${name}@example.com` });
    const page = await read(it, '/managed-accounts?limit=1');
    expect([emails(page), page.total]).toEqual([['b@example.com'], 2]);
    expectInvalid(await it.send('GET', '/managed-accounts?limit=0'), 'query', 'limit');
  }),
  'GET /managed-accounts?offset': proof('from where, never negative', async (it) => {
    for (const name of ['a', 'b']) await addAccount(it, { email: `${name}@example.com` });
    expect(emails(await read(it, '/managed-accounts?offset=1'))).toEqual(['a@example.com']);
    expectInvalid(await it.send('GET', '/managed-accounts?offset=-1'), 'query', 'offset');
  }),
  'GET /managed-accounts?search': proof('finds part of an account', async (it) => {
    for (const name of ['ada', 'bob']) await addAccount(it, { email: `${name}@example.com` });
    expect(emails(await read(it, '/managed-accounts?search=ADA'))).toEqual(['ada@example.com']);
    expect(emails(await read(it, '/managed-accounts?search=nobody'))).toEqual([]);
  }),
  'POST /managed-accounts': proof('stores an account, needs an email, and shows no secret', async (it) => {
    const { status, body, text } = await addAccount(it, { retailer: 'membersbarn', totp_secret: secret });
    expect(status).toBe(201);
    expect(body).toMatchObject({ retailer: 'membersbarn', has_totp: true, has_forwarding: false });
    expect(body.short_id).toMatch(/^[a-z]+_acct_\w+$/);
    expect(body.forwarding_email).toMatch(/^fwd-\w+@/);
    expect(text).not.toMatch(/hunter2|SSSS/);
    expect(checkShape('ManagedAccount', body, 'response').issues).toBeUndefined();
    expect((await addAccount(it)).body.retailer).toBeNull();
    expectInvalid(await addAccount(it, { email: undefined }), 'body', 'email');
  }),
  'PUT /managed-accounts/{short_id}': proof('changes what is given and leaves the rest', async (it) => {
    const { body } = await addAccount(it, { totp_secret: secret, retailer_config: { region: 'US' } });
    const target = `/managed-accounts/${body.short_id}`;
    const email = 'new@example.com';
    const changed = await it.send('PUT', target, { email });
    expect(changed.status).toBe(200);
    expect(changed.body).toEqual({ ...body, email, updated_at: changed.body.updated_at });
    expect((await it.send('PUT', target, {})).body).toMatchObject({ email, has_totp: true });
    expectRefusal(await it.send('PUT', '/managed-accounts/none', { email }), 404, 'not_found');
  }),
  'DELETE /managed-accounts/{short_id}': proof('returns 204 and no body', async (it) => {
    const target = `/managed-accounts/${(await addAccount(it)).body.short_id}`;
    const { status, text } = await it.send('DELETE', target);
    expect([status, text]).toEqual([204, '']);
    expect((await read(it, '/managed-accounts')).total).toBe(0);
    expectRefusal(await it.send('DELETE', target), 404, 'not_found');
  }),
};
