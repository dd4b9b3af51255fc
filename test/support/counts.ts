/**
 * Checks that all counts of rows and orders in an output add up: in sentences, batch tables, reasons and
 * machine-readable summaries. @returns the first that does not; undefined if all do. Pure.
 */
export function miscounted(stdout: string, stderr: string): string | undefined {
  const said = [...stderr.split('\n'), ...stdout.split('\n')];
  let ordered: number | undefined;
  for (const line of said) {
    const rows = /^([\d,]+) rows?: ((?:[\d,]+ (?:ordered|refused|waiting|left out)(?:, )?)+)/.exec(line);
    if (rows) {
      if (numberOf(rows[1]) !== sumOf(rows[2])) return line;
      ordered = numberOf(/([\d,]+) ordered/.exec(line)?.[1]);
    }
    const orders = /^([\d,]+) orders?: ([\d,]+ [a-z].*)$/.exec(line);
    if (orders && numberOf(orders[1]) !== sumOf(orders[2])) return line;
    if (orders && ordered !== undefined && numberOf(orders[1]) !== ordered)
      return `${ordered} ordered, but ${line}`;
    const why = /^([\d,]+) (?:failed|refused|left out): ([\d,]+ [a-z].*)$/.exec(line);
    if (why && numberOf(why[1]) !== sumOf(why[2])) return line;
  }
  return miscountedTable(stdout.split('\n')) ?? miscountedSummary(stdout);
}

const numberOf = (text = '0'): number => Number(text.replaceAll(',', ''));

/** Sums `2 delivered, 1 failed`; a part without a number belongs to the one before it. */
const sumOf = (text = ''): number =>
  text
    .split(', ')
    .flatMap((part) => /^([\d,]+) /.exec(part)?.[1] ?? [])
    .reduce((sum, count) => sum + numberOf(count), 0);

/** In a completed batch ordered, refused and waiting add up to its rows; otherwise they may not exceed them. */
function miscountedTable(lines: readonly string[]): string | undefined {
  let columns: readonly string[] = [];
  return lines.find((line) => {
    const cells = cellsOf(line);
    if (/^[@A-Z][A-Z*@ ]* {2}[A-Z* ]+$/.test(line)) {
      columns = /\bROWS +ORDERED\b/.test(line) ? cells : [];
      return false;
    }
    // An empty or truncated cell shifts the others.
    if (columns.length === 0 || cells.length !== columns.length) return false;
    const count = (name: string): number => numberOf(cells[columns.indexOf(name)]);
    const told = count('ORDERED') + count('REFUSED') + count('WAITING');
    return /\bcompleted\b/.test(line) ? told !== count('ROWS') : told > count('ROWS');
  });
}

const cellsOf = (line: string): string[] => line.trim().split(/ {2,}/);

function miscountedSummary(stdout: string): string | undefined {
  return stdout.split('\n').find((line) => {
    if (!line.startsWith('{"type":"summary"') || !line.includes('"ordered":')) return false;
    const read = JSON.parse(line) as Record<string, number>;
    const sum = (...names: string[]): number => names.reduce((all, name) => all + (read[name] ?? 0), 0);
    return (
      read.rows !== sum('ordered', 'refused', 'waiting') ||
      read.ordered !== sum('placed', 'failed', 'under_way', 'withdrawn', 'before', 'since', 'unknown')
    );
  });
}
