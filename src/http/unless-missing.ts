import { ErrandError } from '../platform/errors.ts';

/** What is read; undefined where the service says that there is none. */
export async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ErrandError && error.category === 'not_found') return undefined;
    throw error;
  }
}
