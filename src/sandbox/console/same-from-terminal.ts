import { type Content, html } from '../../platform/html.ts';
import { typedCommand } from '../../platform/shell.ts';
import type { SandboxConfig } from '../config.ts';
import { copied } from './pages/copied.ts';
import { sameRequest } from './pages/same-request.ts';

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
