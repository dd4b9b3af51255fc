import { characterCount, limits } from '../../api/limits.ts';
import { sha256 } from '../../format/canonical.ts';
import { type Reference, referenceKey } from '../../journal/attempts.ts';

export { referenceKey };

/** Heading under which the reference of a row is sent. */
export const referenceHeading = `metadata.${referenceKey}`;

export const maxReferenceLength = 200;
const maxNamespaceCharacters = 60;
const separator = ':';

/** Letters, digits, and punctuation that needs no shell quoting. */
const namespacePattern = /^[\p{L}\p{N}][\p{L}\p{N}._/-]*$/u;

/** Characters that a terminal or a log cannot show. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]/u;

/** Normalizes a reference: trims it and converts it to NFC. Does not change upper and lower case. */
export const referenceOf = (text: string, namespace = '', run?: string): Reference => ({
  namespace: namespace.trim().normalize('NFC'),
  text: `${text.trim().normalize('NFC')}${run === undefined ? '' : `~${run.trim().normalize('NFC')}`}`,
});

/** Why a text is not a valid reference, worded to follow the name of the option; undefined if the text is valid. */
export function referenceProblem(text: string): string | undefined {
  const trimmed = text.trim().normalize('NFC');
  if (trimmed === '') return 'is empty';
  if (invisible.test(trimmed)) return 'holds a character that cannot be seen';
  const length = characterCount(trimmed);
  return length > maxReferenceLength
    ? `has ${length} characters; at most ${maxReferenceLength} are allowed`
    : undefined;
}

/** Like `referenceProblem`, for a namespace, which may be empty. */
export function namespaceProblem(text: string): string | undefined {
  const trimmed = text.trim().normalize('NFC');
  if (trimmed === '') return undefined;
  if (!namespacePattern.test(trimmed)) return 'takes letters, digits, ".", "_", "/" and "-"';
  const length = characterCount(trimmed);
  return length > maxNamespaceCharacters
    ? `has ${length} characters; at most ${maxNamespaceCharacters} are allowed`
    : undefined;
}

/** Metadata value of a reference: `namespace:reference`. Different references yield different values. */
export const metadataOf = ({ namespace, text }: Reference): string =>
  namespace === '' && !text.includes(separator) ? text : `${namespace}${separator}${text}`;

/** The order, with its reference added to the metadata. */
export const withReference = <B extends { readonly metadata?: object | null | undefined }>(
  order: B,
  reference: Reference,
): B => ({ ...order, metadata: { ...order.metadata, [referenceKey]: metadataOf(reference) } });

/** Parses the reference in an order's metadata; undefined if there is none. */
export function referenceIn(metadata: unknown): Reference | undefined {
  const value: unknown = Object.getOwnPropertyDescriptor(Object(metadata), referenceKey)?.value;
  if (typeof value !== 'string' || value === '') return undefined;
  const at = value.indexOf(separator);
  return at < 0
    ? { namespace: '', text: value }
    : { namespace: value.slice(0, at), text: value.slice(at + separator.length) };
}

/**
 * Joins the values of several columns into one reference. The reference is empty if all values are empty. If only some
 * are empty, they still keep their positions.
 */
export const composedReference = (parts: readonly string[]): string =>
  parts.every((part) => part.trim() === '') ? '' : parts.map((part) => part.trim()).join('/');

/**
 * Idempotency key of an attempt for a reference. The key is the same on every machine, so that processes that order at
 * the same time do not order twice.
 */
export const attemptKey = ({ namespace, text }: Reference, number: number): string =>
  sha256(JSON.stringify(['errand-need-1', namespace, text, number])).slice(
    0,
    limits.idempotencyKeyLength.max,
  );
