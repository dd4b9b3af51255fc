/** A small, plausible bug to plant in the sources, and the tests that must catch it. */
export interface PlantedFault {
  /** What it breaks; stable when the code moves. */
  readonly name: string;
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly from: string;
  readonly to: string;
  /** At least one test in these files fails. */
  readonly caughtBy: readonly string[];
}
