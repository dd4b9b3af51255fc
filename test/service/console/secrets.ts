import { orderBody } from '../../support/order-body.ts';
import { pay } from '../../support/payer.ts';
import { page, submit } from '../../support/read-page.ts';
import type { TestService } from '../../support/service.ts';

/** What the tests of the client's redaction look for: in headers, bodies, addresses and accounts. */
const needles = {
  password: 'hunter"2 & <co>/é',
  legacy: 'clientTokenOfTheOldService42',
  paid: 'proofThatOnlyThePayerHas77',
  hook: 'unguessablePathOfAReceiver0815',
  hookToken: 'tokenOfAReceiver-8',
  basicUser: 'userOfBasic31',
  basicPassword: 'pass:word-of-Basic',
  cookie: 'cookieOfASession-5',
  auth: 'xAuthTokenValue-1',
  private: 'privateTokenValue-2',
  subscription: 'subscriptionKeyValue-3',
  client: 'clientSecretValue-4',
  privateKey: 'privateKeyValue-6',
  cvv: 'cvv-value-7',
  device: 'device code of a form',
  inDelivery: 'secretOfAnEditedDelivery-9',
};

/** Sends each needle where a careless program puts it. */
async function plantNeedles(service: TestService): Promise<void> {
  const basic = `Basic ${btoa(`${needles.basicUser}:${needles.basicPassword}`)}`;
  const carriers: readonly Record<string, string>[] = [
    { authorization: basic },
    { authorization: `Payment ${needles.paid}` },
    { authorization: `Token ${needles.auth}` },
    { 'proxy-authorization': basic },
    { cookie: `session=one; other=${needles.cookie}` },
    { 'x-auth-token': needles.auth, 'private-token': needles.private },
    { 'ocp-apim-subscription-key': needles.subscription, 'x-api-key': needles.legacy },
  ];
  for (const headers of carriers) await service.send('GET', '/wallet/me', undefined, null, headers);
  await service.send('GET', '/v1/orders', undefined, null, {
    authorization: `Basic ${btoa(`${needles.legacy}:`)}`,
  });
  for (const body of [
    { clientSecret: needles.client, 'private-key': needles.privateKey, card: { CVV: needles.cvv } },
    { email: 'd@b.example', password: needles.password, nested: [{ totp_secret: needles.privateKey }] },
  ])
    await service.send('POST', '/managed-accounts', body);
  const form = new URLSearchParams({ grant: 'x', device_code: needles.device }).toString();
  await service.send('POST', '/device/token', form, null, {
    'content-type': 'application/x-www-form-urlencoded',
  });
  const query = new URLSearchParams({ api_key: needles.legacy, q: 'x', sig: needles.private });
  await service.send('GET', `/orders?${query}`);
  await service.send('POST', '/users', {
    webhook_url: `http://127.0.0.1:9/in/${needles.hook}?token=${needles.hookToken}`,
  });
  await service.order('test-success', {
    webhooks: { order_placed: [`http://127.0.0.1:9/in/${needles.hook}?token=${needles.hookToken}`] },
    metadata: { client_secret: needles.client, note: 'plain' },
  });
  service.pass(20_000);
  const deliveries = (await page(service, '/console/deliveries')).text;
  const [, delivery = ''] = /id="delivery-([\w-]+)"/.exec(deliveries) ?? [];
  const sent = await submit(service, `/console/deliveries/${delivery}/edit`, {
    once: crypto.randomUUID(),
    url: '',
    event: 'new',
    body: JSON.stringify({
      event: 'edited',
      api_key: needles.inDelivery,
      note: `it is ${needles.inDelivery}`,
    }),
  });
  if (sent.status !== 303) throw new Error(sent.text);
}

/** Sends secrets of every kind in requests, webhook addresses, metadata and accounts. @returns the secrets. */
export async function plantSecrets(service: TestService): Promise<string[]> {
  await plantNeedles(service);
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
    ...Object.values(needles),
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
