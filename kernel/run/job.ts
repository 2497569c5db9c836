import { HoldfastError } from '../../contract/errors';
import type { Json, Message } from '../../contract/messages/messages';
import { messagesOfInput } from '../../contract/messages/messages';
import { problemOfJob } from '../../contract/schema/job-schema';
import type { AgentDefinition } from '../define/agent';
import type { AnyAgent } from '../define/definition';
import { jobTaker } from '../define/definition';
import { blame } from '../effects/errors';

/** The messages that a text or messages are, or the one that an agent with a schema makes of its job; nothing where it takes none. */
export function messagesFor(agent: AnyAgent, input: Json): readonly Message[] | undefined {
  const messages = messagesOfInput(input);
  const taker = messages === undefined ? jobTaker(agent) : undefined;
  if (taker?.inputSchema === undefined) return messages;
  return [{ role: 'user', parts: [{ type: 'text', text: textOfJob(taker, input, agent.name) }] }];
}

/** What an agent is told of its job, which it may get as the first of `group`. Throws `input-invalid` when the job does not fit its schema. */
export function textOfJob({ name, inputSchema, prompt }: AgentDefinition, job: Json, group = name): string {
  const problem = inputSchema === undefined ? undefined : problemOfJob(group, inputSchema, job);
  if (problem !== undefined) throw new HoldfastError('input-invalid', problem);
  if (prompt === undefined) return typeof job === 'string' ? job : JSON.stringify(job);
  let text: unknown;
  try {
    text = prompt(job);
  } catch (error) {
    throw blame(error, `prompt of agent "${name}"`);
  }
  if (typeof text !== 'string') throw new HoldfastError('hook-failed', `prompt of agent "${name}" returned no text.`);
  return text;
}
