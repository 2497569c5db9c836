import type { Interrupt } from '../../contract/interrupts';
import { interruptId } from '../../contract/interrupts';
import { jsonSize, limits } from '../../contract/limits';
import type { ExternalCallAnswer } from '../../contract/external-calls';
import { externalAnswerSchema } from '../../contract/external-calls';
import { toolStart } from '../../contract/record/tool-outcomes';
import { ToolError } from '../effects/errors';
import type { Frame } from '../effects/frames';
import { askIn } from '../run/interrupts/ask-in-frame';
import type { AgentScope } from '../run/scope';
import type { ToolCallPlan, ToolDone } from './tool-call';

export function isExternalTool({ run: { manifest }, agent }: Pick<AgentScope, 'run' | 'agent'>, tool: string): boolean {
  if (agent.ownTools.get(tool)?.isOfClient === true) return true;
  return Object.hasOwn(manifest.tools, tool) && manifest.tools[tool]?.external === true;
}

/** The caller answers an interrupt with the result. */
export async function callExternalTool(scope: AgentScope, frame: Frame, { address, call }: ToolCallPlan): Promise<ToolDone> {
  const { run, path } = scope;
  const shown = askedOf(scope, frame, call);
  const bytes = jsonSize(shown);
  if (bytes > limits.interrupt) {
    const message = `The call of '${call.name}' has ${bytes} bytes with its arguments; at most ${limits.interrupt} are shown to its caller.`;
    throw new ToolError({ code: 'tool-input-invalid', message }, undefined);
  }
  frame.once('event', () => {
    const made = run.uniqueAddress(address);
    const started = toolStart(made, { path, tool: call.name, callId: call.id, input: call.input });
    run.ports.emit({ ...started, external: true });
  });
  const answer = await askIn(run, frame, () => ({ shown }));
  const done = answer as unknown as ExternalCallAnswer;
  if ('error' in done) {
    frame.unwind();
    throw new ToolError({ code: 'tool-failed', message: done.error.slice(0, limits.errorMessage) }, undefined);
  }
  frame.close();
  return { output: done.output };
}

function askedOf(scope: AgentScope, frame: Frame, { id, name, input }: ToolCallPlan['call']): Interrupt {
  return {
    id: interruptId(frame.address, 0),
    address: frame.address,
    agent: scope.agent.name,
    kind: 'custom',
    info: { externalCall: { tool: name, callId: id, input } },
    answerSchema: externalAnswerSchema,
  };
}
