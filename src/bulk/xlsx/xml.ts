import type { Archive } from './archive.ts';
import { damaged } from './archive.ts';

/** Callbacks for reading a part. Names have no namespace prefix. */
export interface XmlReader {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  close?(name: string): void;
  text?(text: string): void;
}

/** Maximum nesting depth of elements, and maximum length of a text or tag. Spreadsheets stay far below both. */
const maxDepth = 100;
const maxPiece = 4 * 1024 * 1024;

/**
 * Reads a part of a workbook. Yields after each chunk, so that the caller can process what has been read so far.
 * @throws UsageError if the XML is not well-formed, nests too deeply, has texts longer than a spreadsheet writes, or
 * declares a document type. Entities are never expanded.
 */
export async function* readXml(
  archive: Archive,
  part: string,
  reader: XmlReader,
  file: string,
): AsyncGenerator<void> {
  const { SaxesParser } = await import('saxes');
  const parser = new SaxesParser();
  const fail = (why: string): never => {
    throw damaged(file, `${part}: ${why}`);
  };
  let depth = 0;
  // Length of the text that the parser received since the last tag. The parser may buffer all of it.
  let held = 0;
  parser.on('error', ({ message }) => fail(message));
  parser.on('doctype', () => fail('it declares a document type, which no spreadsheet writes'));
  parser.on('opentag', ({ name, attributes }) => {
    depth += 1;
    held = 0;
    if (depth > maxDepth) fail('its elements nest deeper than any spreadsheet writes them');
    reader.open?.(plain(name), attributes);
  });
  parser.on('closetag', ({ name }) => {
    depth -= 1;
    held = 0;
    reader.close?.(plain(name));
  });
  parser.on('text', (text) => reader.text?.(text));
  parser.on('cdata', (text) => reader.text?.(text));
  for await (const text of archive.text(part)) {
    held += text.length;
    parser.write(text);
    if (held > maxPiece) fail('a text or a tag in it is longer than any spreadsheet writes it');
    yield;
  }
  parser.close();
}

/** Reads a part to its end. @throws UsageError. */
export async function readAll(
  archive: Archive,
  part: string,
  reader: XmlReader,
  file: string,
): Promise<void> {
  for await (const _ of readXml(archive, part, reader, file));
}

const plain = (name: string): string => name.slice(name.indexOf(':') + 1);
