import { randomUUID } from 'node:crypto';
import { Journal } from '../src/journal/journal.ts';
import { atMost, median, type Row } from './table.ts';

const rounds = 500;
const baseUrl = 'https://service.example';

/** Cost of the journal per order: intent and response, each fsynced, and the report, which is not. */
export async function measure(folder: string): Promise<Row[]> {
  const opening = performance.now();
  const journal = await Journal.open(folder, Date.now);
  const opened = performance.now() - opening;
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const key = randomUUID();
    const body = {
      products: [{ url: `https://shop.example/${key}`, quantity: 1 }],
      max_price: 5000,
      idempotency_key: key,
    };
    const started = performance.now();
    await journal.record(
      {
        key,
        keyOrigin: 'made',
        operation: 'order.create',
        profile: 'local',
        baseUrl,
        keyMasked: '…',
        account: 'bench',
        body,
      },
      { repeatedSince: Date.now() - 600_000 },
    );
    await journal.respond(key, baseUrl, key);
    await journal.report(journal.run.all());
    times.push(performance.now() - started);
  }
  journal.close();
  return [
    { name: 'journal: opening it', figure: `${opened.toFixed(1)} ms` },
    atMost('journal: what it costs an order', median(times), 10, 'ms'),
  ];
}
