/** Replaces what must not stand in a text; leaves printable ASCII as it is. */
export type Scrub = (text: string) => string;

/** One way to spell records. Pure: whether a record is the first is in the arguments. */
export interface Format {
  /** One record of a list; `index` counts from 0. */
  row(value: unknown, index: number): string;
  /** What ends a list of `count` records. */
  end(count: number): string;
  /** A record, or any other value, that is all there is. */
  whole(value: unknown): string;
  /** Applied to what `row` and `whole` gave, when it is written. */
  readonly scrub?: Scrub;
}
