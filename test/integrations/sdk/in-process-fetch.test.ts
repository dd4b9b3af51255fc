import { describe, expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../../src/integrations/sdk/sandbox.ts';
import type { Sandbox, SandboxFault } from '../../../src/integrations/sdk/sandbox-types.ts';

async function start(...faults: SandboxFault[]): Promise<Sandbox> {
  const sandbox = await startSandbox({ port: false, clock: 'frozen', seed: 7, faults });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

const authorized = ({ apiKey }: Sandbox) => ({ authorization: `Bearer ${apiKey}` });
const posting = (sandbox: Sandbox) => ({
  method: 'POST',
  headers: { ...authorized(sandbox), 'content-type': 'application/json' },
  body: JSON.stringify(sandbox.exampleOrder),
});

const total = async (sandbox: Sandbox): Promise<number> =>
  JSON.parse(await (await sandbox.fetch('/orders', { headers: authorized(sandbox) })).text()).total;

describe('what it takes', () => {
  test('a path, a URL as text, a URL and a Request', async () => {
    const sandbox = await start();
    const url = `${sandbox.baseUrl}/orders?limit=5`;
    const init = { headers: authorized(sandbox) };
    const { fetch } = sandbox;
    const responses = [
      await fetch('/orders?limit=5', init),
      await fetch(url, init),
      await fetch(new URL(url), init),
      await fetch(new Request(url, init)),
    ];
    expect(responses.map((response) => [response.status, response.url, response.ok])).toEqual(
      responses.map(() => [200, url, true]),
    );
    expect(responses.every((response) => response instanceof Response)).toBe(true);
    expect(sandbox.requests().map(({ path, query }) => `${path} ${query}`)).toEqual(
      responses.map(() => '/orders limit=5'),
    );
  });

  test('says with each status what Node’s own server says with it', async () => {
    const sandbox = await start('503@/retailers');
    const textOf = async (path: string) => (await sandbox.fetch(path)).statusText;
    expect([await textOf('/healthz'), await textOf('/orders'), await textOf('/retailers')]).toEqual([
      'OK',
      'Unauthorized',
      'Service Unavailable',
    ]);
  });

  test('bodies of every kind', async () => {
    const sandbox = await start();
    const bytes = () => new TextEncoder().encode(JSON.stringify(sandbox.exampleOrder));
    const bodies: (() => NonNullable<RequestInit['body']>)[] = [
      () => JSON.stringify(sandbox.exampleOrder),
      bytes,
      () => bytes().buffer,
      () => new Blob([bytes()]),
      () => new Blob([bytes()]).stream(),
    ];
    for (const body of bodies) {
      const init = { ...posting(sandbox), body: body(), duplex: 'half' as const };
      expect((await sandbox.fetch('/orders', init)).status).toBe(201);
    }
    expect(await total(sandbox)).toBe(bodies.length);
  });

  test('a form, with the type that the standard gives it', async () => {
    const sandbox = await start();
    const body = new URLSearchParams({ client_name: 'a test' });
    const response = await sandbox.fetch('/device/authorize', { method: 'POST', body });
    expect(response.status).not.toBe(422);
  });

  test.each([
    ['https://example.com/orders', /answers http:\/\/sandbox\.localhost alone, not https:\/\/example\.com;/],
    ['//example.com/orders', /Failed to parse URL|Invalid URL/],
    ['orders', /Failed to parse URL|Invalid URL/],
  ])('not %s', async (url, message) => {
    const sandbox = await start();
    const failure = await sandbox.fetch(url).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TypeError);
    expect(String(failure)).toMatch(message);
  });
});

describe('what it gives', () => {
  test('the status and headers of the service, and no body for a HEAD', async () => {
    const sandbox = await start();
    const response = await sandbox.fetch('/orders', posting(sandbox));
    expect(response.headers.get('content-type')).toBe('application/json');
    const head = await sandbox.fetch('/orders', { method: 'HEAD', headers: authorized(sandbox) });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(0);
    expect((await sandbox.fetch('/orders')).status).toBe(401);
    expect((await sandbox.fetch('/nothing')).status).toBe(404);
  });

  test('CSV as it comes', async () => {
    const sandbox = await start();
    await sandbox.fetch('/orders', posting(sandbox));
    const response = await sandbox.fetch('/orders/export', { headers: authorized(sandbox) });
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body ?? []) chunks.push(chunk);
    expect(chunks.every((chunk) => chunk instanceof Uint8Array)).toBe(true);
    expect(Buffer.concat(chunks).toString().split('\n').length).toBeGreaterThan(1);
  });

  test('the same as the socket gives', async () => {
    const sandbox = await startSandbox({ clock: 'frozen' });
    onTestFinished(() => sandbox.close());
    for (const path of ['/orders', '/orders/nothing', '/', '/orders/test-products', '/v1/orders']) {
      const init = { headers: authorized(sandbox) };
      const [inside, outside] = [
        await sandbox.fetch(path, init),
        await fetch(`${sandbox.baseUrl}${path}`, init),
      ];
      const facts = async (response: Response) => [
        response.status,
        response.headers.get('content-type'),
        response.headers.get('content-length'),
        await response.text(),
      ];
      expect(await facts(inside), path).toEqual(await facts(outside));
    }
  });
});

