import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { runCommand } from '../../../src/integrations/webhooks/exec.ts';
import { order, orderId } from '../../support/webhook-order.ts';
import { HandClock } from './hand-clock.ts';

const body = JSON.stringify(order('pending'));
const signal = new AbortController().signal;
let file: string;
let notes: string[];
beforeEach(() => {
  notes = [];
  file = join(tmpdir(), `errand-exec-${process.pid}-${performance.now()}`);
});
afterEach(() => rmSync(file, { force: true }));

const run = (command: string, more: Partial<Parameters<typeof runCommand>[1]> = {}, until = signal) =>
  runCommand(
    {
      command,
      environment: { PATH: process.env.PATH, FILE: file },
      clock: new HandClock(),
      onLine: (line) => notes.push(line),
    },
    { event: 'status_updated', orderId, body, ...more },
    until,
  );

test('the event comes on stdin, its name and order in the environment', async () => {
  const outcome = await run('{ echo "$ERRAND_EVENT $ERRAND_ORDER_ID"; cat; } > "$FILE"');
  expect(outcome).toMatchObject({ exit_code: 0, message: null });
  expect(readFileSync(file, 'utf8')).toBe(`status_updated ${orderId}\n${body}`);
});

test('each line that the command prints is told, also a last one without an end, from what is left behind too', async () => {
  // Freeze the grace period for the last lines of processes left behind, however long they take.
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  await run('printf "one\\ntw"; sleep 0.1; printf "o\\n"; printf three >&2; (sleep 0.2; echo late) &');
  expect(notes.toSorted()).toEqual(['late', 'one', 'three', 'two']);
});

test('what a command leaves running keeps nobody waiting', async () => {
  expect(await run('sleep 1h & echo $! > "$FILE"')).toMatchObject({ exit_code: 0 });
  const left = Number(readFileSync(file, 'utf8'));
  expect(isRunning(left)).toBe(true);
  process.kill(left);
});

test('nothing of an event reaches the command line', async () => {
  await run('tr "\\0" " " < /proc/$$/cmdline > "$FILE"');
  expect(readFileSync(file, 'utf8')).not.toMatch(/status_updated|1111/);
});

test.each(['$(touch x)', '() { :; }', 'a b', 'ev\u001bil', 'x'.repeat(65)])(
  'a name that is no plain word (%j) is left out',
  async (event) => {
    await run('printf %s "[$ERRAND_EVENT]" > "$FILE"', { event, orderId: '../../etc' });
    expect(readFileSync(file, 'utf8')).toBe('[]');
  },
);

test('a command that fails is told with its code, one that is ended with the signal', async () => {
  expect(await run('exit 3')).toMatchObject({ exit_code: 3 });
  expect(await run('kill -TERM $$')).toMatchObject({ exit_code: null, message: 'ended by SIGTERM' });
});

test('a command that does not read a large event is no failure', async () => {
  expect(await run('true', { body: `{"a":"${'x'.repeat(1_000_000)}"}` })).toMatchObject({ exit_code: 0 });
});

test('an interruption ends the command and all that it started', async () => {
  const interruption = new AbortController();
  const ended = run('sleep 60 & echo $! > "$FILE"; wait', {}, interruption.signal);
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8').trim() !== '').toBe(true);
  interruption.abort(new Error('interrupted'));
  await expect(ended).rejects.toThrow('interrupted');
  const child = Number(readFileSync(file, 'utf8'));
  await expect.poll(() => isRunning(child)).toBe(false);
});

/** A process that has ended may remain a zombie until its parent reaps it. */
function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
