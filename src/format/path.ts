export type Accessor = (value: unknown) => unknown;

/**
 * Returns a function that reads a wire path (`items.0.url`) from a record. The function reads only own properties, so
 * no path reaches a prototype. It returns undefined if the field is missing.
 */
export function accessor(path: string): Accessor {
  const keys = path.split('.');
  const [only = ''] = keys;
  if (keys.length === 1) return (value) => own(value, only);
  return (value) => keys.reduce<unknown>(own, value);
}

export const readPath = (value: unknown, path: string): unknown => accessor(path)(value);

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function own(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/**
 * Converts a value that should be plain to text. A missing value gives an empty text. If the service sent an object
 * instead, the text is JSON.
 */
export function plainText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return isRecord(value) ? JSON.stringify(value) : String(value);
}

/** Joins the values of a list as text. For anything else, returns an empty text. */
export const joinedText = (values: unknown): string =>
  Array.isArray(values) ? values.map(plainText).join(', ') : '';
