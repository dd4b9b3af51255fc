import { defineCommand } from '../../cli/define.ts';
import { emailProblem } from '../../orders/addresses/options.ts';
import { refusedBy, UsageError } from '../../platform/errors.ts';
import { shellLine, typedCommand } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import {
  accountDetailColumns,
  accountFields,
  accountOptions,
  agreeToRetailer,
  askRetailer,
  auditedAccount,
  checkTotp,
  readSecrets,
  secretOptions,
  unlistedOption,
} from './fields.ts';

export const add = defineCommand({
  name: 'add',
  summary: 'Store a retailer account, so that orders are placed with it',
  description:
    'Secrets come from a hidden prompt, a file or stdin: a flag would leave them in the shell history and in the list of processes.',
  options: { ...accountOptions, ...secretOptions, ...unlistedOption },
  examples: [
    {
      command:
        'errand account add --email ada@example.com --retailer membersbarn --password-file password.txt',
      note: 'for one retailer',
    },
    {
      command: 'cat password.txt | errand account add --email shop@example.com --password-file - -o id',
      note: 'for any retailer; prints the short id',
    },
  ],
  output: { record: 'account.create' },
  operations: ['account.create', 'retailer.list'],
  exitCodes: { 5: 'this login is stored already' },
  related: ['account list', 'account forwarding', 'order create'],
  async run(context, { email, passwordFile, totpFile, yes = false, ...given }) {
    checkGiven(context, email, passwordFile);
    if (given.retailer !== undefined) await agreeToRetailer(context, given.retailer, { yes, done: 'stored' });
    const isPrompted = email === undefined || passwordFile === undefined;
    const login = email ?? (await askEmail(context));
    const retailer = given.retailer ?? (isPrompted ? await askRetailer(context) : undefined);
    const fields = await accountFields(context, { ...given, email: login, retailer });
    const secrets = await readSecrets(context, { passwordFile, totpFile });
    const prompted = secrets.password === undefined ? await askSecrets(context, totpFile === undefined) : {};
    const client = await context.client();
    const body = { ...fields, email: login, ...secrets, ...prompted };
    const account = await auditedAccount(
      context,
      'added',
      null,
      async () => (await client.call('account.create', { body })).body,
    );
    return {
      kind: 'record',
      record: account,
      columns: accountDetailColumns,
      id: 'short_id',
      hints: [
        `order with it: ${shellLine`errand order create --account ${account.short_id}`} …`,
        ...(account.has_totp
          ? []
          : [
              `if the retailer sends codes by email or text, forward them: ${shellLine`errand account forwarding ${account.short_id}`}`,
            ]),
      ],
    };
  },
});

const askEmail = async (context: Context): Promise<string> =>
  (await context.prompt()).askText(context, 'Email at the retailer', { check: emailProblem });

/** @throws UsageError naming everything missing, why there is no prompt, and the command to rerun. */
function checkGiven({ argv, interactive }: Context, email?: string, passwordFile?: string): void {
  const missing = [
    ...(email === undefined ? ['--email'] : []),
    ...(passwordFile === undefined ? ['--password-file'] : []),
  ];
  if (missing.length === 0 || interactive.yes) return;
  const samples = missing.map((flag) => `${flag} ${flag === '--email' ? 'EMAIL' : 'FILE'}`);
  throw new UsageError(
    `${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} missing; cannot prompt, as ${interactive.why}`,
    {
      hint: 'The password comes from a file, or from stdin with -; there is no flag for the password itself.',
      next: [
        {
          command: [typedCommand(argv), ...samples].join(' '),
          when: 'with the missing values filled in',
        },
      ],
    },
  );
}

async function askSecrets(
  context: Context,
  withTotp: boolean,
): Promise<{ password: string; totp_secret?: string }> {
  const prompt = await context.prompt();
  const password = await prompt.askSecret(context, 'Password');
  if (!withTotp) return { password };
  const totp = await prompt.askSecret(context, 'Two-factor secret (empty: none)', {
    optional: true,
    check: refusedBy((typed) => typed.trim() === '' || checkTotp(typed, 'this')),
  });
  return { password, ...(totp.trim() !== '' && { totp_secret: checkTotp(totp, 'this') }) };
}
