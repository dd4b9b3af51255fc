import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { embeddedUrl } from '../../settings/stored.ts';

/**
 * What changes a sandbox as a whole reaches the embedded one only: a command meant for a server must not touch the data
 * on this machine. @throws UsageError naming the other service and where it was set.
 */
export function checkEmbedded({ settings: { baseUrl } }: Context, verb: string): void {
  if (baseUrl.value === embeddedUrl) return;
  const where =
    baseUrl.from === 'flag' || baseUrl.from === 'environment' ? baseUrl.name : `profile ${baseUrl.name}`;
  throw new UsageError(
    `sandbox ${verb} works on the embedded sandbox only, and ${where} names ${baseUrl.value}; nothing was changed`,
    { hint: `For the sandbox on this machine add --base-url ${embeddedUrl}` },
  );
}
