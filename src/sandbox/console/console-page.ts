import { type Content, html } from '../../platform/html.ts';
import type { SandboxResponse } from '../server/wire.ts';
import { htmlPage, type PageOptions } from './pages/html.ts';
import { consoleLinks, type SectionName, sections } from './sections.ts';

interface ConsoleOptions extends Omit<PageOptions, 'links' | 'current'> {
  /** Whose page it is. */
  readonly section?: SectionName;
  /** Whether it is the section's own list, and not a page below it. */
  readonly isList?: boolean;
  /** Whether it is the first page of all. */
  readonly isFront?: boolean;
}

/** A page of the console, with the links to all sections of it. @param title also its heading. */
export function consolePage(
  title: string,
  body: Content,
  { section, isList = false, isFront = false, ...options }: ConsoleOptions = {},
): SandboxResponse {
  const behind = section === undefined ? undefined : { path: sections[section].path, isPage: isList };
  const current = isFront ? { path: '/', isPage: true } : behind;
  return htmlPage(title, body, { ...options, links: consoleLinks, ...(current && { current }) });
}

/** What the console does not have, or has no more. @param what it lacks, as a sentence. */
export const notThere = (
  title: string,
  what: string,
  { section, status = 404 }: { readonly section: SectionName; readonly status?: number },
): SandboxResponse =>
  consolePage(
    title,
    html`<p class="lead">${what} <a href="${sections[section].path}">All ${sections[section].text.toLowerCase()}</a></p>`,
    { status, section },
  );

/** The ones before and after it in their list; null where there is none. */
export interface Siblings {
  readonly newer: string | null;
  readonly older: string | null;
}

/** Links from one of many to the next. @param what one of them is called. */
export const siblingLinks = (what: string, { newer, older }: Siblings): Content =>
  (newer !== null || older !== null) &&
  html`<nav class="siblings" aria-label="Neighbours">${
    newer !== null && html`<a href="${newer}" rel="prev">Newer ${what}</a>`
  } ${older !== null && html`<a href="${older}" rel="next">Older ${what}</a>`}</nav>`;
