import { hangsAfterMs } from '../../support/limits.ts';

/** Retries the harness's own database work while the server is down between crashes. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (const until = Date.now() + hangsAfterMs; ; ) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
