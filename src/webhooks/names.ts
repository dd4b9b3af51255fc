import { webhookEventSynonyms, webhookEvents } from '../contract/events.ts';

const synonyms: Readonly<Record<string, string>> = webhookEventSynonyms;

/** Every name of the specification's Events table, the deprecated ones too. */
export const eventNames: readonly string[] = [...Object.keys(webhookEvents), ...Object.keys(synonyms)];

/** All names that mean one of the events asked for. */
export function sameEvents(asked: readonly string[]): readonly string[] {
  const meant = new Set(asked.map((name) => synonyms[name] ?? name));
  const others = Object.keys(synonyms).filter((name) => meant.has(synonyms[name] ?? ''));
  return [...meant, ...others];
}
