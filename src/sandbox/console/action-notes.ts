import { readQuery } from '../server/request.ts';
import type { Service } from '../server/service.ts';

/** Recent notes of each sandbox. A note is a sentence that says what a form did and which effects followed. */
const said = new WeakMap<Service, string[]>();
const maxSaid = 200;
/** Name of the query parameter that holds the number of a note. */
export const noteParameter = 'did';

/** The note whose number is in a page's query string; undefined if there is none. */
export function actionNote(service: Service, search: string): string | undefined {
  const [number = ''] = readQuery(search)[noteParameter] ?? [];
  return /^\d{1,6}$/.test(number) ? said.get(service)?.[Number(number)] : undefined;
}

export function addNote(service: Service, text: string): number {
  const all = said.get(service) ?? [];
  said.set(service, all);
  const number = all.push(text) - 1;
  // Delete the oldest note, but keep the numbers of the other notes.
  if (number >= maxSaid) delete all[number - maxSaid];
  return number;
}
