import { operations } from '../../api/operations/index.ts';
import { defineCommand } from '../../cli/define.ts';
import { referenceFilterOptions, referenceQuery } from '../../orders/needs/reference-filter.ts';
import { UsageError } from '../../platform/errors.ts';
import { collectOften } from '../../platform/memory.ts';
import { optionsFrom } from '../../run/from-contract.ts';
import { orderFilters } from './list.ts';

const filters = optionsFrom(operations['order.export'], orderFilters);

export const exportOrders = defineCommand({
  name: 'export',
  summary: 'Export the whole filtered set as CSV',
  options: { ...referenceFilterOptions, ...filters.options },
  examples: [
    { command: 'errand order export --since 2026-01-01 > orders.csv', note: "the year's orders" },
    { command: 'errand order export --status order_failed', note: 'what failed' },
  ],
  output: { text: 'a CSV' },
  operations: ['order.export'],
  writesCsv: () => true,
  related: ['order list'],
  async run(context, input) {
    const { format, rawCsv, fields, query } = context.output;
    if (fields || query)
      throw new UsageError('--fields and --query do not apply: the export is the service’s own CSV');
    if (format !== 'csv' && format !== 'table') {
      throw new UsageError(`the export is CSV; for ${format} use \`errand order list --all -o ${format}\``);
    }
    collectOften();
    const client = await context.client();
    const given = filters.toQuery(input);
    const named = referenceQuery(input, given, 'flags');
    const { chunks } = await client.stream('order.export', { query: { ...given, ...named } });
    if (rawCsv) return { kind: 'stream', chunks };
    const { neutraliseCsv } = await import('../../format/csv-stream.ts');
    return { kind: 'stream', chunks: neutraliseCsv(chunks), isCsv: true };
  },
});
