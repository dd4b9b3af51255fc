import { countText } from '../../format/counts.ts';
import { UsageError } from '../../platform/errors.ts';
import { Archive, checkSize, damaged } from './archive.ts';
import { type SheetFacts, sheetNames, Workbook } from './workbook.ts';

/** Whether a file begins like a workbook. @throws UsageError for an unsupported kind of workbook. */
export function isWorkbook(beginning: Uint8Array, name: string): boolean {
  const first = Buffer.from(beginning.subarray(0, 4)).toString('hex');
  if (first === 'd0cf11e0')
    throw new UsageError(`${name} is an encrypted workbook, or one of Excel 97 (.xls)`, {
      hint: 'Save it as .xlsx without a password, or as CSV.',
    });
  return first === '504b0304';
}

const rowsPerChunk = 500;

/**
 * Reads a sheet of a workbook as CSV in UTF-8. Each row keeps its number. @param note reports features of the sheet
 * that a CSV cannot have. @throws UsageError naming the file, and the cell or the sheet.
 */
export async function* workbookAsCsv(
  chunks: AsyncIterable<Uint8Array>,
  {
    name,
    sheet,
    note,
  }: { readonly name: string; readonly sheet: string | undefined; note(line: string): void },
): AsyncGenerator<Uint8Array> {
  const workbook = await Workbook.open(await Archive.open(await whole(chunks, name), name), name);
  const chosen = workbook.sheet(sheet);
  const facts: SheetFacts = { formulas: 0, hiddenRows: 0, merged: [] };
  let lines = '\ufeff';
  let next = 1;
  let count = 0;
  for await (const { number, cells } of workbook.rows(chosen, facts)) {
    lines += '\n'.repeat(number - next);
    lines += `${cells.map(csvCell).join(',')}\n`;
    next = number + 1;
    count += 1;
    if (count % rowsPerChunk !== 0) continue;
    yield Buffer.from(lines);
    lines = '';
  }
  if (count === 0) throw damaged(name, `sheet ${JSON.stringify(chosen.name)} is empty`);
  yield Buffer.from(lines);
  for (const line of noteLines(workbook, chosen.name, facts)) note(`${name}: ${line}`);
}

async function whole(chunks: AsyncIterable<Uint8Array>, name: string): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    size += chunk.length;
    checkSize(size, name);
  }
  return Buffer.concat(parts);
}

const csvCell = (text: string): string =>
  text === '' || (/^[\w .@/:#-]*$/.test(text) && text.trim() === text)
    ? text
    : `"${text.replaceAll('"', '""')}"`;

function noteLines(
  { sheets }: Workbook,
  chosen: string,
  { formulas, hiddenRows, merged }: SheetFacts,
): string[] {
  const others = sheets.filter(({ name }) => name !== chosen);
  const several = (count: number, one: string): string =>
    count === 1 ? `1 ${one}` : `${countText(count)} ${one}s`;
  return [
    ...(others.length === 0
      ? []
      : [`sheet ${JSON.stringify(chosen)} is read; not ${sheetNames(others)} (--sheet NAME)`]),
    ...(hiddenRows === 0 ? [] : [`hidden rows are read like the others: ${countText(hiddenRows)} of them`]),
    ...(merged.length === 0
      ? []
      : [
          `${several(merged.length, 'group')} of merged cells (${merged.slice(0, 3).join(', ')}): the first cell of each has the text`,
        ]),
    ...(formulas === 0
      ? []
      : [`${several(formulas, 'formula')}: the value that the spreadsheet saved is taken`]),
  ];
}
