import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { json, type Peer, peer, redirect, reset, text, truncated } from '../../support/peer.ts';
import { errand, type Finished } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const id = '0b9c4a52-6f0e-4a55-9d1c-2f6f3f0f7c11';
const orderId = '1b9c4a52-6f0e-4a55-9d1c-2f6f3f0f7c11';
const itemId = '2b9c4a52-6f0e-4a55-9d1c-2f6f3f0f7c11';
const key = 'xx_test_0123456789abcdef0123';
const pdf = '%PDF-1.4 label';

const record = (label_urls: readonly string[] = [], more = {}) => ({
  id,
  order_id: orderId,
  status: 'approved',
  reason: 'damaged',
  notes: null,
  resolution_notes: null,
  items: [{ order_item_id: itemId, quantity: 1 }],
  label_urls,
  merchant_return_id: 'RMA-1',
  credited_amount: 0,
  created_at: '2026-03-01T12:00:00.000Z',
  updated_at: '2026-03-01T12:00:00.000Z',
  ...more,
});

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace({ ERRAND_API_KEY: key });
});
afterEach(() => workspace.remove());

/** Files in the workspace, excluding the program's own directories. */
const files = (folder = ''): string[] =>
  readdirSync(join(workspace.folder, folder)).filter((name) => !/^\.(bin|config|state)$/.test(name));

/** A service whose return has these label URLs; relative paths are resolved against it. */
async function serving(
  paths: readonly string[],
  label: Parameters<typeof peer>[0] = text(pdf),
): Promise<Peer> {
  const service: Peer = await peer((response, request, socket) => {
    const isRead = request.target.startsWith('/returns/');
    const urls = paths.map((path) => (path.startsWith('http') ? path : `${service.url}${path}`));
    (isRead ? json(record(urls)) : label)(response, request, socket);
  });
  return service;
}

const labels = (service: Peer, ...more: string[]): Promise<Finished> =>
  errand(workspace, ['return', 'labels', id, '--base-url', service.url, '--retries', '0', ...more]);

