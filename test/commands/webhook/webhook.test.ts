import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Begun } from '../../support/begun.ts';
import { json, peer } from '../../support/peer.ts';
import { embeddedShop, errand, shell } from '../../support/run.ts';
import { order, orderId } from '../../support/webhook-order.ts';
import { makeWorkspace, prefer, type Workspace } from '../../support/workspace.ts';
import { Listening } from './listening.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace({ ERRAND_API_KEY: 'xx_test_abcdefghijkl1234' });
});
afterEach(() => workspace.remove());

const post = async (url: unknown, body: unknown, event = 'status_updated'): Promise<number> =>
  (
    await fetch(String(url), {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'x-webhook-event': event },
    })
  ).status;

/** Receives events with a temporary listener. */
async function receive(...bodies: Record<string, unknown>[]): Promise<void> {
  const listening = new Listening(workspace, ['--unverified', '--max', String(bodies.length)]);
  const { url } = await listening.record('ready');
  for (const body of bodies) expect(await post(url, body)).toBe(200);
  expect(await listening.ended()).toBe(0);
}

/** A service that knows the account's address and one order. */
const service = (found = order('in_progress')) =>
  peer((response, request) => {
    if (request.target === '/users')
      json({ id: 'account-1', ...JSON.parse(request.body) })(response, request, response.socket as never);
    else json(found)(response, request, response.socket as never);
  });

