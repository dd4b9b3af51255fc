/** How long the server is waited for that somebody is crashing again and again, ms. */
const patienceMs = 20_000;

/** What the harness itself wants of the database, while its server may be down. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (const until = Date.now() + patienceMs; ; ) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
