import { objectsIn } from '../../../src/api/json.ts';
import { callTool } from '../../earlier/made.ts';
import { errand, type Finished } from '../../support/run.ts';
import type { Workspace } from '../../support/workspace.ts';
import type { Case } from './cases.ts';
import { ordering, paying, type Scene, sharing, standing } from './scene.ts';

export type Which = 'known' | 'new';

export interface Outcome {
  /** What must not be: an order too many, a request elsewhere, a crash. */
  readonly wrong: readonly string[];
  /** Exit codes, warnings and findings. */
  readonly said: readonly string[];
}

const resuming = ['order', 'journal', 'resume', '--all', '-o', 'json'];
const verifying = ['audit', 'verify', '-o', 'json'];
const examining = ['doctor', '-o', 'json'];

const orders = (...streets: string[]): string[][] => streets.map(ordering);
const uploading = [
  ['bulk', 'upload', 'grown.csv', '--retries', '0', '-o', 'json'],
  ['bulk', 'resume', 'grown', '-o', 'json'],
  ['bulk', 'report', 'small', '-o', 'json'],
];
const shares = [sharing, ['bulk', 'upload', '--name', 'december', '--share', '--retries', '0']];
/** Tables of uploads, which say nothing of single orders. */
const queues: readonly string[] = [
  ...['layouts', 'uploads', 'upload_batches', 'row_blocks', 'upload_rows'],
  ...['campaigns', 'campaign_chunks', 'workers', 'request_budgets'],
];

const needs = [...orders('Placed', 'Two products'), standing];

/** What is ordered after a table was changed: what is ordered already, what was agreed to, and what never was. */
const lines: Readonly<Record<string, readonly (readonly string[])[]>> = {
  intents: orders('Placed', 'In doubt, placed', 'Settled later'),
  audit: orders('Placed', 'Approved', 'Over the limit'),
  reservations: orders('Placed later', 'Approved and used', 'Over the limit'),
  approvals: [...orders('Approved', 'Requested'), [...ordering('Approved and used'), '--new']],
  facts: orders('Over the limit', 'Approved', 'Requested'),
  grants: [paying('Paid', 'PAID-1'), paying('Paid later', 'PAID-2')],
  attempts: needs,
  attempt_accounts: needs,
  attempt_parts: needs,
  attempt_settings: needs,
  ...Object.fromEntries(
    ['layouts', 'uploads', 'upload_batches', 'row_blocks', 'upload_rows'].map((name) => [name, uploading]),
  ),
  ...Object.fromEntries(
    ['campaigns', 'campaign_chunks', 'workers', 'request_budgets'].map((name) => [name, shares]),
  ),
  quotes: [],
};

const general = orders('Placed', 'Approved', 'Over the limit', 'Requested');

/**
 * Has a machine do what its buyer may do next.
 * @param isNamed tells whether what was said by then names the case, so that the rest need not be run.
 */
export async function play(
  scene: Scene,
  { table }: Pick<Case, 'table'>,
  which: Which,
  isNamed: (said: readonly string[]) => boolean = () => false,
): Promise<Outcome> {
  const workspace = scene.machine(which);
  const wrong: string[] = [];
  const said: string[] = [];
  const run = async (args: readonly string[]): Promise<void> => {
    try {
      const ended = await errand(workspace, args);
      if (/failed unexpectedly|This is a bug/.test(ended.stderr))
        wrong.push(`a bug: ${args.join(' ')}: ${ended.stderr}`);
      said.push(...heardIn(args, ended));
    } catch (error) {
      wrong.push(`a crash: ${String(error)}`);
    }
  };
  const isQueue = queues.includes(table);
  if (!isQueue) {
    await run(verifying);
    await run(resuming);
  }
  for (const line of lines[table] ?? general) if (!isQueue || !isNamed(said)) await run(line);
  if (table === 'quotes' || table === '*') await place(scene, workspace, said);
  if (!isNamed(said)) await run(examining);
  wrong.push(...(await scene.wrong()));
  workspace.remove();
  return { wrong, said };
}

/** Places quotes: one that may be placed, once, one that was, and one of another database. */
async function place({ handles }: Scene, workspace: Workspace, said: string[]): Promise<void> {
  for (const name of ['openQuote', 'usedQuote', 'quoteElsewhere'] as const) {
    const { error, order } = await callTool(workspace, 'order_place', { quote: handles[name] });
    said.push(`order_place ${name}: ${order ? 'placed' : plain(JSON.stringify(error ?? 'refused'))}`);
  }
}

/** Findings, warnings and exit codes, without what differs from one run to the next. */
function heardIn(args: readonly string[], { code, stdout, stderr }: Finished): string[] {
  const name = args.slice(0, 4).join(' ');
  const heard = stderr.split('\n').filter((line) => line !== '');
  const findings =
    args[0] === 'doctor'
      ? objectsIn({ rows: JSON.parse(stdout || '[]') }, 'rows')
          .filter(({ status }) => status !== 'ok')
          .map(({ check, status, message }) => `${check} ${status} ${message}`)
      : [];
  return [`${name}: exit ${code}`, ...heard.map((line) => `${name}: ${line}`), ...findings].map(plain);
}

/** Leaves out ids, numbers and times. */
const plain = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replaceAll(/\b[0-9a-f]{12,64}\b/g, 'HEX')
    .replaceAll(/\d+/g, 'N');
