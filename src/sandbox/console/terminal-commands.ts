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

/** What does the same as a button of a page. */
interface Same {
  /** What is done, `shipped`: it tells one button that copies from another. */
  readonly what: string;
  /** The words after `errand`; null where errand has no command for it. */
  readonly errand: readonly string[] | null;
  readonly curl: string | null;
}

interface Call {
  readonly method: 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** Whether it is sent with a key; as a rule it is. */
  readonly hasKey?: boolean;
}

/** A call of this sandbox by curl. The key stays in the environment: no page shows one. */
export const curlCall = (config: SandboxConfig, { path, body, ...call }: Call): string =>
  sameRequest(config, {
    ...call,
    target: path,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).curl;

/** The commands and calls that do the same as the buttons beside them. */
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
  /** JSON, or the file that it is in. */
  readonly body?: string | { readonly file: string };
  /** Whether it is sent with a key; as a rule it is. */
  readonly hasKey?: boolean;
}

/** A request to this server as `errand api` and as curl, for a POSIX shell. The key is the reader's own. */
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
  // `errand api` sends no such request.
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

/** As a request line takes it: nothing of it is a control of a terminal, or a space. */
const sendable = (target: string): string =>
  encodeURI(target.toWellFormed())
    .replaceAll('%25', '%')
    .replace(/[[\]#^|]/g, encodeURIComponent);

/** JSON whose controls and marks of direction are escaped: in JSON they stand in texts alone. */
const plainJson = (json: string): string =>
  json.replace(
    /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The command and the call that control the sandbox. No key is needed: its own machine may. */
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
  /** The options that say the same as `fields`. */
  readonly options?: readonly string[];
}

/** The command and the call that trigger an event. */
export const triggerCall = (config: SandboxConfig, { event, id, fields = {}, options = [] }: Event) => ({
  what: event,
  errand: ['sandbox', 'trigger', event, ...(id === undefined ? [] : [id]), ...options],
  curl: curlCall(config, {
    method: 'POST',
    path: triggerPath,
    body: { event, ...(sandboxTriggers[event].target !== 'none' && { id }), ...fields },
  }),
});

/** A delivery as a curl call, straight to its receiver: of the address a page shows no more than host and path. */
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
