import { readQuery } from '../server/request.ts';
import type { Service } from '../server/service.ts';

/** What a form did, and what that caused, in one sentence for each. */
const said = new WeakMap<Service, string[]>();
const maxSaid = 200;
/** Parameter of an address that names a note. */
export const noteParameter = 'did';

/** The sentence that a page's address names; undefined if there is none. */
export function actionNote(service: Service, search: string): string | undefined {
  const [number = ''] = readQuery(search)[noteParameter] ?? [];
  return /^\d{1,6}$/.test(number) ? said.get(service)?.[Number(number)] : undefined;
}

export function addNote(service: Service, text: string): number {
  const all = said.get(service) ?? [];
  said.set(service, all);
  const number = all.push(text) - 1;
  // Forget the oldest, and keep the numbers of the others.
  if (number >= maxSaid) delete all[number - maxSaid];
  return number;
}
