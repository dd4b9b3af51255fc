export interface ProgressOptions {
  /** What is being done: `uploading`. */
  readonly label: string;
  /** How much there is to do; without it there is neither bar nor ETA. */
  readonly total?: number;
  /** How much was done before; rate and ETA leave it out. */
  readonly from?: number;
  /** What is counted, in the plural: `rows`. */
  readonly unit?: string;
  /** ms since some moment of the past; rate and ETA are made of it. */
  readonly now: () => number;
}

export interface Progress {
  /**
   * @param done how much is done by now. @param note a word on what is happening. @param isWaiting whether the work stands still,
   * so that rate and time left say nothing.
   */
  update(done: number, note?: string, isWaiting?: boolean): void;
  /** Takes the bar away. Call it whatever happens. */
  end(): void;
}
