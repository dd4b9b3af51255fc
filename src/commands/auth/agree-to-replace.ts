import { maskKey } from '../../config/keys.ts';
import { UsageError } from '../../platform/errors.ts';
import { typedCommand } from '../../platform/shell-word.ts';
import type { Context } from '../../run/context.ts';

/** What every command takes that stores a key. */
export const replaceOption = {
  replace: { kind: 'flag', description: 'in place of the one in use, which is forgotten' },
} as const;

/**
 * A stored client token is never replaced unasked. @param before the one that the profile has, if any.
 * @throws UsageError where nobody agrees; nothing is stored then.
 */
export async function agreeToReplace(
  context: Context,
  before: string | undefined,
  replace: boolean,
): Promise<void> {
  if (before === undefined || replace) return;
  const { value: profile } = context.settings.profile;
  const question = `Replace ${maskKey(before)} of profile ${profile}?`;
  if (context.interactive.yes && (await (await context.prompt()).confirm(context, question))) return;
  throw new UsageError(`profile ${profile} has ${maskKey(before)} already; nothing was stored`, {
    next: [{ command: typedCommand([...context.argv, '--replace']), when: 'to store another in its place' }],
  });
}
