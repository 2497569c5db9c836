/** What tells an interrupt from those of other runs. */
export function keyOfInterrupt(runId: string, interruptId: string): string {
  return `${runId}/${interruptId}`;
}
