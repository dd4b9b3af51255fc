const httpForm = /^https?:\/\//i;

/** Before a URL that follows another. Behind one of these signs it belongs to the path or the query of the first. */
const nextUrl = /(?<![/=?&#:])(?=https?:\/\/)|(?<=[\s,;|，；、])(?=www\.)/iu;
/** Looked for where a run of separators begins, so that a long one takes no longer. */
const separatorsAtEnd = /(?<![\s\p{C},;|，；、"'<>])[\s\p{C},;|，；、"'<>]+$/u;
/** Of those that stand in one cell, how many a message names. */
const maxNamed = 3;

/** The URLs in a text that is to be one: a second one would be bought as a piece of the first. */
export const urlsWithin = (text: string): readonly string[] =>
  text.split(nextUrl).map((url) => url.replace(separatorsAtEnd, ''));

/** Why a text is not the URL of one product page, to stand behind it; undefined where it is one. */
export function productUrlProblem(text: string): string | undefined {
  if (!httpForm.test(text) || !URL.canParse(text)) return 'is not an http or https URL';
  const urls = urlsWithin(text);
  if (urls.length > 1) return `holds ${urls.length} URLs: ${namedUrls(urls)}`;
  return /\s/.test(text) ? 'has a space in it; write %20 for a space of the URL' : undefined;
}

export const namedUrls = (urls: readonly string[]): string =>
  urls
    .slice(0, maxNamed)
    .map((url) => `"${url}"`)
    .join(' and ') + (urls.length > maxNamed ? ' …' : '');
