/** Markup that is safe to send, because all text in it was escaped. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Content of a template. Text is escaped. For null, undefined and false, nothing is rendered. */
export type Content = Html | string | number | false | null | undefined | readonly Content[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Control characters and bidirectional overrides. They are always replaced in output. */
const unseen = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

const escaped = (text: string): string =>
  text.replace(unseen, '\ufffd').replace(/[&<>"']/g, (mark) => entities[mark] ?? mark);

function written(content: Content): string {
  if (content instanceof Html) return content.text;
  if (typeof content === 'string') return escaped(content);
  if (typeof content === 'number') return String(content);
  return Array.isArray(content) ? content.map(written).join('') : '';
}

/** Template tag for markup; escapes every value, in content and in quoted attributes. */
export const html = (template: TemplateStringsArray, ...contents: readonly Content[]): Html =>
  new Html(template.map((part, index) => part + written(contents[index])).join(''));
