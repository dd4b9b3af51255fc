import { hangsAfterMs } from '../../limits.ts';

/** What the harness itself wants of the database, while its server may be down, since somebody crashes it again and again. */
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
