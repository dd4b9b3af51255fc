import { embeddedUrl } from '../../config/stored.ts';
import { stopwatch } from '../../platform/clock.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import type { Probe } from './check.ts';

/** Asks the service for its description, once. Any response of the service, a refusal too, shows that it is reached. */
export async function probe(context: Context): Promise<Probe> {
  const tookMs = stopwatch(context.clock);
  const reached = (date: string | undefined, version: string | undefined): Probe => {
    return { reached: true, tookMs: tookMs(), at: context.clock.now(), date, version };
  };
  try {
    const client = await context.client();
    const { headers, body } = await client.call('openapi.get', {});
    const { date } = headers;
    const version: unknown = Object(Object(body).info).version;
    const isEmbedded = context.settings.baseUrl.value === embeddedUrl;
    return reached(
      typeof date === 'string' && !isEmbedded ? date : undefined,
      typeof version === 'string' ? version : undefined,
    );
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    const { status, hint, next } = error.facts;
    if (status !== undefined && status < 500) return reached(undefined, undefined);
    return { reached: false, message: error.message, remedy: hint ?? next?.[0]?.command };
  }
}