describe('an abort', () => {
  test('before and during a request rejects with its reason', async () => {
    const sandbox = await start('delay=30s@POST /orders');
    const reason = new Error('enough');
    const aborted = sandbox.fetch('/orders', { ...posting(sandbox), signal: AbortSignal.abort(reason) });
    await expect(aborted).rejects.toBe(reason);
    const controller = new AbortController();
    const during = expect(
      sandbox.fetch('/orders', { ...posting(sandbox), signal: controller.signal }),
    ).rejects.toBe(reason);
    setTimeout(() => controller.abort(reason), 20);
    await during;
    const timely = sandbox.fetch('/orders', { ...posting(sandbox), signal: AbortSignal.timeout(20) });
    await expect(timely).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

describe('a delay', () => {
  test('ends when the sandbox is closed, in this process and on a socket', async () => {
    const sandbox = await startSandbox({ faults: ['delay=30s'] });
    const inside = expect(sandbox.fetch('/orders')).rejects.toThrow('the sandbox was closed');
    const outside = expect(fetch(`${sandbox.baseUrl}/orders`)).rejects.toThrow('fetch failed');
    await new Promise((resolve) => setTimeout(resolve, 50));
    await sandbox.close();
    await Promise.all([inside, outside]);
  });
});

describe('faults', () => {
  test.each([
    ['refuse', 'ECONNRESET', 0],
    ['reset-before', 'ECONNRESET', 0],
    ['reset-after@POST /orders', 'ECONNRESET', 1],
  ] as const)('%s rejects as the global fetch does', async (fault, code, made) => {
    const sandbox = await start(fault);
    await expect(sandbox.fetch('/orders', posting(sandbox))).rejects.toMatchObject({
      name: 'TypeError',
      message: 'fetch failed',
      cause: { code },
    });
    if (made > 0) expect(await total(sandbox)).toBe(made);
    if (fault !== 'refuse')
      expect(sandbox.requests()[0]).toMatchObject({ status: null, fault: 'reset', path: '/orders' });
  });

  test('a truncated response breaks off in its middle', async () => {
    const sandbox = await start('truncate@POST /orders');
    const response = await sandbox.fetch('/orders', posting(sandbox));
    expect(response.status).toBe(201);
    await expect(response.text()).rejects.toMatchObject({ name: 'TypeError', message: 'terminated' });
    expect(await total(sandbox)).toBe(1);
  });

  test('a status, a page and an empty response stand in', async () => {
    const sandbox = await start('429=5s@/wallet', 'html:504@/usage', 'bare:403@/returns');
    const limited = await sandbox.fetch('/wallet');
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '5']);
    const page = await sandbox.fetch('/usage');
    expect([page.status, await page.text()]).toEqual([504, expect.stringContaining('<h1>504</h1>')]);
    const bare = await sandbox.fetch('/returns');
    expect([bare.status, await bare.text()]).toEqual([403, '']);
  });

  test('a redirect is followed, given as it is, or an error', async () => {
    const made = await start('redirect:303-after@POST /orders');
    const shown = await made.fetch('/orders', posting(made));
    expect([shown.status, shown.redirected, shown.url]).toEqual([
      200,
      true,
      `${made.baseUrl}/orders/${JSON.parse(await shown.text()).id}`,
    ]);
    const sandbox = await start('redirect:307@POST /orders');
    const followed = await sandbox.fetch('/orders', posting(sandbox));
    expect([followed.status, followed.redirected]).toEqual([201, true]);
    const manual = await sandbox.fetch('/orders', { ...posting(sandbox), redirect: 'manual' });
    expect([manual.status, manual.headers.get('location')]).toEqual([307, '/orders?redirected=1']);
    await expect(sandbox.fetch('/orders', { ...posting(sandbox), redirect: 'error' })).rejects.toMatchObject({
      message: 'fetch failed',
      cause: { message: 'unexpected redirect' },
    });
  });

  test('are the same with the same seed', async () => {
    const statuses = async () => {
      const sandbox = await start('503:50%');
      const found: number[] = [];
      for (let count = 0; count < 20; count += 1) found.push((await sandbox.fetch('/orders')).status);
      return found;
    };
    const first = await statuses();
    expect(new Set(first)).toEqual(new Set([401, 503]));
    expect(await statuses()).toEqual(first);
  });
});
