import { z } from 'zod';
import { defineTool } from '../../activities/tools/tools';
import type { GenerateAnswer, GenerateRequest } from '../../activities/models/models';
import { defined } from '../../contract/defined';
import { fixtureTools } from '../fixtures/tools';
import { english } from '../support/english';
import type { Temporal } from '../support/temporal';
import { openTemporal } from '../support/temporal';
import { calls, startTestBed, text } from '../support/test-bed';

const said = 1600;
/** Of the model's text and of the tool's result. */
const content = 2 * said;
/** Its calls are activities, the dearer kind. */
const lookupOrder = defineTool({
  description: 'Finds an order.',
  inputSchema: z.object({ orderId: z.string() }),
  effect: 'idempotent',
  execute: () => english(said),
});

/** How many turns a run is to have stands in its first message. */
function answer({ messages }: GenerateRequest): GenerateAnswer {
  const [first] = messages;
  const turns = Number(first?.parts.map((part) => (part.type === 'text' ? part.text : '')).join(''));
  const done = messages.filter(({ role }) => role === 'tool').length;
  const { parts, usage } = text(english(said));
  return {
    parts: done < turns ? [...parts, ...calls({ name: 'lookupOrder', input: { orderId: '42' } }).parts] : parts,
    ...defined({ usage }),
  };
}

describe('the history of a run whose model and tool say 1.6 KB of English each', () => {
  let temporal: Temporal;
  beforeAll(async () => {
    temporal = await openTemporal();
  });
  afterAll(() => temporal.close());

  it('has at most 1.15 of these bytes a turn when it is compressed, and a turn costs the same after many', async () => {
    const bed = await startTestBed(answer, { tools: { ...fixtureTools, lookupOrder }, compress: true });
    const bytesAfter = async (turns: number): Promise<number> => {
      const run = await bed.client.start('plain', String(turns));
      await run.result();
      return Number((await temporal.handle(run.id).describe()).historySize);
    };
    // What a run has once does not count.
    const none = await bytesAfter(0);
    const few = ((await bytesAfter(10)) - none) / 10;
    const many = ((await bytesAfter(40)) - none) / 40;
    expect(many / content).toBeLessThan(1.15);
    expect(many / few).toBeLessThan(1.05);
    await bed.close();
  });

  it('has at most 5 KB when the run waits for an approval', async () => {
    const bed = await startTestBed(() => calls({ name: 'refund', input: { orderId: '42', amount: 80 } }));
    const run = await bed.client.start('guarded', 'Refund order 42.');
    await run.outcome();
    const size = Number((await temporal.handle(run.id).describe()).historySize);
    expect(size).toBeLessThan(5 * 1024);
    await bed.close();
  });
});
