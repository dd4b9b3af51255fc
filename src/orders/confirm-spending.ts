import type { Surface } from '../api/operation.ts';
import { ErrandError, UsageError } from '../platform/errors.ts';
import { typedCommand } from '../platform/shell.ts';
import type { Context } from '../run/context.ts';

interface Spending {
  /** Whether `--yes` was given. */
  readonly yes: boolean;
  readonly question: string;
  /** Whose key or token pays; the current one unless told otherwise. */
  readonly surface?: Surface;
  /** What is bought, for how much, and how it is paid; read only where it is shown. */
  lines(): Promise<readonly string[]>;
}

/**
 * Asks once before a live key spends. A test key never asks.
 * @throws UsageError when nobody can answer and --yes is missing; ErrandError when the answer is no.
 */
export async function confirmSpending(
  context: Context,
  { yes, question, surface, lines }: Spending,
): Promise<void> {
  if (yes || context.isRehearsal(surface) || context.previewsRequests) return;
  if (!context.interactive.yes) {
    throw new UsageError(
      `this spends real money: pass --yes to confirm, because ${context.interactive.why}`,
      {
        next: [{ command: typedCommand([...context.argv, '--yes']), when: 'to spend' }],
      },
    );
  }
  for (const line of await lines()) context.note(line);
  const prompt = await context.prompt();
  if (await prompt.confirm(context, question)) return;
  throw new ErrandError('interrupted', 'nothing was ordered', { outcome: 'not_sent' });
}
