import { fullestSandboxWalletCents } from '../../api/limits.ts';
import { formatMoney } from '../../format/money.ts';
import { UsageError } from '../../platform/errors.ts';

/** Cents for a wallet of the sandbox. @throws UsageError for more than one holds. */
export function walletCents(flag: string, cents: number): number {
  if (cents > fullestSandboxWalletCents)
    throw new UsageError(
      `${flag} is at most ${formatMoney(fullestSandboxWalletCents)}, not ${formatMoney(cents)}`,
    );
  return cents;
}
