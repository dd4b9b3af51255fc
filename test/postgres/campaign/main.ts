/** A campaign of the example in `docs/examples`, with its figures: `npm run proofs -- campaign`. */
import { parseArgs } from 'node:util';
import { runCampaign } from './run.ts';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '20000' },
    workers: { type: 'string', default: '8' },
    rate: { type: 'string', default: '10' },
    kills: { type: 'string', default: '16' },
    crashes: { type: 'string', default: '1' },
    shares: { type: 'boolean', default: false },
  },
});
const given = {
  rows: Number(values.rows),
  workers: Number(values.workers),
  rate: Number(values.rate),
  kills: Number(values.kills),
  crashes: Number(values.crashes),
  shares: values.shares,
};
const { rate } = given;
const report = await runCampaign(given);
const { printed, again, missing, doubled, leaked, ...figures } = report;
const pace = figures.pace ?? 0;
const wrong = [
  ...missing.map((name) => `${name} was not ordered`),
  ...doubled.map((name) => `${name} was ordered more than once`),
  ...leaked.map((text) => `the engine's tables hold ${text}`),
  ...(Math.abs(pace - rate) > rate / 20 ? [`${pace.toFixed(2)} orders a second at a rate of ${rate}`] : []),
  ...(figures.maxBegun > rate ? [`${figures.maxBegun} parts began within ten seconds`] : []),
  ...(figures.campaigns === 1 && new Set([...printed, again]).size === 1 ? [] : ['it was not one campaign']),
];
console.log(JSON.stringify({ ...given, ...figures }));
for (const line of wrong.slice(0, 20)) console.log(line);
process.exitCode = wrong.length > 0 ? 1 : 0;
