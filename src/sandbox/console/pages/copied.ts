import { type Content, html } from '../../../platform/html.ts';

/** A text to be copied at a click; without JavaScript it is selected as a whole. @param what it is, after “Copy”. */
export const copied = (what: string, text: string): Content =>
  html`<div class="copied"><pre tabindex="0">${text}</pre><button type="button" class="copy">Copy<span class="unseen"> ${what}</span></button></div>`;

/** What does the same as a request or a button, to be copied. */
export interface SameAs {
  readonly curl: string;
  readonly errand?: string;
  readonly json?: string;
}

/** @param what is done, for the names of the buttons: `the request`. */
export const sameAs = (what: string, { curl, errand, json }: SameAs): Content => {
  const forms = [
    ['errand', errand],
    ['curl', curl],
    ['JSON', json],
  ] as const;
  const given = forms.filter(([, text]) => text !== undefined);
  return html`<details class="same"><summary>Copy ${what} as ${given.map(([name]) => name).join(' or ')}</summary>${given.map(
    ([name, text]) =>
      html`<h3>${name}</h3>
${copied(`${what} as ${name}`, text ?? '')}`,
  )}</details>`;
};
