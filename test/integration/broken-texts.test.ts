import { z } from 'zod';
import { defineTool } from '../../activities/tools/tools';
import type { TestBed } from '../support/test-bed';
import { calls, script, startTestBed, text } from '../support/test-bed';
import { fixtureTools } from '../fixtures/tools';

/** Half of a pair of UTF-16, as a model may send it. In a short text of a message of the protocol it ends the process. */
const half = '\ud800';

describe('half a character in the text of an error', () => {
  let bed: TestBed;
  beforeAll(async () => {
    const echo = defineTool({
      description: 'Fails.',
      inputSchema: z.object({ text: z.string() }),
      retry: { attempts: 2 },
      execute: ({ text: said }): string => {
        throw new Error(said);
      },
    });
    bed = await startTestBed(
      (request) => {
        const last = request.messages.at(-1);
        if (JSON.stringify(last).includes('the model fails')) throw new Error(half);
        return script(calls({ name: 'echo', input: { text: half } }), text('Done.'))(request);
      },
      { tools: { ...fixtureTools, echo } },
    );
  });
  afterAll(() => bed.close());

  it('of a tool goes back to the model', async () => {
    const run = await bed.client.start('plain', 'hello');
    expect(await run.outcome({ timeout: '30s' })).toMatchObject({ status: 'completed', text: 'Done.' });
  });

  it('of a model ends the run with its code, and so does the reason of a person', async () => {
    const run = await bed.client.start('plain', 'the model fails');
    expect(await run.outcome({ timeout: '40s' })).toMatchObject({ status: 'failed', error: { code: 'model-failed' } });
    const other = await bed.client.start('plain', 'hello', { startDelay: '1h' });
    await other.terminate(half);
    expect(await other.outcome({ timeout: '30s' })).toMatchObject({ status: 'failed', error: { code: 'run-terminated' } });
  });

  it('of a run leaves its worker at work', async () => {
    const run = await bed.client.start('strict', 'hello');
    expect(await run.outcome({ timeout: '30s' })).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('\ufffd') as string },
    });
    const next = await bed.client.start('plain', 'hello');
    expect(await next.outcome({ timeout: '30s' })).toMatchObject({ status: 'completed' });
  });
});
