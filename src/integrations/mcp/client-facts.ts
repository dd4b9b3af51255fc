import { isObject, own, textIn } from '../../api/json.ts';

const longestName = 60;

/**
 * Who calls, for the audit chain: `claude-desktop 1.2`. A client may call itself anything, so that only letters, digits and
 * plain signs are kept of it, and no more than a line has room for. Pure.
 */
export function clientName(info: unknown): string {
  const words = [textIn(info, 'name'), textIn(info, 'version')].filter((word) => word !== undefined);
  const name = words
    .map((word) =>
      word
        .slice(0, longestName)
        .replace(/[^\w.+@/-]+/g, '_')
        .replace(/^_|_$/g, ''),
    )
    .filter((word) => word !== '')
    .join(' ')
    .slice(0, longestName);
  return name === '' ? 'unnamed' : name;
}

/** Whether a client can ask its user with a form. One that declares the capability without a mode can. Pure. */
export function canAsk(capabilities: unknown): boolean {
  const elicitation = own(capabilities, 'elicitation');
  return (
    isObject(elicitation) && (Object.keys(elicitation).length === 0 || Object.hasOwn(elicitation, 'form'))
  );
}
