import { UsageError } from '../platform/errors.ts';
import { shownCommand } from './key-command.ts';
import { keysOf, maskKey, withKey, withoutStoredKeys } from './keys.ts';
import type { SettingsStore } from './store.ts';
import type { KeyCommand } from './stored.ts';

interface KeyToStore {
  readonly profile: string;
  readonly key: string;
  /** Base URL that the key is for. The key is never stored for another base URL. */
  readonly service: string;
  /** Whether to forget the active key when the new key replaces it. */
  readonly replace?: boolean;
  /** Flags that select the profile, for use in a suggested command line. */
  readonly flags: string;
  /** Current time, in ms since the epoch. */
  readonly now: number;
}

/**
 * Stores a key for a profile and makes the key active. The previous key becomes a spare key, and a key command is
 * removed. Creates the profile if it is missing.
 * @returns lines about the previous key.
 * @throws UsageError if the profile is for another address.
 */
export async function storeKey(
  store: SettingsStore,
  { profile: name, key, service, replace = false, flags, now }: KeyToStore,
): Promise<string[]> {
  const storedAt = new Date(now).toISOString();
  let command: KeyCommand | undefined;
  let earlier: { readonly id: string; readonly key: string } | undefined;
  await store.setProfile(name, (before = { base_url: service }) => {
    if (before.base_url !== service)
      throw new UsageError(
        `profile ${name} is for ${before.base_url} now; the key for ${service} was not stored`,
      );
    command = before.key_command;
    earlier = keysOf(before).find((it) => it.isInUse && it.key !== key);
    return withKey(replace && earlier ? withoutStoredKeys(before, false) : before, key, storedAt);
  });
  if (command) return [`in place of the key command \`${shownCommand(command)}\`, which is forgotten`];
  if (!earlier) return [];
  const back = `errand auth use ${earlier.id}${flags}`;
  return replace
    ? [`in place of ${maskKey(earlier.key)}, which is forgotten`]
    : [`${maskKey(earlier.key)} is kept beside it, with its orders and wallet: \`${back}\` goes back`];
}

/**
 * Stores a command that prints the key of a profile. The command replaces all keys of the profile.
 * @param agreed lists the keys that may be deleted.
 * @returns lines about the deleted keys.
 * @throws UsageError if the profile has other keys, is for another address, or no longer exists.
 */
export async function storeKeyCommand(
  store: SettingsStore,
  name: string,
  { command, service, agreed }: KeyCommandToStore,
): Promise<string[]> {
  let forgotten: string[] = [];
  await store.setProfile(name, (before) => {
    const keys = before ? keysOf(before).map(({ key }) => key) : [];
    if (before?.base_url !== service || keys.some((key) => !agreed.includes(key)))
      throw new UsageError(`another command changed profile ${name} meanwhile; nothing was stored`);
    forgotten = keys.map(maskKey);
    return { ...withoutStoredKeys(before, true), key_command: command };
  });
  return forgotten.length === 0 ? [] : [`in place of ${forgotten.join(' and ')}, which errand has forgotten`];
}

interface KeyCommandToStore {
  readonly command: KeyCommand;
  /** Base URL that the key is for. */
  readonly service: string;
  readonly agreed: readonly string[];
}
