const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** Between two frames, ms. */
export const spinnerEveryMs = 120;

/** The sign at the beginning of a line that moves. @param frame which of them, from 0, endlessly. */
export const spinnerSign = (frame: number): string => frames[frame % frames.length] ?? '';
