import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { orderBody } from '../order-body.ts';
import { makePlace } from './place.ts';
import { errand } from './run.ts';

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
  // It listens on a port, not on a pipe.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each(['order create', 'agent order create'])(
  'what only the service refuses of `%s` names the flag and the file',
  async (command) => {
    const place = makePlace({
      ERRAND_NO_INPUT: '1',
      ERRAND_API_KEY: 'zz_test_1',
      ERRAND_BASE_URL: await strictService(),
    });
    onTestFinished(place.remove);
    const file = join(place.folder, 'order.json');
    writeFileSync(file, JSON.stringify(orderBody('https://shop.example/1')));
    const create = [...command.split(' '), '-o', 'json', '--po-number', 'R-17'];
    const run = await errand(place, [...create, '--file', 'order.json']);
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
