export function keyOfInterrupt(runId: string, interruptId: string): string {
  return `${runId}/${interruptId}`;
}
