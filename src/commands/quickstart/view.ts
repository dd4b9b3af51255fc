import { asTyped } from '../../cli/output/as-typed.ts';
import { canDrawLive, createLive } from '../../cli/output/live.ts';
import { writeErr } from '../../cli/output/notice.ts';
import { paintFor, spinnerEveryMs, spinnerFrame } from '../../cli/output/paint.ts';
import { foldCommand, wrap } from '../../cli/output/wrap.ts';
import { cut, fullMeasure } from '../../format/width.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import type { Context } from '../../run/context.ts';

/** Result of a step. If `text` is too long, it is cut so that `tail` stays visible. */
export interface Outcome {
  readonly text: string;
  readonly tail?: string;
}

export interface NextCommand {
  readonly command: string;
  readonly note: string;
}

/** Shows the steps on stderr as they run. */
export interface QuickstartView {
  /** Whether a user watches a live terminal. If so, the view shows everything, and nothing more needs printing. */
  readonly isLive: boolean;
  /** Shows the current activity on the live line. */
  working(label: string, state: string): void;
  done(label: string, outcome: Outcome, command: string): void;
  /** Marks a step as failed or still open. */
  ended(sign: 'failed' | 'open', label: string, outcome: string): void;
  next(commands: readonly NextCommand[]): void;
  /** Removes the live line. Must always be called, even after a failure. */
  close(): void;
}

const labelWidth = 9;
const indent = '  ';

/**
 * On a TTY, shows each step as one line with its command below. The running step also has a live line. In a pipe,
 * prints plain lines.
 */
export async function quickstartView(context: Context): Promise<QuickstartView> {
  return canDrawLive({ stdout: context.io.stderr }) ? terminalView(context) : plainView(context);
}

async function terminalView({ io }: Context): Promise<QuickstartView> {
  const [paint, measure, live] = [
    await paintFor(io.stderr.color),
    await fullMeasure(),
    await createLive({ stdout: io.stderr }),
  ];
  const columns = (): number => io.stderr.columns() || 80;
  const margin = indent.length + labelWidth;
  let moving: { readonly label: string; readonly state: string } | undefined;
  let frame = 0;
  const draw = (): void => {
    if (!moving) return;
    frame += 1;
    const mark = paint.waiting(spinnerFrame(frame));
    live.draw([`${mark} ${moving.label.padEnd(labelWidth)}${moving.state}`]);
  };
  const timer = setInterval(draw, spinnerEveryMs);
  timer.unref();
  const print = (lines: readonly string[]): void => {
    moving = undefined;
    writeErr(io, lines.map((line) => `${line}\n`).join(''));
  };
  const lineOf = (mark: string, label: string, { text, tail = '' }: Outcome): string[] => {
    const room = Math.max(10, columns() - margin);
    const [safe, end] = [safeText(text), safeText(tail)];
    const [first = '', ...more] =
      tail === '' ? wrap(safe, room) : [`${cut(safe, room - measure(end), measure)}${end}`];
    return [`${mark} ${label.padEnd(labelWidth)}${first}`, ...more.map((line) => ' '.repeat(margin) + line)];
  };
  const typed = (command: string): string[] =>
    foldCommand(asTyped(safeText(command), io), columns() - indent.length);
  return {
    isLive: true,
    working(label, state) {
      moving = { label, state: safeText(state) };
      draw();
    },
    done(label, outcome, command) {
      const below = typed(command).map((line) => indent + paint.faint(line));
      print([...lineOf(paint.good('✔'), label, outcome), ...below]);
    },
    ended(how, label, outcome) {
      const mark = how === 'failed' ? paint.bad('✖') : paint.waiting('●');
      print(lineOf(mark, label, { text: outcome }));
    },
    next(commands) {
      const rows = commands.map(({ command, note }) => ({ lines: typed(command), note }));
      const widest = Math.max(...rows.map(({ lines }) => lines[0]?.length ?? 0)) + indent.length;
      const fits = rows.every(
        ({ lines, note }) => lines.length === 1 && indent.length + widest + note.length <= columns(),
      );
      const lines = rows.flatMap(({ lines: [first = '', ...more], note }) =>
        fits
          ? [indent + paint.command(first) + ' '.repeat(widest - first.length) + paint.faint(note)]
          : [first, ...more].map((line) => indent + paint.command(line)),
      );
      print(['', paint.strong('Next'), ...lines]);
    },
    close() {
      clearInterval(timer);
      if (moving) live.draw([]);
      moving = undefined;
      live.done();
    },
  };
}

function plainView(context: Context): QuickstartView {
  let printed = '';
  return {
    isLive: false,
    working(label, state) {
      // Without a live line, prints each state once.
      if (state === '' || state === printed) return;
      printed = state;
      context.note(`${label}: ${state}`);
    },
    done(label, { text, tail = '' }, command) {
      context.note(`${label}: ${text}${tail}`);
      context.note(`     $ ${command}`);
    },
    ended: (_, label, outcome) => context.note(`${label}: ${outcome}`),
    next: () => {},
    close: () => {},
  };
}
