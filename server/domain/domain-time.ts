/** Domain time (D30): real time, plus in a sandbox the offset that its clock was advanced by. */
export type DomainClock = {
  /** Real time, by the clock that all servers on one database share. */
  realNow(): Date;
  /** Domain time, with the offset read from the database. */
  now(): Promise<Date>;
  /** Whether this machine's own clock is too wrong for background work. */
  isWrong(): boolean;
};

export function toDomainTime(realNow: Date, offsetMs: number): Date {
  return new Date(realNow.getTime() + offsetMs);
}
