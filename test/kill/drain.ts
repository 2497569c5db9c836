/** On SIGTERM, as at a deploy, what the process does is brought to its end, and then the process ends. */
export function drainOnSigterm(stop: () => Promise<unknown>): void {
  process.once('SIGTERM', () => {
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
}
