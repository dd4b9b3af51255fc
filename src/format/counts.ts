/** A count as people read it: `20,000`. Not by `Intl`, which takes 27 ms of a start to load. */
export const countText = (count: number): string => groupDigits(String(count));

/** `1234567` as `1,234,567`. */
export function groupDigits(digits: string): string {
  const first = digits.length % 3;
  const groups = digits.slice(first).match(/.{3}/g) ?? [];
  return (first === 0 ? groups : [digits.slice(0, first), ...groups]).join(',');
}
