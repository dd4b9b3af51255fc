import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readFault } from '../../src/sandbox/server/faults.ts';
import { orderBody } from '../support/order-body.ts';
import { errand, spawned } from '../support/run.ts';
import { TestService } from '../support/service.ts';
import { makeWorkspace } from '../support/workspace.ts';

describe('several processes at once', () => {
  test('on a fresh machine, one key is minted for all and no order is lost', async () => {
    const workspace = makeWorkspace();
    try {
      const product = 'http://127.0.0.1:4848/shop/test-never';
      const args = ['order', 'create', '--product', product, '--max-price', '$0.10', '--ship-to', 'home'];
      const made = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          spawned(workspace, [...args, '--po-number', `po-${index}`, '--new', '-o', 'json']),
        ),
      );
      for (const { code, stderr } of made) expect(code, stderr).toBe(0);
      expect(made.filter(({ stderr }) => stderr.includes('minted a sandbox key'))).toHaveLength(1);
      const { stdout } = await errand(workspace, ['order', 'list', '-o', 'json']);
      const numbers = JSON.parse(stdout).map((order: { po_number: string }) => order.po_number);
      expect(numbers.toSorted()).toEqual(Array.from({ length: 12 }, (_, index) => `po-${index}`).toSorted());
      const wallet = JSON.parse((await errand(workspace, ['wallet', '-o', 'json'])).stdout);
      expect(wallet).toMatchObject({ balance: 100_000, spendable_balance: 100_000 - 12 * (10 + 100) });
    } finally {
      workspace.remove();
    }
  });

  test('searching a fresh catalogue and writing settings at the same time lose nothing', async () => {
    const workspace = makeWorkspace();
    try {
      const names = Array.from({ length: 16 }, (_, index) => `profile-${index}`);
      const ended = await Promise.all([
        ...names.map((name) =>
          spawned(workspace, ['profile', 'set', name, '--base-url', 'https://service.example']),
        ),
        ...Array.from({ length: 4 }, () =>
          spawned(workspace, ['search', 'coffee', '--limit', '3', '-o', 'id']),
        ),
      ]);
      for (const { code, stderr } of ended) expect(code, stderr).toBe(0);
      const { stdout } = await errand(workspace, ['profile', 'list', '-o', 'id']);
      expect(stdout.trim().split('\n').toSorted()).toEqual(['local', ...names].toSorted());
    } finally {
      workspace.remove();
    }
  });

  test('impatient hands: the same order asked for in two terminals is one order, unless two are meant', async () => {
    const slow = readFault('delay=2s@POST /orders');
    const service = await TestService.start({ now: Date.now(), faults: slow ? [slow] : [] });
    const workspace = makeWorkspace({
      ERRAND_NO_INPUT: '1',
      ERRAND_BASE_URL: service.baseUrl,
      ERRAND_API_KEY: service.key,
    });
    try {
      writeFileSync(
        join(workspace.folder, 'order.json'),
        JSON.stringify(orderBody(service.product('test-success'))),
      );
      const args = ['order', 'create', '--file', 'order.json', '-o', 'id'];
      const ended = await Promise.all(Array.from({ length: 4 }, () => spawned(workspace, args)));
      expect(ended.map(({ code }) => code).toSorted()).toEqual([0, 5, 5, 5]);
      const [id = ''] = ended.filter(({ code }) => code === 0).map(({ stdout }) => stdout.trim());
      for (const { code, stderr } of ended) if (code === 5) expect(stderr).toContain(id);
      const meant = await Promise.all(
        Array.from({ length: 2 }, () => spawned(workspace, [...args, '--new'])),
      );
      expect(meant.map(({ code }) => code)).toEqual([0, 0]);
      expect((await service.send('GET', '/orders')).body.orders).toHaveLength(3);
    } finally {
      await service.stop();
      workspace.remove();
    }
  });
});
