import { afterEach, beforeEach, expect, test } from 'vitest';
import { makePlace, type Place } from './place.ts';
import { begin, orderOf } from './run.ts';

let place: Place;

beforeEach(() => {
  place = makePlace();
});

afterEach(() => place.remove());

test('order watch -o ndjson that is interrupted ends with a summary, and no word of a deadline', async () => {
  const id = await orderOf(place, 'test-slow');

  const watching = begin(place, 'errand', ['order', 'watch', id, '-o', 'ndjson']);
  let stdout = '';
  let stderr = '';
  watching.stderr.on('data', (data) => {
    stderr += data;
  });
  watching.stdout.on('data', (data) => {
    stdout += data;
    if (/"change".*\n/.test(stdout) && !watching.killed) watching.kill('SIGINT');
  });
  const code = await new Promise((resolve) => watching.on('close', resolve));

  const records = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(records.map(({ type }) => type)).toEqual(['ready', 'change', 'summary']);
  expect(records.at(-1)).toMatchObject({ reached: 0, failed: 0, waiting: 1 });
  expect(JSON.parse(stderr)).toMatchObject({ error: { category: 'interrupted', exit_code: 130 } });
  expect(code).toBe(130);
});
