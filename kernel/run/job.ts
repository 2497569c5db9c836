import { HoldfastError } from '../../contract/errors';
import type { Json, Message } from '../../contract/messages/messages';
import { messagesOfInput, textOfJson } from '../../contract/messages/messages';
import { problemOfJob } from '../../contract/schema/job-schema';
import type { AnyAgent, AgentDefinition } from '../define/definition';
import { jobTaker } from '../define/definition';
import { blame } from '../effects/errors';

/** Undefined: the input is neither messages nor a job. */
export function messagesFor(agent: AnyAgent, input: Json): readonly Message[] | undefined {
  const messages = messagesOfInput(input);
  const taker = messages === undefined ? jobTaker(agent) : undefined;
  if (taker?.inputSchema === undefined) return messages;
  return [{ role: 'user', parts: [{ type: 'text', text: textOfJob(taker, input, agent.name) }] }];
}

/** `group`: the agent whose first member takes the job. Throws `input-invalid`. */
export function textOfJob({ name, inputSchema, prompt }: AgentDefinition, job: Json, group = name): string {
  const problem = inputSchema === undefined ? undefined : problemOfJob(group, inputSchema, job);
  if (problem !== undefined) throw new HoldfastError('input-invalid', problem);
  if (prompt === undefined) return textOfJson(job);
  let text: unknown;
  try {
    text = prompt(job);
  } catch (error) {
    throw blame(error, `prompt of agent "${name}"`);
  }
  if (typeof text !== 'string') throw new HoldfastError('hook-failed', `prompt of agent "${name}" returned no text.`);
  return text;
}
