import type { Signer } from './journal-record.ts';
import type { Mac } from './mac.ts';

/** Finds the signer of an account; undefined if this machine has no key for it. */
export type FindSigner = (account: string) => Promise<Signer | undefined>;

/** The keys that this process signs with. */
export class Signers {
  readonly #known = new Map<string, Signer>();
  readonly #find: FindSigner;

  constructor(find: FindSigner = async () => undefined) {
    this.#find = find;
  }

  add({ account, mac }: { readonly account: string; readonly mac?: Mac | undefined }): void {
    if (mac) this.#known.set(account, { account, mac });
  }

  /** The signer for an account: the account's key, or else another key that is available. */
  async of(account: string): Promise<Signer | undefined> {
    return this.#known.get(account) ?? (await this.#find(account)) ?? [...this.#known.values()].at(-1);
  }
}
