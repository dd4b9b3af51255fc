import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { begin, errand, orderOf, shell } from '../../support/run.ts';
import { Terminal } from '../../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

function aWorkspace(): Workspace {
  const workspace = makeWorkspace();
  onTestFinished(() => workspace.remove());
  return workspace;
}

const hello = {
  jsonrpc: '2.0',
  id: 'hello',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};
const line = (message: unknown): string => `${JSON.stringify(message)}\n`;
const calling = (id: unknown, name: string, given: unknown = {}) =>
  line({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: given } });

/** Parses stdout as one protocol message per line. */
const messagesIn = (
  stdout: string,
): { readonly id?: unknown; readonly error?: { readonly code: number } }[] =>
  stdout
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => {
      const message = JSON.parse(text);
      expect(message.jsonrpc).toBe('2.0');
      return message;
    });

/** Invalid or unknown input on stdin. */
const odd: Readonly<Record<string, string>> = {
  'text that is not JSON': 'hello?\n{"jsonrpc":\n]]\n\u0000\u0001\n',
  'JSON that is no message': '1\nnull\n[]\n{}\n{"jsonrpc":"1.0","id":1,"method":"ping"}\n',
  'methods that nobody knows': line({ jsonrpc: '2.0', id: 1, method: 'nosuch/list' }),
  'a call without a tool': line({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} }),
  'arguments that are a list': calling(1, 'wallet', []),
  'a cancellation of nothing': line({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: 99 },
  }),
  'two requests with one id': `${calling(1, 'wallet')}${calling(1, 'wallet')}`,
  'bytes that are no UTF-8': Buffer.from([0xff, 0xfe, 0x0a]).toString('latin1'),
};

