/** A small, plausible bug to plant in the sources, which a simulation must find. */
export interface SimulatedFault {
  /** What it breaks; stable when the code moves. */
  readonly name: string;
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly from: string;
  readonly to: string;
  /** The first history that found it, by `main.ts` beside this. */
  readonly seed: number;
}
