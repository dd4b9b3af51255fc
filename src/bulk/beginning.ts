const lineBreak = 10;
const quote = 34;
/** Headings and the comments before them end within this, bytes. */
const mostBytes = 1024 * 1024;

export const delimiters = [',', ';', '\t', '|'] as const;

export interface Beginning {
  /** The chunks without the comments they began with. */
  readonly chunks: AsyncGenerator<Uint8Array>;
  readonly delimiter: string;
  /** Lines of comments that were left out. */
  readonly skipped: number;
}

/** Leaves out the lines with `#` before the headings, and finds the delimiter that the line of headings uses. */
export async function readBeginning(source: AsyncGenerator<Uint8Array>, given?: string): Promise<Beginning> {
  let head = Buffer.alloc(0);
  let ended = false;
  while (headingsEnd(head) === undefined && head.length < mostBytes && !ended) {
    const { value, done } = await source.next();
    if (done) ended = true;
    else head = Buffer.concat([head, value]);
  }
  const { start, lines } = commentsEnd(head);
  const headings = head.subarray(start, headingsEnd(head) ?? head.length).toString('utf8');
  return {
    chunks: rest(head.subarray(start), source),
    delimiter: given ?? mostUsed(headings),
    skipped: lines,
  };
}

async function* rest(head: Uint8Array, source: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head;
  yield* source;
}

function commentsEnd(head: Buffer): { start: number; lines: number } {
  let start = 0;
  let lines = 0;
  while (head[start] === 35) {
    const end = head.indexOf(lineBreak, start);
    if (end < 0) break;
    start = end + 1;
    lines += 1;
  }
  return { start, lines };
}

/** Where the line of headings ends; undefined where it goes on. */
function headingsEnd(head: Buffer): number | undefined {
  const { start } = commentsEnd(head);
  if (head[start] === 35) return undefined;
  let quoted = false;
  for (let at = start; at < head.length; at += 1) {
    if (head[at] === quote) quoted = !quoted;
    else if (head[at] === lineBreak && !quoted) return at;
  }
  return undefined;
}

function mostUsed(headings: string): string {
  const plain = headings.replace(/"[^"]*"/g, '');
  const counts = delimiters.map((delimiter) => plain.split(delimiter).length - 1);
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ',';
}
