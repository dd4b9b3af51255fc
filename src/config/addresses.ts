import { UsageError } from '../platform/errors.ts';
import { shellLine } from '../platform/shell.ts';
import type { Stored, StoredAddress } from './stored.ts';

/**
 * Adds an address to the configuration. If it is the first address, or if `asDefault` is set, it becomes the default.
 * Pure.
 */
export function withAddress(
  stored: Stored,
  name: string,
  address: StoredAddress,
  asDefault: boolean,
): Stored {
  const { default_address: before, example_address: example, ...rest } = stored;
  const isFirst = Object.keys(stored.addresses).length === 0;
  const preset = asDefault || isFirst ? name : before;
  return {
    ...rest,
    addresses: { ...stored.addresses, [name]: address },
    ...(preset !== undefined && { default_address: preset }),
    // If a new address replaces the sandbox's example under the same name, the configuration no longer has an example.
    ...(example !== undefined && example !== name && { example_address: example }),
  };
}

/** Removes an address from the configuration. If the address was the default, there is no default afterwards. Pure. */
export function withoutAddress(stored: Stored, name: string): Stored {
  const { default_address: preset, example_address: example, ...rest } = stored;
  const { [name]: _, ...addresses } = stored.addresses;
  return {
    ...rest,
    addresses,
    ...(preset !== undefined && preset !== name && { default_address: preset }),
    ...(example !== undefined && example !== name && { example_address: example }),
  };
}

/** A saved address is never replaced without confirmation. */
export const addressTaken = (name: string): UsageError =>
  new UsageError(`there is an address ${name} already; nothing was changed`, {
    hint: `\`${shellLine`errand address update ${name}`}\` changes fields of it; --replace saves another in its place.`,
  });
