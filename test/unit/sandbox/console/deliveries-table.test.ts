import { expect, test } from 'vitest';
import { html } from '../../../../src/platform/html.ts';
import { sandboxConfig } from '../../../../src/sandbox/config.ts';
import { deliveriesTable } from '../../../../src/sandbox/console/deliveries.ts';

const failed = {
  seq: 1,
  id: 'd',
  orderId: 'o',
  event: 'status_updated',
  url: 'http://127.0.0.1/hook',
  body: '{}',
  createdAt: 0,
  attempts: 1,
  state: 'open',
  last: { status: 500, error: 'HTTP 500', tookMs: 1 },
} as const;

const outcome = (at: number): string | undefined =>
  /<span class="badge wait">(.*?)<\/span>/.exec(
    html`${deliveriesTable(sandboxConfig('http://127.0.0.1:1'), [{ ...failed, at }], { now: 10_000 })}`.text,
  )?.[1];

test('an attempt that is due is not in the past', () => {
  expect(outcome(12_000)).toMatch(/^is sent again <time.*>in 2 s<\/time>$/);
  for (const due of [10_000, 7000]) expect(outcome(due)).toBe('is sent again now');
});
