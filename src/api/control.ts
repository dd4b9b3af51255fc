/** What kind of target a trigger needs, besides the name of the event. */
export type TriggerTarget = 'order' | 'account' | 'return' | 'code' | 'none';

/**
 * Outcomes that the sandbox can force immediately, so that a script can rehearse them without waiting. Only the sandbox
 * has them, not the service.
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

/** Sandbox trigger endpoint. Takes `{event, id?, error_type?, amount?}`, with the amount in cents. */
export const triggerPath = '/sandbox/trigger';

/**
 * Endpoint for controlling the sandbox, reachable only from the same machine. GET identifies the sandbox and returns
 * its state (`ControlState`). `POST {controlPath}/{action}` with a JSON object performs an action and returns the
 * resulting state.
 */
export const controlPath = '/sandbox/control';

/** Header which proves that the CLI can read the files of the user who serves the sandbox. */
export const controlTokenHeader = 'x-sandbox-token';

/** Whether a path controls the sandbox, rather than being part of the service. */
export const isControl = (pathname: string): boolean =>
  pathname === triggerPath || pathname === controlPath || pathname.startsWith(`${controlPath}/`);

/** Control actions and their request bodies. */
export interface ControlActions {
  /** Advances the clock, and runs everything that falls due on the way. */
  readonly advance: { readonly ms: number };
  /** Saves the state under a name. @param force allows overwriting an existing snapshot. */
  readonly snapshot: { readonly name: string; readonly force?: boolean | undefined };
  /** Restores a snapshot, including its clock. */
  readonly restore: { readonly name: string };
  /** Deletes all orders, keys, wallets and settings. */
  readonly reset: Readonly<Record<string, never>>;
  /**
   * Changes the active faults in one step. `faults` replaces all of them, then `remove` deletes some and `add` appends
   * some. Faults are written as for `--fault`.
   */
  readonly faults: FaultChange;
  /** Sets the speed-up factor for records created from now on. */
  readonly speed: { readonly speed: number };
  /** Changes nothing. The response includes the sandbox's state as a scenario (`ExportedState`). */
  readonly export: Readonly<Record<string, never>>;
}

/** A change of the active faults. Omitted fields change nothing. */
export interface FaultChange {
  readonly faults?: readonly string[] | undefined;
  readonly add?: readonly string[] | undefined;
  readonly remove?: readonly string[] | undefined;
  readonly seed?: number | undefined;
}

export type ControlAction = keyof ControlActions;

/** Current state of a sandbox. */
export interface ControlState {
  /** Marks the response as that of an errand sandbox. */
  readonly sandbox: 'errand';
  /** Time on the sandbox's clock, in ISO 8601. */
  readonly now: string;
  readonly speed: number;
  /** Seed for ids, prices and outcomes; null if the user gave none. */
  readonly seed: number | null;
  readonly faults: readonly string[];
  readonly fault_seed: number;
  /** Ids of the orders and returns that could not be advanced. The sandbox retries each of them later. */
  readonly stuck: readonly string[];
  /** Database file; null if in memory. */
  readonly kept_in: string | null;
  /** Snapshots by name. `taken_at` is the host's time in ISO 8601. */
  readonly snapshots: readonly { readonly name: string; readonly taken_at: string }[];
}

/** The response to `export`. */
export interface ExportedState extends ControlState {
  /** The state as the contents of a scenario file. */
  readonly scenario: Readonly<Record<string, unknown>>;
  /** Parts of the sandbox state that a scenario cannot express, described in words. */
  readonly left_out: readonly string[];
}

/**
 * Response to `advance`. `left_ms` is the time that remains to be advanced, in ms. It is above 0 if the call stopped
 * early to stay short.
 */
export interface AdvancedState extends ControlState {
  readonly left_ms: number;
}

/** Readiness endpoint of a sandbox. */
export const healthPath = '/healthz';

/** A finished request to a served sandbox. It contains no secrets, so it is safe to display. */
export interface ServedRequest {
  /** Time on the host's clock, in ms since the epoch. */
  readonly at: number;
  readonly method: string;
  readonly target: string;
  /** null if the connection closed without a response. */
  readonly status: number | null;
  /** Time from the request to the start of the response, in ms. */
  readonly tookMs: number;
  /** Effect of `--fault` on the request. */
  readonly fault: string | null;
  /** The action taken, such as `placed 1a2b3c4d`, or the code of the error response; null if the request only read. */
  readonly did: string | null;
}
