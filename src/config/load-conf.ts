/** The signals that this program handles itself. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/**
 * Loads the library that writes the configuration. What it uses to clean up sends each signal a second time, and that
 * ends this program in the middle of its last words: those listeners are taken away, and it cleans up at the exit.
 */
export async function loadConf(): Promise<typeof import('conf')> {
  const before = new Map(signals.map((signal) => [signal, process.listeners(signal)]));
  const conf = await import('conf');
  for (const [signal, known] of before)
    for (const listener of process.listeners(signal))
      if (!known.includes(listener)) process.off(signal, listener);
  return conf;
}
