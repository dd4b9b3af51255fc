import { renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Waiting } from '../platform/async.ts';
import { StorageError, UsageError } from '../platform/errors.ts';
import { didYouMean } from '../platform/near-words.ts';
import { addressTaken, withAddress, withoutAddress } from './addresses.ts';
import type { KeyChange } from './keys.ts';
import { lockPath } from './lock.ts';
import { mapIn, type SavedMap, withMap } from './maps.ts';
import { makeConfigFolder, reasonOf } from './paths.ts';
import {
  BrokenConfigError,
  emptyStored,
  localProfile,
  namePattern,
  type Preference,
  type Profile,
  readStored,
  type Stored,
  type StoredAddress,
} from './stored.ts';

type BeforeKeys = (changes: readonly KeyChange[]) => Promise<void>;

/**
 * The stored configuration: profiles, preferences and addresses. Reads are cached, so that all of them come from a
 * single point in time. Writes are locked and atomic.
 */
export class SettingsStore {
  readonly file: string;
  readonly #report: (line: string) => void;
  readonly #waiting: Waiting;
  readonly #beforeKeys: BeforeKeys;
  #stored: Stored | undefined;

  /**
   * @param report is called with what was done about a file that was broken or that others could access.
   * @param waiting says how to wait for another process that is writing the file.
   * @param beforeKeys is called before keys change.
   */
  constructor(
    folder: string,
    report: (line: string) => void,
    waiting: Waiting = {},
    beforeKeys: BeforeKeys = async () => {},
  ) {
    this.file = join(folder, 'config.json');
    this.#report = report;
    this.#waiting = waiting;
    this.#beforeKeys = beforeKeys;
  }

  /** @throws BrokenConfigError if the file is unusable. */
  get stored(): Stored {
    this.#stored ??= readStored(this.file, this.#report);
    return this.#stored;
  }

  profile(name: string): Profile | undefined {
    return own(this.stored.profiles, name);
  }

  address(name: string): StoredAddress | undefined {
    return own(this.stored.addresses, name);
  }

  /** Whether a name belongs to an address of the user. The sandbox's example does not count as one. */
  isTaken(name: string): boolean {
    return this.address(name) !== undefined && !this.isExample(name);
  }

  /** Explains why a new address cannot have a name. Undefined if it can. */
  newNameProblem(name: string): string | undefined {
    if (!namePattern.test(name)) return 'a name has letters, digits, . _ - only, and at most 64 of them';
    return this.isTaken(name) ? `there is an address ${name} already; take another name` : undefined;
  }

  isExample(name: string): boolean {
    return this.stored.example_address === name;
  }

  addressNames(): string[] {
    return Object.keys(this.stored.addresses);
  }

  /** The default address. If there is none, the only address. */
  defaultAddress(): { readonly name: string; readonly address: StoredAddress } | undefined {
    const names = this.addressNames();
    const name = this.stored.default_address ?? (names.length === 1 ? names[0] : undefined);
    const address = name === undefined ? undefined : this.address(name);
    return name === undefined || !address ? undefined : { name, address };
  }