describe('webhook listen', () => {
  test('a script gets ready, each event and a summary', async () => {
    const listening = new Listening(workspace, ['--unverified', '--max', '1']);
    const { url, secret } = await listening.record('ready');
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}$/);
    expect(url).toContain(String(secret));
    expect(await post(url, order('pending'))).toBe(200);
    expect(await listening.ended()).toBe(0);
    expect(listening.records).toMatchObject([
      { type: 'ready' },
      { type: 'event', id: 1, event: 'status_updated', order_id: orderId, body: order('pending') },
      { type: 'summary', received: 1, stored: 1, duplicates: 0, forwarded: 0, failed: 0 },
    ]);
  });

  test('Ctrl-C ends it with the summary and 130', async () => {
    const listening = new Listening(workspace, ['--unverified']);
    const { url } = await listening.record('ready');
    await post(url, order('pending'));
    await listening.record('event');
    listening.interrupt();
    expect(await listening.ended()).toBe(130);
    expect(listening.records.at(-1)).toMatchObject({ type: 'summary', received: 1, ended: 'interrupted' });
  });

  test('--timeout ends it with 8', async () => {
    const { code, stdout } = await errand(workspace, [
      'webhook',
      'listen',
      '--timeout',
      '300ms',
      '-o',
      'ndjson',
    ]);
    expect(code).toBe(8);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).type),
    ).toEqual(['ready', 'summary']);
  });

  test('--register registers its address, and the one that errand registered before when it ends', async () => {
    const there = await service();
    workspace.environment.ERRAND_BASE_URL = there.url;
    await errand(workspace, ['webhook', 'register', 'https://hooks.example.com/mine?token=s3cret']);
    const listening = new Listening(workspace, ['--register']);
    const { url } = await listening.record('ready');
    listening.interrupt();
    expect(await listening.ended()).toBe(130);
    expect(there.received.map(({ body }) => JSON.parse(body).webhook_url)).toEqual([
      'https://hooks.example.com/mine?token=s3cret',
      url,
      'https://hooks.example.com/mine?token=s3cret',
    ]);
    expect(listening.stderr).toContain('registered https://hooks.example.com/mine?token=… again');
    expect(listening.stderr).not.toContain('s3cret');
  });

  test('a terminal that is closed ends it as well as Ctrl-C: the earlier address is registered again', async () => {
    const there = await service();
    workspace.environment.ERRAND_BASE_URL = there.url;
    await errand(workspace, ['webhook', 'register', 'https://hooks.example.com/mine']);
    const listening = new Listening(workspace, ['--register']);
    await listening.record('ready');
    listening.hangUp();
    expect(await listening.ended()).toBe(143);
    expect(JSON.parse(there.received.at(-1)?.body ?? '{}')).toEqual({
      webhook_url: 'https://hooks.example.com/mine',
    });
  });

  test('many large events that wait for a slow command take no memory', async () => {
    workspace.environment.NODE_OPTIONS = '--max-old-space-size=80';
    const listening = new Listening(workspace, ['--unverified', '--exec', 'sleep 60', '-o', 'id']);
    await expect.poll(() => listening.stderr).toContain('listening on');
    const url = listening.stderr.match(/http:\S+/)?.[0];
    const padding = 'x'.repeat(1_000_000);
    for (let n = 0; n < 120; n += 1) expect(await post(url, { n, padding })).toBe(200);
    listening.interrupt();
    expect(await listening.ended()).toBe(130);
    expect(listening.stderr).toContain('120 received, 120 new');
  });

  test('with no earlier address known, it says how to name another', async () => {
    const there = await service();
    workspace.environment.ERRAND_BASE_URL = there.url;
    const begun = new Begun(workspace, ['webhook', 'listen', '--register', '--timeout', '30m']);
    await begun.prints('listening on');
    begun.passDeadline();
    const { code, stderr } = await begun.ended();
    expect(code).toBe(8);
    expect(stderr).toContain('errand webhook register URL');
    expect(there.received).toHaveLength(1);
  });

  test('a registration that the service refuses ends it with its exit code', async () => {
    const there = await peer(json({ code: 'unauthorized', message: 'no', details: {} }, 401));
    workspace.environment.ERRAND_BASE_URL = there.url;
    const { code, stdout } = await errand(workspace, ['webhook', 'listen', '--register']);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  });

  test('the order is shown as the service has it', async () => {
    const there = await service(order('in_progress'));
    workspace.environment.ERRAND_BASE_URL = there.url;
    const listening = new Listening(workspace, ['--max', '1']);
    const { url } = await listening.record('ready');
    await post(url, order('order_placed'));
    expect(await listening.ended()).toBe(0);
    expect(await listening.record('event')).toMatchObject({
      verified: true,
      status: 'in_progress',
      body: order('in_progress'),
    });
    expect(there.received[0]?.target).toBe(`/orders/${orderId}`);
  });

  test('--forward-to and --exec get each event; what fails is told by the exit code', async () => {
    const there = await peer(json({}), json({}, 404));
    const listening = new Listening(workspace, [
      ...[
        '--unverified',
        '--forward-to',
        there.url,
        '--exec',
        'cat > "$ERRAND_EVENT.json"; echo done',
        '--max',
        '2',
      ],
    ]);
    const { url } = await listening.record('ready');
    await post(url, order('pending'));
    await post(url, order('in_progress'));
    expect(await listening.ended()).toBe(7);
    expect(await listening.record('exec')).toMatchObject({ exit_code: 0 });
    expect(listening.stderr).toContain('done');
    const kept = await shell(workspace, 'cat status_updated.json');
    expect(JSON.parse(kept.stdout)).toEqual(order('in_progress'));
    expect((await errand(workspace, ['webhook', 'events', '--failed', '-o', 'id'])).stdout).toBe('2\n');
  });

  test('a forged event moves nothing: the command and the receiver get the order as the service has it', async () => {
    const there = await service(order('in_progress'));
    const receiver = await peer(json({}));
    workspace.environment.ERRAND_BASE_URL = there.url;
    const run = 'cat > acted.json; printf "%s" "$ERRAND_API_KEY$ERRAND_LEGACY_TOKEN" > keys';
    const listening = new Listening(workspace, ['--exec', run, '--forward-to', receiver.url, '--max', '1']);
    const { url } = await listening.record('ready');
    await post(url, { ...order('order_placed'), job_result: { success: true }, refund: 'please' });
    expect(await listening.ended()).toBe(0);
    const acted = await shell(workspace, 'cat acted.json; cat keys');
    expect(JSON.parse(acted.stdout)).toEqual(order('in_progress'));
    expect(receiver.received.map(({ body }) => JSON.parse(body))).toEqual([order('in_progress')]);
  });

  test('a forged outcome of a real order is neither acted on nor replayed', async () => {
    const there = await service(order('pending'));
    const receiver = await peer(json({}));
    workspace.environment.ERRAND_BASE_URL = there.url;
    const acting = ['--exec', 'touch acted', '--forward-to', receiver.url, '--max', '1'];
    const listening = new Listening(workspace, acting);
    const { url } = await listening.record('ready');
    await post(url, order('order_failed'), 'request_failed');
    expect(await listening.ended()).toBe(7);
    const event = await listening.record('event');
    expect(event).toMatchObject({ verified: false, message: expect.stringContaining('pending') });
    const replayed = await errand(workspace, ['webhook', 'replay', '1', '--to', receiver.url]);
    expect([replayed.code, replayed.stderr.includes('does not confirm request_failed')]).toEqual([7, true]);
    expect([receiver.received, (await shell(workspace, 'ls acted')).code]).toEqual([[], 2]);
  });

  test.each([
    ['of an order that the service does not have', order('order_placed')],
    ['that names no order', { status: 'order_placed' }],
  ])('an event %s is shown as not verified, and nothing acts on it', async (_, body) => {
    const there = await peer(
      json({ code: 'not_found', message: 'There is no such order.', details: {} }, 404),
    );
    const receiver = await peer(json({}));
    workspace.environment.ERRAND_BASE_URL = there.url;
    const listening = new Listening(workspace, [
      '--exec',
      'touch acted',
      '--forward-to',
      receiver.url,
      '--max',
      '1',
    ]);
    const { url } = await listening.record('ready');
    await post(url, body);
    expect(await listening.ended()).toBe(7);
    expect(await listening.record('event')).toMatchObject({ verified: false, message: expect.any(String) });
    expect([receiver.received, (await shell(workspace, 'ls acted')).code]).toEqual([[], 2]);
    const replayed = await errand(workspace, ['webhook', 'replay', '1', '--to', receiver.url]);
    expect([replayed.code === 0, receiver.received]).toEqual([false, []]);
    expect(replayed.stderr).toContain('errand webhook replay 1 --unverified');
    const meant = await errand(workspace, ['webhook', 'replay', '1', '--to', receiver.url, '--unverified']);
    expect([meant.code, receiver.received.map((it) => JSON.parse(it.body))]).toEqual([0, [body]]);
  });

  test('what a command prints is text: no control reaches the terminal', async () => {
    const print = `printf '\\033]0;owned\\007\\033[2J\\nplain\\n'; printf '\\342\\200\\256x' >&2`;
    const listening = new Listening(workspace, ['--unverified', '--exec', print, '--max', '1']);
    const { url } = await listening.record('ready');
    await post(url, order('pending'));
    expect(await listening.ended()).toBe(0);
    expect(listening.stderr).toContain('␛]0;owned␇␛[2J\nplain\n');
    expect(listening.stderr).toContain('<U+202E>x');
  });

  test('the secret in a file keeps its address', async () => {
    const args = ['webhook', 'listen', '--secret-file', 'secret', '--timeout', '300ms', '-o', 'ndjson'];
    const secrets = [];
    for (const _ of [1, 2])
      secrets.push(JSON.parse((await errand(workspace, args)).stdout.split('\n')[0] ?? '').secret);
    expect(secrets[0]).toBe(secrets[1]);
  });

  test.each([
    [['--host', '0.0.0.0'], '--allow-remote'],
    [['--forward-to', 'ftp://x'], '--forward-to takes'],
    [['--public-url', 'nope'], '--public-url takes'],
    [['--events', 'order_plced'], '--events takes one of'],
    [['--dry-run'], '--register'],
    [['--max', '0'], '--max takes'],
  ])('%j is refused before anything listens', async (args, message) => {
    const { code, stdout, stderr } = await errand(workspace, ['webhook', 'listen', ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  test('--register --dry-run shows what would be registered, and sends nothing', async () => {
    const there = await service();
    workspace.environment.ERRAND_BASE_URL = there.url;
    const { code, stdout } = await errand(workspace, ['webhook', 'listen', '--register', '--dry-run']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ method: 'POST', url: `${there.url}/users` });
    expect(there.received).toEqual([]);
  });
});

describe('hostile events', () => {
  test('escape sequences in a record are made visible, and JSON carries them escaped', async () => {
    const evil = '\u001b]0;owned\u0007\u001b[2J\u202Eevil';
    await receive({ id: orderId, status: evil, note: evil });
    for (const args of [['events'], ['events', '1']])
      expect((await errand(workspace, ['webhook', ...args])).stdout).not.toMatch(/[\u0007\u001b\u202e]/);
    const { stdout } = await errand(workspace, ['webhook', 'events', '1', '-o', 'json']);
    expect(stdout).not.toMatch(/[\u0007\u001b]/);
    expect(JSON.parse(stdout)).toMatchObject({ status: evil });
  });
});

describe('webhook events', () => {
  test('a list and one of it have the same shape', async () => {
    await receive(order('pending'), order('in_progress'));
    const list = JSON.parse((await errand(workspace, ['webhook', 'events', '-o', 'json'])).stdout);
    expect(list.map(({ id }: { id: number }) => id)).toEqual([2, 1]);
    const one = JSON.parse((await errand(workspace, ['webhook', 'events', '1', '-o', 'json'])).stdout);
    expect(one).toEqual(list[1]);
    const two = await errand(workspace, ['webhook', 'events', '1', '2', '-o', 'ndjson']);
    expect(two.stdout.trim().split('\n')).toHaveLength(2);
  });

  test('they are found by name and order', async () => {
    await receive(order('pending'));
    const count = async (...args: string[]) =>
      (await errand(workspace, ['webhook', 'events', '-o', 'id', ...args])).stdout.trim();
    expect(await count('--event', 'status_updated')).toBe('1');
    expect(await count('--event', 'order_placed')).toBe('');
    expect(await count('--order', orderId)).toBe('1');
    expect(await count('--order', '22222222-2222-4222-8222-222222222222')).toBe('');
  });

  test('an id that is none, and one that is not kept', async () => {
    expect(await errand(workspace, ['webhook', 'events', 'x1'])).toMatchObject({ code: 2 });
    expect(await errand(workspace, ['webhook', 'events', '9'])).toMatchObject({ code: 4 });
    expect(await errand(workspace, ['webhook', 'events'])).toMatchObject({ code: 0, stdout: '' });
  });
});

describe('webhook replay', () => {
  test('events go out as they came, to the address named and then to the same again', async () => {
    const there = await peer(json({}));
    await receive(order('pending'), order('in_progress'));
    const first = await shell(
      workspace,
      `errand webhook events -o id | errand webhook replay - --unverified --to '${there.url}/?key=s3cret'`,
    );
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).not.toContain('s3cret');
    expect(await errand(workspace, ['webhook', 'replay', '1', '--unverified'])).toMatchObject({ code: 0 });
    expect(there.received.map(({ target, body }) => [target, JSON.parse(body).status])).toEqual([
      ['/?key=s3cret', 'in_progress'],
      ['/?key=s3cret', 'pending'],
      ['/?key=s3cret', 'pending'],
    ]);
    expect(there.received[0]?.headers['x-webhook-event']).toBe('status_updated');
  });

  test('an event whose order the service confirms goes out as it came', async () => {
    workspace.environment.ERRAND_BASE_URL = (await service(order('in_progress'))).url;
    const there = await peer(json({}));
    await receive(order('pending'));
    expect(await errand(workspace, ['webhook', 'replay', '1', '--to', there.url])).toMatchObject({ code: 0 });
    expect(there.received.map(({ body }) => JSON.parse(body))).toEqual([order('pending')]);
  });

  test('an address that cannot be reached ends with 9, one that refuses with 7, none at all with 2', async () => {
    const there = await peer(json({}, 400));
    await receive(order('pending'));
    expect(await errand(workspace, ['webhook', 'replay', '1'])).toMatchObject({ code: 2 });
    const unreachable = [
      'webhook',
      'replay',
      '1',
      '--unverified',
      '--to',
      'http://127.0.0.1:9',
      '--retries',
      '1',
    ];
    expect(await errand(workspace, unreachable)).toMatchObject({ code: 9, stdout: '' });
    const refused = ['webhook', 'replay', '1', '--unverified', '--to', there.url];
    expect(await errand(workspace, refused)).toMatchObject({ code: 7 });
    expect(await errand(workspace, ['webhook', 'replay', '9', '--to', there.url])).toMatchObject({ code: 4 });
  });
});

