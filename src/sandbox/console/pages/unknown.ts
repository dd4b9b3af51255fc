import { html } from '../../../platform/html.ts';
import type { SandboxResponse } from '../../server/wire.ts';
import { htmlPage } from './html.ts';
import { siteLinks } from './links.ts';

const longestShown = 200;

/** What a browser is shown where there is no page. @param allowed the methods that the path takes; none where there is nothing at all. */
export function unknownPage(method: string, pathname: string, allowed: string): SandboxResponse {
  const path = html`<code>${pathname.slice(0, longestShown)}${pathname.length > longestShown && '…'}</code>`;
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
