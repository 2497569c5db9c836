import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { Message, StoredMessage } from '../../contract/messages/messages';
import { asked, decides } from './agent-functions';
import { frozen } from '../../contract/freeze';
import type { ModelRequest } from '../define/middleware';
import type { FailoverOptions, ModelError } from '../define/retry-options';
import type { AgentScope } from '../run/scope';
import { knownMessages, storedMessages } from '../effects/transcript';
import { tellRetry } from './retry-verdict';

interface Failover {
  readonly model: string;
  readonly messages?: readonly StoredMessage[];
}

interface Failed {
  /** From 1. */
  readonly number: number;
  readonly attempt: number;
  readonly error: ModelError;
  readonly output: Message | undefined;
  readonly request: ModelRequest<StoredMessage>;
  readonly tried: readonly string[];
}

const longestName = 200;

/** Null: the error stands. */
export function failoverChoice(scope: AgentScope, failover: FailoverOptions, failed: Failed): Failover | null {
  const { run, agent } = scope;
  const { number, attempt, error, output, request, tried } = failed;
  const asking = frozen({
    attempt: number,
    lastError: error,
    input: request.messages,
    named: request.model,
    tried,
    ...defined({ lastOutput: output }),
  });
  if (!decides(`shouldFailover of agent "${agent.name}"`, () => failover.shouldFailover(frozen(output), frozen(error), asking)))
    return null;
  const label = `getFailoverModel of agent "${agent.name}"`;
  const { model, input } = (asked(label, () => failover.getFailoverModel(asking)) ?? {}) as { model?: unknown; input?: readonly Message[] };
  if (typeof model !== 'string' || model === '' || model.length > longestName)
    throw new HoldfastError('model-failover-invalid', `${label} returned no model at attempt ${number}.`);
  const messages =
    input === undefined || input === null
      ? undefined
      : storedMessages(input, knownMessages(request.messages, output), () => run.ports.uuid(), `input of ${label}`);
  tellRetry(scope, attempt, error, { failover: { attempt: number, model } });
  return { model, ...defined({ messages }) };
}
