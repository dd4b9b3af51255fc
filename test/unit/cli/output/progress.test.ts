import { describe, expect, test, vi } from 'vitest';
import { paintFor } from '../../../../src/cli/output/paint.ts';
import { createProgress, progressFacts } from '../../../../src/cli/output/progress.ts';
import { barLine } from '../../../../src/cli/output/progress-bar.ts';
import { fullMeasure } from '../../../../src/format/width.ts';
import { Screen } from '../../../support/screen.ts';
import { capture } from '../../../support/streams.ts';

describe('progress', () => {
  test('where stderr is no terminal is one plain line every 10 s', () => {
    const { io, err } = capture();
    let now = 0;
    const progress = createProgress(io, { label: 'uploading', total: 5000, unit: 'rows', now: () => now });
    for (; now <= 25_000; now += 1000) progress.update(now / 10);
    progress.end();
    expect(err.text).toBe(
      'uploading: 1,000 of 5,000 rows, 100/s, 40s left\nuploading: 2,000 of 5,000 rows, 100/s, 30s left\n',
    );
  });

  test('where stderr is no terminal tells of work that stands still', () => {
    vi.useFakeTimers();
    try {
      const { io, err } = capture();
      const now = () => performance.now();
      const progress = createProgress(io, { label: 'placing', total: 6, from: 4, unit: 'rows', now });
      progress.update(4, '✖ 2 failed');
      vi.advanceTimersByTime(24_000);
      progress.end();
      vi.advanceTimersByTime(24_000);
      expect(err.text).toBe('placing: 4 of 6 rows, ✖ 2 failed\n'.repeat(2));
    } finally {
      vi.useRealTimers();
    }
  });

  test('without a total tells the count and the rate', () => {
    expect(progressFacts({ label: 'reading' }, 1234, 'page 3\u001b', 500_000)).toEqual({
      label: 'reading',
      count: '1,234',
      rate: '2.5/s',
      left: '',
      note: 'page 3␛',
    });
    expect(progressFacts({ label: 'x', total: 10, unit: 'rows' }, 0, '', 0)).toMatchObject({
      count: '0 of 10 rows',
      rate: '',
      left: '',
    });
    expect(progressFacts({ label: 'x', unit: 'rows' }, 1, '', 0)).toMatchObject({ count: '1 row' });
    expect(progressFacts({ label: 'x', total: 1, unit: 'rows' }, 0, '', 0).count).toBe('0 of 1 row');
    expect(progressFacts({ label: 'x', total: 100_000 }, 10, '', 1000)).toMatchObject({ left: '2h46m left' });
    expect(progressFacts({ label: 'x', total: 1000 }, 10, '', 1000)).toMatchObject({ left: '1m39s left' });
  });

  test('leaves what was done before out of the rate and the time left', () => {
    expect(progressFacts({ label: 'x', total: 1000, from: 900 }, 910, '', 1000)).toMatchObject({
      count: '910 of 1,000',
      rate: '10/s',
      left: '9s left',
    });
  });

  test('on a terminal is a bar with count, rate and time left, which is gone at the end', async () => {
    const { io, err } = capture({}, { terminal: true, columns: 100 });
    let now = 0;
    const progress = createProgress(io, { label: 'uploading', total: 200, unit: 'rows', now: () => now });
    now = 10_000;
    progress.update(50, 'row 50');
    await err.written();
    progress.update(100, 'row 100');
    const drawing = new Screen(100, 5);
    drawing.write(err.text);
    expect(drawing.lines()[0]).toMatch(
      /^uploading \[=*-*\] \d+% {2}50 of 200 rows {2}5\.0\/s {2}30s left {2}row 50$/,
    );
    progress.end();
    drawing.reset();
    drawing.write(err.text);
    expect(drawing.lines()).toEqual([]);
    expect(err.text).not.toContain('\u001b7');
  });

  test.each([
    [80, 'placing [===-----] 40%  4,000 of 10,000 rows  120/s  50s left  ✖ 12 failed'],
    [60, 'placing [===-----] 40%  4,000 of 10,000 rows  ✖ 12 failed'],
    [50, 'placing: 40%  4,000 of 10,000 rows  ✖ 12 failed'],
    [40, '4,000 of 10,000 rows  ✖ 12 failed'],
    [30, '4,000 of 10,000 rows  ✖ 12 f…'],
  ])('in %i columns the bar fits, and hides no failure', async (columns, expected) => {
    const facts = {
      label: 'placing',
      count: '4,000 of 10,000 rows',
      rate: '120/s',
      left: '50s left',
      note: '✖ 12 failed',
    };
    const measure = await fullMeasure();
    const plain = { width: columns - 1, paint: await paintFor(false), measure };
    expect(barLine(facts, 0.4, plain)).toBe(expected);
    const painted = barLine(facts, 0.4, { ...plain, paint: await paintFor(true) });
    expect(painted.replace(/\u001b\[\d+m/g, '')).toBe(expected);
    expect(painted).toContain('\u001b[31m✖ 12 f');
  });

  test('that ends before the bar was loaded draws nothing', async () => {
    const { io, err } = capture({}, { terminal: true, columns: 80 });
    const progress = createProgress(io, { label: 'quick', total: 1, now: () => 0 });
    progress.update(1);
    progress.end();
    await import('../../../../src/cli/output/progress-bar.ts');
    await new Promise(setImmediate);
    expect(err.text).toBe('');
  });

  test('on a terminal whose cursor does not move is plain lines', () => {
    const { io, err } = capture({}, { terminal: true, dumb: true });
    let now = 0;
    const progress = createProgress(io, { label: 'uploading', now: () => now });
    now = 10_000;
    progress.update(5);
    expect(err.text).toBe('uploading: 5, 0.5/s\n');
  });
});
