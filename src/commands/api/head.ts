import type { AnyResponse } from '../../http/client.ts';
import { redactor } from '../../platform/redact/redactor.ts';
import type { Context } from '../../run/context.ts';

/** Status and headers of a response on stderr, since stdout carries data only; secrets are replaced. */
export function tellHead(
  context: Context,
  { status, headers }: Pick<AnyResponse, 'status' | 'headers'>,
): void {
  context.note(`HTTP ${status}`);
  for (const [name, value] of Object.entries(redactor.headers(headers))) context.note(`${name}: ${value}`);
}
