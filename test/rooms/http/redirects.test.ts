import { describe, expect, test } from 'vitest';
import { caller, failureOf, keyedOrder, orderId, testKey, textOf } from '../../support/caller.ts';
import { json, peer, redirect, text } from '../../support/peer.ts';

const wallet = { balance: 1 };

describe('a redirect of a read', () => {
  test.each([301, 302, 303, 307, 308])(
    'with %i is followed within the origin, the key going along',
    async (status) => {
      const service = await peer(redirect('/v2/wallet', status), json(wallet));
      expect((await caller(service.url).client.call('wallet.get', {})).body).toEqual(wallet);
      expect(service.received[1]).toMatchObject({
        method: 'GET',
        target: '/v2/wallet',
        headers: { authorization: `Bearer ${testKey}` },
      });
    },
  );

  test('to another origin is refused, and the other one is never asked', async () => {
    const other = await peer(json(wallet));
    const service = await peer(redirect(`${other.url}/wallet`));
    const error = await failureOf(caller(service.url).client.call('wallet.get', {}));
    expect(error).toMatchObject({
      category: 'unavailable',
      facts: { outcome: 'rejected', attempts: 1, status: 302 },
    });
    expect(error.message).toContain(`redirected (302) to ${other.url}/wallet`);
    expect(other.received).toEqual([]);
  });

  test('goes round at most five times', async () => {
    const service = await peer(redirect('/again'));
    const error = await failureOf(caller(service.url).client.call('wallet.get', {}));
    expect(error.message).toContain('again and again');
    expect(service.received).toHaveLength(6);
  });

  test.each([undefined, 'http://[broken'])('that leads to %s is not followed', async (location) => {
    const service = await peer(text('', 302, location === undefined ? {} : { location }));
    const error = await failureOf(caller(service.url).client.call('wallet.get', {}));
    expect(error.message).toContain('returned 302');
  });
});

describe('a redirect of a write', () => {
  test.each([301, 302, 303, 307, 308])(
    'with %i is not followed, not even within the origin, and leaves an order in doubt',
    async (status) => {
      const service = await peer(redirect('/v2/orders', status));
      const error = await failureOf(caller(service.url).client.call('order.create', { body: keyedOrder }));
      expect(error).toMatchObject({ category: 'in_doubt', facts: { outcome: 'unknown', attempts: 1 } });
      expect(error.message).toContain(`${service.url}/v2/orders`);
      expect(service.received).toHaveLength(1);
    },
  );

  test('is refused for a POST that only reads, too', async () => {
    const service = await peer(redirect('/v2/validate', 307));
    await failureOf(caller(service.url).client.call('bulk.validate', { body: { rows: [] } }));
    expect(service.received).toHaveLength(1);
  });
});

describe('a label link', () => {
  test('is fetched without the key, across origins too', async () => {
    const store = await peer(text('%PDF-1.7', 200, { 'content-type': 'application/pdf' }));
    const service = await peer(redirect(`${store.url}/label.pdf?sig=abc`));
    const { chunks, headers } = await caller(service.url).client.download(`${service.url}/labels/1?sig=def`);
    expect(await textOf(chunks)).toBe('%PDF-1.7');
    expect(headers['content-type']).toBe('application/pdf');
    for (const { headers: sent } of [...service.received, ...store.received])
      expect(JSON.stringify(sent)).not.toContain(testKey);
  });

  test('is told without its signature when it fails', async () => {
    const service = await peer(text('', 403));
    const error = await failureOf(
      caller(service.url).client.download(`${service.url}/labels/1?sig=verysecret`),
    );
    expect(error.message).toBe(`the download from ${service.url} returned 403`);
    expect(JSON.stringify(error.facts)).not.toContain('verysecret');
  });

  test('goes round at most five times', async () => {
    const service = await peer(redirect('/again'));
    await failureOf(caller(service.url).client.download(`${service.url}/labels/1`));
    expect(service.received).toHaveLength(6);
  });

  test.each([
    'file:///etc/passwd',
    'http://labels.example/1',
    'javascript:1',
    'https://user:pass@labels.example/',
    'nothing',
  ])('such as %s is refused', async (link) => {
    const error = await failureOf(caller('http://127.0.0.1:1').client.download(link));
    expect(error.message).toContain('not an https address');
  });

  test('is not followed to plain http on another machine', async () => {
    const service = await peer(redirect('http://labels.example/1'));
    const error = await failureOf(caller(service.url).client.download(`${service.url}/labels/1`));
    expect(error.message).toContain('is redirected (302) to http://labels.example;');
  });
});

describe('the base URL', () => {
  test.each([
    'http://service.example',
    'ftp://service.example',
    'nothing',
    'https://user:pass@service.example',
    'https://service.example/?x=1',
  ])('%s is refused', (baseUrl) => {
    expect(() => caller(baseUrl)).toThrow(/base URL/);
  });

  test('may be plain http where the profile allows it, and have a path', async () => {
    expect(() => caller('http://service.example', { allowPlainHttp: true })).not.toThrow();
    const service = await peer(json({ id: orderId, status: 'pending' }));
    await caller(`${service.url}/api/`).client.call('order.get', { path: { order_id: orderId } });
    expect(service.received[0]?.target).toBe(`/api/orders/${orderId}`);
  });
});