describe('return labels', () => {
  test('saves every label under a name of its own, and sends the links no credential', async () => {
    const service = await serving(['/l/1.pdf?signature=s3cret', '/other/1.pdf?signature=s3cret', '/l/two']);
    const { code, stdout, stderr } = await labels(service, '--dir', 'a/b', '-o', 'csv', '--debug');
    expect(code).toBe(0);
    expect(files('a/b').toSorted()).toEqual([
      'return-0b9c4a52-1-2.pdf',
      'return-0b9c4a52-1.pdf',
      'return-0b9c4a52-two.pdf',
    ]);
    expect(readFileSync(join(workspace.folder, 'a/b/return-0b9c4a52-1.pdf'), 'utf8')).toBe(pdf);
    expect(stdout.split('\n')[1]).toBe(`a/b/return-0b9c4a52-1.pdf,${id},${pdf.length}`);
    for (const { target, headers } of service.received.slice(1)) {
      expect(target).toContain('/');
      expect(headers.authorization).toBeUndefined();
    }
    expect(service.received[0]?.headers.authorization).toBe(`Bearer ${key}`);
    expect(stdout + stderr).not.toContain('s3cret');
  });

  test.each([
    ['is refused', 'http://127.0.0.1:1/label/SECRETPATH.pdf', text(pdf)],
    ['breaks off', '/label/SECRETPATH.pdf', truncated],
    ['is redirected for ever', '/label/SECRETPATH.pdf', redirect('/label/SECRETPATH.pdf')],
    ['is not found', '/label/SECRETPATH.pdf', text('none', 404)],
  ])('tells no link where a download %s', async (_, link, respond) => {
    const { code, stdout, stderr } = await labels(await serving([link], respond), '-o', 'json');
    expect(code, stderr).not.toBe(0);
    expect(stderr).toContain('the download from http://127.0.0.1:');
    expect(stdout + stderr).not.toContain('SECRETPATH');
    expect(stderr).not.toContain('base URL;');
  });

  test.each([
    ['open', 'Labels come once it is approved.'],
    ['approved', 'try again later'],
    ['credited', 'This return is over'],
  ])('a return that is %s and has no labels gets the hint for it', async (status, hint) => {
    const { code, stderr } = await labels(await peer(json(record([], { status }))));
    expect([code, stderr.includes(hint)], stderr).toEqual([5, true]);
  });

  test.each([
    '/%2e%2e%2f%2e%2e%2fescaped.pdf',
    '/..%5c..%5cescaped.pdf',
    '/C%3A%5Cescaped.pdf',
    '/%2fetc%2fescaped.pdf',
    '/nul',
    '/a%00b.pdf',
    '/%1b%5d0;title%07.pdf',
    '/%E2%80%AEfdp.exe',
    '/%zz.pdf',
    `/${'x'.repeat(300)}.pdf`,
    '/',
  ])('keeps %s within the folder', async (path) => {
    const { code, stdout } = await labels(await serving([path]), '--dir', 'out', '-o', 'id');
    expect(code).toBe(0);
    expect(files()).toEqual(['out']);
    const [name = '', ...more] = files('out');
    expect(more).toEqual([]);
    expect(name).toMatch(/^return-0b9c4a52-[\w. -]+\.[a-z]+$/);
    expect(stdout).toBe(`${join('out', name)}\n`);
  });

  test.each(['/../../pwned', '..', 'a/../../b', 'CON', '\u202egpj.exe', 'a\u001b]0;x\u0007', 'a\nb', ''])(
    'a return that calls itself %j leaves nothing outside the folder',
    async (own) => {
      const service: Peer = await peer((response, request, socket) => {
        const urls = ['1', '\u202e%00%2e%2e%2f1', 'a.exe'].map((name) => `${service.url}/l/${name}`);
        const respond = request.target.startsWith('/returns/') ? json(record(urls, { id: own })) : text(pdf);
        respond(response, request, socket);
      });
      mkdirSync(join(workspace.folder, 'deep', 'er'), { recursive: true });
      const { stdout, stderr } = await labels(service, '--dir', 'deep/er/labels');
      expect(files().concat(files('deep'), files('deep/er')).toSorted()).toEqual(
        existsSync(join(workspace.folder, 'deep/er/labels')) ? ['deep', 'er', 'labels'] : ['deep', 'er'],
      );
      const saved = existsSync(join(workspace.folder, 'deep/er/labels')) ? files('deep/er/labels') : [];
      for (const name of saved) expect(name).toMatch(/^return-[\w.-]+\.pdf$/);
      expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    },
  );

  test('writes over nothing without --force, and says so before anything is downloaded', async () => {
    const service = await serving(['/1.pdf', '/2.pdf']);
    writeFileSync(join(workspace.folder, 'return-0b9c4a52-2.pdf'), 'mine');
    const refused = await labels(service);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('return-0b9c4a52-2.pdf already exists; use --force to overwrite it');
    expect(service.received).toHaveLength(1);
    expect(files()).toEqual(['return-0b9c4a52-2.pdf']);
    expect((await labels(service, '--force')).code).toBe(0);
    expect(readFileSync(join(workspace.folder, 'return-0b9c4a52-2.pdf'), 'utf8')).toBe(pdf);
  });

  test('--force replaces a plain file of its own name, and writes through no link and into no FIFO', async () => {
    const service = await serving(['/1.pdf', '/2.pdf', '/3.pdf']);
    const at = (name: string): string => join(workspace.folder, name);
    writeFileSync(at('notes.txt'), 'mine');
    symlinkSync('notes.txt', at('return-0b9c4a52-1.pdf'));
    execFileSync('mkfifo', [at('return-0b9c4a52-2.pdf')]);
    symlinkSync('not-there', at('return-0b9c4a52-3.pdf'));
    const links = [1, 2, 3].map((number) => `return-0b9c4a52-${number}.pdf`).join(', ');
    for (const force of [[], ['--force']]) {
      const { code, stdout, stderr } = await labels(service, ...force, '-o', 'id');
      expect([code, stdout], stderr).toEqual([2, '']);
      expect(stderr).toContain(`${links} are there, and are no plain files; move them away`);
      expect(stderr).not.toContain('use --force');
    }
    expect(service.received).toHaveLength(2);
    expect(readFileSync(at('notes.txt'), 'utf8')).toBe('mine');
    expect(lstatSync(at('return-0b9c4a52-1.pdf')).isSymbolicLink()).toBe(true);
    expect(lstatSync(at('return-0b9c4a52-2.pdf')).isFIFO()).toBe(true);
    expect(existsSync(at('not-there'))).toBe(false);
  });

  test('an expired link is made anew and tried once more', async () => {
    let reads = 0;
    const service: Peer = await peer((response, request, socket) => {
      if (request.target.startsWith('/returns/')) reads += 1;
      const respond = request.target.startsWith('/returns/')
        ? json(record([`${service.url}/1.pdf?read=${reads}`]))
        : request.target.endsWith('read=1')
          ? text('<Error>Expired</Error>', 403)
          : text(pdf);
      respond(response, request, socket);
    });
    expect((await labels(service)).code).toBe(0);
    expect(reads).toBe(2);
    expect(files()).toEqual(['return-0b9c4a52-1.pdf']);
  });

  test('a link that stays refused is told of once, with no hint at the key', async () => {
    const service = await serving(['/1.pdf'], json({ code: 'forbidden', message: 'no', details: {} }, 403));
    const { code, stderr } = await labels(service);
    expect(code).toBe(9);
    expect(stderr).toContain('refused, though it has just been made anew');
    expect(service.received).toHaveLength(4);
    expect(files()).toEqual([]);
  });

  test.each([
    [
      'a web page',
      text('<html>sign in</html>', 200, { 'content-type': 'text/html; charset=utf-8' }),
      'web page',
    ],
    ['nothing', text(''), 'empty label'],
    ['half of a label', truncated, 'broke off'],
  ])('keeps nothing where the link gives %s', async (_, respond, message) => {
    const { code, stdout, stderr } = await labels(await serving(['/1.pdf'], respond));
    expect(code).toBe(9);
    expect(stderr).toContain(message);
    expect(stdout).toBe('');
    expect(files()).toEqual([]);
  });

  test('follows a link to another host, without a credential', async () => {
    const store = await peer(text(pdf));
    const service = await serving([`/1.pdf`], redirect(`${store.url}/1.pdf?signature=s3cret`));
    expect((await labels(service)).code).toBe(0);
    expect(store.received[0]?.headers.authorization).toBeUndefined();
    expect(files()).toEqual(['return-0b9c4a52-1.pdf']);
  });

  test.each(['http://192.0.2.1/1.pdf', 'file:///etc/passwd', 'not a link'])(
    'refuses the link %s',
    async (link) => {
      const service: Peer = await peer(json(record([link])));
      const { code, stderr } = await labels(service);
      expect(code).toBe(9);
      expect(stderr).toContain('not an https address');
      expect(files()).toEqual([]);
    },
  );

  describe('of a service that is not on this machine', () => {
    /** Simulates the internet with a proxy that responds for every host. */
    async function behindProxy(link: (inner: Peer) => string, label = text(pdf)) {
      const inner = await peer(text('private'));
      const internet: Peer = await peer((response, request, socket) => {
        const isRead = request.target.includes('/returns/');
        (isRead ? json(record([link(inner)])) : label)(response, request, socket);
      });
      Object.assign(workspace.environment, { HTTP_PROXY: internet.url });
      const set = ['profile', 'set', 'far', '--base-url', 'http://service.example', '--allow-plain-http'];
      const { code, stderr } = await errand(workspace, [...set, '--use']);
      expect([code, stderr]).toEqual([0, '']);
      const run = await errand(workspace, ['return', 'labels', id, '--retries', '0']);
      return { ...run, inner };
    }

    test.each([
      ['this machine', ({ url }: Peer) => `${url}/1.pdf`],
      ['this machine', ({ url }: Peer) => `${url.replace('127.0.0.1', 'localhost')}/1.pdf`],
      ['this machine', ({ url }: Peer) => `${url.replace('127.0.0.1', 'a.b.localhost')}/1.pdf`],
      ['this machine', ({ url }: Peer) => `${url.replace('127.0.0.1', '[::ffff:127.0.0.1]')}/1.pdf`],
      ['a link-local or reserved address', () => 'http://169.254.169.254/latest/meta-data'],
      ['a link-local or reserved address', () => 'http://[::a9fe:a9fe]/latest/meta-data'],
      ['a private network', () => 'https://10.0.0.1/1.pdf'],
    ])('a link to %s is refused before anything is sent', async (where, link) => {
      const { code, stderr, inner } = await behindProxy(link);
      expect(code).not.toBe(0);
      expect(stderr).toContain(`the service's link leads to ${where}`);
      expect(inner.connections()).toBe(0);
      expect(files()).toEqual([]);
    });

    test('neither is one followed there that is redirected', async () => {
      const inner = await peer(text('private'));
      const { code, stderr } = await behindProxy(
        () => 'http://files.example/1.pdf',
        redirect(`${inner.url}/1.pdf`),
      );
      expect([code, inner.connections()]).toEqual([9, 0]);
      expect(stderr).toContain("the service's link leads to this machine");
    });

    test('a link to the internet is followed', async () => {
      const { code } = await behindProxy(() => 'http://files.example/1.pdf');
      expect([code, files()]).toEqual([0, ['return-0b9c4a52-1.pdf']]);
    });
  });

  test('says why a return has no labels', async () => {
    const service = await peer(json(record([], { status: 'denied', resolution_notes: 'Too late.' })));
    const { code, stderr } = await labels(service);
    expect(code).toBe(5);
    expect(stderr).toContain(`return ${id} is denied and has no labels`);
    expect(stderr).toContain('Too late.');
  });
});

