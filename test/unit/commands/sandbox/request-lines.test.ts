import { expect, test } from 'vitest';
import type { ServedRequest } from '../../../../src/api/control.ts';
import { requestLines } from '../../../../src/commands/sandbox/serve.ts';
import { capture } from '../../../support/streams.ts';

const request: ServedRequest = {
  at: Date.parse('2026-11-22T12:00:00.000Z'),
  method: 'POST',
  target: '/orders/9e2919b9-7a51-4b0e-8a58-3f0f4a6f1c11/cancel?why=none',
  status: 201,
  tookMs: 12,
  fault: null,
  did: null,
};

async function logged(columns: number, more: Partial<ServedRequest> = {}): Promise<string> {
  const { io, err } = capture({}, { terminal: true, columns });
  const log = await requestLines({ io });
  log?.({ ...request, ...more });
  return err.text;
}

test.each([
  [
    120,
    /^12:00:00Z {2}201 {4}12 ms {2}POST {4}\/orders\/9e2919b9-7a51-4b0e-8a58-3f0f4a6f1c11\/cancel\?why=none\n$/,
  ],
  [80, /^12:00:00Z {2}201 {4}12 ms {2}POST {4}\/orders\/9e29.*….*cancel\?why=none\n$/],
  [50, /^201 {4}12 ms {2}POST {4}\/orders\/.*….*why=none\n$/],
  [40, /^201 {2}POST {4}\/orders\/.*….*why=none\n$/],
])('in %i columns a request is one line, its path cut in its middle', async (columns, expected) => {
  const line = await logged(columns);
  expect(line).toMatch(expected);
  expect(line.length - 1).toBeLessThanOrEqual(columns);
});

test.each([80, 50, 40, 20])('in %i columns a fault is told in the same line', async (columns) => {
  const line = await logged(columns, {
    status: null,
    fault: 'reset-after',
    target: `/a\u001b[2J${'x'.repeat(500)}`,
  });
  expect(line.trimEnd().length).toBeLessThanOrEqual(columns);
  expect(line).not.toContain('\u001b');
  if (columns >= 50) expect(line).toMatch(/…x+ {2}\(fault reset-after\)\n$/);
});

test.each([
  [120, /^12:00:00Z {2}201 {4}12 ms {2}POST {4}\/orders {2}placed 1a2b3c4d\n$/],
  [50, /^201 {4}12 ms {2}POST {4}\/orders {2}placed 1a2b3c4d\n$/],
  [30, /^201 {2}POST {4}\/orders {2}placed.*\n$/],
])('in %i columns what a request did stands in the same line', async (columns, expected) => {
  const line = await logged(columns, { target: '/orders', did: 'placed 1a2b3c4d' });
  expect(line).toMatch(expected);
  expect(line.length - 1).toBeLessThanOrEqual(columns);
});

test('what a request did is made safe to show, and stands before its fault', async () => {
  const line = await logged(120, { did: 'body.\u001b[2J\nx: missing', fault: 'status', target: '/orders' });
  expect(line).not.toContain('\u001b');
  expect(line.match(/\n/g)).toHaveLength(1);
  expect(line).toMatch(/missing {2}\(fault status\)\n$/);
});
