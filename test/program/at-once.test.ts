import { describe, expect, test } from 'vitest';
import { makePlace } from './place.ts';
import { errand } from './run.ts';

describe('several processes at once', () => {
  test('on a fresh machine, one key is minted for all and no order is lost', {
    timeout: 60_000,
  }, async () => {
    const place = makePlace();
    try {
      const product = 'http://127.0.0.1:4848/shop/test-never';
      const args = ['order', 'create', '--product', product, '--max-price', '$0.10', '--ship-to', 'home'];
      const made = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          errand(place, [...args, '--po-number', `po-${index}`, '-o', 'json']),
        ),
      );
      for (const { code, stderr } of made) expect(code, stderr).toBe(0);
      const { stdout } = await errand(place, ['order', 'list', '-o', 'json']);
      const numbers = JSON.parse(stdout).map((order: { po_number: string }) => order.po_number);
      expect(numbers.toSorted()).toEqual(Array.from({ length: 12 }, (_, index) => `po-${index}`).toSorted());
      const wallet = JSON.parse((await errand(place, ['wallet', '-o', 'json'])).stdout);
      expect(wallet).toMatchObject({ balance: 100_000, spendable_balance: 100_000 - 12 * (10 + 100) });
    } finally {
      place.remove();
    }
  });

  test('searching a fresh catalogue and writing settings at the same time lose nothing', {
    timeout: 60_000,
  }, async () => {
    const place = makePlace();
    try {
      const names = Array.from({ length: 16 }, (_, index) => `profile-${index}`);
      const ended = await Promise.all([
        ...names.map((name) =>
          errand(place, ['profile', 'set', name, '--base-url', 'https://service.example']),
        ),
        ...Array.from({ length: 4 }, () => errand(place, ['search', 'coffee', '--limit', '3', '-o', 'id'])),
      ]);
      for (const { code, stderr } of ended) expect(code, stderr).toBe(0);
      const { stdout } = await errand(place, ['profile', 'list', '-o', 'id']);
      expect(stdout.trim().split('\n').toSorted()).toEqual(['local', ...names].toSorted());
    } finally {
      place.remove();
    }
  });
});
