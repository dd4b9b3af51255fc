/**
 * What is drawn again and again on the terminal: a bar, a live table. It goes before anything else is printed there, and
 * is drawn anew below it; not in the middle of a line that is still being printed.
 */
interface LiveArea {
  /** Takes what is drawn away, and leaves the cursor at the start of its line. */
  hide(): void;
}

let current: LiveArea | undefined;
let isLineOpen = false;

/** Puts an area on the terminal. @returns how to take it off. */
export function openArea(area: LiveArea): () => void {
  current = area;
  return () => {
    if (current === area) current = undefined;
  };
}

/** Call it before other text is printed on the terminal. @param endsLine whether that text ends with a line break. */
export function makeRoom(endsLine: boolean): void {
  current?.hide();
  isLineOpen = !endsLine;
}

/** Whether an area may be drawn: the cursor stands at the start of a line. */
export const mayDraw = (): boolean => !isLineOpen;
