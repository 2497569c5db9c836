import type { ContextEditingOptions } from '../../../middleware/index';
import { contextEditing } from '../../../middleware/index';
import type { Asked } from '../../support/compaction-bed';
import { asked, called, result, user } from '../../support/compaction-bed';
import { errorOf } from '../../support/failures';
import { echo } from '../../support/memory-bed';

const long = 'o'.repeat(100);
const messages = [user('Hi'), called('c1'), result('c1', long), called('add:c2'), result('add:c2', long), called('c3'), result('c3', long)];
const edit = (options: ContextEditingOptions): Promise<Asked> =>
  asked([contextEditing({ triggerTokens: 20, keep: 1, ...options })], messages);
const results = ({ lines }: Asked): readonly string[] => lines.filter((line) => line.startsWith('tool')).map((line) => line.slice(6, 20));
const kept = long.slice(0, 14);

describe('contextEditing', () => {
  it('clears old results and keeps the newest', async () => {
    expect(results(await edit({}))).toEqual(['[cleared]', '[cleared]', kept]);
    expect(results(await edit({ keep: 2 }))).toEqual(['[cleared]', kept, kept]);
    expect(results(await edit({ keep: 0, placeholder: '-' }))).toEqual(['-', '-', '-']);
  });

  it('clears nothing up to its trigger, and nothing when too little would go', async () => {
    expect(results(await edit({ triggerTokens: 100_000 }))).toEqual([kept, kept, kept]);
    expect(results(await edit({ clearAtLeastTokens: 1000 }))).toEqual([kept, kept, kept]);
    expect(results(await edit({ clearAtLeastTokens: 40 }))).toEqual(['[cleared]', '[cleared]', kept]);
  });

  it('leaves the results of excluded tools', async () => {
    expect(results(await edit({ excludeTools: ['add'] }))).toEqual(['[cleared]', kept, kept]);
  });

  it('clears the arguments of cleared calls where it is told to', async () => {
    expect((await edit({})).lines[1]).toBe('assistant: echo({"text":"c1 in"})');
    expect((await edit({ clearToolInputs: true })).lines.filter((line) => line.startsWith('assistant'))).toEqual([
      'assistant: echo({})',
      'assistant: add({})',
      'assistant: echo({"text":"c3 in"})',
    ]);
  });

  it('keeps what it cleared under one id, and clears the next result when that is old', async () => {
    const steps = [{ toolCalls: [echo('z'.repeat(200))] }, { toolCalls: [echo('z')] }, { text: 'Done.' }];
    const { requests } = await asked([contextEditing({ triggerTokens: 20, keep: 1 })], messages, { steps });
    const sent = requests.map((request) => request.messages as readonly { readonly id: string; readonly extra?: object }[]);
    expect(sent.map((list) => list.filter(({ extra }) => extra !== undefined).length)).toEqual([2, 3, 4]);
    expect(sent.map((list) => list[2]?.id)).toEqual(Array(3).fill(sent[0]?.[2]?.id));
  });

  it('counts what the last answer reported', async () => {
    const steps = [{ toolCalls: [echo('x')], usage: { inputTokens: 5000, outputTokens: 1 } }, { text: 'Done.' }];
    const { requests } = await asked([contextEditing({ triggerTokens: 1000, keep: 1 })], messages, { steps });
    expect(requests.map((request) => request.messages.filter(({ extra }) => extra !== undefined).length)).toEqual([0, 3]);
  });

  it.each<[ContextEditingOptions, string]>([
    [{ triggerTokens: 0 }, 'contextEditing: triggerTokens must be a whole number of at least 1. It is 0.'],
    [{ keep: -1 }, 'contextEditing: keep must be a whole number of at least 0. It is -1.'],
    [{ excludeTools: 'add' as never }, 'contextEditing: excludeTools must be an array of names, each once. It is "add".'],
    [{ clearInputs: true } as never, 'contextEditing: there is no option "clearInputs"; there are triggerTokens, keep,'],
  ])('refuses the options %j', (options, message) => {
    expect(() => contextEditing(options)).toThrow(errorOf('agent-invalid', expect.stringContaining(message)));
  });
});
