import { UsageError } from '../platform/errors.ts';
import { shellLine } from '../platform/shell.ts';
import type { Stored, StoredAddress } from './stored.ts';

/** The configuration with an address in it; the first one, or with `asDefault`, is the default. Pure. */
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
    // Whatever is saved under the name of the example is an address of one's own from then on.
    ...(example !== undefined && example !== name && { example_address: example }),
  };
}

/** The configuration without an address, which is no default then either. Pure. */
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

/** A saved address is never replaced unasked. */
export const addressTaken = (name: string): UsageError =>
  new UsageError(`there is an address ${name} already; nothing was changed`, {
    hint: `\`${shellLine`errand address update ${name}`}\` changes fields of it; --replace saves another in its place.`,
  });
