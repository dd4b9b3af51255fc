import { posix } from 'node:path';
import { countText } from '../../format/counts.ts';
import { UsageError } from '../../platform/errors.ts';
import { type Archive, damaged } from './archive.ts';
import { formatOf, type NumberFormat, numberText } from './number-format.ts';
import { readAll, readXml, type XmlReader } from './xml.ts';

/** A sheet of a workbook. */
interface Sheet {
  readonly name: string;
  readonly part: string;
  readonly isHidden: boolean;
}

/** A row as the spreadsheet shows it. */
export interface SheetRow {
  /** Row number, counted from 1. */
  readonly number: number;
  readonly cells: readonly string[];
}

/** Features that a sheet has and a CSV cannot have. */
export interface SheetFacts {
  formulas: number;
  hiddenRows: number;
  /** Ranges of merged cells, such as `A1:C1`. */
  readonly merged: string[];
}

/** The size of the largest sheet that a spreadsheet supports. */
const maxRows = 1_048_576;
const maxColumns = 16_384;
/**
 * Maximum number of empty cells that precede other cells, over all rows. Such cells take time, although they need no
 * bytes in the file.
 */
const maxGaps = 40_000_000;
/** Maximum length of all shared texts together, in UTF-16 units. */
const maxSharedText = 256 * 1024 * 1024;

/** A workbook. Reads only the parts that its cells need. */
export class Workbook {
  readonly #archive: Archive;
  readonly #file: string;
  readonly #formats: NumberFormat[] = [];
  readonly #texts: string[] = [];
  #isFrom1904 = false;
  readonly sheets: Sheet[] = [];

  private constructor(archive: Archive, file: string) {
    this.#archive = archive;
    this.#file = file;
  }

  /** @param file is the file's name, for messages. @throws UsageError. */
  static async open(archive: Archive, file: string): Promise<Workbook> {
    const workbook = new Workbook(archive, file);
    const main = (await workbook.#related('_rels/.rels', '')).find(({ type }) =>
      type.endsWith('/officeDocument'),
    );
    const part = main?.part ?? 'xl/workbook.xml';
    const folder = part.slice(0, part.lastIndexOf('/') + 1);
    const related = await workbook.#related(`${folder}_rels/${part.slice(folder.length)}.rels`, folder);
    const partOfType = (end: string) => related.find(({ type }) => type.endsWith(end))?.part;
    const worksheets = related.filter(({ type }) => type.endsWith('/worksheet'));
    await workbook.#readSheets(part, new Map(worksheets.map(({ id, part: target }) => [id, target])));
    const [styles, texts] = [partOfType('/styles'), partOfType('/sharedStrings')];
    if (styles !== undefined && archive.has(styles)) await workbook.#readStyles(styles);
    if (texts !== undefined && archive.has(texts)) await workbook.#readTexts(texts);
    return workbook;
  }

  async #read(part: string, reader: XmlReader): Promise<void> {
    await readAll(this.#archive, part, reader, this.#file);
  }

