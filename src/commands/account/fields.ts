import { type JsonObject, textIn } from '../../api/json.ts';
import { limits } from '../../api/limits.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { listRows } from '../../cli/list-command.ts';
import type { Column } from '../../format/result.ts';
import type { AuditDetails } from '../../journal/audit-entry.ts';
import { emailProblem } from '../../orders/addresses/options.ts';
import { audited } from '../../orders/audited.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { nearestWord } from '../../platform/near-words.ts';
import { parseUrl } from '../../platform/net/urls.ts';
import { typedCommand } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { readBytes, readDocument } from '../../run/read-document.ts';

/** Account options other than secrets. */
export const accountOptions = {
  email: { kind: 'text', description: 'login at the retailer' },
  retailer: {
    kind: 'text',
    completes: 'retailers',
    description: 'which retailer it signs in to; without it, any',
  },
  configFile: {
    kind: 'text',
    placeholder: 'file|-',
    completes: 'files',
    description: "the retailer's own settings (retailer_config) as JSON or YAML",
  },
} as const;

interface Given {
  readonly email?: string | undefined;
  readonly retailer?: string | undefined;
  readonly configFile?: string | undefined;
}

/** Converts the given fields for the service. @throws UsageError. */
export async function accountFields(
  context: Context,
  { email, retailer, configFile }: Given,
): Promise<{ email?: string; retailer?: string; retailer_config?: Record<string, unknown> }> {
  const problem = email === undefined ? undefined : emailProblem(email);
  if (problem !== undefined) throw new UsageError(`--email: ${problem}`);
  const config = configFile && (await readDocument(context, '--config-file', configFile)).value;
  return {
    ...(email !== undefined && { email }),
    ...(retailer !== undefined && { retailer }),
    ...(config && { retailer_config: { ...config } }),
  };
}

const largestSecretBytes = 4096;

/**
 * Options that name the place from which to read an account's secrets. A secret itself is never a flag value or an
 * environment variable.
 */
export const secretOptions = {
  passwordFile: {
    kind: 'text',
    placeholder: 'file|-',
    completes: 'files',
    description: 'file with the password, or - for stdin; without it a hidden prompt',
  },
  totpFile: {
    kind: 'text',
    placeholder: 'file|-',
    completes: 'files',
    description: 'file with the 64-character two-factor secret, or - for stdin',
  },
} as const;

interface Files {
  readonly passwordFile?: string | undefined;
  readonly totpFile?: string | undefined;
}

/** Reads secrets from files or stdin. @throws UsageError naming the flag, never the secret. */
export async function readSecrets(
  context: Context,
  { passwordFile, totpFile }: Files,
): Promise<{ password?: string; totp_secret?: string }> {
  if (passwordFile === '-' && totpFile === '-')
    throw new UsageError('--password-file and --totp-file cannot both read stdin');
  const password = passwordFile && (await readSecret(context, '--password-file', passwordFile));
  const totp = totpFile && checkTotp(await readSecret(context, '--totp-file', totpFile), '--totp-file');
  return { ...(password && { password }), ...(totp && { totp_secret: totp }) };
}

/** Normalizes a two-factor secret by removing its display spaces. @throws UsageError explaining the expected format. */
export function checkTotp(text: string, where: string): string {
  const secret = text.replace(/\s+/g, '');
  if (secret.length === limits.totpSecretLength) return secret;
  const expected = `the ${limits.totpSecretLength}-character secret that the retailer shows when two-factor sign-in is set up`;
  if (/^\d{6}$/.test(secret)) {
    throw new UsageError(
      `${where} holds a 6-digit code: that is valid for half a minute and signs nobody in later; it takes ${expected}`,
    );
  }
  throw new UsageError(`${where} holds ${secret.length} characters; it takes ${expected}`);
}

async function readSecret(context: Context, flag: string, file: string): Promise<string> {
  const bytes = await readBytes(context, flag, file, { bytes: largestSecretBytes, holds: 'one secret' });
  const secret = bytes
    .toString('utf8')
    // Strip the trailing line break that editors and echo add.
    .replace(/\r?\n$/, '');
  if (secret === '') throw new UsageError(`${flag} ${file} is empty`);
  if (/[\r\n]/.test(secret)) throw new UsageError(`${flag} ${file} has more than one line`);
  return secret;
}

