import { defined } from '../../contract/defined';
import type { Hono } from 'hono';
import { HoldfastError } from '../../contract/errors';
import type { Json } from '../../contract/messages/messages';
import { AnswerBody, AnswerManyBody, DecisionBody, InboxQuery } from './schemas';
import type { AnswerOptions } from '../../client/index';
import type { AppParts } from '../parts';
import { eachOf } from './bulk';
import { parse, parseBody } from './parse-request';
import { Routes, ok } from './routes';
import { z } from 'zod';

const outcomes = ok('AnswerOutcomes', 'What became of each. Without an error it counts.');

export function inboxRoutes(parts: AppParts): Hono {
  return new Routes('Interrupts')
    .add(
      'GET /',
      {
        may: 'runs:read',
        summary: 'Lists what waits for somebody, over all runs.',
        query: InboxQuery,
        answers: ok('InterruptPage', 'A page of interrupts.'),
      },
      ({ query, client }) => client.interrupts(defined(query)),
    )
    .add(
      'POST /answer',
      { may: 'runs:answer', summary: 'Gives many answers.', body: AnswerManyBody, answers: outcomes },
      async ({ body, client }) => {
        const given = body.answers.map(({ runId, interruptId, ...one }) => ({ runId, interruptId, ...answerOf(one) }));
        const act = ({ runId, interruptId, answer, who }: (typeof given)[number]): Promise<void> =>
          client.run(runId).resume(interruptId, answer, who);
        const failed = await eachOf(given, act, { ...parts, client });
        return { outcomes: given.map(({ runId, interruptId }, at) => ({ runId, interruptId, ...defined({ error: failed[at] }) })) };
      },
    ).app;
}

export function answerRoutes(): Hono {
  const operation = {
    may: 'runs:answer',
    summary: 'Answers. An approval takes a decision.',
    ownBody: z.union([AnswerBody, DecisionBody]),
    answers: ok('Answered', 'The answer counts.'),
  } as const;
  return new Routes('Interrupts').add('POST /:id/interrupts/:interruptId', operation, async ({ id, interruptId, context, client }) => {
    const { answer, who } = answerOf(await parseBody(context, z.record(z.string(), z.unknown())));
    await client.run(id).resume(interruptId, answer, who);
    return { id, interruptId };
  }).app;
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
