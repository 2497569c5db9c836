/**
 * Milliseconds until a worker is asked again that lacks a tool: what people have decided is not lost by a deploy that forgot one. The server waits so
 * for tools that may be called again; for a `once` tool, whose lost call it must not make again, the run does.
 */
export const waitsForTool: readonly number[] = [15_000, 60_000, 300_000, 1_800_000];
