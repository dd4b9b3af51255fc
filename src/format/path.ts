export type Accessor = (value: unknown) => unknown;

/**
 * What reads a wire path (`items.0.url`) off a record. Only a value's own properties are read, so no path reaches a
 * prototype; undefined where there is nothing.
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

/** A value that ought to be a plain one as text: empty for none, JSON where the service put something else there. */
export function plainText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return isRecord(value) ? JSON.stringify(value) : String(value);
}

/** The values of a list as text; empty for anything else. */
export const joinedText = (values: unknown): string =>
  Array.isArray(values) ? values.map(plainText).join(', ') : '';
