/** Base URLs of the sandboxes that run in this process, each with the number of sandboxes that use it. */
const running = new Map<string, number>();

/** @returns a function that must be called once the sandbox is closed. */
export function noteInProcess(baseUrl: string): () => void {
  running.set(baseUrl, (running.get(baseUrl) ?? 0) + 1);
  return () => {
    const left = (running.get(baseUrl) ?? 1) - 1;
    if (left > 0) running.set(baseUrl, left);
    else running.delete(baseUrl);
  };
}

/** Whether the base URL is that of a sandbox in this process. */
export const isInProcess = (baseUrl: string): boolean => running.has(baseUrl);
