import { webhookEventSynonyms, webhookEvents } from '../../api/events.ts';

const synonyms: Readonly<Record<string, string>> = webhookEventSynonyms;

/** Every name of the specification's Events table, the deprecated ones too. */
export const eventNames: readonly string[] = [...Object.keys(webhookEvents), ...Object.keys(synonyms)];

/** The names by which the events requested may come: an event also by its older name, an older name by itself alone. */
export const sameEvents = (requested: readonly string[]): readonly string[] => [
  ...new Set(
    requested.flatMap((name) => [name, ...Object.keys(synonyms).filter((old) => synonyms[old] === name)]),
  ),
];

/** What to know of older names that are requested: a service that sends the present ones sends no such event. */
export const olderNames = (requested: readonly string[]): string[] =>
  requested.flatMap((name) => {
    const present = Object.hasOwn(synonyms, name) ? synonyms[name] : undefined;
    return present === undefined || requested.includes(present)
      ? []
      : [`${name} is the old name of ${present}; events named ${present} are not included`];
  });
