import { safeText } from '../../platform/redact/safe-text.ts';

/** Text from outside for a page: one line, cut where it is too long; what would be obeyed or is unseen is shown. Not escaped yet. */
export const inert = (text: string, limit = 500): string => safeText(text, limit);
