import { accessor } from '../../format/path.ts';
import type { Format } from '../../format/result.ts';
import { safeText } from '../../platform/redact/safe-text.ts';

/** One id a line, to be read by another command; a record that has none gives no line. */
export function idFormat(path = 'id'): Format {
  const read = accessor(path);
  const line = (value: unknown): string => {
    const id = read(value);
    return typeof id === 'string' || typeof id === 'number' ? `${safeText(String(id))}\n` : '';
  };
  return { row: line, end: () => '', whole: line };
}
