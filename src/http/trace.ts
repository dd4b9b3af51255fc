import { redactor } from '../platform/redact/redactor.ts';
import type { WireHeaders, WireRequest } from './transport/transport.ts';

/** Progress of a request. Times in ms. */
export type TraceEvent =
  | { readonly type: 'request'; readonly request: WireRequest }
  | {
      readonly type: 'response';
      readonly status: number;
      readonly headers: WireHeaders;
      /** Omitted if the body is streamed. */
      readonly body?: Uint8Array | undefined;
      readonly ms: number;
    }
  | { readonly type: 'failure'; readonly message: string; readonly ms: number }
  | { readonly type: 'retry'; readonly attempt: number; readonly waitMs: number };

export type Trace = (event: TraceEvent) => void;

/** Maximum characters of a body in a trace. */
const shown = 4096;
/**
 * How many bytes are redacted before the text is truncated. More than are shown, so that a secret is still recognized
 * where the text is cut.
 */
const looked = 16 * shown;

/**
 * Writes events as lines for `--debug`, with secrets redacted. Does not change text from outside; the printer must make
 * such text safe for the terminal.
 */
export function createTrace(write: (line: string) => void): Trace {
  return (event) => {
    for (const line of linesOf(event)) write(line);
  };
}

function linesOf(event: TraceEvent): string[] {
  switch (event.type) {
    case 'request': {
      const { method, url, headers, body } = event.request;
      return [
        `> ${method} ${redactor.text(url.href)}`,
        ...headerLines('>', headers),
        ...bodyLines('>', body),
      ];
    }
    case 'response':
      return [
        `< ${event.status} after ${time(event.ms)}`,
        ...headerLines('<', event.headers),
        ...bodyLines('<', event.body),
      ];
    case 'failure':
      return [`! ${redactor.text(event.message)}, after ${time(event.ms)}`];
    case 'retry':
      return [`* attempt ${event.attempt} in ${time(event.waitMs)}`];
  }
}

const time = (ms: number): string => `${Math.round(ms)} ms`;

const headerLines = (mark: string, headers: WireHeaders): string[] =>
  Object.entries(redactor.headers(headers)).map(([name, value]) => `${mark}   ${name}: ${value}`);

function bodyLines(mark: string, body: Uint8Array | undefined): string[] {
  if (body === undefined || body.byteLength === 0) return [];
  const text = new TextDecoder().decode(body.subarray(0, looked));
  const start = redactor.start(text, shown);
  const isWhole = start === redactor.text(text) && body.byteLength <= looked;
  return (isWhole ? start : `${start}… (${body.byteLength} bytes)`)
    .split(/\r?\n/)
    .map((line) => `${mark}   ${line}`);
}
