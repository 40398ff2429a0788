/** Domain time (D30): real time, plus in a sandbox the offset that its clock was advanced by. */
export type DomainClock = {
  /** Real time, by the clock that all servers on one database share. */
  realNow(): Date;
  /** Domain time, with the offset read from the database. */
  now(): Promise<Date>;
  /** Whether this machine's own clock is too wrong for background work. */
  isOff(): boolean;
};

/** Domain time, from real time and the offset in milliseconds. */
export function toDomainTime(realNow: Date, offsetMs: number): Date {
  return new Date(realNow.getTime() + offsetMs);
}
