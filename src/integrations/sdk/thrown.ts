import { InDoubtError } from '../../http/errors.ts';
import type { RunIntent } from '../../journal/intents.ts';
import { withOutcome } from '../../orders/outcome.ts';
import { ErrandError, type ErrorFacts } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import { PolicyRefusal } from '../../spending/policy/refusal.ts';
import { PolicyError } from './policy-error.ts';

interface FailedCall {
  readonly folder: string;
  readonly policy: string | undefined;
  /** Recorded intents that are not settled yet. */
  readonly intents: readonly RunIntent[];
}

/** Converts a failure for programs. Suggested commands work from any terminal on this machine. */
export function asThrown(failure: unknown, of: FailedCall): unknown {
  const told = withOutcome(failure, { intents: of.intents, hasWritten: false, record: undefined });
  if (!(told instanceof ErrandError)) return told;
  const facts = { ...told.facts, ...(told.facts.next && { next: told.facts.next.map(reachable(of)) }) };
  const refusal = told instanceof PolicyRefusal ? told : undefined;
  if (refusal)
    return new PolicyError(told.message, { ...facts, cause: told }, refusal.verdict, approvalIn(facts));
  // Whatever ended the call: programs check for this class to learn whether they paid.
  if (facts.outcome === 'unknown') return new InDoubtError(told.message, { ...facts, cause: told });
  // An error with its own class says more than its suggested commands.
  return told.constructor === ErrandError ? new ErrandError(told.category, told.message, facts) : told;
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
