/**
 * Milliseconds until a worker without the tool is asked again, so that a deploy that forgot a tool loses no decision. The server repeats
 * repeatable tools, and the run `once` tools.
 */
export const waitsForTool: readonly number[] = [15_000, 60_000, 300_000, 1_800_000];
