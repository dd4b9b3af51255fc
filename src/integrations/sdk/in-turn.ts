/**
 * A name on which calls have to wait for each other. Turns that are shared may run at the same time. A turn that is not
 * shared runs alone.
 */
export interface Turn {
  readonly name: string;
  readonly isShared: boolean;
}

interface Running {
  readonly ended: Promise<void>;
  readonly isShared: boolean;
}

/** Calls that have not ended yet, keyed by name. */
const running = new Map<string, Set<Running>>();

/**
 * Runs work once the earlier calls with the same names have ended. This is needed because the journal distinguishes
 * processes, but not the calls within a process.
 */
export async function inTurn<T>(turns: readonly Turn[], work: () => Promise<T>): Promise<T> {
  const before = turns.flatMap(({ name, isShared }) =>
    [...(running.get(name) ?? [])].filter((other) => !isShared || !other.isShared).map(({ ended }) => ended),
  );
  const result = Promise.all(before).then(work);
  const ended = result.then(
    () => {},
    () => {},
  );
  const own = turns.map(({ name, isShared }) => enter(name, { ended, isShared }));
  try {
    return await result;
  } finally {
    for (const leave of own) leave();
  }
}

function enter(name: string, call: Running): () => void {
  const calls = running.get(name) ?? new Set();
  running.set(name, calls.add(call));
  return () => {
    calls.delete(call);
    if (calls.size === 0) running.delete(name);
  };
}
