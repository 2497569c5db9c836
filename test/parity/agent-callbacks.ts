import type { Json } from '../../workflows/index';
import { StopError, textOf } from '../../workflows/index';
import { agentCallbacks, callbacks, modelCallbacks, plugin, toolCallbacks, toolStateKey } from '../../middleware/callbacks/index';

const tool = toolCallbacks({ continueOnError: true })
  .registerBefore((call) => {
    call.invocation.state.set(toolStateKey(call, 'said'), call.arguments);
    switch (wordOf(call.arguments)) {
      case 'custom':
        return { customResult: { custom: call.toolName } };
      case 'modify':
        return { modifiedArguments: { say: 'modified' } };
      case 'throw':
        throw new Error('the callback is broken');
      case 'stop':
        throw new StopError('enough of this');
      default:
        return undefined;
    }
  })
  .registerAfter(async (call) => {
    const key = toolStateKey(call, 'said');
    const said = call.invocation.state.get(key);
    call.invocation.state.delete(key);
    switch (wordOf(call.arguments)) {
      case 'ask':
        return {
          customResult: { answer: (await call.invocation.ctx?.interrupt<Json>({ about: call.toolName, callId: call.toolCallId })) ?? null },
        };
      case 'end':
        return { skipSummarization: true };
      case 'fail caught':
        return { customResult: { caught: call.error?.message ?? null, said: said ?? null } };
      default:
        return undefined;
    }
  })
  .registerToolResultMessages((call) =>
    wordOf(call.arguments) === 'ps' ? [call.defaultMessage, { role: 'user', parts: [{ type: 'text', text: 'PS.' }] }] : undefined,
  );

const model = modelCallbacks()
  .registerBefore(({ request, invocation }) => {
    request.instructions += ` Tokens: ${invocation.usage.inputTokens}.`;
    const last = request.messages.at(-1);
    return last !== undefined && textOf(last).startsWith('PS') ? { customResponse: 'Answered for the model.' } : undefined;
  })
  .registerAfter(({ response, error }) => {
    if (error?.message.includes('mended') === true) return { customResponse: 'Mended.' };
    const text = response === undefined ? '' : textOf(response.message);
    if (text.startsWith('Stop')) throw new StopError('a word was said');
    return text.startsWith('Replace') ? { customResponse: 'Replaced.' } : undefined;
  });

const agent = agentCallbacks()
  .registerBefore(({ invocation }) => (invocation.userMessage.startsWith('Nothing') ? { customResponse: 'Answered at once.' } : undefined))
  .registerAfter(({ error, response }) => ({
    customResponse:
      error === undefined ? `Said ${response === undefined ? 'nothing' : textOf(response).length}.` : `Sorry: ${error.message}`,
  }));

const watching = plugin({
  name: 'watching',
  beforeModel: ({ invocation }) => {
    invocation.state.set('calls', Number(invocation.state.get('calls') ?? 0) + 1);
  },
  afterTool: ({ error }) => {
    if (error?.message.includes('stop all') === true) throw new StopError('the plugin says so');
  },
  afterToolMessages: ({ toolMessages, invocation }) => {
    invocation.ctx?.sendEvent('results', { count: toolMessages.length, calls: invocation.state.get('calls') ?? null });
    return undefined;
  },
});

export const callbacksOfAll = callbacks({ plugins: [watching], model, tool, agent });

function wordOf(input: Json): string {
  const { say } = (typeof input === 'object' && input !== null ? input : {}) as { say?: unknown };
  return typeof say === 'string' ? say : '';
}
