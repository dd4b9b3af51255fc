import type { Mood } from '../api/order-state.ts';
import { safeText } from '../platform/redact/safe-text.ts';
import { formatMoney } from './money.ts';
import { accessor, isRecord } from './path.ts';
import type { Column, TitleOf } from './result.ts';
import { absoluteTime, relativeTime } from './time.ts';

export interface CellOptions {
  /**
   * Current time in ms since the epoch, for relative times. For times taken on this machine, `localNow` takes its
   * place.
   */
  readonly now: () => number;
  readonly localNow?: (() => number) | undefined;
  /** Whether to print absolute UTC times instead of relative ones. */
  readonly utc: boolean;
  /** Whether a person reads the output at a terminal. If so, states have words and signs, and ids are short. */
  readonly isScreen?: boolean | undefined;
  /** Rewrites the command lines in a text for the shell of this terminal. */
  readonly asTyped?: ((text: string) => string) | undefined;
  /** Whether the terminal cannot draw, so that bars must be ASCII. */
  readonly plain?: boolean | undefined;
  /** Used by columns with `usesTitles`. */
  readonly titleOf?: TitleOf | undefined;
  /** Formats an id. Used for columns whose `names` gives the kind of record. */
  readonly spellId?: ((id: string) => string) | undefined;
}

/** Maximum length of a cell. Formats for programs print the whole value. */
const maxCellLength = 1000;

export const columnValue = (column: Column, row: unknown, titleOf?: TitleOf): unknown =>
  column.value && isRecord(row) ? column.value(row, titleOf) : accessor(column.path)(row);

/** Renders a column's value for people, on one line and safe for a terminal. Null becomes an empty text. */
export function cellText(column: Column, row: unknown, options: CellOptions): string {
  const value = columnValue(column, row, options.titleOf);
  if (value === undefined || value === null) return '';
  return safeText(spell(column, value, row, options), maxCellLength);
}

/**
 * Mood of a status cell. The column defines the mood, or else the cell's words determine it. Undefined for other
 * columns.
 */
export function cellMood(column: Column, row: unknown): Mood | undefined {
  if (column.kind !== 'status') return undefined;
  if (column.mood && isRecord(row)) return column.mood(row);
  const value = columnValue(column, row);
  return typeof value === 'string' ? moodOf(value) : undefined;
}

function spell(column: Column, value: unknown, row: unknown, options: CellOptions): string {
  switch (column.kind) {
    case 'status':
      return options.isScreen
        ? signed(plain(value).replaceAll('_', ' '), cellMood(column, row))
        : plain(value);
    case 'share':
      return typeof value === 'number' ? gauge(value, { plain: options.plain === true }) : plain(value);
    case 'money':
      return typeof value === 'number' ? formatMoney(value, currencyOf(column, row)) : plain(value);
    case 'time':
      return typeof value !== 'string'
        ? plain(value)
        : options.utc
          ? absoluteTime(value)
          : relativeTime(value, (column.isLocal && options.localNow ? options.localNow : options.now)());
    case 'date':
      return typeof value === 'string' ? value.replace(/^(\d{4}-\d\d-\d\d)T.*$/, '$1') : plain(value);
    case undefined:
    case 'text':
      return options.asTyped ? options.asTyped(plain(value)) : plain(value);
    default:
      return column.names && options.spellId ? options.spellId(plain(value)) : plain(value);
  }
}

function currencyOf(column: Column, row: unknown): string | undefined {
  const currency = column.currency === undefined ? undefined : accessor(column.currency)(row);
  return typeof currency === 'string' && currency !== '' ? currency : undefined;
}

/**
 * Renders a value of a column without a kind. Booleans become yes or no. Arrays of plain values are joined, arrays of
 * objects become their count, and objects become JSON.
 */
function plain(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.some(isRecord) ? String(value.length) : value.map(String).join(', ');
  return isRecord(value) ? JSON.stringify(value) : String(value);
}

const bars = [...'▁▂▃▄▅▆▇█'];
const plainBars = [...'_.-=+*#@'];
/** Maximum number of bars in a chart. */
const widest = 30;

/**
 * Renders a series of numbers as a row of bars, newest last. Shortens a long series by adding up spans of equal length.
 * @param plain uses only ASCII characters.
 */
export function sparkline(series: readonly number[], { plain = false } = {}): string {
  const marks = plain ? plainBars : bars;
  const span = Math.max(1, Math.ceil(series.length / widest));
  const sums = Array.from({ length: Math.ceil(series.length / span) }, (_, at) =>
    series.slice(at * span, (at + 1) * span).reduce((sum, count) => sum + Math.max(0, count), 0),
  );
  const max = Math.max(...sums, 0);
  return sums
    .map((sum) => (max === 0 ? marks[0] : marks[Math.ceil((sum / max) * (marks.length - 1))]))
    .join('');
}

/**
 * Renders a share as a bar with a percentage: `███░░░░░ 40 %`. @param plain uses only ASCII characters. @param width is
 * the length of the bar, in characters.
 */
function gauge(share: number, { plain = false, width = 8 } = {}): string {
  const full = Math.min(width, Math.max(0, Math.round(share * width)));
  const [done, rest] = plain ? ['#', '.'] : ['█', '░'];
  return `${done.repeat(full)}${rest.repeat(width - full)} ${Math.round(share * 100)} %`;
}

/** The sign of each mood. Without color, only the sign shows the mood. */
const symbols: Readonly<Record<Mood, string>> = { good: '✔', bad: '✖', waiting: '●', past: '○' };

/** Puts the sign of a mood in front of a state's text: `✔ delivered`. Without a mood, adds no sign. */
export const signed = (text: string, mood: Mood | undefined): string =>
  mood === undefined || text === '' ? text : `${symbols[mood]} ${text}`;

const bad =
  /(?:^|_)(?:(?:failed|error|denied|declined|undeliverable|unsupported|invalid|cancelled|refused|trouble)$|cancelled_by_\w)/;
// Excludes `order_placed`, because this status does not tell whether the order ended well or badly.
const good =
  /(?:^|_)(?:success|ok|(?<!order_)placed|delivered|completed|approved|credited|verified|captured|pickup|held)$/;
const waiting = /(?:^|_)(?:pending|progress|processing|transit|open|skipped|untested)$/;
const past = /(?:^|_)(?:expired|used|released|closed)$/;

/**
 * Derives the mood from the last word of a status, so that it also works for future statuses; undefined if the word is
 * not known.
 */
export function moodOf(status: string): Mood | undefined {
  if (bad.test(status)) return 'bad';
  if (good.test(status)) return 'good';
  if (waiting.test(status)) return 'waiting';
  return past.test(status) ? 'past' : undefined;
}
