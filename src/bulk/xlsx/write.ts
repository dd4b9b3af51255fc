import { crc32, createDeflateRaw } from 'node:zlib';
import { escapeFormula } from '../../platform/csv-cell.ts';
import { UsageError } from '../../platform/errors.ts';

/** A cell: text, or a number. */
export type WrittenCell = string | number;

/** Limits of a spreadsheet. */
const maxRows = 1_048_576;
const maxCellLength = 32_767;

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const relations = 'http://schemas.openxmlformats.org/package/2006/relationships';
const contentTypes = 'http://schemas.openxmlformats.org/package/2006/content-types';
const sheetType = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

const workbookParts = (sheet: string): Readonly<Record<string, string>> => ({
  '[Content_Types].xml': `${head}<Types xmlns="${contentTypes}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${sheetType}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${sheetType}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${sheetType}.styles+xml"/></Types>`,
  '_rels/.rels': `${head}<Relationships xmlns="${relations}"><Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `${head}<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="${xmlText(sheet)}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': `${head}<Relationships xmlns="${relations}"><Relationship Id="rId1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${office}/styles" Target="styles.xml"/></Relationships>`,
  // Style 1 is text, so that a ZIP code keeps its leading zero when somebody edits it. Style 2 is bold, for the
  // headings.
  'xl/styles.xml': `${head}<styleSheet xmlns="${main}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf/><xf numFmtId="49" applyNumberFormat="1"/><xf fontId="1" applyFont="1"/></cellXfs></styleSheet>`,
});

/**
 * Writes a table row by row as a workbook with one sheet. Text is never a formula. Text that would be a formula in a
 * CSV is escaped as in a CSV, in case it becomes a formula later. @throws UsageError for more rows than a sheet holds.
 */
export async function* workbookOf(
  sheet: string,
  headings: readonly string[],
  rows: Iterable<readonly WrittenCell[]>,
): AsyncGenerator<Uint8Array> {
  const zip = new ZipWriter();
  for (const [name, text] of Object.entries(workbookParts(sheet))) yield* zip.part(name, [text]);
  yield* zip.part('xl/worksheets/sheet1.xml', sheetXml(headings, rows));
  yield zip.end();
}

/** Number of rows to write at once. */
const rowsPerChunk = 500;

function* sheetXml(headings: readonly string[], rows: Iterable<readonly WrittenCell[]>): Generator<string> {
  let text = `${head}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>`;
  text += `<row>${headings.map((heading) => textCell(heading, 2)).join('')}</row>`;
  let count = 1;
  for (const cells of rows) {
    count += 1;
    if (count > maxRows)
      throw new UsageError(`a sheet holds ${maxRows} rows at most, and there are more; write a CSV`);
    text += `<row>${cells.map((cell) => (typeof cell === 'number' ? `<c><v>${cell}</v></c>` : textCell(cell, 1))).join('')}</row>`;
    if (count % rowsPerChunk !== 0) continue;
    yield text;
    text = '';
  }
  yield `${text}</sheetData></worksheet>`;
}

function textCell(text: string, style: number): string {
  if (text === '') return '<c/>';
  const shown = escapeFormula(text);
  const cut = shown.length > maxCellLength ? `${shown.slice(0, maxCellLength - 1)}…` : shown;
  return `<c t="inlineStr" s="${style}"><is><t xml:space="preserve">${xmlText(cut)}</t></is></c>`;
}

/** Characters that XML cannot contain, and text that would be read as the escape of such a character. */
const unholdable = /[\x01-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\r|_(?=x[\dA-Fa-f]{4}_)/g;
/** A lone surrogate, or a NUL. Programs that read a workbook refuse both. */
const unreadable = /\0|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function xmlText(text: string): string {
  return text
    .replace(unreadable, '\ufffd')
    .replace(unholdable, (one) => `_x${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** First date that a zip archive can store. The date is fixed, so that equal tables give equal archives. */
const firstDay = 0x21;

/** Writes the parts of a zip archive one after the other. The sizes of each part follow its data. */
class ZipWriter {
  readonly #listed: Buffer[] = [];
  #offset = 0;

  async *part(name: string, texts: Iterable<string>): AsyncGenerator<Uint8Array> {
    const begin = this.#offset;
    yield this.#counted(
      Buffer.concat([Buffer.from('504b0304', 'hex'), facts(0, 0, 0, name), Buffer.from(name)]),
    );
    const deflate = createDeflateRaw();
    let [crc, size, packed] = [0, 0, 0];
    async function* inflated(): AsyncGenerator<Buffer> {
      for (const text of texts) {
        const bytes = Buffer.from(text);
        crc = crc32(bytes, crc);
        size += bytes.length;
        yield bytes;
      }
    }
    const feeding = feed(deflate, inflated());
    for await (const chunk of deflate) {
      const bytes: Buffer = chunk;
      packed += bytes.length;
      yield this.#counted(bytes);
    }
    await feeding;
    const sizes = Buffer.alloc(16);
    sizes.writeUInt32LE(0x08074b50, 0);
    sizes.writeUInt32LE(crc, 4);
    sizes.writeUInt32LE(packed, 8);
    sizes.writeUInt32LE(size, 12);
    yield this.#counted(sizes);
    const made = Buffer.alloc(2);
    made.writeUInt16LE(20);
    const at = Buffer.alloc(14);
    at.writeUInt32LE(begin, 10);
    this.#listed.push(
      Buffer.concat([
        Buffer.from('504b0102', 'hex'),
        made,
        facts(crc, packed, size, name),
        at,
        Buffer.from(name),
      ]),
    );
  }

  /** The zip archive's directory of all parts. */
  end(): Uint8Array {
    const listed = Buffer.concat(this.#listed);
    const end = Buffer.alloc(18);
    end.writeUInt16LE(this.#listed.length, 4);
    end.writeUInt16LE(this.#listed.length, 6);
    end.writeUInt32LE(listed.length, 8);
    end.writeUInt32LE(this.#offset, 12);
    return Buffer.concat([listed, Buffer.from('504b0506', 'hex'), end]);
  }

  #counted(bytes: Buffer): Buffer {
    this.#offset += bytes.length;
    return bytes;
  }
}

/** Facts about a part. A zip archive states them in two places. */
function facts(crc: number, packed: number, size: number, name: string): Buffer {
  const buffer = Buffer.alloc(26);
  buffer.writeUInt16LE(20, 0);
  // This flag says that the sizes follow the part.
  buffer.writeUInt16LE(8, 2);
  buffer.writeUInt16LE(8, 4);
  buffer.writeUInt16LE(firstDay, 8);
  buffer.writeUInt32LE(crc, 10);
  buffer.writeUInt32LE(packed, 14);
  buffer.writeUInt32LE(size, 18);
  buffer.writeUInt16LE(Buffer.byteLength(name), 22);
  return buffer;
}

/** Writes chunks to a stream, and waits while the stream is full. */
async function feed(
  stream: ReturnType<typeof createDeflateRaw>,
  chunks: AsyncIterable<Buffer>,
): Promise<void> {
  try {
    for await (const chunk of chunks)
      if (!stream.write(chunk)) await new Promise<void>((resolve) => stream.once('drain', resolve));
    stream.end();
  } catch (error) {
    stream.destroy(error instanceof Error ? error : new Error(String(error)));
    throw error;
  }
}
