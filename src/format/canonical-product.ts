import { parseUrl, trimSlashes, withPlainLetters } from '../platform/net/urls.ts';
import { folded } from './folded.ts';

/** Names of query parameters that only track visitors, in lower case. They never identify a product. */
const trackingNames: ReadonlySet<string> = new Set([
  ...[
    'gclid',
    'gclsrc',
    'dclid',
    'gbraid',
    'wbraid',
    'gad_source',
    'gad_campaignid',
    'srsltid',
    'utm',
    '_ga',
    '_gl',
  ],
  ...['fbclid', 'igshid', 'igsh', 'msclkid', 'yclid', 'ysclid', 'twclid', 'ttclid', 'li_fat_id', 'epik'],
  ...['mc_cid', 'mc_eid', '_hsenc', '_hsmi', 'mkt_tok', '_kx', 'vero_id', 'oly_anon_id', 'oly_enc_id'],
  ...['irclickid', 'irgwc', 'cjevent', 'cjdata', 'awc', 'rb_clickid', 's_kwcid', 'ef_id', 'wickedid'],
  ...['_branch_match_id', '_bta_tid', '_bta_c', 'trk_contact', 'trk_msg', 'trk_module', 'trk_sid', 'ref_'],
  ...['pk_campaign', 'pk_kwd', 'pk_source', 'pk_medium', 'pk_content', 'pk_cid', 'ga_order', 'ga_view_type'],
]);

const trackingPrefixes = ['utm_', 'hsa_', 'mtm_', 'piwik_', 'matomo_', 'ga_search_'];

/** Tracking data in a path: `/ref=sr_1_3`, `;jsessionid=…`. */
const trackingPath = /\/ref=[^/]*$|;jsessionid=[^/]*/giu;

/** Host prefixes that serve the same pages: `www.shop.example`, `m.shop.example`. */
const sameHost = /^(?:www\d?|m|mobile)\.(?=[^.]+\.[^.])/u;

/** A fragment that a page uses for its own routing. */
const route = /^#!?\//u;

const isTracking = (name: string): boolean => {
  const lower = name.toLowerCase();
  return trackingNames.has(lower) || trackingPrefixes.some((prefix) => lower.startsWith(prefix));
};

/** Cache of normalized URLs, because a file orders the same few products repeatedly. */
const known = new Map<string, string>();
const maxKnown = 5000;

/**
 * Normalizes the URL of a product page, so that equal pages compare equal. Text that is not a URL is only converted to
 * NFC.
 */
export function canonicalPage(url: string): string {
  const found = known.get(url);
  if (found !== undefined) return found;
  if (known.size >= maxKnown) known.clear();
  const page = pageOf(url.trim());
  known.set(url, page);
  return page;
}

function pageOf(text: string): string {
  const parsed = parseUrl(text);
  if (!parsed) return text.normalize('NFC');
  const { protocol, hostname, port, pathname, search, searchParams, hash } = parsed;
  if (protocol !== 'http:' && protocol !== 'https:') return text.normalize('NFC');
  const host = hostname.replace(/(?<!\.)\.+$/u, '').replace(sameHost, '');
  const isDefaultPort = port === '' || port === '80' || port === '443';
  const path = trimSlashes(plainPath(pathname).replace(trackingPath, ''));
  const query = search === '' ? '' : canonicalQuery(searchParams);
  return `${host}${isDefaultPort ? '' : `:${port}`}${path}?${query}${route.test(hash) ? plainPath(hash) : ''}`;
}

const canonicalQuery = (parameters: URLSearchParams): string =>
  [...parameters]
    .filter(([name]) => !isTracking(name))
    .map((pair) => pair.map((part) => encodeURIComponent(part.normalize('NFC'))).join('='))
    .sort()
    .join('&');

/** Decodes escaped letters and digits, and composes accents. Keeps all other escapes, in upper case. */
function plainPath(path: string): string {
  if (!path.includes('%')) return path;
  const runs = withPlainLetters(path).replace(/(?:%[89a-f][0-9a-f])+/giu, (found) => {
    try {
      return decodeURIComponent(found);
    } catch {
      return found.toUpperCase();
    }
  });
  return runs.normalize('NFC').replace(/%[0-7][0-9a-f]/giu, (found) => found.toUpperCase());
}

/** A product option, such as `Size: M`. */
interface Choice {
  readonly label: string;
  readonly value: string;
}

/** Normalizes a variant: sorts its options and ignores case. Empty if there are no options. */
export const canonicalVariant = (choices: readonly Choice[] | null | undefined): string =>
  (choices ?? [])
    .map(({ label, value }) => JSON.stringify([spaced(label), spaced(value)]))
    .sort()
    .join();

/** Keeps punctuation, because it distinguishes sizes (`1/2`, `1.2`, `+`). */
const spaced = (text: string): string => folded(text).trim().replace(/\s+/gu, ' ');
