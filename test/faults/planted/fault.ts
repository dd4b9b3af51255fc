/** A small wrong edit of the sources, such as one that slips into a change, and the tests that must fail for it. */
export interface PlantedFault {
  /** Its idea; it stays when the code moves. */
  readonly name: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
  /** At least one test in these files fails. */
  readonly caughtBy: readonly string[];
}
