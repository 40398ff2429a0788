/**
 * Takes the signal at which Node would start its inspector. Whoever reaches the inspector, which listens on a port of this
 * machine, reads every key in memory.
 */
export function refuseInspector(): void {
  process.on("SIGUSR1", () => {});
}
