import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { controlPath } from '../../../../src/api/control.ts';
import { copyOrders } from '../../../support/copy-orders.ts';
import { TestService } from '../../../support/service.ts';
import { type Work, workOf } from '../../../support/work.ts';

const dayMs = 24 * 3600_000;

/** What a sandbox's start, and its advance by a day in which an order becomes due, cost beside orders that are over. */
async function costs(count: number): Promise<{ readonly start: Work; readonly advance: Work }> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-sandbox-history-'));
  const file = join(folder, 'sandbox.db');
  let service = await TestService.start({ file });
  try {
    await service.order('test-success');
    await service.stop();
    await copyOrders(file, count);
    const start = await workOf(async () => {
      service = await TestService.start({ file });
    });
    const { id } = (await service.order('test-success')).body;
    const advance = await workOf(() => service.send('POST', `${controlPath}/advance`, { ms: dayMs }));
    expect((await service.send('GET', `/orders/${id}`)).body.status).toBe('order_placed');
    return { start, advance };
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Statements and rows of what the background does meanwhile, which depends on the machine. */
const beside = 20;

test('a start and an advance run the same statements and read as many rows with 400 orders as with 20', async () => {
  const [few, many] = [await costs(20), await costs(400)];
  expect(many.start).toEqual(few.start);
  expect(many.advance.statements).toBeLessThanOrEqual(few.advance.statements + beside);
  expect(many.advance.rows).toBeLessThanOrEqual(few.advance.rows + beside);
  const scans = many.advance.scans.filter((scan) => /^SCAN (?:o|orders)\b/.test(scan));
  // An index of the orders that could not be advanced, which is empty.
  expect(scans).toEqual(['SCAN orders USING INDEX orders_stuck']);
});
