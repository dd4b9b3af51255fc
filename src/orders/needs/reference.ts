import { characterCount, limits } from '../../api/limits.ts';
import { sha256 } from '../../format/canonical.ts';
import type { Reference } from '../../journal/attempts.ts';

/** The key of an order's metadata under which its reference travels. */
export const referenceKey = 'errand_reference';

const maxCharacters = 200;
const maxNamespaceCharacters = 60;
const separator = ':';

/** Letters and digits, and signs that nobody has to quote. */
const namespacePattern = /^[\p{L}\p{N}][\p{L}\p{N}._/-]*$/u;

/** What a terminal, a log or a comparison cannot show. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]/u;

/** A reference as it is compared: its case counts, how its accents are composed does not. */
export const referenceOf = (text: string, namespace = '', run?: string): Reference => ({
  namespace: namespace.trim().normalize('NFC'),
  text: `${text.trim().normalize('NFC')}${run === undefined ? '' : `~${run.trim().normalize('NFC')}`}`,
});

/** Why a text cannot be a reference, to stand behind its name; undefined where it can. */
export function referenceProblem(text: string): string | undefined {
  const trimmed = text.trim().normalize('NFC');
  if (trimmed === '') return 'is empty';
  if (invisible.test(trimmed)) return 'holds a character that cannot be seen';
  const length = characterCount(trimmed);
  return length > maxCharacters
    ? `has ${length} characters; at most ${maxCharacters} are allowed`
    : undefined;
}

/** The same of a namespace, which may be empty. */
export function namespaceProblem(text: string): string | undefined {
  const trimmed = text.trim().normalize('NFC');
  if (trimmed === '') return undefined;
  if (!namespacePattern.test(trimmed)) return 'takes letters, digits, ".", "_", "/" and "-"';
  const length = characterCount(trimmed);
  return length > maxNamespaceCharacters
    ? `has ${length} characters; at most ${maxNamespaceCharacters} are allowed`
    : undefined;
}

/** A reference as the metadata of an order has it: `namespace:reference`. Two that differ are never written alike. */
export const metadataOf = ({ namespace, text }: Reference): string =>
  namespace === '' && !text.includes(separator) ? text : `${namespace}${separator}${text}`;

/** The reference that an order's metadata names; undefined where it names none. */
export function referenceIn(metadata: unknown): Reference | undefined {
  const value: unknown = Object.getOwnPropertyDescriptor(Object(metadata), referenceKey)?.value;
  if (typeof value !== 'string' || value === '') return undefined;
  const at = value.indexOf(separator);
  return at < 0
    ? { namespace: '', text: value }
    : { namespace: value.slice(0, at), text: value.slice(at + separator.length) };
}

/** Several columns of a file as one reference; empty where all are. An empty part keeps its place. */
export const composedReference = (parts: readonly string[]): string =>
  parts.every((part) => part.trim() === '') ? '' : parts.map((part) => part.trim()).join('/');

/** The idempotency key of an attempt for a reference: whoever races for it, from whichever machine, sends the same. */
export const attemptKey = ({ namespace, text }: Reference, number: number): string =>
  sha256(JSON.stringify(['errand-need-1', namespace, text, number])).slice(
    0,
    limits.idempotencyKeyLength.max,
  );
