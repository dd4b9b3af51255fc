const patienceMs = 10_000;
const sleeper = new Int32Array(new SharedArrayBuffer(4));

/**
 * Does what SQLite refuses at once while another process opens the same new file, such as turning WAL on: the busy
 * timeout does not cover it. Tries again for up to ten seconds.
 */
export function patiently<T>(work: () => T): T {
  for (let waited = 0, pause = 2; ; waited += pause, pause = Math.min(pause * 2, 50)) {
    try {
      return work();
    } catch (error) {
      const isBusy = error instanceof Error && /locked|busy/i.test(error.message);
      if (!isBusy || waited >= patienceMs) throw error;
      Atomics.wait(sleeper, 0, 0, pause);
    }
  }
}
