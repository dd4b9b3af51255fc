import type { JsonObject } from '../../api/json.ts';
import { operations } from '../../api/operations/index.ts';
import type { Unchecked } from '../../api/received.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { defineRootCommand } from '../../cli/define.ts';
import { sparkline } from '../../format/cell.ts';
import type { Column } from '../../format/result.ts';
import { optionFor } from '../../run/from-contract.ts';

const { query } = operations['usage.get'];

const recentColumns: readonly Column[] = [
  { name: 'call', path: 'endpoint', weight: 9 },
  { name: 'when', path: 'at', kind: 'time', weight: 8 },
  { name: 'query', path: 'query', weight: 7 },
  { name: 'results', path: 'result_count', kind: 'count', weight: 4 },
  { name: 'retailer', path: 'retailer', weight: 5 },
  { name: 'product', path: 'product_id', weight: 3 },
];

const metricColumns: readonly Column[] = [
  { name: 'metric', path: 'name', weight: 10 },
  { name: 'calls', path: 'total', kind: 'count', weight: 9 },
  { name: 'before', path: 'prev_total', kind: 'count', weight: 7 },
  { name: 'change', path: 'change', weight: 6 },
  { name: 'by day', path: 'chart', weight: 8 },
];

export const command = defineRootCommand({
  options: {
    windowDays: optionFor(query.window_days),
    recent: optionFor(query.recent),
  },
  examples: [
    { command: 'errand usage', note: 'the last 30 days against those before' },
    { command: 'errand usage --window-days 7 -o json --query metrics', note: 'numbers, for a script' },
  ],
  output: { record: 'usage.get' },
  operations: ['usage.get'],
  related: ['wallet'],
  async run(context, { windowDays, recent }) {
    const client = await context.client();
    const { body } = await client.call('usage.get', {
      query: {
        ...(windowDays !== undefined && { window_days: windowDays }),
        ...(recent !== undefined && { recent }),
      },
    });
    const plain = context.io.stdout.isDumb === true;
    const columns: readonly Column<Shape<'UserUsageResponse'>>[] = [
      { name: 'days', path: 'window_days', kind: 'count', weight: 5 },
      { name: 'since', path: 'since', kind: 'time', weight: 4 },
      {
        name: 'metrics',
        path: 'metrics',
        columns: metricColumns,
        value: ({ metrics }) => charted(metrics, plain),
      },
      { name: 'recent', path: 'recent', columns: recentColumns },
    ];
    return { kind: 'record', record: body, columns, id: 'since' };
  },
});

type UsageMetric = Shape<'UserUsageResponse'>['metrics'][keyof Shape<'UserUsageResponse'>['metrics']];

function charted(metrics: unknown, plain: boolean): JsonObject[] {
  return Object.entries(Object(metrics)).map(([name, metric]) => {
    const { total, prev_total, series }: Unchecked<UsageMetric> = Object(metric);
    const numbers = Array.isArray(series) ? series.filter((it) => typeof it === 'number') : [];
    return {
      name,
      total,
      prev_total,
      change: changeOf(total, prev_total),
      chart: sparkline(numbers, { plain }),
    };
  });
}

function changeOf(total: unknown, before: unknown): string {
  if (typeof total !== 'number' || typeof before !== 'number') return '';
  if (before === 0) return total === 0 ? '' : 'new';
  const percent = Math.round(((total - before) / before) * 100);
  return `${percent > 0 ? '+' : ''}${percent} %`;
}
