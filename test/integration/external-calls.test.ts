import type { GenerateRequest } from '../../activities/models/language-model';
import { externalCallIn } from '../../contract/external-calls';
import { eventLine, lineOf } from '../support/memory-bed';
import { logOf } from '../support/server-logs';
import { sharedBed } from '../support/shared-bed';
import { calls, script, text } from '../support/test-bed';

const bed = sharedBed();
afterEach(() => bed.startWorker());

const pick = (of: string, id: string) => ({ id, name: 'pickColor', input: { of } });
const picks = script(calls(pick('car', 'a'), { id: 'b', name: 'echo', input: { text: 'own' } }, pick('roof', 'c')), text('Done.'));

it('a turn waits for the results of external calls over a continue-as-new and while no worker runs', async () => {
  const asked: GenerateRequest[] = [];
  const chat = bed.scripted((request) => (asked.push(request), picks(request))).conversation('picks');
  const run = bed.client.run(chat.id);
  await chat.send('Pick.');
  await run.outcome();
  const open = await run.interrupts();
  const idOf = (callId: string): string => open.find((one) => externalCallIn(one)?.callId === callId)?.id ?? '';
  expect(open.map(externalCallIn)).toMatchObject([
    { tool: 'pickColor', callId: 'a', input: { of: 'car' } },
    { tool: 'pickColor', callId: 'c', input: { of: 'roof' } },
  ]);
  await expect(run.resume(idOf('c'), 'blue')).rejects.toMatchObject({ code: 'answer-invalid' });
  await bed.temporal.goOnAsNew(chat.id);
  expect(await run.interrupts()).toEqual(open);

  await bed.stopWorker();
  await expect(run.resume(idOf('c'), { result: 'blue' })).rejects.toMatchObject({ code: 'answer-invalid' });
  await run.resume(idOf('c'), { output: 'blue' });
  await bed.startWorker();
  await run.resume(idOf('a'), { error: 'It was closed.' });
  expect(await chat.turn(1)).toMatchObject({ status: 'completed' });
  expect(asked.at(-1)?.messages.slice(-3).map(lineOf)).toEqual(['tool: error It was closed.', 'tool: own', 'tool: blue']);

  const lines = (await logOf(run, { until: 'waiting' })).map(eventLine);
  expect(lines.filter((line) => line === 'tool-start pickColor')).toHaveLength(2);
  expect(lines.filter((line) => line === 'tool-end pickColor')).toHaveLength(2);
});

it('a turn has the tools that its message brings, also over a continue-as-new and on another worker, and the next turn has none', async () => {
  const asked: GenerateRequest[] = [];
  const locates = script(
    calls({ id: 'a', name: 'locate', input: { who: 'me' } }),
    calls({ id: 'b', name: 'locate', input: { who: 'you' } }),
    text('Found.'),
    text('Bye.'),
  );
  const chat = bed.scripted((request) => (asked.push(request), locates(request))).conversation('takes');
  const run = bed.client.run(chat.id);
  await expect(chat.send('Hi', { tools: [{ name: 'pay' }] })).rejects.toMatchObject({ code: 'client-tools-refused' });
  const inputSchema = { type: 'object', properties: { who: { type: 'string' } } };
  await chat.send('Where?', { tools: [{ name: 'locate', description: 'Finds.', inputSchema }] });
  await run.outcome();
  const answerWith = async (output: string): Promise<void> => run.resume((await run.interrupts())[0]?.id ?? '', { output });
  await bed.temporal.goOnAsNew(chat.id);
  await bed.stopWorker();
  await bed.startWorker();
  await answerWith('Here');
  await run.outcome();
  await answerWith('There');
  expect(await chat.turn(1)).toMatchObject({ status: 'completed' });
  await chat.send('Bye');
  await chat.turn(2);
  expect(asked.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
    ['echo', 'locate'],
    ['echo', 'locate'],
    ['echo', 'locate'],
    ['echo'],
  ]);
  expect(asked[2]?.tools[1]).toEqual({ name: 'locate', description: 'Finds.', inputSchema });
  expect(asked[2]?.messages.filter(({ role }) => role === 'tool').map(lineOf)).toEqual(['tool: Here', 'tool: There']);
});
