import { offloadTools, reductionOnWorker } from '../../worker/index';
import { compacting, mostTokens } from '../fixtures/compacting-agent';
import { reducing } from '../fixtures/reducing-agent';
import { fixtureTools } from '../fixtures/tools';
import { keptTexts } from '../support/compaction-bed';
import { LongWork, contentPerTurn, task } from '../support/long-work';
import { sharedBed } from '../support/shared-bed';
import type { Answerer } from '../support/test-bed';
import { calls, script, text } from '../support/test-bed';

const turns = 50;
const backend = keptTexts();

let answer: Answerer;
const bed = sharedBed({
  tools: { ...fixtureTools, ...offloadTools(backend) },
  middleware: [reductionOnWorker({ backend })],
  // Models of all names, because the agent names another model for summaries.
  models: { providers: { test: { model: () => ({ generate: async (request) => answer(request) }) } } },
});

it('50 turns under contextEditing and summarization stay under their bound, and the worker finds every message', async () => {
  const work = new LongWork(turns);
  answer = work.generate;
  const run = await bed.client.start(compacting.name, task, { stream: false });
  expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Done.' });
  expect([work.problems, work.turn]).toEqual([[], turns]);
  expect(work.largest).toBeLessThanOrEqual(mostTokens);
  const { raw } = await bed.temporal.handle(run.id).describe();
  const bytes = Number(raw.workflowExecutionInfo?.historySizeBytes);
  expect(bytes / (turns * contentPerTurn)).toBeLessThan(2);
});

it('what is cut and what is cleared is stored under the run, and the input of what stores it is all that the history has of it besides', async () => {
  const old = 'an old result '.repeat(60);
  answer = script(
    calls({ name: 'echo', id: 'c1', input: { text: old } }),
    calls({ name: 'echo', id: 'c2', input: { text: 'new' } }),
    calls({ name: 'echo', id: 'c3', input: { text: 'long '.repeat(400) } }),
    text('Done.'),
  );
  const run = await bed.client.start(reducing.name, 'Read.', { stream: false });
  expect(await run.outcome()).toMatchObject({ status: 'completed', output: 'Done.' });
  const paths = [...backend.texts.keys()];
  expect(
    paths.filter((path) => path.startsWith(`offload/default/${encodeURIComponent(run.id)}/`)).map((path) => path.split('/').slice(-2)),
  ).toEqual([
    ['trunc', 'c3'],
    ['clear', 'c1'],
    ['clear', 'c2'],
  ]);
  expect([...backend.texts.values()].sort((a, b) => a.length - b.length)).toEqual(['new', old, 'long '.repeat(400)]);
  const results = (await run.transcript()).flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool-result' ? [part.output] : [])),
  );
  expect(results.map((output) => String(output).includes('<persisted-output>'))).toEqual([true, true, true]);
  const history = await bed.temporal.handle(run.id).fetchHistory();
  const said = JSON.stringify(history.events?.map((event) => payloadsIn(event)));
  expect(said.split(old.trim()).length - 1).toBe(4);
});

function payloadsIn(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(payloadsIn).join(' ');
}
