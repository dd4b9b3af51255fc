/** Processes a list with several workers and logs progress. */
export async function atOnce<T>(
  items: readonly T[],
  workers: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const started = Date.now();
  let next = 0;
  let done = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) {
      const item = items[index];
      if (item !== undefined) await work(item);
      done += 1;
      if (done % 100 === 0)
        console.log(`${done} of ${items.length}, ${Math.round((Date.now() - started) / 1000)} s`);
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
}
