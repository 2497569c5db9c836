import { defined } from '../../contract/defined';
import { Hono } from 'hono';
import { HoldfastError } from '../../contract/errors';
import type { Json } from '../../contract/messages/messages';
import { AnswerBody, AnswerManyBody, DecisionBody, InboxQuery } from './schemas';
import type { AnswerOptions } from '../../client/index';
import type { ServiceParts } from './app';
import { eachOf } from './bulk';
import { parse, parseBody, parseQuery } from './parse-request';
import { z } from 'zod';

/** Everything that waits for somebody, over all runs. */
export function inboxRoutes(parts: ServiceParts): Hono {
  const { client } = parts;
  return new Hono()
    .get('/', async (context) => {
      return context.json(await client.interrupts(defined(parseQuery(context, InboxQuery, ['tag', 'role']))));
    })
    .post('/answer', async (context) => {
      const { answers } = await parseBody(context, AnswerManyBody);
      const given = answers.map(({ runId, interruptId, ...body }) => ({ runId, interruptId, ...answerOf(body) }));
      const act = ({ runId, interruptId, answer, who }: (typeof given)[number]): Promise<void> =>
        client.run(runId).resume(interruptId, answer, who);
      const failed = await eachOf(given, act, parts);
      return context.json({
        outcomes: given.map(({ runId, interruptId }, at) => ({ runId, interruptId, ...defined({ error: failed[at] }) })),
      });
    });
}

/** Answering. */
export function answerRoutes({ client }: ServiceParts): Hono {
  return new Hono().post('/:id/interrupts/:interruptId', async (context) => {
    const { id, interruptId } = context.req.param();
    const { answer, who } = answerOf(await parseBody(context, z.record(z.string(), z.unknown())));
    await client.run(id).resume(interruptId, answer, who);
    return context.json({ id, interruptId });
  });
}

function answerOf(body: Record<string, unknown>): { answer: Json; who: AnswerOptions } {
  if (!('decision' in body)) {
    if (!('answer' in body))
      throw new HoldfastError(
        'request-invalid',
        'The body has neither `answer` nor `decision`: send { "answer": … }, { "decision": "approve" }, { "decision": "reject" } or { "decision": "delegate", "to": … }.',
      );
    const { answer, ...who } = parse(AnswerBody, body, 'The body');
    return { answer, who: defined(who) };
  }
  const { decision, by, roles, inputHash, ...rest } = parse(DecisionBody, body, 'The body');
  return { answer: { type: decision, ...defined(rest) }, who: defined({ by, roles, inputHash }) };
}
