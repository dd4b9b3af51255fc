import { accessor } from '../../format/path.ts';
import type { Format } from '../../format/result.ts';
import { safeText } from '../../platform/redact/safe-text.ts';

/** One id per line, for use by another command; records without an id are skipped. */
export function idFormat(path = 'id'): Format {
  const read = accessor(path);
  const line = (value: unknown): string => {
    const id = read(value);
    return typeof id === 'string' || typeof id === 'number' ? `${safeText(String(id))}\n` : '';
  };
  return { row: line, end: () => '', whole: line };
}
