import { redacted, redactor } from '../platform/redact/redactor.ts';
import { parseJson } from './read-body.ts';
import type { WireRequest } from './transport/transport.ts';

/** A request as `--dry-run` shows it: what would be sent, secrets replaced. */
export interface Described {
  readonly method: string;
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON as a value, anything else as text; null where there is none. */
  readonly body: unknown;
}

/** Describes a request; of the placeholder of a key the scheme stays. Pure. */
export function describeRequest({ method, url, headers, body }: Omit<WireRequest, 'signal'>): Described {
  const shown = redactor.headers(headers);
  const scheme = schemeOf(headers.authorization);
  return {
    method,
    url: redactor.text(url.href),
    headers: scheme === undefined ? shown : { ...shown, authorization: `${scheme} ${redacted}` },
    body: body === undefined ? null : redactor.value(parseJson(body) ?? new TextDecoder().decode(body)),
  };
}

function schemeOf(authorization: string | undefined): string | undefined {
  const placeholders = { Bearer: redacted, Basic: Buffer.from(`${redacted}:`).toString('base64') };
  return Object.entries(placeholders).find(([scheme, key]) => authorization === `${scheme} ${key}`)?.[0];
}
