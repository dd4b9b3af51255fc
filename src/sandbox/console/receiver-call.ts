import { webhookEventHeader, webhookIdHeader } from '../../api/events.ts';
import { shellLine } from '../../platform/shell.ts';

/** A delivery as a curl call, straight to its receiver: of the address a page shows no more than host and path. */
export const receiverCall = ({
  event,
  eventId,
  body,
}: {
  readonly event: string;
  readonly eventId: string;
  readonly body: string;
}): string =>
  shellLine`curl -sX POST "$WEBHOOK_URL" -H ${'Content-Type: application/json'} -H ${`${webhookEventHeader}: ${event}`} -H ${`${webhookIdHeader}: ${eventId}`} -d ${body}`;
