import { type JsonObject, textIn } from '../../api/json.ts';
import { limits } from '../../api/limits.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { listRows } from '../../cli/list-command.ts';
import type { Column } from '../../format/result.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { nearestWord } from '../../platform/near-words.ts';
import { typedCommand } from '../../platform/shell-word.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';

/** What every command takes that says which retailer an account is for. */
export const unlistedOption = {
  yes: { kind: 'flag', description: 'take a retailer that the service does not list without confirmation' },
} as const;

const anyRetailer = 'any retailer';

/** Asks which retailer the account is for. Where the service lists none, its name is typed. */
export async function askRetailer(context: Context): Promise<string | undefined> {
  const prompt = await context.prompt();
  const rows = (await listed(context)).filter((row) => row.use_your_account === true);
  if (rows.length === 0) {
    const name = await prompt.askText(context, 'Retailer (leave empty if it is for all)', { optional: true });
    return name === '' ? undefined : name;
  }
  const chosen = await prompt.askRow(context, 'Which retailer is it for?', rows, retailerColumns, {
    others: [anyRetailer],
  });
  return chosen === anyRetailer ? undefined : chosen.retailer;
}

const retailerColumns: readonly Column<Shape<'PublicRetailer'>>[] = [
  { name: 'name', path: 'display_name', weight: 9 },
  { name: 'retailer', path: 'retailer', kind: 'id', weight: 10 },
  {
    name: 'needed',
    path: 'no_account_needed',
    weight: 8,
    value: ({ no_account_needed: none }) => (none === false ? 'takes orders by account only' : ''),
  },
];

/**
 * A retailer that the service does not list may be a slip, and an account for it is never used: a person is asked, a
 * script is told. The service takes any name, since it orders from stores that it does not list.
 * @param done what was not done where the answer is no: `stored`. @throws UsageError for that answer.
 */
export async function agreeToRetailer(
  context: Context,
  name: string,
  { yes, done }: { readonly yes: boolean; readonly done: string },
): Promise<void> {
  const rows = await listed(context, ['all']);
  const ids = rows.map(({ retailer }) => retailer);
  const typed = bare(name);
  if (rows.length === 0 || ids.some((id) => bare(id) === typed)) return;
  const meant = rows.find((row) => namesOf(row).includes(typed))?.retailer ?? nearestWord(typed, ids);
  const problem = `the service lists no retailer "${name}"${meant === undefined ? '' : `; did you mean ${meant}?`}`;
  const isAsked = context.interactive.yes && !yes && !context.previewsRequests;
  if (!isAsked) {
    if (!yes) context.note(`warning: ${problem}`);
    return;
  }
  context.note(problem);
  const prompt = await context.prompt();
  if (await prompt.confirm(context, `Use "${name}" all the same?`)) return;
  throw new UsageError(`the service lists no retailer "${name}"; nothing was ${done}`, {
    hint: `\`errand retailer list -o id${whereFlags(context)}\` prints those it lists.`,
    next: [
      { command: `${typedCommand(context.argv)} --yes`, when: 'for a store that the service does not list' },
    ],
  });
}

const bare = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/^www\./, '');

/** What else a retailer is called: its name, and its host. */
function namesOf(row: JsonObject): string[] {
  const address = textIn(row, 'base_url') ?? '';
  const names = [textIn(row, 'display_name') ?? '', URL.canParse(address) ? new URL(address).host : ''];
  return names.filter((name) => name !== '').map(bare);
}

type Listed = JsonObject & { readonly retailer: string };

/** The retailers that the service lists; with `all` also the stores that it has seen. None where it cannot be asked. */
async function listed(context: Context, include?: readonly ['all']): Promise<Listed[]> {
  // With --curl nothing is read.
  if (context.previewsReads) return [];
  try {
    const query = { limit: limits.otherListLimit.max, ...(include && { include }) };
    const found: Listed[] = [];
    const { rows } = await listRows(context, 'retailer.list', query, true);
    for await (const row of rows) {
      const retailer = textIn(row, 'retailer');
      if (retailer) found.push({ ...row, retailer });
    }
    return found;
  } catch (error) {
    // The list only helps; whatever is the matter, storing the account will tell.
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
    return [];
  }
}
