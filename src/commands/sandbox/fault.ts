import type { ControlState } from '../../api/control.ts';
import { defineCommand } from '../../cli/define.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { controlled } from './controlled.ts';
import { faultList, rehearsalOptions } from './rehearsal-options.ts';

export const fault = defineCommand({
  name: 'fault',
  summary: 'Make requests to the sandbox fail from now on; without a fault, list what is on',
  description:
    'Each fault is switched on beside those that are on, in the order in which they are tried; --off switches off those named, or all. They stay until they are switched off or the sandbox is reset, in every process on its data, and the draws begin anew with each change. None falls on what controls the sandbox, or on its console. Works on the embedded sandbox, and on one that this machine serves.',
  lists: [faultList],
  arguments: [
    {
      name: 'faults',
      description: 'kind[=time][:share%][@path], as sandbox serve --fault takes it',
      variadic: true,
    },
  ],
  options: {
    off: { kind: 'flag', description: 'switch off these, or all' },
    seed: { ...rehearsalOptions.seed, description: 'what falls on which request follows from it' },
  },
  examples: [
    { command: "errand sandbox fault '503:20%' 'reset-after@POST /orders'", note: 'a bad network' },
    { command: 'errand sandbox fault', note: 'what is on, with the seed' },
    { command: 'errand sandbox fault --off', note: 'all is well again' },
  ],
  output: { record: 'SandboxFaults' },
  related: ['sandbox serve', 'sandbox reset', 'order journal resume'],
  async run(context, { faults: given = [], off = false, seed }) {
    const faults = given.map((text) => text.trim());
    const sandbox = await controlled(context, 'fault', { mayMakeOne: true });
    const isChange = off || faults.length > 0 || seed !== undefined;
    const change = off ? (faults.length === 0 ? { faults } : { remove: faults }) : { add: faults };
    // Let the sandbox add and remove faults itself, so that concurrent changes by others survive.
    const after: ControlState = isChange ? await sandbox.act('faults', { ...change, seed }) : sandbox.state;
    const isNone = after.faults.length === 0;
    const shown = isNone ? 'none' : after.faults.join(', ');
    return {
      kind: 'record',
      record: { faults: after.faults, seed: after.fault_seed },
      id: 'seed',
      columns: [
        { name: 'faults', path: 'faults', value: () => shown },
        { name: 'seed', path: 'seed' },
      ],
      hints:
        isChange && !isNone ? [`\`errand sandbox fault --off${whereFlags(context)}\` switches them off`] : [],
    };
  },
});
