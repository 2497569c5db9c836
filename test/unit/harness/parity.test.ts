import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { testRun } from 'holdfast/testing';
import type { Agent, Json } from 'holdfast/workflow';
import type { GenerateAnswer } from '../../../activities/models/language-model';
import type { RunEvent, RunView } from '../../../contract/events';
import * as support from '../../../examples/support/agents';
import { tools as supportTools } from '../../../examples/support/tools';
import * as fixtures from '../../replay/fixtures/agents';
import { tools as fixtureTools } from '../../replay/fixtures/tools';

interface Recorded {
  readonly view: RunView;
  readonly events: readonly RunEvent[];
}

const expected = join(__dirname, '..', '..', 'replay', 'expected');
const sets = [
  { folder: 'examples', agents: support as unknown as Record<string, Agent<string, Json>>, tools: supportTools },
  { folder: 'fixtures', agents: fixtures as unknown as Record<string, Agent<string, Json>>, tools: fixtureTools },
];
const recordings = sets.flatMap(({ folder, agents, tools }) =>
  readdirSync(join(expected, folder))
    .filter((file) => !/\.\d\.json$/.test(file))
    .map((file) => ({ file, agents, tools, recorded: JSON.parse(readFileSync(join(expected, folder, file), 'utf8')) as Recorded })),
);

function comparable({ view, events }: Recorded): unknown {
  const ids = [
    ...new Set([...view.messages.map(({ id }) => id), ...events.flatMap((event) => ('message' in event ? [event.message.id] : []))]),
  ];
  const lines = events.map((event) => {
    // Fields younger than the recorded files.
    const {
      offset: _,
      time: __,
      ...rest
    } = event.type === 'model-end' || event.type === 'tool-end' ? { ...event, address: undefined, changes: undefined } : event;
    return JSON.stringify('model' in rest ? { ...rest, model: '' } : rest, (key, value: unknown) =>
      key === 'inputSchema' ? undefined : key === 'deadline' ? 0 : value,
    );
  });
  const known = (text: string): string => ids.reduce((all, id, position) => all.replaceAll(id, `message-${position}`), text);
  const messages = view.messages.map((message) => known(JSON.stringify(message)));
  return { status: view.status, usage: view.usage, output: view.output, messages, log: lines.map(known).sort() };
}

function scriptOf(events: readonly RunEvent[]): readonly GenerateAnswer[] {
  return events.flatMap((event) =>
    event.type === 'model-end' ? [{ parts: event.message.parts, ...(event.usage === undefined ? {} : { usage: event.usage }) }] : [],
  );
}

it.each(recordings)('a run in memory shows what the same run on a server showed: $file', async ({ agents, tools, recorded }) => {
  const { view, events } = recorded;
  const answers = [...scriptOf(events)];
  const model = { generate: () => Promise.resolve(answers.shift() ?? { parts: [] }) };
  const input = events[0]?.type === 'run-start' ? events[0].input : null;
  const run = await testRun(agents[view.agent] as Agent<string, Json>, { id: view.id, input, model, tools });
  for (const event of events) {
    if (event.type !== 'interrupt-end' || event.reason !== 'answer') continue;
    await run.resume(event.interruptId, event.answer, event.by === undefined ? {} : { by: event.by });
  }
  await run.advance('1m');
  if (view.status === 'cancelled') await run.cancel();
  await run.outcome();
  const log: RunEvent[] = [];
  for await (const event of run.events({ until: 'waiting' })) log.push(event);
  expect(comparable({ view: await run.view(), events: log })).toEqual(comparable(recorded));
});
