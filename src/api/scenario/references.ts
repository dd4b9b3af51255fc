import type { z } from 'zod';
import { sandboxTriggers } from '../control.ts';
import { uuid } from '../schemas/fields.ts';
import type { Scenario } from './scenario.ts';
import { scenarioAddresses } from './words.ts';

type Kind = 'order' | 'return' | 'batch' | 'account' | 'any';

/** What a step makes, that `as` names; what a request or a trigger makes is not known before. */
const madeBy = { order: 'order', cancel: 'order', return: 'return', upload: 'batch' } as const;

/** As many names are listed where one is not known. */
const mostListed = 10;

/** Refuses an id that is given twice, and a name that nothing has by then: nothing of it could be played. */
export function checkReferences(scenario: Scenario, context: z.core.$RefinementCtx): void {
  const { keys, accounts, orders, returns, batches, steps, expect } = scenario;
  const told = (path: (string | number)[], message: string): void =>
    context.addIssue({ code: 'custom', path, message });

  const unique = (section: string, rows: readonly object[], field: string): void => {
    const seen = new Set<string>();
    for (const [index, row] of rows.entries()) {
      const given: unknown = Reflect.get(row, field);
      if (typeof given !== 'string') continue;
      const id = field === 'id' ? given.toLowerCase() : given;
      if (seen.has(id)) told([section, index, field], `is that of another of the ${section} already`);
      seen.add(id);
    }
  };
  for (const [section, rows] of Object.entries({ keys, accounts, orders, returns }))
    unique(section, rows, 'id');
  unique('keys', keys, 'key');
  unique('accounts', accounts, 'short_id');

  const names = new Map<string, Kind>();
  const call = (kind: Kind, rows: readonly { readonly name?: string | undefined }[]): void => {
    for (const { name } of rows) if (name !== undefined) names.set(name, kind);
  };
  const refer = (kind: Kind, given: string | undefined, path: (string | number)[]): void => {
    if (given === undefined || uuid.safeParse(given).success) return;
    const found = names.get(given);
    if (found !== undefined && (kind === 'any' || found === 'any' || found === kind)) return;
    const known = [...names].flatMap(([name, of]) =>
      kind === 'any' || of === 'any' || of === kind ? [name] : [],
    );
    const listed = known.slice(0, mostListed).join(', ') + (known.length > mostListed ? ' …' : '');
    const what = kind === 'any' ? 'nothing' : `no ${kind}`;
    told(path, `${what} is called "${given}" by then; names are ${listed || 'none'}`);
  };
  const target = (line: string | undefined, path: (string | number)[]): void => {
    for (const [, name = ''] of (line ?? '').matchAll(/\{([^{}]{0,100})\}/g))
      if (!Object.hasOwn(scenarioAddresses, name)) refer('any', name, path);
  };

  call('account', accounts);
  call('order', orders);
  for (const [index, row] of returns.entries()) refer('order', row.order, ['returns', index, 'order']);
  call('return', returns);
  call('batch', batches);
  for (const [index, step] of steps.entries()) {
    const path = ['steps', index];
    refer('order', step.cancel, [...path, 'cancel']);
    refer('order', step.return?.order, [...path, 'return', 'order']);
    const happensTo = step.trigger && sandboxTriggers[step.trigger].target;
    if (happensTo === 'order' || happensTo === 'return') refer(happensTo, step.of, [...path, 'of']);
    target(step.request, [...path, 'request']);
    const [, made = 'any'] = Object.entries(madeBy).find(([kind]) => Object.hasOwn(step, kind)) ?? [];
    if (step.as !== undefined) names.set(step.as, made as Kind);
  }
  const wallets = keys.length > 0 ? keys.map(({ name }) => name) : ['default'];
  for (const [index, check] of expect.entries()) {
    const path = ['expect', index];
    refer('order', check.order, [...path, 'order']);
    refer('return', check.return, [...path, 'return']);
    refer('batch', check.batch, [...path, 'batch']);
    refer('order', check.webhooks, [...path, 'webhooks']);
    target(check.request, [...path, 'request']);
    if (check.wallet !== undefined && !wallets.includes(check.wallet))
      told([...path, 'wallet'], `there is no key "${check.wallet}"; names are ${wallets.join(', ')}`);
  }
}
