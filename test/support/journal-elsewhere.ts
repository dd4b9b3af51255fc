/** What another process opens: `openingIn`. */
export { Journal } from '../../src/journal/journal.ts';
export { connect } from '../../src/journal/postgres/connect.ts';
export { openWebhookStore } from '../../src/journal/webhook-store.ts';
