/** Reads JSON that nobody vouches for. */

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value's own property, never one of its prototype; undefined where there is none. */
export const own = (value: unknown, key: string): unknown =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

export const textIn = (value: unknown, key: string): string | undefined => {
  const found = own(value, key);
  return typeof found === 'string' ? found : undefined;
};

/** A number that can be counted with: `1e999` is none. */
export const numberIn = (value: unknown, key: string): number | undefined => {
  const found = own(value, key);
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
};

/** The objects of a list, whatever else stands in it; none where there is no list. */
export const objectsIn = (value: unknown, key: string): readonly JsonObject[] =>
  listIn(value, key).filter(isObject);

export const listIn = (value: unknown, key: string): readonly unknown[] => {
  const found = own(value, key);
  return Array.isArray(found) ? found : [];
};
