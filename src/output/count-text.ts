/** A count as people read it: `20,000`. */
export const countText = (count: number): string => count.toLocaleString('en-US');
