import { type Content, html } from '../../platform/html.ts';

/** The filters of a list by their names in its address; one that is not set is an empty text. */
export type Filters<N extends string = string> = Readonly<Record<N, string>>;

/** Longer than whatever is searched for. */
const longest = 200;

/** What an address narrows a list to. */
export function readFilters<N extends string>(search: string, names: readonly N[]): Filters<N> {
  const query = new URLSearchParams(search);
  const given = (name: N): string => (query.get(name) ?? '').trim().slice(0, longest);
  return Object.fromEntries(names.map((name) => [name, given(name)])) as Filters<N>;
}

/** The address of a list with its filters, in an order of their own, so that one view has one address. */
export function addressOf(path: string, filters: Filters): string {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== ''));
  return query.size > 0 ? `${path}?${query}` : path;
}

export const isFiltered = (filters: Filters): boolean => Object.values(filters).some((value) => value !== '');

/** A value that a list can be narrowed to, and how many rows it has then, under the other filters. */
export interface Choice {
  readonly value: string;
  readonly text: string;
  readonly count: number;
}

type Field<N extends string> =
  /** Links, one for each value: for the few that are looked for most. */
  | { readonly kind: 'links'; readonly name: N; readonly label: string; readonly choices: readonly Choice[] }
  | { readonly kind: 'select'; readonly name: N; readonly label: string; readonly choices: readonly Choice[] }
  /** @see offers are values that are known, to choose from or not. */
  | { readonly kind: 'text'; readonly name: N; readonly label: string; readonly offers?: readonly string[] }
  | { readonly kind: 'flag'; readonly name: N; readonly label: string; readonly count: number };

interface FilterBar<N extends string> {
  readonly path: string;
  /** What a row is called, and what several are: `order`, `orders`. */
  readonly what: readonly [one: string, several: string];
  readonly filters: Filters<N>;
  readonly fields: readonly Field<N>[];
  /** How many rows there are, and how many of them the filters leave. */
  readonly count: { readonly all: number; readonly found: number };
}

/** What a list can be narrowed by, each with how many rows that leaves: a form and links, which work without JavaScript. */
export function filterBar<N extends string>(bar: FilterBar<N>): Content {
  const { path, what, filters, fields, count } = bar;
  const [one, several] = what;
  const all = `${counted(count.all)} ${count.all === 1 ? one : several}`;
  const links = fields.filter((field) => field.kind === 'links');
  const inputs = fields.filter((field) => field.kind !== 'links');
  return html`<form method="get" action="${path}" class="filters" role="search" aria-label="${several}">${links.map(
    ({ name }) => filters[name] !== '' && html`<input type="hidden" name="${name}" value="${filters[name]}">`,
  )}${inputs.map((field) => inputOf(field, filters[field.name]))}<p class="actions"><button>Filter<span class="unseen"> ${several}</span></button>${
    isFiltered(filters) && html`<a href="${path}">Clear</a>`
  }</p></form>${links.map((field) => filterLinks(path, filters, field))}
<p class="soft count">${isFiltered(filters) ? `${counted(count.found)} of ${all}` : all}</p>`;
}

const counted = (count: number): string => count.toLocaleString('en-US');

function inputOf<N extends string>(field: Exclude<Field<N>, { kind: 'links' }>, value: string): Content {
  const { name, label } = field;
  if (field.kind === 'flag')
    return html`<label class="flag"><input type="checkbox" name="${name}" value="1"${value !== '' && html` checked`}> ${label} <small>${counted(field.count)}</small></label>`;
  if (field.kind === 'select')
    return html`<label>${label}<select name="${name}"><option value="">all</option>${withCurrent(
      field.choices,
      value,
    ).map(
      (choice) =>
        html`<option value="${choice.value}"${choice.value === value && html` selected`}>${choice.text} (${counted(choice.count)})</option>`,
    )}</select></label>`;
  const { offers = [] } = field;
  return html`<label>${label}<input type="search" name="${name}" value="${value}" autocomplete="off" spellcheck="false"${
    offers.length > 0 && html` list="offers-${name}"`
  }></label>${
    offers.length > 0 &&
    html`<datalist id="offers-${name}">${offers.map((offer) => html`<option value="${offer}"></option>`)}</datalist>`
  }`;
}

/** A value in the address that fits no row now is still shown, so that it can be taken away. */
const withCurrent = (choices: readonly Choice[], value: string): readonly Choice[] =>
  value === '' || choices.some((choice) => choice.value === value)
    ? choices
    : [...choices, { value, text: value, count: 0 }];

/** A link for each value of a filter, and one for all of them. */
export function filterLinks<N extends string>(
  path: string,
  filters: Filters<N>,
  { name, label, choices }: { readonly name: N; readonly label: string; readonly choices: readonly Choice[] },
): Content {
  const total = choices.reduce((sum, { count }) => sum + count, 0);
  const all: Choice = { value: '', text: 'all', count: total };
  return html`<nav class="choices" aria-label="${label}">${[all, ...withCurrent(choices, filters[name])].map(
    ({ value, text, count }) =>
      html`<a href="${addressOf(path, { ...filters, [name]: value })}"${value === filters[name] && html` aria-current="true"`}>${text} <small>${counted(count)}</small></a>`,
  )}</nav>`;
}
