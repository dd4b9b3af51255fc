import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { orderBody } from '../../support/order-body.ts';
import { errand } from '../../support/run.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const issues = [
  { loc: ['body', 'po_number'], msg: 'String should have at most 20 characters', type: 'too_big' },
  { loc: ['body', 'shipping_address', 'city'], msg: 'Unknown city', type: 'value_error' },
  { loc: ['body', 'not_ours', 0], msg: 'Refused', type: 'value_error' },
  { loc: [], msg: 'Refused as a whole', type: 'value_error' },
];

/** A service that is stricter than the contract: it refuses every order. */
async function strictService(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(422, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ detail: issues }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // The server listens on a TCP port.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each(['order create', 'agent order create'])(
  'what only the service refuses of `%s` names the flag and the file',
  async (command) => {
    const workspace = makeWorkspace({
      ERRAND_NO_INPUT: '1',
      ERRAND_API_KEY: 'zz_test_1',
      ERRAND_BASE_URL: await strictService(),
    });
    onTestFinished(workspace.remove);
    const file = join(workspace.folder, 'order.json');
    writeFileSync(file, JSON.stringify(orderBody('https://shop.example/1')));
    const create = [...command.split(' '), '-o', 'json', '--po-number', 'R-17'];
    const run = await errand(workspace, [...create, '--file', 'order.json']);
    expect(run.code).toBe(2);
    const { error } = JSON.parse(run.stderr.trim().split('\n').at(-1) ?? '');
    expect(error).toMatchObject({ code: 'validation_error', status: 422, outcome: 'rejected' });
    expect(error.details).toEqual(issues);
    expect(error.message).toBe(
      'the service refused the input: ' +
        'po_number (--po-number, order.json): String should have at most 20 characters; ' +
        'shipping_address.city (--city, order.json): Unknown city; ' +
        'not_ours.0 (order.json): Refused; ' +
        'the order (order.json): Refused as a whole',
    );
  },
);

test.each([
  [['--file', 'order.json', '--metadata', '__proto__=evil'], 'metadata.__proto__ (--metadata, order.json)'],
  [
    ['--file', 'order.json', '--metadata-json', '__proto__={"a":1}'],
    'metadata.__proto__ (--metadata, order.json)',
  ],
  [
    ['--file', 'order.json', '--metadata-json', 'a=[{"__proto__":1}]'],
    'metadata.a.0.__proto__ (--metadata, order.json)',
  ],
  [['--file', 'proto.json'], 'metadata.__proto__ (--metadata, proto.json)'],
  [['--file', 'proto.yaml'], 'metadata.__proto__ (--metadata, proto.yaml)'],
])('what no order can carry is refused, not left out: %j', async (given, where) => {
  const workspace = makeWorkspace({ ERRAND_NO_INPUT: '1' });
  onTestFinished(workspace.remove);
  const order = JSON.stringify(orderBody('https://shop.example/1'));
  const wrong = order.replace(/\}$/, ',"metadata":{"__proto__":"evil","team":"a"}}');
  writeFileSync(join(workspace.folder, 'order.json'), order);
  writeFileSync(join(workspace.folder, 'proto.json'), wrong);
  writeFileSync(join(workspace.folder, 'proto.yaml'), `---\n${wrong}\n`);
  const run = await errand(workspace, ['order', 'create', '--dry-run', ...given]);
  expect([run.code, run.stdout]).toEqual([2, '']);
  expect(run.stderr).toContain(`${where}: A field cannot be called __proto__; give it another name`);
});
