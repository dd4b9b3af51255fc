import { isUrl, parseUrl } from '../platform/net/urls.ts';

const httpForm = /^https?:\/\//i;

/**
 * Start of a second URL, up to the URL's path. After one of the excluded characters, a URL may be part of the first
 * URL's path or query.
 */
const nextUrl = /(?<![/=?&#:])(?=(https?:\/\/[^\s/?#]*))|(?<=[\s,;|，；、])(?=(www\.))/giu;
/**
 * Possible start of a second URL, after a separator or a delimiter of URLs. It is a scheme (with or without both
 * slashes) or a host, plus the characters right after it.
 */
const maybeNext =
  /(?<=([\s,;|，；、"<>/=?&#:]))(?=(https?:\/{0,2}|\/\/(?=[\p{L}\p{N}]))?((?:[\p{L}\p{N}-]{1,63}\.){1,10}[\p{L}\p{N}-]{2,63})?(?::\d{1,5})?([/?]?[^\s/?#]?))/giu;
const partOfUrl = /[/=?&#:]/;
/** A host in plain text ends in letters. A version or a number, such as 12.5, does not. */
const lettersAtEnd = /\.\p{L}[\p{L}\p{N}-]+$/u;
/** A separator, or a second product id, at the end of a URL. */
const moreAtEnd = /(?:[,，、；;]|;\d{5,}|(?<=\/\d{5,32}),\d{5,})$/u;
/** Matches only from the start of a run of separators, so that a long run takes linear time. */
const separatorsAtEnd = /(?<![\s\p{C},;|，；、"'<>])[\s\p{C},;|，；、"'<>]+$/u;
/** Maximum number of URLs from one cell that a message lists. */
const maxNamed = 3;

/**
 * Splits a text that should be a single URL. Unless it is split, a second URL would be ordered as part of the first.
 */
export function urlsWithin(text: string): readonly string[] {
  const starts = [...text.matchAll(nextUrl)].map(({ index, 1: url = '', 2: www = '' }) => ({
    index,
    end: index + url.length + www.length,
  }));
  const shop = shopOf(text);
  for (const { index, 1: sign = '', 2: scheme = '', 3: host = '', 4: more = '' } of text.matchAll(
    maybeNext,
  )) {
    const isSame = shop !== undefined && host !== '' && isOfShop(shop, host);
    const hasPage = more.length > 1;
    const isNext = partOfUrl.test(sign)
      ? isSame && hasPage
      : scheme !== '' || (hasPage && (isSame || (more.startsWith('/') && lettersAtEnd.test(host))));
    if (isNext) starts.push({ index, end: index + scheme.length + host.length });
  }
  const urls: string[] = [];
  let from = 0;
  let covered = 0;
  for (const { index, end } of starts.sort((one, other) => one.index - other.index)) {
    if (index >= covered && index > 0) {
      urls.push(text.slice(from, index));
      from = index;
    }
    covered = Math.max(covered, end);
  }
  return [...urls, text.slice(from)].map((url) => url.replace(separatorsAtEnd, ''));
}

const shopOf = (url: string): string | undefined => parseUrl(url)?.hostname.replace(/^www\./, '');

/**
 * Whether a host belongs to the shop: it is the same host, a subdomain or a parent domain (m.shop.example and
 * shop.example).
 */
function isOfShop(shop: string, host: string): boolean {
  const other = shopOf(`http://${host}`);
  return other !== undefined && (other === shop || other.endsWith(`.${shop}`) || shop.endsWith(`.${other}`));
}

/** Why a text is not the URL of one product page; undefined if the text is such a URL. Phrased to follow the text. */
export function productUrlProblem(text: string): string | undefined {
  if (!httpForm.test(text) || !isUrl(text)) return 'is not an http or https URL';
  const urls = urlsWithin(text);
  if (urls.length > 1) return `holds ${urls.length} URLs: ${namedUrls(urls)}`;
  const [more] = moreAtEnd.exec(text) ?? [];
  if (more !== undefined)
    return `ends in "${more}"; give each product its own URL, or write ${encodeURIComponent(more.charAt(0))} for the "${more.charAt(0)}" of a URL`;
  return /\s/.test(text) ? 'has a space in it; write %20 for a space of the URL' : undefined;
}

export const namedUrls = (urls: readonly string[]): string =>
  urls
    .slice(0, maxNamed)
    .map((url) => `"${url}"`)
    .join(' and ') + (urls.length > maxNamed ? ' …' : '');
