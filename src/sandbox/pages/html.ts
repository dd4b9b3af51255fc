import { createHash } from 'node:crypto';
import type { SandboxResponse } from '../wire.ts';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as it may stand in HTML, in content and in quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (mark) => entities[mark] ?? mark);

const style = 'body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}';

/** Only this style, forms to this server alone, and no other site puts the page in a frame over its buttons. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** A whole page; nothing in it runs and nothing is loaded from elsewhere. */
export function htmlPage(status: number, title: string, body: string): SandboxResponse {
  const safeTitle = escapeHtml(title);
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      // The address of a claim is a secret, and a code is shown once.
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
    },
    body: `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${safeTitle}</title><style>${style}</style>
<h1>${safeTitle}</h1>${body}</html>\n`,
  };
}
