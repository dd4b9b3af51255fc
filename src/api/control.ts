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
  'wallet-emptied': { target: 'none', description: 'all that no order has set aside leaves the wallet' },
  'key-claimed': { target: 'none', description: 'a human claims the sandbox of the key in use' },
  'device-approve': { target: 'code', description: 'a human approves the code that a device shows' },
  'device-deny': { target: 'code', description: 'a human denies it' },
} as const satisfies Readonly<Record<string, { target: TriggerTarget; description: string }>>;

export type SandboxTrigger = keyof typeof sandboxTriggers;

/** Where a sandbox takes triggers: `{event, id?, error_type?, amount?}`, the amount in cents. */
export const triggerPath = '/sandbox/trigger';

/**
 * Where a sandbox is controlled as a whole, by the machine it runs on alone: a GET says that it is one, and how it stands
 * (`ControlState`); `POST {controlPath}/{action}` with a JSON object acts, and gives the state after it.
 */
export const controlPath = '/sandbox/control';

/** By this header a command line shows that it can read what the user who serves the sandbox can. */
export const controlTokenHeader = 'x-sandbox-token';

/** Whether a path controls the sandbox, and is no part of the service. */
export const isControl = (pathname: string): boolean =>
  pathname === triggerPath || pathname === controlPath || pathname.startsWith(`${controlPath}/`);

/** What it can be made to do, and the fields of each body. */
export interface ControlActions {
  /** Moves the clock forward, through all that is due on the way. */
  readonly advance: { readonly ms: number };
  /** Keeps the state under a name. @param force also where there is one of that name. */
  readonly snapshot: { readonly name: string; readonly force?: boolean | undefined };
  /** Brings a kept state back, its time with it. */
  readonly restore: { readonly name: string };
  /** Deletes all orders, keys, wallets and settings. */
  readonly reset: Readonly<Record<string, never>>;
  /**
   * Changes the faults that are on, as `--fault` writes them, in one step: `faults` in place of them all, without those of
   * `remove`, and those of `add` behind them.
   */
  readonly faults: FaultChange;
  /** The speed-up factor of what is created from now on. */
  readonly speed: { readonly speed: number };
  /** Changes nothing; the state after it has the sandbox as a scenario (`ExportedState`). */
  readonly export: Readonly<Record<string, never>>;
}

/** What is left out stays as it is. */
export interface FaultChange {
  readonly faults?: readonly string[] | undefined;
  readonly add?: readonly string[] | undefined;
  readonly remove?: readonly string[] | undefined;
  readonly seed?: number | undefined;
}

export type ControlAction = keyof ControlActions;

/** How a sandbox stands. */
export interface ControlState {
  /** By this it is known for a sandbox of errand's. */
  readonly sandbox: 'errand';
  /** Its own time, ISO 8601. */
  readonly now: string;
  readonly speed: number;
  /** What ids, prices and outcomes follow from; null where it was not given one. */
  readonly seed: number | null;
  readonly faults: readonly string[];
  readonly fault_seed: number;
  /** Ids of orders and returns that cannot go on, as it is: they are tried again. */
  readonly stuck: readonly string[];
  /** The file that keeps its data; null in memory. */
  readonly kept_in: string | null;
  /** By name, with when each was taken by the clock of its machine, ISO 8601. */
  readonly snapshots: readonly { readonly name: string; readonly taken_at: string }[];
}

/** After `export`. */
export interface ExportedState extends ControlState {
  /** As a scenario file has it. */
  readonly scenario: Readonly<Record<string, unknown>>;
  /** What of the sandbox no scenario says, in words. */
  readonly left_out: readonly string[];
}

/** After `advance`: what of the time is still to be moved through, ms; more than 0 where it would have taken long. */
export interface AdvancedState extends ControlState {
  readonly left_ms: number;
}

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
  /** What the service did, `placed 1a2b3c4d`, or the code of its refusal; null where it only read. */
  readonly did: string | null;
}
