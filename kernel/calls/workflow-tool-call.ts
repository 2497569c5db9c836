import type { AgentScope } from '../run/scope';
import { stopsTurn } from '../run/turn-stop';
import type { OwnTool } from '../define/definition';
import type { Frame } from '../effects/frames';
import type { ToolCallPlan, ToolDone } from './tool-call';
import { ToolError, isCancellation, isToolProblem } from '../effects/errors';
import { toolStart } from '../../contract/record/tool-outcomes';
import type { Json } from '../../contract/messages/messages';
import { notJson } from '../../contract/messages/messages';
import { HoldfastError, messageOf, thrownCodeOf } from '../../contract/errors';
import { jsonSize, limits } from '../../contract/limits';

export async function callOwnTool(
  scope: AgentScope,
  frame: Frame,
  plan: ToolCallPlan,
  tool: Pick<OwnTool, 'parse'> & { run(inner: Frame): Promise<Json> },
): Promise<ToolDone> {
  const { run, path } = scope;
  const { call } = plan;
  const parsed = tool.parse(call.input);
  if (!parsed.ok) throw new ToolError({ code: 'tool-input-invalid', message: parsed.message }, undefined);
  frame.once('event', () => {
    const address = run.uniqueAddress(plan.address);
    run.ports.emit(toolStart(address, { path, tool: call.name, callId: call.id, input: call.input }));
  });
  const inner = frame.child(call.name, { label: `the tool "${call.name}"` });
  try {
    const output = await frame.effect(`own:${call.name}`, () => inner.code.endOf(tool.run(inner)));
    inner.close();
    frame.close();
    return { output: checkedOutput(call.name, output) };
  } catch (error) {
    if (isCancellation(error) && (run.cancels.isHeard || stopsTurn(run))) throw error;
    inner.unwind();
    frame.unwind();
    run.ports.threw?.(error, { agent: scope.agent.name, tool: call.name, address: plan.address });
    throw problemOf(call.name, error);
  }
}

function checkedOutput(name: string, output: unknown): Json {
  const problem = output === undefined ? 'it is undefined' : notJson(output);
  if (problem !== undefined)
    throw new HoldfastError('tool-result-invalid', `The tool '${name}' returned something that is not JSON: ${problem}.`);
  const bytes = jsonSize(output);
  if (bytes > limits.toolResult)
    throw new HoldfastError(
      'tool-result-too-large',
      `The tool '${name}' returned ${bytes} bytes; at most ${limits.toolResult} are allowed.`,
    );
  return output as Json;
}

/** An error with another code ends the run instead of going to the model. */
function problemOf(name: string, error: unknown): unknown {
  if (error instanceof ToolError) return error;
  const code = thrownCodeOf(error);
  if (code !== undefined && !isToolProblem(error)) return error;
  const message = code === undefined ? `The tool '${name}' failed: ${messageOf(error).slice(0, limits.errorMessage)}` : messageOf(error);
  return new ToolError({ code: code ?? 'tool-failed', message }, undefined);
}
