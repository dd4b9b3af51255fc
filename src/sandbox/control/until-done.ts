/** Resolves with the work, whatever came of it, or after `mostMs`. Errors belong to whoever began it. */
export function untilDone(work: Promise<unknown>, mostMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.max(0, mostMs));
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    work.then(done, done);
  });
}
