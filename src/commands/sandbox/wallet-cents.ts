import { fullestSandboxWalletCents } from '../../contract/limits.ts';
import { UsageError } from '../../errors.ts';
import { formatMoney, type Money } from '../../output/money.ts';

/** Cents for a wallet of the sandbox. @throws UsageError for another currency than its own, and for more than one holds. */
export function walletCents(flag: string, { cents, currency = 'USD' }: Money): number {
  if (currency !== 'USD') throw new UsageError(`${flag} is in USD, not in ${currency}`);
  if (cents > fullestSandboxWalletCents)
    throw new UsageError(
      `${flag} is at most ${formatMoney(fullestSandboxWalletCents)}, not ${formatMoney(cents)}`,
    );
  return cents;
}
