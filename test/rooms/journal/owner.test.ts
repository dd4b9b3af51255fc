import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { isAlive, self } from '../../../src/journal/owner.ts';

test('a process is at work until it has ended, though nobody has noticed', async () => {
  // The shell turns into a program that does not reap its children.
  const parent = spawn('sh', ['-c', 'cat <&3 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [line] = await once(parent.stdout ?? parent, 'data');
  const pid = Number(String(line));
  const stat = (): string[] => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const owner = { pid, started: stat()[19] ?? '' };
  expect(isAlive(owner)).toBe(true);
  expect(isAlive({ ...owner, started: '1' })).toBe(false);
  // Wait for that: a shell would still reap the child.
  await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8').trim()).toBe('sleep');
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => stat()[0]).toBe('Z');
  expect(isAlive(owner)).toBe(false);
  expect(isAlive({ ...owner, started: '' })).toBe(false);
});

test('this process is at work', () => {
  expect(isAlive(self())).toBe(true);
});
