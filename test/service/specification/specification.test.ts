import { afterAll, describe, expect, test } from 'vitest';
import { TestService } from '../service.ts';
import { tables } from './tables.ts';

const held = new Set<string>();

describe.each(tables)('$title', ({ proofs }) => {
  test.each(Object.entries(proofs))('%s', async (id, { prove, start }) => {
    const service = await TestService.start(start);
    try {
      await prove(service);
      expect(service.bugs).toEqual([]);
    } finally {
      await service.stop();
    }
    held.add(id);
  });
});
afterAll(() => {});
