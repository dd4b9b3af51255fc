import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { printResult } from '../../../../src/cli/output/render.ts';
import type { OutputFormat, Row } from '../../../../src/format/result.ts';
import { OutputError } from '../../../../src/platform/errors.ts';
import {
  Capture,
  ClosingPipe,
  capture,
  noon,
  output,
  printed,
  withStdout,
} from '../../../support/streams.ts';

const columns = [{ name: 'id', path: 'id' }];
const options = (format: OutputFormat) => ({ format, now: () => noon });
const streaming: readonly OutputFormat[] = ['json', 'ndjson', 'csv', 'tsv', 'yaml', 'id', 'table'];

async function* endless(log: string[] = []): AsyncGenerator<Row> {
  try {
    for (let n = 0; ; n += 1) yield { id: `order-${n}` };
  } finally {
    log.push('closed');
  }
}

async function* failing(after: number): AsyncGenerator<Row> {
  for (let n = 0; n < after; n += 1) yield { id: n };
  throw new Error('the next page is gone');
}

describe('a list whose reader goes', () => {
  test.each(streaming)('ends quietly with exit 0 and closes its source, as %s', async (format) => {
    const log: string[] = [];
    const { io, err } = capture();
    const pipe = new ClosingPipe(100_000);
    const list = {
      kind: 'list',
      rows: endless(log),
      columns,
      hints: () => ['hint'],
      exitCode: () => 7,
    } as const;
    expect(await printResult(list, withStdout(io, pipe), options(format))).toBe(0);
    expect(log).toEqual(['closed']);
    expect(err.text).toBe('');
    expect(pipe.seen).toBeLessThan(400_000);
  });

  test('and a later result is not printed to it either', async () => {
    const { io } = capture();
    const pipe = new ClosingPipe(0);
    const closed = withStdout(io, pipe);
    await printResult({ kind: 'list', rows: endless(), columns }, closed, options('id'));
    const seen = pipe.seen;
    expect(
      await printResult(
        { kind: 'record', record: { id: 'a' }, columns, exitCode: 7 },
        closed,
        options('json'),
      ),
    ).toBe(7);
    expect(pipe.seen).toBe(seen);
  });

  test('a stream ends as quietly', async () => {
    const { io } = capture();
    function* chunks(): Generator<Uint8Array> {
      for (;;) yield Buffer.alloc(10_000);
    }
    expect(
      await printResult(
        { kind: 'stream', chunks: chunks() },
        withStdout(io, new ClosingPipe(50_000)),
        options('csv'),
      ),
    ).toBe(0);
  });

  test('a real `| head -1` sees its line and the program exits 0', async () => {
    const program = fileURLToPath(new URL('./endless.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', program], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += String(chunk);
    });
    const first = await new Promise<string>((resolve) =>
      child.stdout.once('data', (chunk) => resolve(String(chunk))),
    );
    child.stdout.destroy();
    const code = await new Promise((resolve) => child.once('exit', resolve));
    expect(first.split('\n')[0]).toBe('{"id":0}');
    expect([code, errors]).toEqual([0, '']);
  });
});

describe('a disk that is full', () => {
  test('is a failure that names the reason', async () => {
    const { io } = capture();
    const full = withStdout(io, new ClosingPipe(0, 'ENOSPC'));
    await expect(
      printResult({ kind: 'record', record: { id: 'a' }, columns }, full, options('json')),
    ).rejects.toThrow(OutputError);
    const again = withStdout(io, new ClosingPipe(1000, 'ENOSPC'));
    await expect(
      printResult({ kind: 'list', rows: endless(), columns }, again, options('ndjson')),
    ).rejects.toThrow(/ENOSPC/);
  });
});

describe('a source that fails', () => {
  test.each(streaming)('before the first record leaves stdout empty, as %s', async (format) => {
    const { io, out } = capture();
    await expect(
      printResult({ kind: 'list', rows: failing(0), columns }, io, options(format)),
    ).rejects.toThrow('the next page is gone');
    expect(out.text).toBe('');
  });

  test.each([
    ['json', '[\n  {\n    "id": 0\n  },\n  {\n    "id": 1\n  }\n]\n'],
    ['ndjson', '{"id":0}\n{"id":1}\n'],
    ['csv', 'id\n0\n1\n'],
    ['yaml', '- id: 0\n- id: 1\n'],
    ['id', '0\n1\n'],
  ] as const)('later leaves whole records, as %s', async (format, text) => {
    const { io, out } = capture();
    await expect(
      printResult({ kind: 'list', rows: failing(2), columns }, io, options(format)),
    ).rejects.toThrow('the next page is gone');
    expect(out.text).toBe(text);
  });
});