/** Shared option of commands that set an account's retailer. */
export const unlistedOption = {
  yes: { kind: 'flag', description: 'take a retailer that the service does not list without confirmation' },
} as const;

const anyRetailer = 'any retailer';

/** Prompts for the account's retailer. Asks for free text if the service lists no retailers. */
export async function askRetailer(context: Context): Promise<string | undefined> {
  const prompt = await context.prompt();
  const rows = (await listRetailers(context)).filter((row) => row.use_your_account === true);
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
 * Confirms a retailer that the service does not list. The name may be a typo, which would leave the account unused, but
 * the service also orders from stores that it does not list. Asks a user for confirmation, but only warns a script.
 * @param done names the action that is cancelled if the user declines, such as `stored`.
 * @throws UsageError if the user declines.
 */
export async function agreeToRetailer(
  context: Context,
  name: string,
  { yes, done }: { readonly yes: boolean; readonly done: string },
): Promise<void> {
  const rows = await listRetailers(context, ['all']);
  const ids = rows.map(({ retailer }) => retailer);
  const typed = bare(name);
  if (rows.length === 0 || ids.some((id) => bare(id) === typed)) return;
  const suggestion = rows.find((row) => namesOf(row).includes(typed))?.retailer ?? nearestWord(typed, ids);
  const problem = `the service lists no retailer "${name}"${suggestion === undefined ? '' : `; did you mean ${suggestion}?`}`;
  const isPrompted = context.interactive.yes && !yes && !context.previewsRequests;
  if (!isPrompted) {
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

/** Other names of a retailer: its display name and its host. */
function namesOf(row: JsonObject): string[] {
  const address = textIn(row, 'base_url') ?? '';
  const names = [textIn(row, 'display_name') ?? '', parseUrl(address)?.host ?? ''];
  return names.filter((name) => name !== '').map(bare);
}

type ListedRetailer = JsonObject & { readonly retailer: string };

/**
 * Retailers that the service lists. With `all`, also stores that the service has merely seen. Empty if the service
 * cannot be queried.
 */
async function listRetailers(context: Context, include?: readonly ['all']): Promise<ListedRetailer[]> {
  // --curl performs no reads.
  if (context.previewsReads) return [];
  try {
    const query = { limit: limits.otherListLimit.max, ...(include && { include }) };
    const found: ListedRetailer[] = [];
    const { rows } = await listRows(context, 'retailer.list', query, true);
    for await (const row of rows) {
      const retailer = textIn(row, 'retailer');
      if (retailer) found.push({ ...row, retailer });
    }
    return found;
  } catch (error) {
    // Ignore the service's error, because any real problem will surface when the account is stored.
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
    return [];
  }
}

export const accountColumns: readonly Column<Shape<'ManagedAccount'>>[] = [
  { name: 'short id', path: 'short_id', kind: 'id', names: 'accounts', weight: 7 },
  { name: 'email', path: 'email', weight: 10, minWidth: 24 },
  { name: 'retailer', path: 'retailer', weight: 9, value: ({ retailer }) => retailer ?? 'any' },
  { name: 'two-factor secret', path: 'has_totp', kind: 'flag', weight: 5 },
  { name: 'forwarding', path: 'has_forwarding', kind: 'flag', weight: 6 },
  { name: 'busy with', path: 'locked_by_job_id', kind: 'id', weight: 3 },
  { name: 'last used', path: 'last_used_at', kind: 'time', weight: 4 },
  { name: 'created', path: 'created_at', kind: 'time', weight: 2 },
];

export const accountDetailColumns: readonly Column<Shape<'ManagedAccount'>>[] = [
  ...accountColumns,
  { name: 'forwarding address', path: 'forwarding_email', weight: 7 },
];

/**
 * Changes a retailer account at the service, and records the change in the audit chain.
 * @param shortId is the short id of an existing account.
 */
export function auditedAccount<T>(
  context: Context,
  change: AuditDetails['account']['change'],
  shortId: string | null,
  work: () => Promise<T>,
): Promise<T> {
  const { profile, baseUrl } = context.settings;
  const subject = { profile: profile.value, service: baseUrl.value };
  let account = shortId;
  return audited(
    context,
    (step) => ({ kind: 'account', ...subject, detail: { ...step, change, account } }),
    async () => {
      const result = await work();
      account ??= textIn(result, 'short_id') ?? null;
      return result;
    },
  );
}
