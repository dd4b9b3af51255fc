import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { writerOf } from '../../../../src/cli/output/writer.ts';
import { ErrandError, OutputError } from '../../../../src/platform/errors.ts';
import { Capture, ClosingPipe } from '../../../support/streams.ts';

class Counting extends Capture {
  writes = 0;
  override _write(chunk: Buffer, encoding: BufferEncoding, done: () => void): void {
    this.writes += 1;
    super._write(chunk, encoding, done);
  }
}

describe('the writer of a stream', () => {
  test('gathers small writes into few', async () => {
    const stream = new Counting();
    const writer = writerOf(stream);
    for (let n = 0; n < 100_000; n += 1) await writer.write(`${n}\n`);
    await writer.flush();
    expect(stream.text).toBe(Array.from({ length: 100_000 }, (_, n) => `${n}\n`).join(''));
    expect(stream.writes).toBeLessThan(12);
  });

  test('sends what it has when the program waits for something', async () => {
    const stream = new Capture();
    writerOf(stream).write('first\n');
    expect(stream.text).toBe('');
    await stream.written();
    expect(stream.text).toBe('first\n');
  });

  test('keeps bytes and text in order', async () => {
    const stream = new Capture();
    const writer = writerOf(stream);
    writer.write('a');
    await writer.writeBytes(Buffer.from('b'));
    writer.write('c');
    await writer.flush();
    expect(stream.text).toBe('abc');
  });

  test('scrubs what is not plain ASCII, text by text, and only where it was asked to', async () => {
    const stream = new Capture();
    const writer = writerOf(stream);
    const seen: string[] = [];
    const scrub = (text: string): string => {
      seen.push(text);
      return text.toUpperCase();
    };
    writer.write('plain\n', scrub);
    await writer.flush();
    writer.write('é\n');
    writer.write('a\n', scrub);
    writer.write('é\n', scrub);
    writer.write('\u007fé\n');
    await writer.flush();
    expect(stream.text).toBe('plain\né\nA\nÉ\n\u007fé\n');
    expect(seen).toEqual(['a\n', 'é\n']);
  });

  test('is one for each stream', () => {
    const stream = new Capture();
    expect(writerOf(stream)).toBe(writerOf(stream));
    expect(writerOf(stream)).not.toBe(writerOf(new Capture()));
  });

  test('drops what nobody reads', async () => {
    const writer = writerOf(new ClosingPipe(0));
    writer.write('x');
    await writer.flush();
    expect(writer.isClosed).toBe(true);
    writer.write('y');
    await writer.writeBytes(Buffer.from('z'));
    await writer.flush();
  });

  test('throws what cannot be written', async () => {
    const writer = writerOf(new ClosingPipe(0, 'EIO'));
    writer.write('x');
    await expect(writer.flush()).rejects.toThrow(OutputError);
    expect(() => writer.write('y')).toThrow('cannot write the output: write EIO');
  });

  test('a stream that breaks on its own is noticed', async () => {
    const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
    const writer = writerOf(stream);
    stream.destroy(Object.assign(new Error('hung up'), { code: 'EIO' }));
    await new Promise(setImmediate);
    expect(() => writer.write('x')).toThrow(/hung up/);
  });

  describe('once the user wants to stop', () => {
    const reason = new ErrandError('interrupted', 'interrupted');

    /** A stream whose reader takes `ms` per chunk, or never reads. */
    function readEvery(ms: number | undefined) {
      const taken: string[] = [];
      const stream = new Writable({
        write(chunk, _encoding, done) {
          if (ms === undefined) return;
          taken.push(String(chunk));
          setTimeout(done, ms);
        },
      });
      const controller = new AbortController();
      const writer = writerOf(stream);
      writer.endWith(controller.signal);
      return { writer, taken, stop: () => controller.abort(reason) };
    }

    test('drops what nobody reads, and says so to every caller', async () => {
      const { writer, stop } = readEvery(undefined);
      writer.write('x');
      const flushed = writer.flush();
      stop();
      await expect(flushed).rejects.toBe(reason);
      expect([writer.isClosed, writer.isCutShort]).toEqual([true, true]);
      expect(() => writer.write('y')).toThrow(reason);
    });

    test('gives a slow reader a moment for all that is left, not one for each chunk', async () => {
      const { writer, taken, stop } = readEvery(60);
      stop();
      const printing = async (): Promise<void> => {
        for (let n = 0; n < 100; n += 1) await writer.writeBytes(Buffer.from(`${n} `));
      };
      await expect(printing()).rejects.toBe(reason);
      expect(taken.length).toBeGreaterThan(0);
      expect(taken.length).toBeLessThan(6);
    });

    test('writes what a reader takes at once', async () => {
      const { writer, taken, stop } = readEvery(0);
      stop();
      writer.write('x');
      await writer.flush();
      expect([taken, writer.isCutShort]).toEqual([['x'], false]);
    });
  });
});
