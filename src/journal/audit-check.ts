import { canonicalJson } from '../format/canonical.ts';
import { firstPrevious, hashOf, isSignedBy, isSignedElsewhere } from './audit-record.ts';
import type { Sender } from './journal-record.ts';
import { endingKinds } from './lost-intents.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A problem in a chain, and the record where it occurs. */
export interface Finding {
  readonly number: number | null;
  /**
   * Kind of problem. `lost`: a known head is not in the chain, the journal counts more intents than the chain, or
   * the record of an intent in doubt is gone.
   * `policy`: the published policy is not the one that its publisher signed last. `reservation`: the chain says that
   * money is reserved, and the journal does not.
   */
  readonly finding:
    | 'changed'
    | 'replaced'
    | 'missing'
    | 'misplaced'
    | 'unreadable'
    | 'lost'
    | 'unsigned'
    | 'policy'
    | 'reservation';
  readonly message: string;
}

/** Maximum number of findings. Further findings would not help the user. */
const maxFindings = 100;

/** Verifies a chain, starting at its first record. Reports an altered record and continues after it. */
export class ChainCheck {
  readonly findings: Finding[] = [];
  /** Number of records read. */
  count = 0;
  #last: { readonly number: number; readonly hash: unknown; readonly expected: string; isWrong: boolean } = {
    number: 0,
    hash: firstPrevious,
    expected: firstPrevious,
    isWrong: false,
  };
  #recorded: number | undefined;
  readonly #requiredHead: string | undefined;
  #isHeadFound: boolean;

  readonly #signer: Pick<Sender, 'account' | 'mac'> | undefined;
  readonly #database: string | undefined;
  #hasSigned = false;
  /** Intents whose ends are signed. */
  readonly #signsEnds = new Set<string>();

  /**
   * @param head is the hash of a record that must be in the chain.
   * @param signer has the key that signs the intents of its account.
   * @param database is the identity of the shared database that has the chain; undefined if no shared database has it.
   */
  constructor(head?: string, signer?: Pick<Sender, 'account' | 'mac'>, database?: string) {
    this.#database = database;
    this.#requiredHead = head;
    this.#signer = signer;
    this.#isHeadFound = head === firstPrevious;
  }

  /**
   * Number and hash of the newest record. Before the first record, both are zeros. The hash is null if the newest
   * record has no hash.
   */
  get head(): { readonly number: number; readonly hash: string | null } {
    const { number, hash } = this.#last;
    return { number, hash: typeof hash === 'string' ? hash : null };
  }

  /**
   * Checks the next stored record.
   * @param isExact tells whether the record's text is exactly as errand writes it.
   * @param expected is the hash computed from the record.
   */
  take(record: Fields, isExact = true, expected = hashOf(record)): void {
    this.count += 1;
    const number = Number.isSafeInteger(record.number) ? Number(record.number) : this.#last.number + 1;
    const isWhole = isExact && record.number === number && record.hash === expected;
    const why = isExact ? 'its hash does not match what it says' : 'it is not written as errand writes it';
    if (!isWhole) this.#find(number, 'changed', `record ${number} was changed: ${why}`);
    if (number <= this.#last.number)
      this.#find(number, 'misplaced', `record ${number} stands after record ${this.#last.number}`);
    else this.#checkLink(number, record.previous, isWhole);
    if (isWhole) this.#checkSignature(number, record);
    if (isWhole && record.hash === this.#requiredHead) this.#isHeadFound = true;
    this.#recorded = recordedBy(record) ?? this.#recorded;
    this.#last = {
      number: Math.max(number, this.#last.number),
      hash: record.hash,
      expected,
      isWrong: !isWhole,
    };
  }

  /** Checks the next line of an export. */
  takeLine(line: string): void {
    const record = parsed(line);
    if (record) {
      this.take(record, canonicalJson(record) === line);
      return;
    }
    const number = this.#last.number + 1;
    this.count += 1;
    this.#find(number, 'changed', `record ${number} was changed: its line is not a JSON object`);
    this.#last = { number, hash: undefined, expected: '', isWrong: true };
  }

  /** Reports that nothing is readable after the last record. */
  breakOff(why: string): void {
    const number = this.#last.number + 1;
    this.#find(number, 'unreadable', `what follows record ${this.#last.number} cannot be read: ${why}`);
  }

  /**
   * @param recorded holds the number of intents that the journal counted before verification, and how many of those
   * intents are older than the chain; undefined if unknown.
   */
  end(recorded?: { readonly all: number; readonly beforeChain: number }): void {
    if (this.#requiredHead !== undefined && !this.#isHeadFound)
      this.#find(
        null,
        'lost',
        `no intact record has the hash ${this.#requiredHead}: the chain was cut at its end, or rewritten`,
      );
    const isWhole = this.findings.length === 0;
    if (!isWhole || !recorded) return;
    const chainCount = this.#recorded ?? recorded.beforeChain;
    if (recorded.all > chainCount)
      this.#find(
        null,
        'lost',
        `the journal counts ${recorded.all} intents and the chain ${chainCount}: ${this.count === 0 ? 'its records are missing' : 'it was cut at its end'}`,
      );
  }

  #checkSignature(number: number, record: Fields): void {
    this.#checkEnd(number, record);
    const { kind, detail } = record;
    if (kind !== 'intent' || !this.#signer?.mac || Object(detail).account !== this.#signer.account) return;
    const isSigned = isSignedBy(record, this.#signer.mac);
    if (isSigned && isSignedElsewhere(record, this.#database))
      this.#find(
        number,
        'replaced',
        `record ${number} was signed for another database: the chain was copied from there`,
      );
    if (isSigned && Object(detail).ends === 'signed') this.#signsEnds.add(idOf(record));
    if (isSigned) this.#hasSigned = true;
    // Earlier versions did not sign intents, so accept unsigned intents before the first signed one.
    else if (this.#hasSigned || Object(detail).mac !== undefined)
      this.#find(
        number,
        'unsigned',
        `record ${number} is not signed under the API key in use: an earlier version of errand wrote it, or somebody else`,
      );
  }

  /**
   * Checks the signature of an entry that ends an intent. Skips an entry of another account, because only that
   * account's key can verify it.
   */
  #checkEnd(number: number, record: Fields): void {
    const { kind, key, detail } = record;
    if (!this.#signer?.mac || !endingKinds.includes(String(kind)) || !this.#signsEnds.has(idOf(record)))
      return;
    const { account = this.#signer.account } = Object(detail);
    if (account === this.#signer.account && !isSignedBy(record, this.#signer.mac))
      this.#find(
        number,
        'unsigned',
        `record ${number}, which says how ${String(key)} ended, is not signed under the API key in use, and counts for nothing: somebody else wrote it`,
      );
  }

  #checkLink(number: number, previous: unknown, isWhole: boolean): void {
    const { number: last, hash, expected, isWrong } = this.#last;
    if (number > last + 1) {
      const message =
        number === last + 2
          ? `record ${last + 1} is missing`
          : `records ${last + 1} to ${number - 1} are missing`;
      this.#find(last + 1, 'missing', message);
    } else if (isWhole && !isWrong && previous !== hash && previous !== expected) {
      const what = last === 0 ? 'record 1 is not the first of its chain' : `record ${last} was replaced`;
      this.#find(Math.max(last, 1), 'replaced', `${what}: record ${number} follows from another one`);
    }
  }

  #find(number: number | null, finding: Finding['finding'], message: string): void {
    if (this.findings.length < maxFindings) this.findings.push({ number, finding, message });
  }
}

const idOf = ({ key, service }: Fields): string => JSON.stringify([key, service]);

/** Reads the number of recorded intents that an audit record states. */
function recordedBy({ kind, detail }: Fields): number | undefined {
  if (kind !== 'intent' && kind !== 'repaired') return undefined;
  const { recorded } = Object(detail);
  return Number.isSafeInteger(recorded) ? Number(recorded) : undefined;
}

function parsed(line: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