describe('return create', () => {
  const create = (service: Peer, ...more: string[]): Promise<Finished> =>
    errand(workspace, [
      ...['return', 'create', '--base-url', service.url, '--order', orderId, '--item', itemId],
      ...['--reason', 'damaged', ...more],
    ]);
  const exists = json(
    { code: 'already_exists', message: 'open', details: { resource: 'return_request', identifier: id } },
    409,
  );

  test('with no response is in doubt, and tells how to find out', async () => {
    const service = await peer(reset);
    const { code, stdout, stderr } = await create(service, '-o', 'json');
    expect(code).toBe(10);
    expect(stdout).toBe('');
    const { error } = JSON.parse(stderr);
    expect(error).toMatchObject({ category: 'in_doubt', outcome: 'unknown' });
    expect(error.hint).toContain('It is safe to resume or to run the same command again');
    expect(error.next[0].command).toBe(
      `errand order journal resume ${error.idempotency_key} --base-url ${service.url}`,
    );
    expect(service.received).toHaveLength(1);
  });

  test('whose response is lost is found by the same command, whatever became of it since', async () => {
    const open = record([], { created_at: new Date().toISOString(), status: 'denied' });
    const list = json({ return_requests: [open], total: 1, limit: 50, offset: 0 });
    const service = await peer(reset, list, json(open));
    expect((await create(service)).code).toBe(10);
    const again = await create(service, '-o', 'id');
    expect([again.code, again.stdout]).toEqual([0, `${id}\n`]);
    expect(again.stderr).toContain('the same return is in doubt since');
    expect(service.received.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET']);
  });

  test('whose response describes another return is in doubt', async () => {
    const { code, stderr } = await create(await peer(json(record([], { reason: 'defective' }), 201)));
    expect(code).toBe(10);
    expect(stderr).toContain('describes another return than the one that was sent');
  });

  test('of what is open already shows it, as success', async () => {
    const { code, stdout, stderr } = await create(await peer(exists, json(record())), '-o', 'id');
    expect([code, stdout]).toEqual([0, `${id}\n`]);
    expect(stderr).toContain('existed already; nothing was requested twice');
  });

  test.each([
    ['reason', { reason: 'defective' }, 'reason requested damaged, is defective'],
    [
      'items',
      { items: [{ order_item_id: itemId, quantity: 2 }] },
      `items requested ${itemId}=1, is ${itemId}=2`,
    ],
  ])('of the same items with other %s is exit 5, with the difference', async (_, more, difference) => {
    const { code, stdout, stderr } = await create(await peer(exists, json(record([], more))));
    expect([code, stdout]).toEqual([5, '']);
    expect(stderr).toContain(difference);
    expect(stderr).toContain(`errand return get ${id}`);
  });

  test.each([
    [['--item', 'x'], 'is not a UUID'],
    [['--item', `${itemId}=0`], '--item: the quantity takes a whole number of at least 1'],
    [['--item', itemId], 'given twice'],
    [['--reason', 'boredom'], '--reason'],
    [['--order', 'x'], '--order is given twice with different values'],
    [['--file', 'none.json'], 'there is no such file'],
  ])('refuses %j before anything is sent', async (more, message) => {
    const service = await peer(json(record(), 201));
    const { code, stderr } = await create(service, ...more);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(service.received).toEqual([]);
  });

  test('refuses an order that is no id before anything is sent', async () => {
    const service = await peer(json(record(), 201));
    const where = ['--base-url', service.url, '--order', 'x'];
    const { code, stderr } = await errand(workspace, ['return', 'create', ...where, '--item', itemId]);
    expect(code).toBe(2);
    expect(stderr).toContain('is not a UUID');
    expect(service.received).toEqual([]);
  });

  test('takes a whole payload from stdin, which flags override', async () => {
    const items = [{ order_item_id: itemId, quantity: 2 }];
    const service = await peer(json(record([], { items }), 201));
    const payload = { order_id: orderId, items, reason: 'other', notes: 'n' };
    const args = ['return', 'create', '--base-url', service.url, '--file', '-', '--reason', 'damaged'];
    const { code } = await errand(workspace, args, { stdin: JSON.stringify(payload) });
    expect(code).toBe(0);
    expect(JSON.parse(service.received[0]?.body ?? '')).toEqual({ ...payload, reason: 'damaged' });
  });

  test('refuses a payload field of no return, naming it', async () => {
    const service = await peer(json(record(), 201));
    const args = ['return', 'create', '--base-url', service.url, '--file', '-'];
    const payload = {
      order_id: orderId,
      items: [{ order_item_id: itemId }],
      reason: 'damaged',
      refund: true,
    };
    const { code, stderr } = await errand(workspace, args, { stdin: JSON.stringify(payload) });
    expect(code).toBe(2);
    expect(stderr).toContain('the return in stdin is not valid: refund: Extra inputs are not permitted');
  });

  test('without a terminal says what is missing, and the command to run again', async () => {
    const { code, stderr } = await errand(workspace, [
      'return',
      'create',
      '--base-url',
      'http://127.0.0.1:1',
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('--order and --reason are missing; cannot prompt, as stdin is not a terminal');
    expect(stderr).toContain('--order ID --reason damaged');
  });

  test('--curl needs the items, since nothing is read', async () => {
    const args = [
      'return',
      'create',
      '--base-url',
      'http://127.0.0.1:1',
      '--order',
      orderId,
      '--reason',
      'other',
    ];
    expect((await errand(workspace, [...args, '--curl'])).stderr).toContain('--item is missing');
    const shown = await errand(workspace, [...args, '--item', itemId, '--curl']);
    expect(shown.code).toBe(0);
    expect(shown.stdout).toContain('/returns');
    expect(shown.stdout).toContain('$ERRAND_API_KEY');
  });
});

test('--dir that is a file, and an item id that is none, are wrong usage that says so', async () => {
  const service = await serving(['/l/1.pdf']);
  writeFileSync(join(workspace.folder, 'taken'), '');
  const { code, stderr } = await labels(service, '--dir', 'taken');
  expect(code).toBe(2);
  expect(stderr).toContain('--dir: the folder taken cannot be made');
  const item = await errand(workspace, [
    ...['return', 'create', '--order', orderId, '--reason', 'damaged', '--item', 'x'],
  ]);
  expect(item.code).toBe(2);
  expect(item.stderr).toContain('order item "x" is not a UUID; `errand order get ORDER` prints them');
});