describe('webhook register', () => {
  test('the address goes to the service whole and is shown without its secret', async () => {
    const there = await service();
    workspace.environment.ERRAND_BASE_URL = there.url;
    const url = 'https://me:pass@hooks.example.com/0123456789abcdef0123?token=s3cret';
    const done = await shell(workspace, `echo '${url}' | errand webhook register - -o json`);
    expect(done).toMatchObject({ code: 0 });
    expect(JSON.parse(done.stdout)).toEqual({
      id: 'account-1',
      webhook_url: 'https://…@hooks.example.com/…0123?token=…',
    });
    expect(JSON.parse(there.received[0]?.body ?? '')).toEqual({ webhook_url: url });
  });

  test('an address without a secret is registered with a word of caution', async () => {
    const there = await service();
    workspace.environment.ERRAND_BASE_URL = there.url;
    const { code, stderr } = await errand(workspace, ['webhook', 'register', 'https://hooks.example.com/x']);
    expect(code).toBe(0);
    expect(stderr).toContain('holds no secret');
  });

  test('what is no http address is refused before anything is sent', async () => {
    expect(await errand(workspace, ['webhook', 'register', 'ftp://x'])).toMatchObject({ code: 2 });
  });
});

test('a listener that is killed with -9 and started again loses no event of the sandbox, and shows at most the last one twice', async () => {
  const here = makeWorkspace();
  try {
    prefer(here, { 'sandbox-speed': 10 });
    const url = `${await embeddedShop()}test-success`;
    const first = new Listening(here, ['--register', '--secret-file', 'secret']);
    const { port } = new URL(String((await first.record('ready')).url));
    await shell(here, `errand order create --product ${url} --max-price '$50' --ship-to home`);
    await first.record('event');
    first.kill();
    await first.ended();
    const second = new Listening(here, ['--port', port, '--secret-file', 'secret']);
    await second.record('ready');
    const kept = async () =>
      JSON.parse((await errand(here, ['webhook', 'events', '-o', 'json'])).stdout).map(
        ({ event }: { event: string }) => event,
      );
    // A delivery in flight at the kill is retried once its lease expires. A delivered order sends two status changes,
    // placed, all tracking known, and five parcel updates.
    await expect
      .poll(async () => (await kept()).toSorted(), { interval: 300 })
      .toEqual([
        'request_succeeded',
        ...['status_updated', 'status_updated', 'tracking_obtained'],
        ...Array.from({ length: 5 }, () => 'tracking_updated'),
      ]);
    second.interrupt();
    await second.ended();
    const [before, after] = [first, second].map(({ records }) =>
      records.flatMap(({ type, id }) => (type === 'event' ? [id] : [])),
    );
    // If killed between printing an event and recording it as shown, the next listener shows it again: at least once,
    // never lost.
    const shown = [...(before ?? []).slice(0, -1), ...(after ?? [])];
    expect(new Set(shown).size).toBe(shown.length);
  } finally {
    here.remove();
  }
});
