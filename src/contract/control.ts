/** What a trigger needs besides its name. */
export type TriggerTarget = 'order' | 'account' | 'return' | 'code' | 'none';

/**
 * What the sandbox can be made to do now, so that a script rehearses an outcome without waiting for it.
 * No part of the service: a control of the sandbox alone.
 */
export const sandboxTriggers = {
  placed: { target: 'order', description: 'the retailer takes the order' },
  failed: { target: 'order', description: 'the order fails, with the error type given' },
  shipped: { target: 'order', description: 'every parcel leaves' },
  delivered: { target: 'order', description: 'every parcel arrives' },
  undeliverable: { target: 'order', description: 'the carrier gives up' },
  'available-for-pickup': { target: 'order', description: 'the parcel waits to be fetched' },
  'cancelled-by-retailer': { target: 'order', description: 'the retailer cancels a placed order' },
  'return-approved': { target: 'return', description: 'the retailer approves a return, with labels' },
  'return-denied': { target: 'return', description: 'the retailer denies a return' },
  'return-credited': { target: 'return', description: 'the items of a return are credited to the wallet' },
  'account-forwarded': { target: 'account', description: 'the first forwarded message arrives' },
  'wallet-funded': { target: 'none', description: 'money arrives in the wallet, as much as --amount says' },
  'key-claimed': { target: 'none', description: 'a human claims the sandbox of the key in use' },
  'device-approve': { target: 'code', description: 'a human approves the code that a device shows' },
  'device-deny': { target: 'code', description: 'a human denies it' },
} as const satisfies Readonly<Record<string, { target: TriggerTarget; description: string }>>;

export type SandboxTrigger = keyof typeof sandboxTriggers;

/** Where a sandbox takes triggers: `{event, id?, error_type?, amount?}`, the amount in cents. */
export const triggerPath = '/sandbox/trigger';

/** Where a sandbox says that it is ready to serve. */
export const healthPath = '/healthz';

/** A request to a served sandbox that is over, as it may be shown: no secret is in it. */
export interface ServedRequest {
  /** ms of the machine's time. */
  readonly at: number;
  readonly method: string;
  readonly target: string;
  /** null where the connection was broken off without a response. */
  readonly status: number | null;
  /** Until its response began, ms. */
  readonly tookMs: number;
  /** What `--fault` made of it. */
  readonly fault: string | null;
}
