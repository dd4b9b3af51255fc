import { expect, test } from 'vitest';
import { InTurn } from '../../../src/platform/async.ts';

test('work is done one after the other, each with its own outcome, and then nothing is under way', async () => {
  const inTurn = new InTurn();
  const told: string[] = [];
  const work = (name: string, end: () => string) =>
    inTurn.run(async () => {
      told.push(`${name} begins`);
      await Promise.resolve();
      told.push(`${name} ends`);
      return end();
    });
  const fails = work('first', () => {
    throw new Error('lost');
  });
  const holds = work('second', () => 'kept');
  const idle = inTurn.idle().then(() => told.push('idle'));
  await expect(fails).rejects.toThrow('lost');
  expect(await holds).toBe('kept');
  await idle;
  expect(told).toEqual(['first begins', 'first ends', 'second begins', 'second ends', 'idle']);
});
