/** Reads JSON that nobody vouches for. */

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Gives an object a property of its own, whatever its name. Objects that get the same names in the same order are of one
 * kind, which is made and written several times faster than what `Object.fromEntries` gives.
 */
export function setOwn<T>(object: Record<string, T>, name: string, value: T): void {
  // Assigned, that name would change what the object inherits from.
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, configurable: true, enumerable: true, writable: true });
  else object[name] = value;
}

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