describe('a list that comes slowly', () => {
  test.each(['json', 'ndjson', 'csv', 'yaml', 'id'] as const)(
    'shows each record when it comes, as %s',
    async (format) => {
      const { io, out } = capture();
      let release: () => void = () => {};
      const gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      async function* slow(): AsyncGenerator<Row> {
        yield { id: 'first' };
        await gate;
      }
      const done = printResult({ kind: 'list', rows: slow(), columns }, io, options(format));
      await out.written();
      expect(out.text).toContain('first');
      release();
      await done;
    },
  );

  test('waits for a reader that is slower than the source', async () => {
    const { io } = capture();
    let produced = 0;
    function* rows(): Generator<Row> {
      for (; produced < 100_000; produced += 1) yield { id: 'x'.repeat(1000) };
    }
    let accept: () => void = () => {};
    const slow = new Capture();
    slow._write = (_chunk, _encoding, done) => {
      accept = done;
    };
    void printResult(
      { kind: 'list', rows: rows(), columns },
      { ...io, stdout: output(slow, {}) },
      options('ndjson'),
    );
    for (let turn = 0; turn < 10; turn += 1) {
      await new Promise(setImmediate);
      accept();
    }
    expect(produced).toBeLessThan(3000);
  });
});

describe('hints', () => {
  const record = {
    kind: 'record',
    record: { id: 'a' },
    columns,
    hints: ['next: errand order get a\u001b[2J'],
    exitCode: 7,
  } as const;

  test('go to stderr for people: with a table, or where stderr is a terminal', async () => {
    expect(await printed(record, { format: 'table' })).toEqual({
      out: 'id  a\n',
      err: 'next: errand order get a␛[2J\n',
      exitCode: 7,
    });
    expect((await printed(record, { format: 'json' })).err).toBe('');
    expect((await printed(record, { format: 'json' }, {}, { terminal: true })).err).toContain('next:');
  });

  test('of a list come when all rows are out, with its exit code', async () => {
    let count = 0;
    function* rows(): Generator<Row> {
      for (; count < 3; count += 1) yield { id: count };
    }
    const list = {
      kind: 'list',
      rows: rows(),
      columns,
      hints: () => [`${count} of 9`],
      exitCode: () => count,
    } as const;
    expect(await printed(list, {})).toEqual({ out: 'ID\n0\n1\n2\n', err: '3 of 9\n', exitCode: 3 });
  });

  test('are all there is of a result without data', async () => {
    expect(await printed({ kind: 'none', hints: ['cancelled a'], exitCode: 5 }, {})).toEqual({
      out: '',
      err: 'cancelled a\n',
      exitCode: 5,
    });
  });
});

describe('text', () => {
  const text = { kind: 'text', lines: ['one\ttwo', 'th\u001b[2Jree'] } as const;

  test('is printed as it is in a pipe, and made visible on a terminal', async () => {
    expect((await printed(text, {})).out).toBe('one\ttwo\nth\u001b[2Jree\n');
    expect((await printed(text, {}, { terminal: true })).out).toBe('one\ttwo\nth␛[2Jree\n');
  });

  test('gives way to its record in the formats of programs', async () => {
    const both = { ...text, record: { key: 'k', n: 1 } };
    expect((await printed(both, { format: 'ndjson' })).out).toBe('{"key":"k","n":1}\n');
    expect((await printed(both, { format: 'csv' })).out).toBe('key,n\nk,1\n');
    expect((await printed(both, { format: 'json', query: 'n' })).out).toBe('1\n');
    expect((await printed(both, {})).out).toContain('one\ttwo');
    expect((await printed(text, { format: 'json' })).out).toContain('one\ttwo');
  });
});

describe('a stream', () => {
  test('is byte for byte what came, in a pipe', async () => {
    const file = fileURLToPath(new URL('../../../support/streams.ts', import.meta.url));
    const bytes = Buffer.from([0, 255, 27, 10]);
    expect((await printed({ kind: 'stream', chunks: [bytes.subarray(0, 3), 'é\u001b'] }, {})).out).toBe(
      `${bytes.subarray(0, 3)}é\u001b`,
    );
    expect((await printed({ kind: 'stream', chunks: createReadStream(file) }, {})).out).toContain(
      'export class Capture',
    );
  });

  test('is made visible on a terminal, wherever the chunks are cut', async () => {
    const bytes = Buffer.from('日\r\nb\u001b[2J\rc\n');
    for (let size = 1; size < bytes.length; size += 1) {
      const chunks = [bytes.subarray(0, size), bytes.subarray(size)];
      expect((await printed({ kind: 'stream', chunks }, {}, { terminal: true })).out).toBe('日\nb␛[2J␍c\n');
    }
  });

  test('that fails ends with what came', async () => {
    const { io, out } = capture();
    function* chunks(): Generator<string> {
      yield 'a,b\n';
      throw new Error('reset');
    }
    await expect(printResult({ kind: 'stream', chunks: chunks() }, io, options('csv'))).rejects.toThrow(
      'reset',
    );
    expect(out.text).toBe('a,b\n');
  });
});
