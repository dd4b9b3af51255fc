import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { flipOnce, type Killed, killedMachine } from './flips.ts';
import { type Service, startService } from './service.ts';

/** For each change; `npm run faults -- --flips N` runs any number. */
const flips = 100;
const atOnce = 2;

describe('one bit of the journal flipped', () => {
  let service: Service;
  let key: string;
  let killed: Killed;
  beforeAll(async () => {
    service = await startService();
    key = await service.mint();
    killed = await killedMachine(service, key);
  });
  afterAll(async () => {
    await killed.close();
    await service.stop();
  });

  test('makes no second order, alters none, and loses none without a word', async () => {
    const firstSeed = Math.floor(Date.now() / 1000);
    let next = 0;
    const work = async (): Promise<void> => {
      for (let index = next++; index < flips; index = next++) {
        const flip = await flipOnce(service, key, killed, firstSeed + index);
        expect(flip.wrong, JSON.stringify({ ...flip, seed: firstSeed + index })).toEqual([]);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  });
});
