import { fingerprint } from './keys.ts';
import { embeddedUrl, type Profile, type Stored } from './stored.ts';

/** A stored key that is about to be another one, or none. */
export interface KeyChange {
  readonly profile: string;
  /** The service that the key is for. */
  readonly service: string;
  readonly detail: {
    /** `switched` where the one before is kept beside it. */
    readonly change: 'stored' | 'replaced' | 'switched' | 'forgotten';
    readonly what: 'api_key' | 'legacy_token';
    /** Fingerprints of the keys. */
    readonly before: string | null;
    readonly after: string | null;
  };
}

/** Which keys differ. The first key of the embedded sandbox is none of them: errand mints it by itself. Pure. */
export function keyChanges(before: Stored, after: Stored): KeyChange[] {
  const names = new Set([...Object.keys(before.profiles), ...Object.keys(after.profiles)]);
  return [...names].flatMap((name) => {
    const [old, next] = [profileOf(before, name), profileOf(after, name)];
    const inUse = (['api_key', 'legacy_token'] as const).flatMap((what): KeyChange[] => {
      const service = serviceOf(next?.[what] === undefined ? old : next, what);
      const isMintedByItself = service === embeddedUrl && old?.[what] === undefined;
      if (old?.[what] === next?.[what] || isMintedByItself) return [];
      const isKept = what === 'api_key' && beside(next).includes(old?.api_key ?? '');
      const replaced = isKept ? 'switched' : 'replaced';
      const change =
        old?.[what] === undefined ? 'stored' : next?.[what] === undefined ? 'forgotten' : replaced;
      const prints = { before: printOf(old?.[what], service), after: printOf(next?.[what], service) };
      return [{ profile: name, service, detail: { change, what, ...prints } }];
    });
    return [...inUse, ...forgottenBeside(name, old, next)];
  });
}

/** The keys beside the one in use that a profile has no more. */
function forgottenBeside(name: string, old: Profile | undefined, next: Profile | undefined): KeyChange[] {
  const service = serviceOf(old, 'api_key');
  const left = [...beside(next), next?.api_key];
  return beside(old)
    .filter((key) => !left.includes(key))
    .map((key) => ({
      profile: name,
      service,
      detail: { change: 'forgotten', what: 'api_key', before: printOf(key, service), after: null },
    }));
}

const beside = (profile: Profile | undefined): string[] =>
  (profile?.other_keys ?? []).map(({ api_key }) => api_key);

const printOf = (key: string | undefined, service: string): string | null =>
  key === undefined ? null : fingerprint(key, service);

const profileOf = ({ profiles }: Stored, name: string): Profile | undefined =>
  Object.hasOwn(profiles, name) ? profiles[name] : undefined;

const serviceOf = (profile: Profile | undefined, what: 'api_key' | 'legacy_token'): string =>
  (what === 'legacy_token' ? profile?.legacy_base_url : undefined) ?? profile?.base_url ?? '';
