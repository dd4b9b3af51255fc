import type { Redactor } from './redact.ts';
import type { WireHeaders, WireRequest } from './transport.ts';

/** What happens to a request, told as it happens. Times in ms. */
export type TraceEvent =
  | { readonly type: 'request'; readonly request: WireRequest }
  | {
      readonly type: 'answer';
      readonly status: number;
      readonly headers: WireHeaders;
      /** Absent where the body is streamed. */
      readonly body?: Uint8Array | undefined;
      readonly ms: number;
    }
  | { readonly type: 'failure'; readonly message: string; readonly ms: number }
  | { readonly type: 'retry'; readonly attempt: number; readonly waitMs: number };

export type Trace = (event: TraceEvent) => void;

/** Bytes of a body that a trace shows. */
const shownBytes = 4096;
/** Longer than any secret. */
const unsureBytes = 1024;

/**
 * Writes each event as lines for `--debug`, secrets replaced. The lines hold text from outside as it came: whoever
 * prints them makes them safe for the terminal.
 */
export function createTrace(write: (line: string) => void, redactor: Redactor): Trace {
  return (event) => {
    for (const line of linesOf(event, redactor)) write(line);
  };
}

function linesOf(event: TraceEvent, redactor: Redactor): string[] {
  switch (event.type) {
    case 'request': {
      const { method, url, headers, body } = event.request;
      return [
        `> ${method} ${redactor.text(url.href)}`,
        ...headerLines('>', headers, redactor),
        ...bodyLines('>', body, redactor),
      ];
    }
    case 'answer':
      return [
        `< ${event.status} after ${time(event.ms)}`,
        ...headerLines('<', event.headers, redactor),
        ...bodyLines('<', event.body, redactor),
      ];
    case 'failure':
      return [`! ${redactor.text(event.message)}, after ${time(event.ms)}`];
    case 'retry':
      return [`* attempt ${event.attempt} in ${time(event.waitMs)}`];
  }
}

const time = (ms: number): string => `${Math.round(ms)} ms`;

const headerLines = (mark: string, headers: WireHeaders, redactor: Redactor): string[] =>
  Object.entries(redactor.headers(headers)).map(([name, value]) => `${mark}   ${name}: ${value}`);

/**
 * Secrets are replaced before the text is cut to what is shown. Where the body itself was cut, its last part is not
 * shown: half of a secret may stand there, which nothing recognises.
 */
function bodyLines(mark: string, body: Uint8Array | undefined, redactor: Redactor): string[] {
  if (body === undefined || body.byteLength === 0) return [];
  const looked = body.subarray(0, shownBytes * 4);
  const redacted = redactor.text(new TextDecoder().decode(looked));
  const whole = looked.byteLength === body.byteLength ? redacted : redacted.slice(0, -unsureBytes);
  const isShort = whole.length <= shownBytes && looked.byteLength === body.byteLength;
  const shown = isShort ? whole : `${whole.slice(0, shownBytes)}… (${body.byteLength} bytes)`;
  return shown.split(/\r?\n/).map((line) => `${mark}   ${line}`);
}
