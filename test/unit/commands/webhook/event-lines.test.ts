import { expect, test } from 'vitest';
import { EventLines } from '../../../../src/commands/webhook/listen.ts';
import { fullMeasure } from '../../../../src/format/width.ts';
import type { ShownEvent } from '../../../../src/integrations/webhooks/listen.ts';
import type { EventLog } from '../../../../src/journal/events.ts';
import { capture } from '../../../support/streams.ts';
import { orderId } from '../../../support/webhook-order.ts';

const noneBefore = { list: () => [] } as unknown as EventLog;

const shown = (id: number, status: string, more: Partial<ShownEvent> = {}): ShownEvent => ({
  type: 'event',
  id,
  event: 'request_succeeded',
  order_id: orderId,
  status,
  error_type: null,
  received_at: '2026-06-15T12:00:00.000Z',
  profile: 'local',
  base_url: 'embedded:',
  headers: {},
  body: {},
  ...more,
});

const parcels = (...statuses: string[]) => ({
  body: { tracking_numbers: statuses.map((status) => ({ status })), items: [{ status: 'shipped' }] },
});
const life: readonly ShownEvent[] = [
  shown(1, 'pending'),
  shown(2, 'order_placed', parcels('undeliverable', 'in_transit', 'in_transit')),
  shown(3, 'order_placed', { event: 'tracking_updated', ...parcels('delivered', 'in_transit') }),
  shown(4, 'order_placed', { event: 'tracking_updated', ...parcels('delivered', 'in_transit') }),
  shown(5, 'order_failed', {
    error_type: 'payment_method_declined_by_the_issuer',
    event: '数据数据数据数据数据数据数据',
  }),
  shown(6, 'pending', { verified: false, message: 'the order cannot be read again at this time, and so on' }),
];

async function linesAt(columns: number): Promise<string[]> {
  const { io } = capture({ terminal: true, columns });
  const lines = await EventLines.open({ io }, noneBefore);
  return life.map((event) => lines.line(event));
}

test('at 80 columns nothing moves the arrow or the state after it, and no line is longer', async () => {
  const lines = await linesAt(80);
  expect(lines.slice(0, 5)).toEqual([
    '12:00:00  request_succeeded  11111111                    ● waiting',
    '12:00:00  request_succeeded  11111111  ● waiting      →  ✖ 1 of 3 undeliverable',
    '12:00:00  tracking_updated   11111111  ✖ 1 of 3 und…  →  ● 1 of 2 delivered',
    '12:00:00  tracking_updated   11111111  tracking updated  ● 1 of 2 delivered',
    expect.stringMatching(/ {2}11111111 {2}● 1 of 2 del… {2}→ {2}✖ failed: /),
  ]);
});

test.each([40, 50, 60, 80, 120])(
  'at %i columns every line fits, and none hides what failed',
  async (columns) => {
    const measure = await fullMeasure();
    const lines = await linesAt(columns);
    for (const line of lines) expect(measure(line)).toBeLessThanOrEqual(columns);
    expect(lines[1]).toContain('✖ 1 of 3 undeliverable');
    expect(lines[3]).toContain('● 1 of 2 delivered');
    expect(lines[4]).toContain('✖ failed: ');
    expect(lines[5]).toContain('✖ not ve');
  },
);

test('the number of an event gives way to the state', async () => {
  expect((await linesAt(100))[0]).toMatch(/^ {3}1 {2}12:00:00Z {2}request_succeeded {2}11111111 +● waiting$/);
  expect((await linesAt(60))[1]).toBe('12:00:00  11111111  ✖ 1 of 3 undeliverable');
  expect((await linesAt(40))[1]).toBe('11111111  ✖ 1 of 3 undeliverable');
});
