/** Runs `work` when it is first called for; every later call waits for that one run and shares its outcome. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work();
    return running;
  };
}
