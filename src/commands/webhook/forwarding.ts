import type { ForwardTarget } from '../../integrations/webhooks/forward.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';

const usualRetries = 4;

/** Where events are sent on to. @throws UsageError naming the flag for what is not an http address. */
export function forwardTarget(
  context: Context,
  flag: string,
  url: string,
  allowPrivate: boolean,
): ForwardTarget {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError(`${flag} takes an http or https address, such as http://127.0.0.1:3000/hooks`);
  return {
    url,
    allowPrivate,
    retries: context.settings.retries.value ?? usualRetries,
    clock: context.clock,
    version: context.version,
  };
}
