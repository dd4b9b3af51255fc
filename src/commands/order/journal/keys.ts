/** What the arguments of a command on journal records are. */
export const keysMeaning = 'keys of the journal, or their beginnings; - reads them from stdin';

/** Keys may be of the user's own making: whether one is in the journal is the only check. */
export const asItIs = (_: string, key: string): string => key;
