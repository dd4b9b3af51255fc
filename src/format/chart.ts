const bars = [...'▁▂▃▄▅▆▇█'];
const plainBars = [...'_.-=+*#@'];
/** Most bars of one chart. */
const widest = 30;

/**
 * A series as a row of bars, the newest last; a long one is drawn in sums of equal spans.
 * @param plain for a terminal that shows ASCII alone.
 */
export function sparkline(series: readonly number[], { plain = false } = {}): string {
  const marks = plain ? plainBars : bars;
  const span = Math.max(1, Math.ceil(series.length / widest));
  const sums = Array.from({ length: Math.ceil(series.length / span) }, (_, at) =>
    series.slice(at * span, (at + 1) * span).reduce((sum, count) => sum + Math.max(0, count), 0),
  );
  const most = Math.max(...sums, 0);
  return sums
    .map((sum) => (most === 0 ? marks[0] : marks[Math.ceil((sum / most) * (marks.length - 1))]))
    .join('');
}

/**
 * A share as a bar with its percentage: `███░░░░░ 40 %`. @param plain for a terminal that shows ASCII alone.
 * @param width of the bar, in characters.
 */
export function gauge(share: number, { plain = false, width = 8 } = {}): string {
  const full = Math.min(width, Math.max(0, Math.round(share * width)));
  const [done, rest] = plain ? ['#', '.'] : ['█', '░'];
  return `${done.repeat(full)}${rest.repeat(width - full)} ${Math.round(share * 100)} %`;
}
