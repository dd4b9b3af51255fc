import { html } from '../../platform/html.ts';

/** A refused form: its URL, its values, and the reason. */
export interface RefusedForm {
  readonly action: string;
  readonly form: URLSearchParams;
  /** The reason for the refusal. If a field is the cause, the reason starts with the label of that field. */
  readonly message: string;
}

const problemId = 'problem';

/**
 * Fills the values of a refused form back into the form on its page, and adds the reason beside the field.
 * @param markup the HTML of one of our own pages. @returns undefined if the page has no such form.
 */
export function refilled(markup: string, { action, form, message }: RefusedForm): string | undefined {
  const start = html`<form method="post" action="${action}"`.text;
  const forms = [...markup.matchAll(new RegExp(`${escapedForRegExp(start)}.*?</form>`, 'gs'))];
  const names = [...form.keys()].filter((name) => name !== 'once');
  const hasAll = (text: string): boolean => names.every((name) => text.includes(` name="${name}"`));
  const found = forms.find(([text]) => text.includes('<label') && hasAll(text));
  if (!found) return undefined;
  const filled = names.reduce(
    (text, name) => withValue(text, name, form.get(name) ?? ''),
    withoutTicks(found[0]),
  );
  const told = withProblem(filled, message);
  return markup.slice(0, found.index) + told + markup.slice(found.index + found[0].length);
}

const escapedForRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Unchecks all checkboxes, because a browser sends only the checked boxes. */
const withoutTicks = (form: string): string =>
  form.replaceAll(/(<input type="checkbox"[^>]{0,2000}?) checked>/g, '$1>');

function withValue(form: string, name: string, value: string): string {
  const text = html`${value}`.text;
  const quoted = escapedForRegExp(name);
  return form
    .replace(new RegExp(`<select name="${quoted}"[^]*?</select>`), (select) =>
      select
        .replaceAll(' selected>', '>')
        .replace(new RegExp(`<option value="${escapedForRegExp(text)}">`), (option) =>
          option.replace('>', ' selected>'),
        )
        .replace(`<option>${text}</option>`, `<option selected>${text}</option>`),
    )
    .replace(new RegExp(`<input (?![^>]*type="hidden")[^>]*name="${quoted}"[^>]*>`), (input) => {
      if (input.includes('type="checkbox"')) return input.replace(/>$/, ' checked>');
      const bare = input.replace(/ value="[^"]*"/, '');
      return bare.replace(/>$/, () => ` value="${text}">`);
    });
}

/**
 * Adds the reason beside the field whose label starts with the first word of the reason, or at the top of the form if
 * there is no such field.
 */
function withProblem(form: string, message: string): string {
  const note = html`<span class="bad" id="${problemId}" role="alert">${message}</span>`.text;
  const [word = ''] = message.split(' ');
  const label = new RegExp(`<label[^>]*>${escapedForRegExp(word)}[^<]*<(?:input|select)[^]*?</label>`).exec(
    form,
  );
  if (!label) return form.replace(/(<form[^>]{0,2000}>)/, (_, tag: string) => `${tag}<p>${note}</p>`);
  const marked = label[0]
    .replace(/<(input|select) /, `<$1 aria-invalid="true" aria-describedby="${problemId}" autofocus `)
    .replace('</label>', () => `${note}</label>`);
  return form.slice(0, label.index) + marked + form.slice(label.index + label[0].length);
}
