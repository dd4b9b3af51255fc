const running = new Map<string, Promise<void>>();

/**
 * Runs what has the same name one after the other, in the order of the calls: the journal tells processes apart, not the
 * calls within one.
 */
export async function oneAtATime<T>(name: string, work: () => Promise<T>): Promise<T> {
  const before = running.get(name);
  const result = (before ?? Promise.resolve()).then(work);
  const ended = result.then(
    () => {},
    () => {},
  );
  running.set(name, ended);
  try {
    return await result;
  } finally {
    if (running.get(name) === ended) running.delete(name);
  }
}
