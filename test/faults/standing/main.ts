import { playWeeks, type Weeks } from './weeks.ts';

/** Plays weeks of standing orders and prints what was found. @returns whether each date was bought once or said to be missed. */
export async function runWeeks(given: Weeks): Promise<boolean> {
  const { weeks, machines, seed } = given;
  console.log(`${weeks} weeks on ${machines} machines, seed ${seed}`);
  const { findings, log, runs, ordered, missed } = await playWeeks(given);
  console.log(`${runs} runs: ${ordered} dates bought, ${missed} missed`);
  if (findings.length > 0) console.log([...findings, ...log].join('\n'));
  return findings.length === 0;
}
