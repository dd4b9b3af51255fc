import { isAscii } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { UsageError } from '../../platform/errors.ts';
import { invisibleAstral, invisibleBmp } from '../../platform/redact/safe-text.ts';

/** Encodings that the user can declare for a table. A byte order mark takes precedence. */
export const encodings = ['utf-8', 'latin1', 'utf-16le', 'utf-16be'] as const;
export type Encoding = (typeof encodings)[number];

type Chunks = AsyncIterable<Uint8Array>;

const marks: readonly { readonly encoding: Encoding; readonly bytes: readonly number[] }[] = [
  { encoding: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16le', bytes: [0xff, 0xfe] },
  { encoding: 'utf-16be', bytes: [0xfe, 0xff] },
];

/**
 * Decodes a file to UTF-8 and strips the byte order mark, which overrides `encoding`. @param name is the file's name,
 * for messages. @throws UsageError if the bytes are not valid in that encoding.
 */
export async function* asUtf8(chunks: Chunks, name: string, encoding?: Encoding): AsyncGenerator<Uint8Array> {
  let decoder: TextDecoder | undefined;
  let found: Encoding = encoding ?? 'utf-8';
  let isPlain = true;
  for await (const chunk of bufferHead(chunks)) {
    let bytes = chunk;
    if (!decoder) {
      const mark = marks.find((known) => known.bytes.every((byte, at) => chunk[at] === byte));
      found = mark?.encoding ?? found;
      bytes = mark ? chunk.subarray(mark.bytes.length) : chunk;
      refuseOther(chunk, name);
      if (!found.startsWith('utf-16')) refuseBinary(bytes, name, unmarked(bytes));
      decoder = new TextDecoder(found === 'latin1' ? 'windows-1252' : found, {
        fatal: true,
        ignoreBOM: true,
      });
    }
    isPlain &&= found === 'utf-8' && isAscii(bytes);
    const text = isPlain ? undefined : decode(decoder, bytes, name, found);
    const decoded = text === undefined || found === 'utf-8' ? bytes : Buffer.from(text);
    refuseBinary(decoded, name);
    yield decoded;
  }
  if (decoder) decode(decoder, undefined, name, found);
}

/** Whether a file begins with a byte order mark. */
export async function hasMark(chunks: Chunks): Promise<boolean> {
  for await (const chunk of bufferHead(chunks))
    return marks.some((known) => known.bytes.every((byte, at) => chunk[at] === byte));
  return false;
}

/** Rechunks a stream so that its first chunk holds all bytes needed to detect the file type. */
async function* bufferHead(chunks: Chunks): AsyncGenerator<Uint8Array> {
  let head: Uint8Array | undefined = new Uint8Array();
  for await (const chunk of chunks) {
    if (head === undefined) yield chunk;
    else {
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
      if (head.length < tellingBytes) continue;
      yield head;
      head = undefined;
    }
  }
  if (head && head.length > 0) yield head;
}

const tellingBytes = 4;

function decode(
  decoder: TextDecoder,
  bytes: Uint8Array | undefined,
  name: string,
  encoding: Encoding,
): string {
  try {
    return decoder.decode(bytes, { stream: bytes !== undefined });
  } catch (cause) {
    throw new UsageError(`${name} is not ${encoding} text`, {
      cause,
      hint: encoding === 'utf-8' ? 'A file from an older spreadsheet may need --encoding latin1.' : undefined,
    });
  }
}

const saveAs =
  'In Excel: File, Save As, "CSV UTF-8"; in LibreOffice and Google Sheets: save or download as CSV.';

/** File types that users may mistake for CSV, recognized by their first bytes. */
const others: readonly { readonly bytes: string; readonly is: string; readonly hint: string }[] = [
  { bytes: 'PK\x03\x04', is: 'a workbook (.xlsx, .ods, .numbers) or an archive', hint: saveAs },
  { bytes: '\xd0\xcf\x11\xe0', is: 'an old Excel workbook (.xls)', hint: saveAs },
  { bytes: '%PDF', is: 'a PDF', hint: 'Save the table behind it as CSV.' },
  { bytes: '<', is: 'a web page or XML', hint: saveAs },
  { bytes: '{', is: 'JSON', hint: '`errand order create --file` takes one order in JSON.' },
  { bytes: '[', is: 'JSON', hint: '`errand order create --file` takes one order in JSON.' },
  { bytes: '\x1f\x8b', is: 'compressed', hint: 'Unpack it first: gzip -dc FILE | errand bulk … -' },
];

function refuseOther(chunk: Uint8Array, name: string): void {
  const start = Buffer.from(chunk.subarray(0, 4)).toString('latin1');
  const other = others.find(({ bytes }) => start.trimStart().startsWith(bytes));
  if (other) throw new UsageError(`${name} is ${other.is}, not CSV`, { hint: other.hint });
}

function refuseBinary(bytes: Uint8Array, name: string, hint?: string): void {
  if (bytes.includes(0)) throw new UsageError(`${name} holds NUL bytes: it is not CSV text`, { hint });
}

/**
 * In UTF-16, one of the two bytes of every Latin letter is NUL. In big-endian text it is the first byte, in little-endian
 * text the second.
 */
const unmarked = (bytes: Uint8Array): string =>
  `Text in UTF-16 without a byte order mark needs --encoding utf-16${bytes.indexOf(0) % 2 === 0 ? 'be' : 'le'}.`;

const carriageReturn = 13;
const quote = 34;

/**
 * Normalizes LF, CRLF and CR outside quotes to line feeds, from the headings on. A file that was pieced together may
 * mix line endings, and csv-parse is 10 % slower if it must detect several.
 */
export async function* withLineFeeds(
  chunks: AsyncIterable<Uint8Array>,
  hasQuotes = true,
): AsyncGenerator<Uint8Array> {
  let isQuoted = false;
  for await (const chunk of withWholeEnds(chunks)) {
    yield chunk.includes(carriageReturn) ? rewritten(chunk, isQuoted, hasQuotes) : chunk;
    // An escaped quote is written as two quotes, so an odd number of quotes means that a cell is still open.
    if (hasQuotes && countQuotes(chunk) % 2 === 1) isQuoted = !isQuoted;
  }
}

/** Rechunks a stream so that no chunk ends inside a CRLF. */
async function* withWholeEnds(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let isHeld = false;
  for await (const { buffer, byteOffset, length } of chunks) {
    const chunk = Buffer.from(buffer, byteOffset, length);
    const whole: Buffer = isHeld ? Buffer.concat([Buffer.of(carriageReturn), chunk]) : chunk;
    isHeld = whole.at(-1) === carriageReturn;
    const given = isHeld ? whole.subarray(0, -1) : whole;
    if (given.length > 0) yield given;
  }
  if (isHeld) yield Buffer.of(carriageReturn);
}

function rewritten(chunk: Buffer, isQuoted: boolean, hasQuotes: boolean): Buffer {
  // Latin-1 maps each byte to one character.
  const text = chunk.toString('latin1');
  const parts = hasQuotes ? text.split('"') : [text];
  const plain = isQuoted ? 1 : 0;
  return Buffer.from(
    parts.map((part, at) => (at % 2 === plain ? part.replace(/\r\n?/g, '\n') : part)).join('"'),
    'latin1',
  );
}

function countQuotes(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(quote); at >= 0; at = chunk.indexOf(quote, at + 1)) count += 1;
  return count;
}

