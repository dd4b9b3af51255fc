export type Accessor = (value: unknown) => unknown;

/**
 * Returns a function that reads a wire path (`items.0.url`) from a record. It reads only own properties, so no path
 * reaches a prototype. It returns undefined if the field is missing.
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

/** Converts a supposedly plain value to text: empty if missing, JSON if the service sent an object instead. */
export function plainText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return isRecord(value) ? JSON.stringify(value) : String(value);
}

/** Joins a list's values as text; empty for anything else. */
export const joinedText = (values: unknown): string =>
  Array.isArray(values) ? values.map(plainText).join(', ') : '';
