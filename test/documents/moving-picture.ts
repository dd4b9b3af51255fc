import type { Run } from '../support/screen.ts';

/** A screen's contents from a point in time. @param at ms */
export interface Frame {
  readonly at: number;
  readonly rows: readonly (readonly Run[])[];
}

/** A row's contents while visible; `until` is undefined if it stays. */
interface Spell {
  readonly row: number;
  readonly runs: readonly Run[];
  readonly from: number;
  readonly until?: number;
}

const size = { character: 8.4, line: 20, margin: 18, font: 14 };
/** How long the last frame stays before the loop restarts, ms. */
const restMs = 8_000;

const colours: Readonly<Record<string, string>> = {
  31: '#ff7b72',
  32: '#3fb950',
  33: '#d29922',
  34: '#58a6ff',
  35: '#bc8cff',
  36: '#39c5cf',
  90: '#8b949e',
};

/**
 * Renders an SVG animation of the frames in real time; shows just the last frame under reduced motion.
 * @param columns terminal width
 */
export function movingPicture(frames: readonly Frame[], title: string, columns: number): string {
  const spells = spellsOf(frames);
  const lengthMs = (frames.at(-1)?.at ?? 0) + restMs;
  const height = Math.max(...frames.map(({ rows }) => rows.length)) * size.line + 2 * size.margin;
  const width = Math.ceil(columns * size.character + 2 * size.margin);
  const times = [...new Map(spells.map((spell) => [timeOf(spell), spell])).entries()];
  const lines = (wanted: (spell: Spell) => boolean): string =>
    spells
      .filter(wanted)
      .map((spell) =>
        lineOf(
          spell,
          times.findIndex(([time]) => time === timeOf(spell)),
        ),
      )
      .join('\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(title)}</title>
<style>
text { font: ${size.font}px ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace; fill: #e6edf3; white-space: pre }
.passing text { opacity: 0 }
@media (prefers-reduced-motion: no-preference) {
${times.map(([, spell], index) => motionOf(spell, index, lengthMs)).join('\n')}
}
</style>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<g class="passing">
${lines(({ until }) => until !== undefined)}
</g>
<g id="last">
${lines(({ until }) => until === undefined)}
</g>
</svg>
`;
}

/** Extracts the text of a picture's last frame, line by line. */
export function lastText(svg: string): string {
  const [, last = ''] = /<g id="last">\n([\s\S]*?)\n<\/g>/.exec(svg) ?? [];
  const rows = [...last.matchAll(/^<text[^>]* y="(\d+)"[^>]*>(.*)<\/text>$/gm)].map(([, y, spans = '']) => ({
    y: Number(y),
    text: [...spans.matchAll(/<tspan x="([\d.]+)"[^>]*>(.*?)<\/tspan>/g)].reduce(
      (line, [, x, text = '']) => line.padEnd(columnAt(Number(x))) + unescaped(text),
      '',
    ),
  }));
  const lines: string[] = [];
  for (const { y, text } of rows) lines[(y - size.margin - size.font) / size.line] = text;
  return Array.from(lines, (line) => line ?? '').join('\n');
}

/** Computes how long each row's contents stay visible. */
function spellsOf(frames: readonly Frame[]): Spell[] {
  const standing = new Map<number, Spell>();
  const ended: Spell[] = [];
  for (const { at, rows } of frames) {
    for (let row = 0; row < Math.max(rows.length, ...[...standing.keys()].map((key) => key + 1)); row += 1) {
      const runs = rows[row] ?? [];
      const before = standing.get(row);
      if (JSON.stringify(before?.runs ?? []) === JSON.stringify(runs)) continue;
      if (before) ended.push({ ...before, until: at });
      standing.delete(row);
      if (runs.length > 0) standing.set(row, { row, runs, from: at });
    }
  }
  return [...ended, ...standing.values()].toSorted(
    (one, other) => one.row - other.row || one.from - other.from,
  );
}

const timeOf = ({ from, until }: Spell): string => `${from} ${until}`;

function motionOf({ from, until }: Spell, index: number, lengthMs: number): string {
  const share = (ms: number): string => `${((100 * ms) / lengthMs).toFixed(2)}%`;
  const end = until === undefined ? '' : ` ${share(until)} { opacity: 0 }`;
  const last = until === undefined ? 1 : 0;
  const steps = `0% { opacity: ${from === 0 ? 1 : 0} } ${share(from)} { opacity: 1 }${end} 100% { opacity: ${last} }`;
  return `.t${index} { animation: k${index} ${lengthMs / 1000}s step-end infinite }\n@keyframes k${index} { ${steps} }`;
}

function lineOf({ row, runs }: Spell, index: number): string {
  const y = size.margin + size.font + row * size.line;
  return `<text class="t${index}" y="${y}">${runs
    .filter(({ text }) => text.trim() !== '')
    .map(spanOf)
    .join('')}</text>`;
}

function spanOf({ column, text, style }: Run): string {
  const codes = style.split(';');
  const colour = codes.map((code) => colours[code]).find(Boolean);
  const looks = [
    ...(codes.includes('1') ? ['font-weight="600"'] : []),
    ...(codes.includes('2') ? ['fill-opacity="0.65"'] : []),
    ...(colour ? [`fill="${colour}" style="fill: ${colour}"`] : []),
  ];
  const [blanks = ''] = /^ */.exec(text) ?? [];
  const shown = text.slice(blanks.length).trimEnd();
  const x = size.margin + (column + blanks.length) * size.character;
  const length = (Array.from(shown).length * size.character).toFixed(1);
  return `<tspan ${[`x="${x.toFixed(1)}"`, `textLength="${length}"`, ...looks].join(' ')}>${escaped(shown)}</tspan>`;
}

const columnAt = (x: number): number => Math.round((x - size.margin) / size.character);

const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;' } as const;
const escaped = (text: string): string =>
  text.replace(/[&<>]/g, (character) => entities[character as keyof typeof entities]);
const unescaped = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
