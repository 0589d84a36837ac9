/** Pace is the latest block of a chain, and how long a block takes: the median of the last ones. */
export interface Pace {
  height: number;
  latest: Date;
  blockMs: number;
}
