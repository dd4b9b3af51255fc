import type { Readable } from 'node:stream';
import type { Entry, ZipFile } from 'yauzl';
import { UsageError } from '../../platform/errors.ts';

/** Limits for reading a workbook. They protect against files that are made to fill memory. */
const limits = {
  /** Maximum size of the file itself, in bytes. */
  file: 256 * 1024 * 1024,
  entries: 5_000,
  /**
   * Maximum size in bytes of one inflated part. If a part has more than `large` bytes, it may also have at most `ratio`
   * times its packed size.
   */
  part: 2 * 1024 * 1024 * 1024,
  large: 32 * 1024 * 1024,
  ratio: 200,
} as const;

/** The parts of a workbook, by their names in the zip archive. */
export class Archive {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #name: string;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>, name: string) {
    this.#zip = zip;
    this.#entries = entries;
    this.#name = name;
  }

  /**
   * Opens a workbook. @param name is the name of the file, for messages. @throws UsageError if the file is not an
   * archive, or is too large.
   */
  static async open(bytes: Buffer, name: string): Promise<Archive> {
    const { fromBuffer } = await import('yauzl');
    const entries = new Map<string, Entry>();
    try {
      const zip = await new Promise<ZipFile>((resolve, reject) => {
        fromBuffer(bytes, { lazyEntries: true, validateEntrySizes: true }, (error, opened) =>
          error ? reject(error) : resolve(opened),
        );
      });
      if (zip.entryCount > limits.entries) throw tooLarge(name, `it has ${zip.entryCount} parts`);
      await new Promise<void>((resolve, reject) => {
        zip.on('entry', (entry: Entry) => {
          const name = entry.fileName.toLowerCase();
          if (entries.has(name)) return reject(new Error(`it has ${entry.fileName} twice`));
          entries.set(name, entry);
          zip.readEntry();
        });
        zip.on('end', resolve);
        zip.on('error', reject);
        zip.readEntry();
      });
      return new Archive(zip, entries, name);
    } catch (cause) {
      throw cause instanceof UsageError ? cause : damaged(name, cause);
    }
  }

  has(part: string): boolean {
    return this.#entries.has(part.toLowerCase());
  }

  /** Inflates a part and yields it as text. @throws UsageError if the part is damaged, or too large when inflated. */
  async *text(part: string): AsyncGenerator<string> {
    const entry = this.#entries.get(part.toLowerCase());
    if (!entry) throw damaged(this.#name, `it has no ${part}`);
    const decoder = new TextDecoder('utf-8', { fatal: true });
    let inflated = 0;
    try {
      for await (const chunk of await this.#stream(entry)) {
        inflated += chunk.length;
        const isBomb = inflated > limits.large && inflated > entry.compressedSize * limits.ratio;
        if (inflated > limits.part || isBomb)
          throw tooLarge(this.#name, `${part} unpacks to far more than it is`);
        yield decoder.decode(chunk, { stream: true });
      }
      yield decoder.decode();
    } catch (cause) {
      throw cause instanceof UsageError ? cause : damaged(this.#name, cause);
    }
  }

  #stream(entry: Entry): Promise<Readable> {
    return new Promise((resolve, reject) => {
      this.#zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream)));
    });
  }
}

/** @throws UsageError if the file is larger than any workbook of orders. */
export function checkSize(bytes: number, name: string): void {
  if (bytes > limits.file) throw tooLarge(name, `it has more than ${limits.file / 1024 / 1024} MB`);
}

const tooLarge = (name: string, why: string): UsageError =>
  new UsageError(`${name} is not read as a workbook: ${why}`, { hint: 'Save the sheet as CSV.' });

export const damaged = (name: string, cause: unknown): UsageError =>
  new UsageError(
    `${name} cannot be read as a workbook: ${cause instanceof Error ? cause.message : String(cause)}`,
    { hint: 'Open it in the spreadsheet and save it again as .xlsx, or as CSV.' },
  );
