import { existsSync } from 'node:fs';
import { UsageError } from '../../platform/errors.ts';
import { didYouMean } from '../../platform/near-words.ts';
import { shellLine } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { readDocument } from '../../run/read-document.ts';
import type { AddressFields } from './options.ts';

/**
 * Resolves the shipping address. `--ship-to` takes a saved name, a file or `-`. Field flags override fields of that
 * address. Without any of these, the default address is used. Undefined if there is none, or if an interactive session
 * should ask for the address.
 * @throws UsageError if the named address does not exist.
 */
export async function resolveAddress(
  context: Context,
  shipTo: string | undefined,
  fields: AddressFields,
): Promise<AddressFields | undefined> {
  const given = Object.keys(fields).length > 0;
  const base =
    shipTo === undefined ? (given ? {} : await defaultAddress(context)) : await namedAddress(context, shipTo);
  return base === undefined ? undefined : { ...base, ...fields };
}

/**
 * Finds a saved address by its name, or the default address. Never treats a name as a file path, because the caller may
 * not be allowed to read the file.
 * @throws UsageError if there is no such address.
 */
export async function savedAddress(
  context: Context,
  name: string | undefined,
): Promise<{ readonly name: string; readonly address: AddressFields }> {
  const store = await context.store();
  const saved = name === undefined ? store.defaultAddress() : { name, address: store.address(name) };
  if (!saved?.address)
    throw name === undefined ? noDefault() : unknownAddress('ship_to', name, store.addressNames());
  await checkNoExample(context, saved.name);
  return { name: saved.name, address: saved.address };
}

const noDefault = (): UsageError =>
  new UsageError('no address was given, and none is saved here', {
    next: [{ command: 'errand address add home', when: 'to save one' }],
  });

async function defaultAddress(context: Context): Promise<AddressFields | undefined> {
  const store = await context.store();
  const saved = store.defaultAddress();
  // In an interactive session, ask for the address instead of using the example.
  if (saved && context.interactive.yes && !context.isRehearsal() && store.isExample(saved.name))
    return undefined;
  if (saved) await checkNoExample(context, saved.name);
  return saved?.address;
}

async function namedAddress(context: Context, shipTo: string): Promise<AddressFields> {
  const store = await context.store();
  if (shipTo !== '-') {
    const saved = store.address(shipTo);
    if (saved) {
      await checkNoExample(context, shipTo);
      return saved;
    }
    if (!looksLikeFile(shipTo)) throw unknownAddress('--ship-to', shipTo, store.addressNames());
  }
  return (await readDocument(context, '--ship-to', shipTo)).value;
}

/** @throws UsageError if real money would ship to the sandbox's fictional example address. */
async function checkNoExample(context: Context, name: string): Promise<void> {
  if (context.isRehearsal() || !(await context.store()).isExample(name)) return;
  throw new UsageError(
    `the address ${name} is the sandbox's example, and this key spends real money; save your own first`,
    { next: [{ command: shellLine`errand address add ${name}`, when: 'to save your address in its place' }] },
  );
}

const looksLikeFile = (text: string): boolean => /[/\\]|\.(json|ya?ml)$/i.test(text) || existsSync(text);

function unknownAddress(field: string, name: string, known: readonly string[]): UsageError {
  const saved = known.length > 0 ? `saved are ${known.join(', ')}` : 'none is saved yet';
  return new UsageError(`${field}: there is no address "${name}" (${saved})${didYouMean(name, known)}`, {
    next: [{ command: shellLine`errand address add ${name}`, when: 'to save it' }],
  });
}