describe('the server', () => {
  test.each(Object.entries(odd))(
    'goes on after %s, and says nothing but the protocol on stdout',
    async (_, text) => {
      const stdin = `${line(hello)}${text}${line({ jsonrpc: '2.0', id: 'last', method: 'ping' })}`;
      const { code, stdout, stderr } = await errand(aWorkspace(), ['mcp'], { stdin });
      expect(code, stderr).toBe(0);
      const ids = messagesIn(stdout).map(({ id }) => id);
      expect(ids).toContain('hello');
      expect(ids).toContain('last');
    },
  );

  test('has standing orders read, and offers nothing that changes one', async () => {
    const workspace = aWorkspace();
    await shell(workspace, 'errand sandbox mint --no-store -o json --query example_order > order.json');
    await shell(workspace, 'errand standing add coffee --file order.json --every 1mo --starts 2090-01-01');
    const read = (id: string, uri: string) =>
      line({ jsonrpc: '2.0', id, method: 'resources/read', params: { uri } });
    const stdin = [
      line(hello),
      line({ jsonrpc: '2.0', id: 'list', method: 'resources/list', params: {} }),
      ...[read('one', 'errand://standing/coffee'), read('none', 'errand://standing/tea')],
      line({ jsonrpc: '2.0', id: 'tools', method: 'tools/list', params: {} }),
    ].join('');
    const { stdout } = await errand(workspace, ['mcp'], { stdin });
    const answers = new Map(messagesIn(stdout).map((message) => [message.id, JSON.stringify(message)]));
    expect(answers.get('list')).toContain('errand://standing/coffee');
    expect(answers.get('one')).toContain('2090-01-01');
    expect(answers.get('none')).toContain('there is no resource of this address');
    expect(answers.get('tools')).not.toContain('standing');
  });

  test('has orders, quotes and the policy read, and shows no handle of a quote', async () => {
    const workspace = aWorkspace();
    await shell(workspace, 'errand policy init');
    const { stdout: example } = await shell(
      workspace,
      'errand sandbox mint --no-store -o json --query example_order > order.json && cat order.json',
    );
    const { products, shipping_address } = JSON.parse(example);
    const id = await orderOf(workspace, 'test-success');
    const quoted = await errand(workspace, ['mcp'], {
      stdin: `${line(hello)}${calling('quote', 'order_quote', { products, shipping_address, max_price: 4000 })}`,
    });
    const { quote } = Object(messagesIn(quoted.stdout).find((one) => one.id === 'quote')).result
      .structuredContent;
    const read = (uri: string) =>
      line({ jsonrpc: '2.0', id: uri, method: 'resources/read', params: { uri: `errand://${uri}` } });
    const uris = ['orders', `orders/${id}`, 'orders/nosuch', 'quotes', 'policy', 'nosuch'];
    const templates = line({
      jsonrpc: '2.0',
      id: 'templates',
      method: 'resources/templates/list',
      params: {},
    });
    const stdin = `${line(hello)}${uris.map(read).join('')}${templates}`;
    const { stdout } = await errand(workspace, ['mcp'], { stdin });
    const answers = new Map(messagesIn(stdout).map((message) => [message.id, JSON.stringify(message)]));
    expect(answers.get('orders')).toMatch(new RegExp(`Text of retailers.*<<data [^]*${id}`));
    expect(answers.get(`orders/${id}`)).toContain('max_price');
    expect(answers.get('orders/nosuch')).toContain('"code":-32602');
    expect(answers.get('quotes')).toMatch(/open.*ceiling_cents.*4000/);
    expect(stdout).not.toContain(quote);
    expect(answers.get('policy')).toContain('limits.per_day');
    expect(answers.get('nosuch')).toContain('"code":-32602');
    expect(answers.get('templates')).toContain('errand://orders/{order_id}');
    const narrowed = await errand(workspace, ['mcp', '--tools', 'search'], { stdin });
    expect(narrowed.stdout).not.toContain('max_price');
  });

  test('has two prompts, where their tools are offered', async () => {
    const get = (id: string, name: string, given: object) =>
      line({ jsonrpc: '2.0', id, method: 'prompts/get', params: { name, arguments: given } });
    const stdin = [
      line(hello),
      line({ jsonrpc: '2.0', id: 'list', method: 'prompts/list', params: {} }),
      get('buy', 'buy_safely', { what: 'green tea', ceiling: '$20.00' }),
      ...[get('nothing', 'buy_safely', {}), get('spent', 'what_did_we_spend', {}), get('none', 'nosuch', {})],
    ].join('');
    const { stdout } = await errand(aWorkspace(), ['mcp'], { stdin });
    const answers = new Map(messagesIn(stdout).map((message) => [message.id, JSON.stringify(message)]));
    expect(answers.get('list')).toMatch(/buy_safely.*what_did_we_spend/);
    expect(answers.get('buy')).toMatch(/green tea.*\$20\.00.*place the same quote again/);
    expect(answers.get('nothing')).toContain('buy_safely needs what');
    expect(answers.get('spent')).toContain('the last 30 days');
    expect(answers.get('none')).toContain('there is no prompt of this name');
    const readOnly = await errand(aWorkspace(), ['mcp', '--read-only'], { stdin });
    expect(readOnly.stdout).not.toContain('place the same quote again; never');
  });

  test('answers a line that is no message, with one line on stderr, and goes on', async () => {
    const lines = ['{"jsonrpc":', '{"jsonrpc":"1.0","id":1,"method":"ping"}', 'x'.repeat(2_000_000)];
    const stdin = `${line(hello)}${lines.join('\n')}\n${line({ jsonrpc: '2.0', id: 'last', method: 'ping' })}`;
    const { code, stdout, stderr } = await errand(aWorkspace(), ['mcp'], { stdin });
    expect(code).toBe(0);
    const messages = messagesIn(stdout);
    expect(messages.flatMap(({ error }) => error?.code ?? [])).toEqual([-32700, -32600, -32600]);
    expect(messages.map(({ id }) => id)).toContain('last');
    expect(stderr.match(/^warning: .*$/gm)).toHaveLength(3);
    expect(stderr.trim().split('\n')).toHaveLength(3);
  });

  test('answers what was asked before its stdin ended, two requests at once too', async () => {
    const stdin = `${line(hello)}${calling(1, 'search', { q: 'coffee' })}${calling(2, 'wallet')}`;
    const { code, stdout } = await errand(aWorkspace(), ['mcp'], { stdin });
    expect(code).toBe(0);
    expect(
      messagesIn(stdout)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual([1, 2, 'hello']);
  });

  test('ends soon after its stdin does, though a watch goes on', async () => {
    const workspace = aWorkspace();
    const id = await orderOf(workspace, 'test-never');
    const child = begin(workspace, 'errand', ['mcp']);
    const lines = createInterface(child.stdout);
    const answers = lines[Symbol.asyncIterator]();
    child.stdin.write(line(hello));
    await answers.next();
    child.stdin.write(calling(1, 'order_watch', { order_id: id, wait_seconds: 300 }));
    child.stdin.end();
    const [code] = await once(child, 'close');
    expect(code).toBe(0);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'ends on %s while a call waits for a service that never answers',
    async (signal) => {
      const hung = createServer((socket) => socket.on('error', () => {}));
      onTestFinished(() => void hung.close());
      await once(hung.listen(0, '127.0.0.1'), 'listening');
      const workspace = aWorkspace();
      workspace.environment.ERRAND_BASE_URL = `http://127.0.0.1:${Object(hung.address()).port}`;
      // A server that waits for the call would not end.
      workspace.environment.ERRAND_TIMEOUT = '10h';
      workspace.environment.ERRAND_API_KEY = `acme_test_${'0'.repeat(32)}`;
      const child = begin(workspace, 'errand', ['mcp']);
      child.stdin.write(line(hello) + calling(1, 'wallet'));
      await once(hung, 'connection');
      child.kill(signal);
      const [code] = await once(child, 'close');
      expect(code).toBe({ SIGTERM: 143, SIGINT: 130, SIGHUP: 143 }[signal]);
    },
  );

  test('ends with 143 on SIGTERM, while its client keeps stdin open', async () => {
    const child = begin(aWorkspace(), 'errand', ['mcp']);
    child.stdin.write(line(hello));
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    const [code] = await once(child, 'close');
    expect(code).toBe(143);
  });

  test('tells whoever types it at a terminal what it is, and how a client gets it', async () => {
    const workspace = aWorkspace();
    for (const columns of [50, 80, 120]) {
      const terminal = new Terminal(workspace, 'errand', ['mcp'], { columns });
      await terminal.shows(/Ctrl-D\s+ends\s+it/);
      await terminal.shows('"args": ["mcp"] } } }');
      terminal.type('\u0004');
      expect(await terminal.ended()).toBe(0);
    }
  });

  test.each([
    ['--output', ['-o', 'json']],
    ['--query', ['--query', 'a']],
    ['--fields', ['--fields', 'a']],
  ])('refuses %s, which would shape what it does not print', async (flag, args) => {
    const { code, stdout, stderr } = await errand(aWorkspace(), ['mcp', ...args]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`${flag} has nothing to shape`);
    const preferring = aWorkspace();
    preferring.environment.ERRAND_OUTPUT = 'json';
    expect((await errand(preferring, ['mcp'])).code).toBe(0);
  });

  test('offers what it was told to, and refuses names that no tool has', async () => {
    const stdin = `${line(hello)}${line({ jsonrpc: '2.0', id: 1, method: 'tools/list' })}`;
    const { stdout } = await errand(aWorkspace(), ['mcp', '--tools', 'wallet,order_place', '--read-only'], {
      stdin,
    });
    expect(stdout.match(/"name":"wallet"/g)).toHaveLength(1);
    expect(stdout).not.toContain('"name":"order_place"');
    const { code, stderr } = await errand(aWorkspace(), ['mcp', '--tools', 'order_plac']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('did you mean order_place?')]);
    const none = await errand(aWorkspace(), ['mcp', '--tools', 'order_place', '--read-only']);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('names no other tool')]);
  });
});
