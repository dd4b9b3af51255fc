import { createHash } from 'node:crypto';
import { operations } from '../../api/operations/index.ts';
import { type Content, Html, html } from '../../platform/html.ts';
import { shopPath } from '../config.ts';
import type { SandboxResponse } from '../server/wire.ts';
import { script, style } from './assets.ts';

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * Content security policy. Allows only our own stylesheet, and forms sent to this server. Forbids framing, to prevent
 * clickjacking.
 */
const stillPolicy = [
  "default-src 'none'",
  `style-src ${hashOf(style)}`,
  'img-src data:',
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** Extends `stillPolicy` to allow our script. The script may connect only to this server. */
const scriptPolicy = `${stillPolicy}; script-src ${hashOf(script)}; connect-src 'self'`;

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M2 5l6-3 6 3v6l-6 3-6-3z' fill='%231756b0'/%3E%3Cpath d='M2 5l6 3 6-3M8 8v6' stroke='%23fff' fill='none'/%3E%3C/svg%3E";

/** A navigation link of the shop or the console. Public pages have no navigation links. */
export interface Link {
  readonly path: string;
  readonly text: string;
  /** Whether a gap separates this link from the links before it. */
  readonly isAside?: boolean;
}

export interface PageOptions {
  readonly status?: number;
  readonly links?: readonly Link[];
  /** Path of the active navigation link, and whether that path is the current page itself. */
  readonly current?: { readonly path: string; readonly isPage: boolean };
  /** Whether the page updates while it is open. */
  readonly live?: boolean;
  /** Whether the page has copy buttons. */
  readonly copies?: boolean;
  /** Renders a narrow column, for text and forms. */
  readonly narrow?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the usual header. */
  readonly frame?: Content;
}

/**
 * Renders a complete page. The page loads no external resources and runs no script but our own. @param title is also
 * the heading.
 */
export function htmlPage(title: string, body: Content, options: PageOptions = {}): SandboxResponse {
  const { status = 200, links = [], current, live = false, copies = live, narrow = false, frame } = options;
  const hasScript = copies || frame !== undefined;
  const column = narrow ? 'narrow' : '';
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title} · errand sandbox</title><link rel="icon" href="${icon}"><style>${new Html(style)}</style></head>
<body>${
    frame ??
    html`<header class="plain ${column}"><strong>errand sandbox</strong>${navigation(links, current)}<p id="live" role="status"></p></header>`
  }
<main id="main" tabindex="-1" class="${column}"${live && html` data-live`}>${live && html`<a class="reload" href="">Reload</a>`}<h1>${title}</h1>${body}</main>
${hasScript && html`<script type="module">${new Html(script)}</script>`}</body></html>
`;
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': hasScript ? scriptPolicy : stillPolicy,
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      // Keeps the secret in a claim URL out of referrers, and one-time codes out of caches.
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      ...options.headers,
    },
    body: page.text,
  };
}

const navigation = (links: readonly Link[], current: PageOptions['current']): Content =>
  links.length > 0 &&
  html`<nav aria-label="Sandbox">${links.map(({ path, text, isAside }) => {
    const isCurrent = path === current?.path && html` aria-current="${current.isPage ? 'page' : 'true'}"`;
    return html`<a href="${path}"${isAside === true && html` class="aside"`}${isCurrent}>${text}</a>`;
  })}</nav>`;

/** Navigation links on pages for users of the sandbox. */
export const siteLinks: readonly Link[] = [
  { path: '/', text: 'Console' },
  { path: shopPath, text: 'Shop' },
  { path: operations['openapi.get'].path, text: 'API' },
];

const maxShownLength = 200;

/**
 * Browser page for an unknown path or method. @param allowed lists the methods that the path supports; empty if the
 * path does not exist.
 */
export function unknownPage(method: string, pathname: string, allowed: string): SandboxResponse {
  const path = html`<code>${pathname.slice(0, maxShownLength)}${pathname.length > maxShownLength && '…'}</code>`;
  const places = html`<ul>${siteLinks.map(({ path: to, text }) => html`<li><a href="${to}">${text}</a></li>`)}</ul>`;
  if (allowed === '') {
    const body = html`<p class="lead">There is nothing at ${path}. The address may have been cut short. What there is:</p>${places}`;
    return htmlPage('No such page', body, { status: 404, links: siteLinks, narrow: true });
  }
  const body = html`<p class="lead">${path} takes ${allowed}, not ${method}: a program calls it, or a button of a page. What can be looked at:</p>${places}`;
  return htmlPage('Not a page', body, {
    status: 405,
    links: siteLinks,
    narrow: true,
    headers: { allow: allowed },
  });
}
