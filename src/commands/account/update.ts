import { defineCommand } from '../../cli/define.ts';
import { UsageError } from '../../platform/errors.ts';
import { checkName, readIds } from '../../run/ids.ts';
import {
  accountDetailColumns,
  accountFields,
  accountOptions,
  agreeToRetailer,
  auditedAccount,
  readSecrets,
  secretOptions,
  unlistedOption,
} from './fields.ts';

/** Fields that can be cleared, each with the value that clears it. */
const clearable = {
  password: ['password', ''],
  'two-factor': ['totp_secret', ''],
  config: ['retailer_config', {}],
} as const;

/**
 * The part of the request body that clears values.
 * @throws UsageError if another flag sets the same field.
 */
function cleared(names: readonly string[], given: object): object {
  const fields = Object.entries(clearable).filter(([name]) => names.includes(name));
  const [twice] = fields.find(([, [field]]) => Object.hasOwn(given, field)) ?? [];
  if (twice === undefined) return Object.fromEntries(fields.map(([, entry]) => entry));
  throw new UsageError(`--clear ${twice} takes away what another flag gives; leave one of them out`);
}

export const update = defineCommand({
  name: 'update',
  summary: 'Change a stored retailer account; only what is given changes',
  arguments: [{ name: 'account', names: 'accounts', description: 'short id of the account', required: true }],
  options: {
    ...accountOptions,
    retailer: { ...accountOptions.retailer, description: 'which retailer it signs in to' },
    ...secretOptions,
    passwordFile: {
      ...secretOptions.passwordFile,
      description: 'file with the new password, or - for stdin',
    },
    newPassword: { kind: 'flag', description: 'ask for a new password at a hidden prompt' },
    anyRetailer: { kind: 'flag', description: 'use it for any retailer' },
    ...unlistedOption,
    clear: { kind: 'list', values: Object.keys(clearable), description: 'take away what is stored' },
  },
  examples: [
    { command: 'errand account update $ACCOUNT --email new@example.com', note: 'another login' },
    {
      command: 'errand account update $ACCOUNT --password-file password.txt',
      note: 'after it was changed there',
    },
    { command: 'errand account update $ACCOUNT --clear two-factor', note: 'sign-in needs no code any more' },
  ],
  output: { record: 'account.update' },
  operations: ['account.update', 'retailer.list'],
  related: ['account list', 'account add'],
  async run(
    context,
    { account, passwordFile, totpFile, newPassword, anyRetailer, yes = false, clear = [], ...given },
  ) {
    const [id = ''] = await readIds(context, 'account', [account], checkName);
    if (anyRetailer && given.retailer !== undefined)
      throw new UsageError('--retailer and --any-retailer exclude each other');
    if (given.retailer !== undefined)
      await agreeToRetailer(context, given.retailer, { yes, done: 'changed' });
    const fields = await accountFields(context, given);
    const secrets = await readSecrets(context, { passwordFile, totpFile });
    const prompted = newPassword ? { password: await askPassword() } : {};
    const body = {
      ...fields,
      ...secrets,
      ...prompted,
      ...(anyRetailer && { retailer: '' }),
      ...cleared(clear, { ...fields, ...secrets, ...prompted }),
    };
    if (Object.keys(body).length === 0)
      throw new UsageError('nothing to change was given; see `errand account update --help`');
    const client = await context.client();
    const { body: changed } = await auditedAccount(context, 'changed', id, () =>
      client.call('account.update', { path: { short_id: id }, body }),
    );
    return { kind: 'record', record: changed, columns: accountDetailColumns, id: 'short_id' };

    async function askPassword(): Promise<string> {
      if (!context.interactive.yes)
        throw new UsageError(`--new-password needs a prompt; cannot prompt, as ${context.interactive.why}`, {
          hint: 'Use --password-file with a file, or - for stdin.',
        });
      return (await context.prompt()).askSecret(context, 'New password');
    }
  },
});
