import { atOnce } from './at-once.ts';
import { startAtSpeed } from './service.ts';
import { cancellations, type Subject, subjects } from './subjects.ts';
import { type Finding, hurt, injuriesOf } from './sweep.ts';

/** One wallet covers the orders of more than these. */
const injuriesPerKey = 20;

/** @param part `2/8` is the second of eight parts. @param names of subjects; all if absent. @returns whether no problem was found. */
export async function runSweep(part: string, workers: number, names?: readonly string[]): Promise<boolean> {
  const [own = 1, of = 1] = part.split('/').map(Number);
  const findings: Finding[] = [];
  let points = 0;
  for (const subject of chosen(names)) {
    const service = await startAtSpeed(subject.speed);
    try {
      const injuries = (await injuriesOf(service, subject)).filter((_, index) => index % of === own - 1);
      points += injuries.length;
      console.log(`${subject.name}: ${injuries.length} points`);
      const groups = Math.ceil(injuries.length / injuriesPerKey);
      const keys = await Promise.all(Array.from({ length: groups }, () => service.mint()));
      await atOnce([...injuries.entries()], workers, async ([index, injury]) => {
        const key = keys[Math.floor(index / injuriesPerKey)] ?? '';
        findings.push(...(await hurt(service, key, subject, injury)));
      });
    } finally {
      await service.stop();
    }
  }
  for (const finding of findings) console.log(JSON.stringify(finding));
  console.log(`${points} points, ${findings.length} findings`);
  return findings.length === 0;
}

function chosen(names: readonly string[] | undefined): readonly Subject[] {
  const all = [...subjects, ...cancellations];
  const unknown = names?.filter((name) => !all.some((subject) => subject.name === name)) ?? [];
  if (unknown.length > 0) throw new Error(`no subject is called ${unknown.join(', ')}`);
  return all.filter(({ name }) => names?.includes(name) ?? true);
}
