import { countText } from '../../format/counts.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import type { Io } from '../../platform/streams.ts';
import type { Progress, ProgressOptions } from '../../run/context.ts';
import { reportToUser, writeErr } from './notice.ts';

/** Content of the progress bar, or of the plain line that replaces it. */
export interface ProgressFacts {
  readonly label: string;
  /** `1,200 of 5,000 rows`. */
  readonly count: string;
  /** `120/s`; empty before anything is done. */
  readonly rate: string;
  /** `32s left`; empty without a total. */
  readonly left: string;
  readonly note: string;
}

/** Last reported state. */
interface State {
  readonly done: number;
  readonly note: string;
  readonly isWaiting: boolean;
}

const lineEveryMs = 10_000;
/** Interval, in ms, at which to check whether a line is due. */
const dueEveryMs = 500;

/** Shows progress on stderr: a bar on a TTY, else one plain line every 10 s. */
export function createProgress(io: Io, options: ProgressOptions): Progress {
  return io.stderr.isTerminal && !io.stderr.isDumb ? barProgress(io, options) : plainProgress(io, options);
}

function plainProgress(io: Io, options: ProgressOptions): Progress {
  const startedAt = options.now();
  let reportedAt = startedAt;
  let latest: State | undefined;
  const report = (): void => {
    const now = options.now();
    if (latest === undefined || now - reportedAt < lineEveryMs) return;
    reportedAt = now;
    const { label, count, rate, left, note } = factsOf(options, latest, now - startedAt);
    writeErr(io, `${label}: ${[count, rate, left, note].filter((part) => part !== '').join(', ')}\n`);
  };
  // Also report while the work stalls.
  const timer = setInterval(report, dueEveryMs);
  timer.unref();
  return {
    update(done, note = '', isWaiting = false) {
      latest = { done, note, isWaiting };
      report();
    },
    end() {
      clearInterval(timer);
    },
  };
}

/** Loads the bar library while the work begins. Progress made in the meantime is shown once the library is loaded. */
function barProgress(io: Io, options: ProgressOptions): Progress {
  const startedAt = options.now();
  let latest: State = { done: 0, note: '', isWaiting: false };
  let ended = false;
  let bar: import('./progress-bar.ts').Bar | undefined;
  const show = (): void => bar?.show(latest.done, factsOf(options, latest, options.now() - startedAt));
  const opening = import('./progress-bar.ts').then(({ barOpener }) => barOpener(io.stderr));
  opening.then(
    (open) => {
      if (ended) return;
      bar = open(options.total);
      show();
    },
    (error: unknown) => reportToUser([`no progress bar: ${String(error)}`], io, 'table'),
  );
  return {
    update(done, note = '', isWaiting = false) {
      latest = { done, note, isWaiting };
      show();
    },
    end() {
      ended = true;
      bar?.close();
      bar = undefined;
    },
  };
}

function factsOf(options: ProgressOptions, { done, note, isWaiting }: State, elapsed: number): ProgressFacts {
  const facts = progressFacts(options, done, note, elapsed);
  return isWaiting ? { ...facts, rate: '', left: '' } : facts;
}

/** @param elapsed is the time since the work began, in ms. */
export function progressFacts(
  { label, total, from = 0, unit = '' }: Omit<ProgressOptions, 'now'>,
  done: number,
  note: string,
  elapsed: number,
): ProgressFacts {
  const perSecond = elapsed > 0 ? ((done - from) * 1000) / elapsed : 0;
  const of = total === undefined ? '' : ` of ${countText(total)}`;
  return {
    label: safeText(label),
    count: `${countText(done)}${of} ${(total ?? done) === 1 ? unit.replace(/s$/, '') : unit}`.trim(),
    rate:
      perSecond > 0 ? `${perSecond < 10 ? perSecond.toFixed(1) : countText(Math.round(perSecond))}/s` : '',
    left:
      total === undefined || perSecond === 0 ? '' : `${spell(Math.max(0, total - done) / perSecond)} left`,
    note: safeText(note, 200),
  };
}

function spell(seconds: number): string {
  const rounded = Math.ceil(seconds);
  if (rounded < 60) return `${rounded}s`;
  if (rounded < 3600) return `${Math.floor(rounded / 60)}m${rounded % 60}s`;
  return `${Math.floor(rounded / 3600)}h${Math.floor((rounded % 3600) / 60)}m`;
}
