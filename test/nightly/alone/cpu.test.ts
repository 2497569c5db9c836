import type { GenerateAnswer } from '../../../activities/models/language-model';
import type { RawBed } from '../../support/raw-bed';
import { startRawBed } from '../../support/raw-bed';
import type { TestBed } from '../../support/test-bed';
import { script, startTestBed, testServer, text } from '../../support/test-bed';

const turns = 20;
const runs = 4;
const rounds = 3;
const say = 'A word of the model. '.repeat(25);
const toolText = 'A word of the tool. '.repeat(25);

const turn = (number: number): GenerateAnswer => ({
  parts: [
    { type: 'text', text: say },
    { type: 'tool-call', id: `call-${number}`, name: 'echo', input: { text: toolText } },
  ],
  usage: { inputTokens: 100, outputTokens: 100 },
});

/**
 * CPU time of the process with both workers and both callers. Noise adds to both, so the least disturbed round counts and the bound is
 * wide.
 */
describe('the CPU time of a turn with a model and a tool', () => {
  let bed: TestBed;
  let raw: RawBed;
  beforeAll(async () => {
    bed = await startTestBed(script(...Array.from({ length: turns }, (_, number) => turn(number)), text('Done.')));
    raw = await startRawBed({ server: testServer(), taskQueue: `raw-${bed.taskQueue}`, say, toolText });
  });
  afterAll(async () => {
    await raw.close();
    await bed.close();
  });

  async function cpuMsATurn(run: () => Promise<unknown>): Promise<number> {
    const before = process.cpuUsage();
    await Promise.all(Array.from({ length: runs }, run));
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000 / turns / runs;
  }

  let ids = 0;
  const ours = (): Promise<number> => cpuMsATurn(async () => (await bed.client.start('plain', 'Go.')).result());
  const byHand = (): Promise<number> =>
    cpuMsATurn(() => raw.client.workflow.execute('rawRun', { workflowId: `raw-${ids++}`, taskQueue: raw.taskQueue, args: [turns] }));

  it('is at most 1.6 times that of the same turn by hand on Temporal', async () => {
    await ours();
    await byHand();
    const measured = { ours: [] as number[], byHand: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      measured.ours.push(await ours());
      measured.byHand.push(await byHand());
    }
    const ratio = Math.min(...measured.ours) / Math.min(...measured.byHand);
    expect(ratio).toBeLessThan(1.6);
  }, 180_000);
});
