import type { Plan } from '../../api/schemas/plan-file.ts';
import { isNew, isSameFile } from '../../bulk/plan/file.ts';
import { readPlan } from '../../bulk/plan/read.ts';
import { rowColumns, shownRows, totalColumns } from '../../bulk/plan/shown-rows.ts';
import { staleness } from '../../bulk/plan/staleness.ts';
import { applyLines, summaryLines } from '../../bulk/plan/summary.ts';
import { sellersOf, totalsOf } from '../../bulk/plan/totals.ts';
import { defineCommand } from '../../cli/define.ts';
import { checkPage, pageOptions, savePage } from '../../cli/page-options.ts';
import { UsageError } from '../../platform/errors.ts';
import { whereFlags } from '../../run/context-flags.ts';

export const show = defineCommand({
  name: 'show',
  summary: 'Show a plan: what it comes to, and what needs a look',
  description:
    'Reads only the plan file and sends no request, so it also works for a stale plan or one from another machine, and says so. An altered plan is refused. Output lists the rows that need review; --all lists every row. The plan itself is JSON: `jq .rows[0].order december.plan`.',
  arguments: [{ name: 'plan', completes: 'files', description: 'a plan of `bulk plan`', required: true }],
  options: {
    all: { kind: 'flag', description: 'list every row' },
    by: {
      kind: 'text',
      placeholder: 'what',
      suggests: ['retailer', 'country', 'day'],
      description: 'list totals in place of rows: by retailer, country, day or metadata.KEY',
    },
    ...pageOptions('for whoever decides; without names and streets'),
  },
  examples: [
    { command: 'errand bulk show december.plan', note: 'what it comes to, and what needs a look' },
    { command: 'errand bulk show december.plan --all -o csv', note: 'every row, for a spreadsheet' },
    { command: 'errand bulk show december.plan --by metadata.team', note: 'totals' },
    { command: 'errand bulk show december.plan --html december.html --force', note: 'a page to hand on' },
  ],
  output: [{ list: 'PlanRow' }, { list: 'PlanGroup', when: 'with --by' }],
  readsOnly: true,
  exitCodes: { 11: 'the plan was altered' },
  related: ['bulk plan', 'bulk apply', 'bulk get'],
  async run(context, { plan: path, all = false, by, html, force = false }) {
    if (html !== undefined && (await isSameFile(html, path)))
      throw new UsageError(`--html: ${html} is the plan itself, and the page would take its place`);
    checkPage(html, force);
    const read = await readPlan(path, whereFlags(context));
    const { plan } = read;
    const stale = await staleness(context, read);
    const rows = shownRows(plan);
    const lines = [
      ...summaryLines(path, plan, rows),
      ...(stale ? [`it cannot be applied here: it ${stale.what}`] : []),
    ];
    if (html !== undefined) {
      const { planPage } = await import('../../bulk/plan/plan-page.ts');
      await savePage(context, html, planPage({ path, plan, rows, lines }), { force, mode: 0o600 });
    }
    const hints = () => [...lines, ...(stale ? [] : applyLines(context, path, plan))];
    if (by !== undefined)
      return { kind: 'list', rows: totalsBy(path, plan, by), columns: totalColumns, id: 'value', hints };
    return {
      kind: 'list',
      rows: all ? rows : rows.filter(({ kinds }) => kinds.length > 0),
      columns: rowColumns,
      id: 'row',
      empty: 'no row needs a look',
      hints,
    };
  },
});

/** @throws UsageError if no row can be grouped in the requested way. */
function totalsBy(
  path: string,
  { plan, rows: all, products, totals, fee_cents: feeCents }: Plan,
  by: string,
) {
  const rows = plan === 1 ? all : all.filter(isNew);
  const known = new Map(products.map((product) => [product.url, product]));
  const day = totals.find((total) => total.by === 'day')?.value ?? '';
  const found = totalsOf(
    rows.map((row) => ({ ...row, sellers: sellersOf(row.order, known) })),
    { feeCents, day },
    Number.POSITIVE_INFINITY,
  );
  const group = found.filter((total) => total.by === by);
  // If all rows of a plan were ordered before, there is nothing to group.
  if (group.length > 0 || rows.length === 0) return group;
  const names = [...new Set(found.map((total) => total.by))];
  throw new UsageError(`--by: no row of ${path} has "${by}"; its rows have ${names.slice(0, 20).join(', ')}`);
}
