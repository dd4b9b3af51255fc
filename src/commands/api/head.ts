import type { Context } from '../../context.ts';
import type { RawAnswer } from '../../http/client.ts';
import { createRedactor } from '../../http/redact.ts';

/** Status and headers of an answer on stderr, since stdout carries data only; secrets are replaced. */
export function tellHead(context: Context, { status, headers }: Pick<RawAnswer, 'status' | 'headers'>): void {
  const { apiKey, legacyToken } = context.settings;
  const secrets = [apiKey?.value, legacyToken?.value].filter((secret) => secret !== undefined);
  context.note(`HTTP ${status}`);
  for (const [name, value] of Object.entries(createRedactor(secrets).headers(headers)))
    context.note(`${name}: ${value}`);
}
