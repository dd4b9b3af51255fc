import { maxSandboxWalletCents } from '../../api/limits.ts';
import { faultGrammar, sandboxFaults } from '../../api/sandbox-faults.ts';
import { formatMoney } from '../../format/money.ts';
import { UsageError } from '../../platform/errors.ts';

/** Options that set how a sandbox behaves, for commands that start one. */
export const rehearsalOptions = {
  speed: { kind: 'integer', min: 1, max: 1000, description: 'speed-up factor for the life of an order' },
  seed: {
    kind: 'integer',
    min: 0,
    max: 2 ** 31 - 1,
    description: 'same seed, same catalogue, ids and outcomes',
  },
  fault: {
    kind: 'texts',
    placeholder: 'kind[=time][:share%][@path]',
    description: 'make requests fail, seeded: one of the faults below; may be repeated',
  },
} as const;

/** Values of `fault`, for the help. */
export const faultList = { title: 'Faults', rows: sandboxFaults, note: faultGrammar };

/** Checks the balance of a sandbox wallet, in cents. @throws UsageError above the maximum. */
export function walletCents(flag: string, cents: number): number {
  if (cents > maxSandboxWalletCents)
    throw new UsageError(
      `${flag} is at most ${formatMoney(maxSandboxWalletCents)}, not ${formatMoney(cents)}`,
    );
  return cents;
}
