/** A path without the slashes at its end. Each run of slashes is looked at once, however many there are. */
export const trimSlashes = (path: string): string => path.replace(/(?<!\/)\/+$/, '');
