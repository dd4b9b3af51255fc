import { trimSlashes } from './trim-slashes.ts';

/** A URL in the spelling in which two of one product are compared: without scheme and fragment, its query in order. */
export function comparableUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const { host, pathname, searchParams } = new URL(text);
  searchParams.sort();
  return `${host}${trimSlashes(pathname)}?${searchParams}`;
}
