import { orderBody } from '../../support/order-body.ts';
import { pay } from '../../support/payer.ts';
import type { TestService } from '../../support/service.ts';

/** Sends secrets of every kind in requests, webhook addresses, metadata and accounts. @returns the secrets. */
export async function plantSecrets(service: TestService): Promise<string[]> {
  const minted = (await service.send('POST', '/sandbox/keys', {}, null)).body;
  const password = 'correct horse 7';
  const totp = 'A'.repeat(64);
  await service.send('POST', '/managed-accounts', {
    email: 'a@b.example',
    password,
    totp_secret: totp,
    retailer_config: { api_token: 'tok-9', nested: { password: ['list-secret'] } },
  });
  // An escaped field name, a number, and invalid JSON.
  await service.send('POST', '/managed-accounts', `{"email":"x@y.example","p\\u0061ssword":"${password}"}`);
  await service.send('POST', '/managed-accounts', `{"email":"z@y.example","password":4711881}`);
  await service.send('POST', '/managed-accounts', `{password: '${password}'`);
  await service.send('POST', '/users', {
    webhook_url: 'http://me:pw-1@127.0.0.1:9/hook?token=t-1&x=hidden-1',
  });
  const hooks = { order_placed: ['http://127.0.0.1:9/?a=hidden-2'] };
  await service.order('test-success', { webhooks: hooks, metadata: { team_secret: 'm-1' } });
  const device = (await service.send('POST', '/device/code', {}, null)).body;
  await service.send('POST', '/device/token', { device_code: device.device_code }, null);
  await service.send('GET', '/wallet/me', undefined, minted.api_key, {
    cookie: 'session=c-1',
    'x-api-key': 'h-1',
  });
  const paid = { ...orderBody(service.product('test-success')), idempotency_key: 'p' };
  const { authorization, response } = await pay(service, '/agent/orders', paid);
  service.pass(20_000);
  const ordered = await service.order('test-success');

  const { id, items } = ordered.body;
  service.pass(20_000);
  const units = [{ order_item_id: items[0].id, quantity: 1 }];
  await service.send('POST', '/returns', { order_id: id, items: units, reason: 'damaged' });
  service.pass(20_000);
  const returns = (await service.send('GET', '/returns')).body;
  const [label] = returns.return_requests[0].label_urls;
  return [
    minted.api_key,
    minted.claim_url.split('/').at(-1),
    password,
    totp,
    'tok-9',
    'list-secret',
    '4711881',
    'pw-1',
    't-1',
    'hidden-1',
    'hidden-2',
    'm-1',
    device.device_code,
    device.user_code,
    'session=c-1',
    'h-1',
    authorization.slice(-40),
    response.headers.get('x-api-key') ?? 'missing',
    response.headers.get('payment-receipt') ?? 'missing',
    new URL(label).searchParams.get('signature') ?? 'missing',
    service.key,
  ];
}
