import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { doorNames } from '../../faults/needs/doors.ts';
import { historyOf } from '../../faults/needs/history.ts';
import type { Finding } from '../../faults/needs/judge.ts';
import { simulateHistory } from '../stage.ts';
import { lastEffect } from '../worker.ts';
import { builtWith } from './build.ts';
import type { SimulatedFault } from './fault.ts';

/** What a planted fault was found by. */
export interface Found {
  readonly seed: number;
  readonly finding: Finding;
}

/** Builds the program with a fault, and plays histories until one finds it. @param seeds are those of the histories. */
export async function findPlanted(
  fault: SimulatedFault | undefined,
  seeds: Iterable<number>,
): Promise<Found | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-planted-'));
  try {
    const built = await builtWith(fault, folder);
    for (const seed of seeds) {
      const {
        findings: [finding],
      } = await simulateHistory(historyOf(seed, doorNames, { lastEffect }), built);
      if (finding) return { seed, finding };
    }
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
