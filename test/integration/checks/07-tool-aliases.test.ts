import { z } from 'zod';
import type { Delta } from '../../../contract/deltas';
import type { RunEvent } from '../../../contract/events';
import { defineTool } from '../../../worker/index';
import { fixtureTools } from '../../fixtures/tools';
import type { TestBed } from '../../support/test-bed';
import { calls, script, startTestBed, text } from '../../support/test-bed';

describe('[check 7] a tool that streams, called by an alias on a server', () => {
  let bed: TestBed;
  beforeAll(async () => {
    const echo = defineTool({
      description: 'Says it again, word for word.',
      inputSchema: z.object({ text: z.string() }),
      async *stream({ text: said }) {
        for (const word of said.split(/(?<= )/)) yield word;
      },
    });
    bed = await startTestBed(script(calls({ name: 'say', input: { words: 'one two' } }), text('Done.')), {
      tools: { ...fixtureTools, echo },
    });
  });
  afterAll(async () => bed.close());

  it('ends under its own name and address, and nothing that readers saw of it is taken back', async () => {
    const options = { toolAliases: { echo: { names: ['say'], arguments: { text: ['words'] } } } };
    const run = await bed.client.start('talks', 'Hi', { options });
    const seen: (RunEvent | Delta)[] = [];
    for await (const event of run.events()) seen.push(event);
    const ofTool = seen.flatMap((event) => {
      if (event.type === 'tool-start' || event.type === 'tool-end') return [`${event.type} ${event.tool} ${event.address ?? ''}`];
      if (event.type === 'tool-output-delta') return [`delta ${event.text ?? ''}`];
      return ['attempt-void', 'message-replaced'].includes(event.type) ? [event.type] : [];
    });
    expect(ofTool[0]).toBe('tool-start echo talks/t1/echo.0');
    expect(ofTool.at(-1)).toBe('tool-end echo talks/t1/echo.0');
    expect(ofTool.slice(1, -1).join('').replaceAll('delta ', '')).toBe('one two');
    const [, , answer] = await run.transcript();
    expect(answer?.parts).toMatchObject([{ type: 'tool-result', name: 'say', output: 'one two' }]);
  });
});
