import {
  type ControlAction,
  type ControlActions,
  controlPath,
  type SandboxTrigger,
  sandboxTriggers,
  triggerPath,
} from '../../api/control.ts';
import { webhookEventHeader, webhookIdHeader } from '../../api/events.ts';
import { findOperation, isPlainPath, isRead } from '../../api/operations/find.ts';
import { type Content, html } from '../../platform/html.ts';
import { shellLine, shellWord, typedCommand } from '../../platform/shell.ts';
import type { SandboxConfig } from '../config.ts';
import { copied, type SameAs } from './parts.ts';

/** CLI and curl equivalents of a button. */
interface Same {
  /**
   * The action, such as `shipped`. The labels of the copy buttons contain the action, so that the buttons are
   * distinguishable.
   */
  readonly what: string;
  /** Arguments after `errand`; null if errand has no such command. */
  readonly errand: readonly string[] | null;
  readonly curl: string | null;
}

interface Call {
  readonly method: 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** Whether to send a key. Default: true. */
  readonly hasKey?: boolean;
}

/**
 * Renders a call to this sandbox as a curl command. The command reads the key from the environment, because pages never
 * show a key.
 */
export const curlCall = (config: SandboxConfig, { path, body, ...call }: Call): string =>
  sameRequest(config, {
    ...call,
    target: path,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).curl;

/** Renders terminal commands that do the same as the buttons next to the commands. */
export const sameFromTerminal = (
  { baseUrl }: SandboxConfig,
  id: string,
  all: readonly Same[],
  note?: string,
): Content =>
  html`<details class="same" id="${id}"><summary>The same from a terminal</summary>${
    note !== undefined && html`<p class="soft">${note}</p>`
  }${all.map(
    ({ what, errand, curl }) =>
      html`${errand !== null && copied(`the command for ${what}`, typedCommand([...errand, '--base-url', baseUrl]))}${
        curl !== null && copied(`the curl call for ${what}`, curl)
      }`,
  )}</details>`;

interface Shown {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** JSON text, or the file that contains it. */
  readonly body?: string | { readonly file: string };
  /** Whether to send a key. Default: true. */
  readonly hasKey?: boolean;
}

/**
 * Renders a request to this server as an `errand api` command and as a curl command, for a POSIX shell. Readers supply
 * their own key.
 */
export function sameRequest(
  { baseUrl }: Pick<SandboxConfig, 'baseUrl'>,
  { method, target, body, hasKey = true }: Shown,
): Omit<SameAs, 'json'> {
  const path = sendable(target);
  const given = typeof body === 'string' ? shellWord(plainJson(body)) : body && `@${body.file}`;
  const curl = [
    method === 'GET' ? 'curl -s' : shellLine`curl -sX ${method}`,
    shellWord(baseUrl + path),
    ...(hasKey ? ['-H "Authorization: Bearer $ERRAND_API_KEY"'] : []),
    ...(given === undefined ? [] : [`-H 'Content-Type: application/json' -d ${given}`]),
  ];
  const [bare = ''] = path.split('?', 1);
  const isKnown = isRead(method) || findOperation(method, bare) !== undefined;
  // `errand api` cannot send such a request.
  if (!isKnown && !isPlainPath(bare)) return { curl: curl.join(' ') };
  const option = isKnown ? [] : ['--unknown-path'];
  const errand = typedCommand(['api', method, path, ...option, '--base-url', baseUrl]);
  return {
    curl: curl.join(' '),
    errand:
      typeof body === 'object'
        ? `${errand} --input ${body.file}`
        : given === undefined
          ? errand
          : `printf '%s' ${given} | ${errand} --input -`,
  };
}

/** Escapes a request target so that it contains no spaces or terminal control characters. */
const sendable = (target: string): string =>
  encodeURI(target.toWellFormed())
    .replaceAll('%25', '%')
    .replace(/[[\]#^|]/g, encodeURIComponent);

/** Escapes control and bidi characters in JSON. In JSON, such characters occur only inside strings. */
const plainJson = (json: string): string =>
  json.replace(
    /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * The CLI command and HTTP call that control the sandbox. Neither needs a key, because requests from the local machine
 * are trusted.
 */
export const controlCall = <A extends ControlAction>(
  config: SandboxConfig,
  what: string,
  errand: readonly string[] | null,
  { action, body }: { readonly action: A; readonly body: ControlActions[A] },
) => ({
  what,
  errand: errand && ['sandbox', ...errand],
  curl: curlCall(config, { method: 'POST', path: `${controlPath}/${action}`, body, hasKey: false }),
});

interface Event {
  readonly event: SandboxTrigger;
  readonly id?: string;
  readonly fields?: Readonly<Record<string, string | number>>;
  /** CLI options equivalent to `fields`. */
  readonly options?: readonly string[];
}

/** The CLI command and HTTP call that trigger an event. */
export const triggerCall = (config: SandboxConfig, { event, id, fields = {}, options = [] }: Event) => ({
  what: event,
  errand: ['sandbox', 'trigger', event, ...(id === undefined ? [] : [id]), ...options],
  curl: curlCall(config, {
    method: 'POST',
    path: triggerPath,
    body: { event, ...(sandboxTriggers[event].target !== 'none' && { id }), ...fields },
  }),
});

/**
 * Renders a delivery as a curl command to its receiver. The command reads the URL from an environment variable, because
 * pages show only the host and path of the URL.
 */
export const receiverCall = ({
  event,
  eventId,
  body,
}: {
  readonly event: string;
  readonly eventId: string;
  readonly body: string;
}): string =>
  shellLine`curl -sX POST "$WEBHOOK_URL" -H ${'Content-Type: application/json'} -H ${`${webhookEventHeader}: ${event}`} -H ${`${webhookIdHeader}: ${eventId}`} -d ${body}`;
