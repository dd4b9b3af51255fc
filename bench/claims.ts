/**
 * What `attempts.ts` measures, in a process of its own: `fill` writes earlier attempts, `needs` only derives the needs of
 * a file's rows, `new` and `again` also claim them. Prints the milliseconds that an order takes.
 */
import { randomUUID } from 'node:crypto';
import type { AttemptScope, NewAttempt } from '../src/journal/attempts.ts';
import { Journal } from '../src/journal/journal.ts';
import { needOf } from '../src/orders/needs/need.ts';
import { median } from './table.ts';

const [mode = '', folder = '', count = '', first = ''] = process.argv.slice(2);
const scope: AttemptScope = { service: 'https://service.example', accounts: ['bench'], isTest: false };

const needAt = (at: number) =>
  needOf({
    products: [{ url: `https://www.shop.example/p/${at % 5000}?utm_source=mail` }],
    shipping_address: {
      ...{ first_name: 'Ada', last_name: `Byron ${at}`, address_line1: `${at} Main Street` },
      ...{ address_line2: 'Apt 4', city: 'Austin', state: 'TX', postal_code: '78701', country: 'US' },
    },
  });

function* needs() {
  for (let at = Number(first); at < Number(first) + Number(count); at += 1) yield needAt(at);
}

const attempt = (key: string): NewAttempt => ({
  ...{ run: undefined, number: 1, key, operation: 'bulk.create', upload: `upload of ${first}` },
  ...{ orderId: undefined, state: 'intended', madeAt: Date.now(), seenAt: undefined },
});

const journal = await Journal.open(folder, Date.now);
const attempts = await journal.attempts();
if (mode === 'needs') for (const _ of needs());
else if (mode === 'again') await attempts.claim(scope, needs(), ([known]) => known && undefined);
else if (mode === 'one') process.stdout.write(String(await oneOrder()));
else await attempts.claim(scope, needs(), (_, at) => attempt(`row ${at}`));
await journal.close();

/** @returns how much longer an order takes with a claim than without, ms. */
async function oneOrder(): Promise<number> {
  const [plain, claimed]: [number[], number[]] = [[], []];
  for (let at = 0; at < 300; at += 1)
    for (const times of [plain, claimed]) {
      const key = randomUUID();
      const need = needAt(10_000_000 + at);
      const body = { idempotency_key: key, max_price: at };
      const intent = {
        ...{ key, keyOrigin: 'made' as const, operation: 'order.create', profile: 'local' },
        body,
      };
      const sender = { baseUrl: scope.service, keyMasked: '…', account: 'bench' };
      const decide = () => ({ ...attempt(key), upload: undefined, operation: 'order.create' });
      const began = performance.now();
      if (times === claimed) await attempts.related(scope, [need]);
      await journal.record(
        { ...intent, ...sender },
        undefined,
        undefined,
        times === claimed ? { scope, needs: [need], decide } : undefined,
      );
      times.push(performance.now() - began);
    }
  return median(claimed) - median(plain);
}
