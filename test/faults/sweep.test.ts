import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Random } from './random.ts';
import { type Service, startService } from './service.ts';
import { subjects } from './subjects.ts';
import { hasStrace, hurt, type Injury, injuriesOf } from './sweep.ts';

/** Faults sampled per command for each change; `npm run faults -- --sweep` runs all. */
const injuriesEach = 14;

describe.skipIf(!hasStrace() && !process.env.ERRAND_CI)(
  'hurt at a system call, then the same command again',
  () => {
    let service: Service;
    beforeAll(async () => {
      service = await startService();
    });
    afterAll(() => service.stop());

    test.each(subjects.map((subject) => [subject.name, subject] as const))(
      '%s makes what was meant, once',
      async (_, subject) => {
        const all = await injuriesOf(service, subject);
        expect(all.length).toBeGreaterThan(100);
        const random = new Random(Date.now());
        const some = Array.from({ length: injuriesEach }, (): Injury => random.pick(all));
        const key = await service.mint();
        for (const injury of some) expect(await hurt(service, key, subject, injury)).toEqual([]);
      },
    );
  },
);