  /** Adds or changes a profile. */
  async setProfile(name: string, change: (profile: Profile | undefined) => Profile): Promise<void> {
    const checked = checkName('profile', name);
    return this.#update((stored) => ({
      ...stored,
      profiles: { ...stored.profiles, [checked]: change(own(stored.profiles, checked)) },
    }));
  }

  /**
   * Deactivates the keys of a service that no longer exists, in every profile for that service.
   * @param mayComeBack keeps them as spare keys, because the state of the service may be restored.
   */
  async retireKeysAt(baseUrl: string, mayComeBack: boolean): Promise<void> {
    const { withKeySetAside, withoutStoredKeys } = await import('./keys.ts');
    return this.#update((stored) => ({
      ...stored,
      profiles: Object.fromEntries(
        Object.entries(stored.profiles).map(([name, profile]) => {
          if (profile.base_url !== baseUrl) return [name, profile];
          if (mayComeBack) return [name, withKeySetAside(profile)];
          const { legacy_token: _, ...rest } = withoutStoredKeys(profile, true);
          return [name, rest];
        }),
      ),
    }));
  }

  async useProfile(name: string): Promise<void> {
    return this.#update((stored) => {
      if (!own(stored.profiles, name)) throw unknown('profile', name, Object.keys(stored.profiles));
      return { ...stored, current_profile: name };
    });
  }

  /** Deletes a profile. If it is the current profile, `local` becomes current. */
  async deleteProfile(name: string): Promise<void> {
    if (name === localProfile)
      throw new UsageError('the profile local is the embedded sandbox and cannot be deleted');
    return this.#update((stored) => {
      if (!own(stored.profiles, name)) throw unknown('profile', name, Object.keys(stored.profiles));
      const current = stored.current_profile === name ? localProfile : stored.current_profile;
      return { ...stored, current_profile: current, profiles: without(stored.profiles, name) };
    });
  }

  async setPreference(name: string, value: Preference | undefined): Promise<void> {
    return this.#update((stored) => ({
      ...stored,
      preferences:
        value === undefined ? without(stored.preferences, name) : { ...stored.preferences, [name]: value },
    }));
  }

  /**
   * Saves an address. If it is the first address, or if `asDefault` is set, it becomes the default. A new address may
   * replace the sandbox's example.
   * @throws UsageError if the name is taken, unless the earlier address is to be replaced.
   */
  async addAddress(
    name: string,
    address: StoredAddress,
    { asDefault, replace }: { readonly asDefault: boolean; readonly replace: boolean },
  ): Promise<void> {
    const checked = checkName('address', name);
    return this.#update((stored) => {
      if (Object.hasOwn(stored.addresses, name) && stored.example_address !== name && !replace)
        throw addressTaken(name);
      return withAddress(stored, checked, address, asDefault);
    });
  }

  /** Changes a saved address. @throws UsageError if the name is unknown. */
  async changeAddress(
    name: string,
    change: (address: StoredAddress) => StoredAddress,
    asDefault: boolean,
  ): Promise<void> {
    return this.#update((stored) => {
      const before = own(stored.addresses, name);
      if (!before) throw unknown('address', name, Object.keys(stored.addresses));
      return withAddress(stored, name, change(before), asDefault);
    });
  }

  /**
   * Saves the sandbox's example, without its empty fields, if no address is saved yet.
   * @returns whether the example was saved.
   */
  async saveExample(name: string, example: unknown): Promise<boolean> {
    if (this.addressNames().length > 0) return false;
    const { checkShape } = await import('../api/schemas/check.ts');
    const { value } = checkShape('Address', example, 'response');
    // The service has no valid example of an address, so save nothing.
    if (!value) return false;
    const address = Object.fromEntries(
      Object.entries(value).flatMap(([field, text]) => (text == null ? [] : [[field, text] as const])),
    );
    let isSaved = false;
    await this.#update((stored) => {
      isSaved = Object.keys(stored.addresses).length === 0;
      return isSaved ? { ...withAddress(stored, name, address, true), example_address: name } : stored;
    });
    return isSaved;
  }

  map(name: string): SavedMap | undefined {
    return mapIn(this.stored, name);
  }

  mapNames(): string[] {
    return Object.keys(this.stored.maps);
  }

  async setMap(name: string, map: SavedMap): Promise<void> {
    const checked = checkName('map', name);
    return this.#update((stored) => withMap(stored, checked, map));
  }

  /** When the journal in a state folder was created, ISO 8601. */
  journalSince(folder: string): string | undefined {
    return own(this.stored.journals, folder);
  }

  /** Records that the journal in a state folder was created. Only the newest folders stay recorded. */
  async noteJournal(folder: string, at: string): Promise<void> {
    return this.#update((stored) => {
      const others = Object.entries(without(stored.journals, folder));
      return { ...stored, journals: Object.fromEntries([...others.slice(1 - maxJournals), [folder, at]]) };
    });
  }

  async deleteAddress(name: string): Promise<void> {
    return this.#update((stored) => {
      if (!own(stored.addresses, name)) throw unknown('address', name, Object.keys(stored.addresses));
      return withoutAddress(stored, name);
    });
  }

  /** Reads, changes and writes under a lock, so concurrent writers lose nothing. */
  async #update(change: (stored: Stored) => Stored): Promise<void> {
    const folder = dirname(this.file);
    makeConfigFolder(folder);
    const release = await lockPath(folder, `the configuration folder ${folder}`, this.#waiting);
    try {
      const before = this.#readForWrite();
      const next = change(before);
      const { keyChanges } = await import('./keys.ts');
      const changes = keyChanges(before, next);
      if (changes.length > 0) await this.#beforeKeys(changes);
      const { default: Conf } = await loadConf();
      const conf = new Conf<Record<string, unknown>>({
        cwd: folder,
        configName: basename(this.file, '.json'),
        configFileMode: 0o600,
        accessPropertiesByDotNotation: false,
        clearInvalidConfig: false,
      });
      conf.store = { ...next };
      this.#stored = next;
    } catch (cause) {
      if (cause instanceof UsageError) throw cause;
      throw new StorageError(
        `the configuration ${this.file} cannot be written (${reasonOf(cause)}); nothing was changed`,
        {
          cause,
        },
      );
    } finally {
      await release();
    }
  }

  /** Backs up a broken file before anything is written in its place. */
  #readForWrite(): Stored {
    try {
      return readStored(this.file, this.#report);
    } catch (error) {
      if (!(error instanceof BrokenConfigError)) throw error;
      const aside = `${this.file}.broken-${new Date().toISOString().replaceAll(':', '-')}`;
      renameSync(this.file, aside);
      this.#report(`${error.message}; it is kept as ${aside}, and the configuration begins anew`);
      return emptyStored;
    }
  }
}

/**
 * Maximum number of journals to record. Without a limit, short-lived state folders, as in tests, would fill the
 * configuration.
 */
const maxJournals = 50;

const own = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

const without = <T>(record: Readonly<Record<string, T>>, name: string): Record<string, T> =>
  Object.fromEntries(Object.entries(record).filter(([key]) => key !== name));

function checkName(what: string, name: string): string {
  if (namePattern.test(name)) return name;
  throw new UsageError(
    `"${name}" cannot name a ${what}: letters, digits, . _ - only, at most 64, a letter or digit first`,
  );
}

function unknown(what: string, name: string, known: readonly string[]): UsageError {
  return new UsageError(
    `there is no ${what} "${name}"${known.length > 0 ? `; known are ${known.join(', ')}` : ''}${didYouMean(name, known)}`,
  );
}

/** Signals this program handles itself. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/**
 * Loads the library that writes the configuration. Its cleanup handlers raise each signal again, which would kill this
 * program in the middle of its final output. Therefore the handlers are removed, and the library cleans up at exit
 * instead.
 */
async function loadConf(): Promise<typeof import('conf')> {
  const before = new Map(signals.map((signal) => [signal, process.listeners(signal)]));
  const conf = await import('conf');
  for (const [signal, known] of before)
    for (const listener of process.listeners(signal))
      if (!known.includes(listener)) process.off(signal, listener);
  return conf;
}
