import { embeddedUrl } from '../config/stored.ts';
import { journalExists } from '../journal/journal-tables.ts';
import type { OrderContext } from './order-context.ts';

/** Thrown instead of sending a request with `--dry-run` and `--curl`. Carries the request without its secrets. */
export class RequestPreview extends Error {
  override readonly name = 'RequestPreview';
  readonly text: string;
  readonly exitCode: number;

  constructor(text: string, exitCode = 0) {
    super('the request is shown, not sent');
    this.text = text;
    this.exitCode = exitCode;
  }
}

/**
 * Whether a preview may read from the service. An embedded sandbox without orders has nothing to read, and may not have
 * a key yet.
 */
export const looksUp = ({
  previewsReads,
  settings,
}: Pick<OrderContext, 'previewsReads' | 'settings'>): boolean =>
  !previewsReads && (settings.baseUrl.value !== embeddedUrl || journalExists(settings));

/** Runs `send`. If `send` ends in a preview, the preview gets the exit code with which the real request would end. */
export async function previewedWith<T>(exitCode: number | undefined, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    throw error instanceof RequestPreview ? new RequestPreview(error.text, exitCode) : error;
  }
}
