import { redacted, redactor } from '../redact/redactor.ts';
import { parseJson } from './read-body.ts';
import type { Prepared } from './request.ts';

/** A request as `--dry-run` shows it: what would be sent, secrets replaced. */
export interface Described {
  readonly method: string;
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON as a value, anything else as text; null where there is none. */
  readonly body: unknown;
}

const schemes = { bearer: 'Bearer', basic: 'Basic', payment: undefined, none: undefined } as const;

/** Describes a request. The key is shown as replaced even where there is none yet. Pure. */
export function describeRequest({ method, url, headers, body, auth }: Prepared): Described {
  const scheme = schemes[auth];
  const shown = redactor.headers(headers);
  return {
    method,
    url: redactor.text(url.href),
    headers:
      scheme === undefined || shown.authorization !== undefined
        ? shown
        : { ...shown, authorization: `${scheme} ${redacted}` },
    body: body === undefined ? null : redactor.value(parseJson(body) ?? new TextDecoder().decode(body)),
  };
}
