import { embeddedUrl } from '../config/stored.ts';
import { journalExists } from '../journal/journal-tables.ts';
import type { OrderContext } from './order-context.ts';

/** Thrown instead of sending a request, for `--dry-run` and `--curl`. Carries the request without secrets. */
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
 * Whether a preview reads from the service. An embedded sandbox in which nothing was ordered has nothing, and its key may
 * not be made yet.
 */
export const looksUp = ({
  previewsReads,
  settings,
}: Pick<OrderContext, 'previewsReads' | 'settings'>): boolean =>
  !previewsReads && (settings.baseUrl.value !== embeddedUrl || journalExists(settings));

/** Lets a preview of `send` exit as the command does that sends. */
export async function previewedWith<T>(exitCode: number | undefined, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    throw error instanceof RequestPreview ? new RequestPreview(error.text, exitCode) : error;
  }
}
