import type { Row } from '../../format/result.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { askAddress } from './ask.ts';
import { addressColumns } from './columns.ts';
import { type AddressFields, addressWords } from './options.ts';

const another = 'another address';

/** Asks where to ship to: a saved address, or one that is typed and may be saved. */
export async function promptShipTo(
  context: Context,
): Promise<{ readonly address: AddressFields; readonly words: readonly string[] }> {
  const store = await context.store();
  const prompt = await context.prompt();
  // Nobody lives at the example, so real money sends nothing there.
  const names = store.addressNames().filter((name) => context.isRehearsal() || !store.isExample(name));
  const rows = names.map((name): Row & { name: string } => ({ ...store.address(name), name }));
  const columns = addressColumns.filter(({ name }) => name !== 'default');
  const chosen =
    rows.length > 0 ? await prompt.askRow(context, 'Ship to', rows, columns, { others: [another] }) : another;
  if (chosen !== another) {
    const { name, ...address } = chosen;
    return { address, words: ['--ship-to', name] };
  }
  const address = await askAddress(context);
  const name = await offerToSave(context, address);
  return { address, words: name === undefined ? addressWords(address) : ['--ship-to', name] };
}

/** @returns the name under which a person has it saved. What cannot be saved keeps nobody from ordering. */
export async function offerToSave(context: Context, address: AddressFields): Promise<string | undefined> {
  if (context.previewsRequests) return undefined;
  const store = await context.store();
  const prompt = await context.prompt();
  const name = await prompt.askText(context, 'Save this address as (a name; Enter: not saved)', {
    optional: true,
    check: (text) => (isYes(text) ? 'type a name for it, such as home' : store.newNameProblem(text)),
  });
  if (name === '' || isNo(name)) return undefined;
  const { checkedAddress } = await import('./checked.ts');
  try {
    await store.addAddress(name, checkedAddress(address), { asDefault: false, replace: false });
  } catch (error) {
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
    await context.report(error);
    return undefined;
  }
  const isDefault = store.defaultAddress()?.name === name;
  context.note(
    isDefault
      ? `saved as ${name}, the default: orders without --ship-to go there`
      : `saved as ${name}: --ship-to ${name} uses it`,
  );
  return name;
}

// Whoever answers the question with yes or no means no name.
const isYes = (text: string): boolean => /^(?:y|yes)$/i.test(text);
const isNo = (text: string): boolean => /^(?:n|no)$/i.test(text);
