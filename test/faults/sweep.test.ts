import { describe, expect, onTestFinished, test } from 'vitest';
import { Random } from './random.ts';
import { startAtSpeed } from './service.ts';
import { cancellations, subjects } from './subjects.ts';
import { hasStrace, hurt, type Injury, injuriesOf } from './sweep.ts';

/** Faults sampled per command for each change; `npm run faults -- --sweep` runs all. */
const injuriesEach = 14;

describe.skipIf(!hasStrace() && !process.env.ERRAND_CI)(
  'hurt at a system call, then the same command again',
  () => {
    test.each([...subjects, ...cancellations].map((subject) => [subject.name, subject] as const))(
      '%s does what was meant, once',
      async (_, subject) => {
        const service = await startAtSpeed(subject.speed);
        onTestFinished(() => service.stop());
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