const invisible = new RegExp(`[${invisibleBmp}${invisibleAstral}]`, 'gu');
/** Whitespace other than a plain space. */
const oddSpace = '\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000';
const hidden = new RegExp(`[${oddSpace}${invisibleBmp}${invisibleAstral}]`, 'gu');
const plain = /^[\x20-\x7e]*$/;

const names: Readonly<Record<string, string>> = {
  '\u00a0': 'a no-break space',
  '\u00ad': 'a soft hyphen',
  '\u200b': 'a zero-width space',
  '\u200e': 'a left-to-right mark',
  '\u200f': 'a right-to-left mark',
  '\u202f': 'a narrow no-break space',
  '\ufeff': 'a byte order mark',
};

/** Strips invisible characters. */
export const visible = (text: string): string => (plain.test(text) ? text : text.replace(invisible, ''));

/** Canonical form of a heading in maps: invisible characters removed, whitespace collapsed. */
export const foldedHeading = (heading: string): string => visible(heading).replace(/\s+/g, ' ').trim();

/** Describes the first deceptive character: `a no-break space (U+00A0)`; undefined if there is none. */
export function hiddenIn(text: string): string | undefined {
  const [found] = plain.test(text) ? [] : (text.match(hidden) ?? []);
  if (found === undefined) return undefined;
  const number = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `${names[found] ?? 'an invisible character'} (U+${number})`;
}
