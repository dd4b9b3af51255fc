import { emailProblem } from '../../orders/addresses/rules.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { readDocument } from '../../run/read-document.ts';

/** What an account has besides its secrets. */
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

/** The given fields as the service takes them. @throws UsageError. */
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