  async #related(
    part: string,
    folder: string,
  ): Promise<{ readonly id: string; readonly type: string; readonly part: string }[]> {
    const found: { id: string; type: string; part: string }[] = [];
    if (!this.#archive.has(part)) return found;
    await this.#read(part, {
      open: (name, { Id: id = '', Type: type = '', Target: target = '', TargetMode: mode }) => {
        // Never follow a reference to something outside the file.
        if (name !== 'Relationship' || mode === 'External') return;
        found.push({ id, type, part: partOf(target, folder) });
      },
    });
    return found;
  }

  async #readSheets(part: string, parts: ReadonlyMap<string, string>): Promise<void> {
    await this.#read(part, {
      open: (name, attributes) => {
        if (name === 'workbookPr') this.#isFrom1904 = isTrue(attributes.date1904);
        if (name !== 'sheet') return;
        const [, id = ''] = Object.entries(attributes).find(([key]) => /:id$/i.test(key)) ?? [];
        const target = parts.get(id);
        if (target === undefined) return;
        const state = attributes.state ?? 'visible';
        this.sheets.push({ name: attributes.name ?? '', part: target, isHidden: state !== 'visible' });
      },
    });
  }

  async #readStyles(part: string): Promise<void> {
    const codes = new Map<number, string>();
    let isInCells = false;
    await this.#read(part, {
      open: (name, { numFmtId = '0', formatCode = '' }) => {
        if (name === 'numFmt') codes.set(Number(numFmtId), formatCode);
        if (name === 'cellXfs') isInCells = true;
        if (name === 'xf' && isInCells) this.#formats.push(formatOf(Number(numFmtId), codes));
      },
      close: (name) => {
        if (name === 'cellXfs') isInCells = false;
      },
    });
  }

  async #readTexts(part: string): Promise<void> {
    let length = 0;
    const text = new TextCollector();
    await this.#read(part, {
      open: (name) => text.open(name),
      text: (some) => text.add(some),
      close: (name) => {
        text.close(name);
        if (name !== 'si') return;
        const whole = text.take();
        length += whole.length;
        if (length > maxSharedText) throw damaged(this.#file, 'its texts are longer than any file of orders');
        this.#texts.push(whole);
      },
    });
  }

  /** The sheet to read. @throws UsageError if there is no sheet with that name. */
  sheet(name: string | undefined): Sheet {
    const visible = this.sheets.filter(({ isHidden }) => !isHidden);
    const found =
      name === undefined
        ? visible[0]
        : this.sheets.find((one) => one.name.trim().toLowerCase() === name.trim().toLowerCase());
    if (found && this.#archive.has(found.part)) return found;
    const names = sheetNames(this.sheets) || 'none';
    throw new UsageError(
      name === undefined
        ? `${this.#file} has no sheet that is shown`
        : `--sheet ${name}: ${this.#file} has no such sheet; it has ${names}`,
    );
  }

  /** Reads a sheet row by row. Rows that the file omits are yielded as empty. @throws UsageError naming the cell. */
  async *rows(sheet: Sheet, facts: SheetFacts): AsyncGenerator<SheetRow> {
    const done: SheetRow[] = [];
    const reader = new RowReader(facts, {
      file: this.#file,
      text: (index) => this.#texts[index],
      number: (stored, style) =>
        numberText(stored, this.#formats[style] ?? { kind: 'plain' }, this.#isFrom1904),
      done: (row) => done.push(row),
    });
    for await (const _ of readXml(this.#archive, sheet.part, reader, this.#file)) yield* done.splice(0);
    yield* done;
  }
}

/** Maximum number of sheets that a message lists. */
const maxNamed = 20;

/** Names of sheets, as a message lists them. */
export function sheetNames(sheets: readonly Pick<Sheet, 'name'>[]): string {
  const names = sheets.slice(0, maxNamed).map(({ name }) => JSON.stringify(name));
  const more = sheets.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${countText(more)} more` : ''}`;
}

/** Collects the text of `<t>` elements, but not phonetic readings. */
class TextCollector {
  #text = '';
  #isText = false;
  #isReading = false;

  open(name: string): void {
    if (name === 't') this.#isText = true;
    if (name === 'rPh') this.#isReading = true;
  }

  add(text: string): void {
    if (this.#isText && !this.#isReading) this.#text += text;
  }

  close(name: string): void {
    if (name === 't') this.#isText = false;
    if (name === 'rPh') this.#isReading = false;
  }

  take(): string {
    const text = this.#text;
    this.#text = '';
    // Decode `_xHHHH_`. It stands for a character that XML cannot contain.
    return text.replace(/_x([\dA-Fa-f]{4})_/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
  }
}

interface Cells {
  readonly file: string;
  text(index: number): string | undefined;
  number(stored: string, style: number): string;
  done(row: SheetRow): void;
}

/** Reads the rows of a sheet's XML. */
class RowReader implements XmlReader {
  readonly #facts: SheetFacts;
  readonly #to: Cells;
  readonly #inline = new TextCollector();
  #row = 0;
  #column = -1;
  #cells: string[] = [];
  #cell: { readonly type: string; readonly style: number } | undefined;
  #value: string | undefined;
  #hasFormula = false;
  #isValue = false;
  #gaps = 0;

  constructor(facts: SheetFacts, to: Cells) {
    this.#facts = facts;
    this.#to = to;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    switch (name) {
      case 'row':
        this.#beginRow(attributes);
        break;
      case 'c':
        this.#beginCell(attributes);
        break;
      case 'v':
        this.#isValue = true;
        this.#value = '';
        break;
      case 'f':
        this.#hasFormula = true;
        break;
      case 'mergeCell':
        this.#facts.merged.push(attributes.ref ?? '');
        break;
      default:
        this.#inline.open(name);
    }
  }

  text(text: string): void {
    if (this.#isValue) this.#value += text;
    else this.#inline.add(text);
  }

  close(name: string): void {
    if (name === 'v') this.#isValue = false;
    else if (name === 'c') this.#endCell();
    else if (name === 'row') this.#endRow();
    else this.#inline.close(name);
  }

  #beginRow({ r, hidden }: Readonly<Record<string, string>>): void {
    const number = r === undefined ? this.#row + 1 : Number(r);
    if (!Number.isSafeInteger(number) || number <= this.#row || number > maxRows)
      throw damaged(this.#to.file, `row ${r} does not follow row ${this.#row}`);
    this.#row = number;
    this.#column = -1;
    this.#cells = [];
    if (isTrue(hidden)) this.#facts.hiddenRows += 1;
  }

  #beginCell({ r, t = 'n', s = '0' }: Readonly<Record<string, string>>): void {
    const column = r === undefined ? this.#column + 1 : columnOf(r);
    if (column <= this.#column || column >= maxColumns)
      throw damaged(this.#to.file, `cell ${r} does not follow the one before it`);
    this.#column = column;
    this.#cell = { type: t, style: Number(s) };
    this.#value = undefined;
    this.#hasFormula = false;
  }

  #endCell(): void {
    const { type, style } = this.#cell ?? { type: 'n', style: 0 };
    const inline = this.#inline.take();
    if (this.#hasFormula) {
      this.#facts.formulas += 1;
      if (this.#value === undefined)
        throw new UsageError(`${this.#to.file}: cell ${this.#name} has a formula and no value`, {
          hint: 'Open it in the spreadsheet and save it, so that it holds what its formulas come to.',
        });
    }
    const text = type === 'inlineStr' ? inline : this.#textOf(type, style, this.#value ?? '');
    if (text === '') return;
    if (text.includes('\0'))
      throw new UsageError(`${this.#to.file}: cell ${this.#name} holds a NUL character`, {
        hint: 'Clear it in the spreadsheet.',
      });
    this.#gaps += this.#column - this.#cells.length;
    if (this.#gaps > maxGaps)
      throw damaged(this.#to.file, `its cells lie too far apart, as ${this.#name} does`);
    while (this.#cells.length < this.#column) this.#cells.push('');
    this.#cells.push(text);
  }

  #textOf(type: string, style: number, value: string): string {
    if (type === 'e')
      throw new UsageError(`${this.#to.file}: cell ${this.#name} holds the error ${value}`, {
        hint: 'Mend it in the spreadsheet, or clear the cell.',
      });
    if (value === '' || type === 'str' || type === 'd') return value;
    if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
    if (type !== 's') return this.#to.number(value, style);
    const text = this.#to.text(Number(value));
    if (text === undefined) throw damaged(this.#to.file, `cell ${this.#name} names a text that is not there`);
    return text;
  }

  get #name(): string {
    return `${columnName(this.#column)}${this.#row}`;
  }

  #endRow(): void {
    if (this.#cells.length > 0) this.#to.done({ number: this.#row, cells: this.#cells });
  }
}

/** Name of a part, resolved against the folder whose relation points to it, without dots and escapes. */
function partOf(target: string, folder: string): string {
  const path = posix.normalize(target.startsWith('/') ? target : `/${folder}${target}`).slice(1);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const isTrue = (text: string | undefined): boolean => text === '1' || text === 'true';

/** Index of the column of a cell such as `AB12`, counted from 0; -1 for any other text. */
function columnOf(name: string): number {
  const [letters = ''] = /^[A-Z]{1,3}/.exec(name) ?? [];
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

function columnName(column: number): string {
  let name = '';
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26))
    name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  return name;
}
