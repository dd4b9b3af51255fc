import { InDoubtError, InterruptedError } from '../../http/errors.ts';
import type { RunIntent } from '../../journal/intents.ts';
import { withOutcome } from '../../orders/outcome.ts';
import { ErrandError, type ErrorFacts, stopOf } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import { PolicyDenial } from '../../spending/policy/refusal.ts';
import { duplicateIn } from './duplicate-error.ts';
import { PolicyError } from './policy-error.ts';

interface FailedCall {
  readonly folder: string;
  readonly policy: string | undefined;
  /** Recorded intents that have not been settled yet. */
  readonly intents: readonly RunIntent[];
  /** The service's time, in ms since the epoch. */
  readonly now: number;
}

/** Converts a failure to an error for programs. The suggested commands work from any terminal on this machine. */
export function asThrown(failure: unknown, of: FailedCall): unknown {
  const reported = withOutcome(failure, { intents: of.intents, hasWritten: false, record: undefined });
  if (!(reported instanceof ErrandError)) return reported;
  const facts = {
    ...reported.facts,
    ...(reported.facts.next && { next: reported.facts.next.map(reachable(of)) }),
  };
  const denial = reported instanceof PolicyDenial ? reported : undefined;
  if (denial)
    return new PolicyError(
      reported.message,
      { ...facts, cause: reported },
      denial.verdict,
      approvalIn(facts),
    );
  // Use this class whatever ended the call. Programs check for this class to find out whether they may have paid.
  if (facts.outcome === 'unknown')
    return new InDoubtError(reported.message, { ...facts, cause: reasonOf(reported) });
  const stop = stopOf(reported);
  if (stop) return new InterruptedError(stop, reported.message, { ...facts, cause: reasonOf(reported) });
  const duplicate = duplicateIn(new ErrandError(reported.category, reported.message, facts), of.now);
  if (duplicate) return duplicate;
  // An error of a more specific class stays as it is, because its class is worth more than the suggested commands.
  return reported.constructor === ErrandError
    ? new ErrandError(reported.category, reported.message, facts)
    : reported;
}

/**
 * Finds the original cause, which is the reason of an abort or the error of the network. The causes in between add
 * nothing, because the new error's class already says what became of the order.
 */
function reasonOf(error: ErrandError): unknown {
  const { cause } = error.facts;
  if (cause instanceof ErrandError) return reasonOf(cause);
  return cause ?? error;
}

const reachable =
  ({ folder, policy }: FailedCall) =>
  ({ command, when }: { readonly command: string; readonly when: string }) => {
    const where = [
      `ERRAND_STATE_DIR=${shellWord(folder)}`,
      ...(policy === undefined ? [] : [`ERRAND_POLICY=${shellWord(policy)}`]),
    ];
    return { command: command.startsWith('errand ') ? `${where.join(' ')} ${command}` : command, when };
  };

const approvalIn = ({ details }: ErrorFacts): string | undefined => {
  const { approval } = Object(details);
  const { id } = Object(approval);
  return typeof id === 'string' ? id : undefined;
};
