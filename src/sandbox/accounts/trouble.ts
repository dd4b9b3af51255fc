import type { ErrorType } from '../../api/error-types.ts';
import type { Sealer } from '../store/secrets.ts';
import type { Account } from './records.ts';

/** Entry of `retailer_config` by which a script rehearses an account that cannot be used. */
const rehearsed = 'sandbox_outcome';
const outcomes: readonly ErrorType[] = ['login_failed', 'account_locked', 'account_verification_required'];

/**
 * Why signing in with an account fails, if it does: a rehearsed outcome, no password, or a second factor that the
 * retailer requires and the account can give neither by its secret nor by a forwarded message.
 */
export function accountTrouble(account: Account, sealer: Sealer, twoFactor: boolean): ErrorType | undefined {
  const configured = account.config?.[rehearsed];
  const outcome = outcomes.find((known) => known === configured);
  if (outcome) return outcome;
  const opens = (sealed: string | null): boolean =>
    sealed !== null && sealer.open(sealed, account.id) !== undefined;
  if (!opens(account.password)) return 'login_failed';
  const passesSecondFactor = opens(account.totpSecret) || account.hasForwarding;
  return twoFactor && !passesSecondFactor ? 'login_failed' : undefined;
}
