import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadSqlite } from '../../../src/platform/sqlite/load.ts';
import { readFault } from '../../../src/sandbox/server/faults.ts';
import { orderBody } from '../../support/order-body.ts';
import { errand } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace } from '../../support/workspace.ts';

test('whatever is lost on the way, each intent is paid once and is one order', async () => {
  const workspace = makeWorkspace({ ERRAND_NO_INPUT: '1' });
  const file = join(workspace.folder, 'sandbox.db');
  const faults = ['reset-after:40%@POST /agent/orders', 'reset-before:20%@POST /agent/orders'].map(readFault);
  const service = await TestService.start({
    file,
    seed: 11,
    now: Date.now(),
    faults: faults.filter((fault) => fault !== undefined),
  });
  onTestFinished(async () => {
    await service.stop();
    workspace.remove();
  });
  workspace.environment.ERRAND_BASE_URL = service.baseUrl;
  const intents = 8;
  const codes: (number | null)[] = [];
  for (let at = 0; at < intents; at += 1) {
    const order = orderBody(service.product('test-success'));
    writeFileSync(join(workspace.folder, 'order.json'), JSON.stringify(order));
    for (let code: number | null = 9; code === 9; codes.push(code)) {
      ({ code } = await errand(workspace, [
        'agent',
        'order',
        'create',
        '--file',
        'order.json',
        '--reference',
        `REQ-${at}`,
        '--retries',
        '0',
      ]));
    }
  }
  expect(codes).toContain(10);
  for (let attempts = 0; attempts < 20; attempts += 1) {
    if ((await errand(workspace, ['order', 'journal', 'resume', '--all', '--retries', '0'])).code === 0)
      break;
  }
  const records: { state: string; order_id: string }[] = JSON.parse(
    (await errand(workspace, ['order', 'journal', 'list', '--all', '-o', 'json'])).stdout,
  );
  expect(records.map(({ state }) => state)).toEqual(Array(intents).fill('reported'));
  expect(new Set(records.map(({ order_id }) => order_id)).size).toBe(intents);
  const Database = loadSqlite();
  const books = new Database(file);
  expect(books.prepare('SELECT count(*) AS n FROM orders').get()).toMatchObject({ n: intents });
  expect(books.prepare('SELECT count(*) AS n FROM payments').get()).toMatchObject({ n: intents });
  books.close();
});
