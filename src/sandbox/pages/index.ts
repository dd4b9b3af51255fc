import { operations } from '../../contract/operations/index.ts';
import { type SandboxConfig, shopPath } from '../config.ts';
import type { Service } from '../handler.ts';
import { slugOf, testProducts } from '../lifecycle/index.ts';
import { readTarget } from '../read-request.ts';
import { labelAnswer } from '../returns/labels.ts';
import type { SandboxRequest, SandboxResponse } from '../wire.ts';
import { claimPage, claimPath } from './claim.ts';
import { devicePage, devicePath } from './device.ts';
import { escapeHtml, htmlPage } from './html.ts';

/** The page for people at a path, or what a signed link leads to; undefined where there is none. @throws Refusal. */
export function page(
  service: Pick<Service, 'config' | 'store' | 'clock' | 'identity'>,
  request: SandboxRequest,
  pathname: string,
): SandboxResponse | undefined {
  const { config } = service;
  const { method } = request;
  const isForm = method === 'GET' || method === 'POST';
  if (isForm && pathname === devicePath) return devicePage(service, request);
  if (isForm && pathname.startsWith(claimPath))
    return claimPage(service, request, pathname.slice(claimPath.length));
  if (method !== 'GET') return undefined;
  if (pathname === '/') return welcome(config);
  if (pathname !== shopPath && !pathname.startsWith(`${shopPath}/`))
    return labelAnswer(service, pathname, readTarget(request.target).search);
  const url = `${config.shopUrl}${pathname.slice(shopPath.length)}`;
  const slug = slugOf(url, config.shopUrl);
  if (slug === null) return shop(config.shopUrl);
  const { name, description } = testProducts[slug];
  return htmlPage(200, name, `<p>${escapeHtml(description)}</p><p><code>${escapeHtml(url)}</code></p>`);
}

/** Where `quickstart_url` of a minted key leads. */
function welcome({ baseUrl, shopUrl }: SandboxConfig): SandboxResponse {
  const lines = [
    `curl -sX POST ${baseUrl}${operations['sandbox.mint'].path} > key.json`,
    'KEY=$(jq -r .api_key key.json)',
    `jq .example_order key.json | curl -s ${baseUrl}${operations['order.create'].path} -H "Authorization: Bearer $KEY" -d @-`,
  ];
  return htmlPage(
    200,
    'The sandbox',
    `<p>The whole service, rehearsed on this machine: nothing is bought and no money moves. A first order:</p>
<pre>${escapeHtml(lines.join('\n'))}</pre>
<p><a href="${escapeHtml(shopUrl)}">The shop</a> has a product for every outcome; <a href="${escapeHtml(`${baseUrl}${operations['openapi.get'].path}`)}">openapi.json</a> describes every endpoint.</p>`,
  );
}

function shop(shopUrl: string): SandboxResponse {
  const items = Object.entries(testProducts).map(
    ([slug, { name, description }]) =>
      `<li><a href="${escapeHtml(`${shopUrl}/${slug}`)}">${escapeHtml(name)}</a>: ${escapeHtml(description)}</li>`,
  );
  return htmlPage(
    200,
    'The sandbox shop',
    `<p>Products that rehearse every outcome.</p><ul>${items.join('')}</ul>`,
  );
}
