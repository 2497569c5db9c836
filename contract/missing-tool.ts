/**
 * Milliseconds until a worker without the tool is asked again, so a deploy that forgot a tool loses no decision. The server waits so for repeatable
 * tools; for a `once` tool the run does.
 */
export const waitsForTool: readonly number[] = [15_000, 60_000, 300_000, 1_800_000];
