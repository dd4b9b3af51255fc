/** Base URLs of the sandboxes that run in this process, and how many sandboxes use each. */
const running = new Map<string, number>();

/** @returns a function to call once the sandbox is closed. */
export function noteInProcess(baseUrl: string): () => void {
  running.set(baseUrl, (running.get(baseUrl) ?? 0) + 1);
  return () => {
    const left = (running.get(baseUrl) ?? 1) - 1;
    if (left > 0) running.set(baseUrl, left);
    else running.delete(baseUrl);
  };
}

/** Whether a sandbox of this process is at the base URL. */
export const isInProcess = (baseUrl: string): boolean => running.has(baseUrl);
