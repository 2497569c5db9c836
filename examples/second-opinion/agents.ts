import { agentsFor, customAgent } from 'holdfast/workflow';
import type { tools } from './tools';

const { defineAgent } = agentsFor<typeof tools>();

const adviserNamed = (name: string, instructions: string) =>
  defineAgent({
    name,
    description: instructions,
    instructions: `${instructions} End with yes or no.`,
    model: 'default',
    tools: ['findRule'],
  });

/** A person decides if the advisers differ. */
export const secondOpinion = customAgent({
  name: 'secondOpinion',
  description: 'Says yes or no to a request.',
  agents: [adviserNamed('lenient', 'Say what speaks for the request.'), adviserNamed('strict', 'Say what speaks against the request.')],
  async *run({ messages }, ctx) {
    const advice = await Promise.all([ctx.runAgent('lenient', messages), ctx.runAgent('strict', messages)]);
    const [lenient, strict] = advice.map(({ text }) => /\byes\b\W*$/i.test(text));
    yield { name: 'opinions', output: { lenient: lenient === true, strict: strict === true } };
    let answer = lenient === true ? 'yes' : 'no';
    if (lenient !== strict) {
      const texts = advice.map(({ text }) => text);
      answer = await ctx.interrupt<string>({ question: 'Who is right?', advice: texts }, { answerSchema: { enum: ['yes', 'no'] } });
    }
    yield { message: { role: 'assistant', parts: [{ type: 'text', text: answer }] } };
  },
});
