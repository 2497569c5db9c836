import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ScriptedStep } from 'holdfast/testing';
import { scriptedModel, testRun } from 'holdfast/testing';
import { textOf } from 'holdfast/workflow';
import * as backoffice from '../../../examples/backoffice/agents';
import { office } from '../../../examples/office/agents';
import { tools as officeTools } from '../../../examples/office/tools';
import { research, subjects } from '../../../examples/research/agents';
import { tools as researchTools } from '../../../examples/research/tools';
import { secondOpinion } from '../../../examples/second-opinion/agents';
import { tools as opinionTools } from '../../../examples/second-opinion/tools';
import * as support from '../../../examples/support/agents';
import type { Agent } from '../../../kernel/define/agent-ref';
import { jobTaker, definitionOf } from '../../../kernel/define/definition';
import { transfer } from '../../support/team-bed';

function casting(scripts: Readonly<Record<string, readonly ScriptedStep[]>>) {
  const agents = Object.fromEntries(Object.keys(scripts).map((name) => [name, { model: name }]));
  return { model: scriptedModel(scripts), options: { agents } };
}

const calls = (name: string, input: object): ScriptedStep => ({ toolCalls: [{ name, input: input as never }] });

describe('the examples', () => {
  it('research files a note of each subject, and reports on all of them', async () => {
    const steps = (subject: string): readonly ScriptedStep[] => [
      calls('search', { query: subject }),
      calls('fileNote', { subject, text: 'Found.' }),
      { text: `The ${subject} is known.` },
    ];
    const scripts = Object.fromEntries(subjects.map((subject) => [subject, steps(subject)]));
    const { model, options } = casting({ ...scripts, editor: [{ text: 'The report.' }] });
    const run = await testRun(research, { input: 'What became of the canal?', model, options, tools: researchTools });
    expect(await run.result()).toBe('The report.');
    const heard = model.requests.find((request) => request.model === 'editor')?.messages.map(textOf) ?? [];
    expect(subjects.filter((subject) => !heard.includes(`For context: [${subject}] said: The ${subject} is known..`))).toEqual([]);
    model.assertComplete();
  });

  it('office asks for an approval of a large bill, and goes on with the parcel', async () => {
    const { model, options } = casting({
      head: [transfer('stock'), transfer('billing'), transfer('shipping'), { text: 'It is on its way.' }],
      stock: [calls('findItem', { item: 'samovar' }), { text: 'One is left, for 900.' }],
      billing: [calls('writeBill', { item: 'samovar', amount: 900 }), { text: 'The bill is written.' }],
      shipping: [calls('sendParcel', { item: 'samovar' }), { text: 'It is sent.' }],
    });
    const run = await testRun(office, { input: 'Send me the samovar', model, options, tools: officeTools });
    const [interrupt] = await run.interrupts();
    expect(interrupt).toMatchObject({ agent: 'billing', tool: 'writeBill', input: { amount: 900 } });
    await run.approve(interrupt!.id, { by: 'ada' });
    expect(await run.result()).toBe('It is on its way.');
    model.assertComplete();
  });

  it.each([
    ['agree', 'No.', 'no', 0],
    ['differ', 'Then yes.', 'yes', 1],
  ])('second-opinion asks a person only when the advisers do not agree: they %s', async (_, lenient, answer, asked) => {
    const { model, options } = casting({
      lenient: [calls('findRule', { about: 'bills' }), { text: lenient }],
      strict: [{ text: 'It is over 100: no.' }],
    });
    const run = await testRun(secondOpinion, { input: 'May we pay 120?', model, options, tools: opinionTools });
    const interrupts = await run.interrupts();
    expect(interrupts).toHaveLength(asked);
    for (const { id } of interrupts) {
      await run.goOnAsNew();
      await run.resume(id, answer);
    }
    expect(await run.result()).toBe(answer);
    model.assertComplete();
  });

  it('say how each job looks, so that no run begins with another', () => {
    const takers = [...Object.values(support), ...Object.values(backoffice)].flatMap(
      (agent) => jobTaker(definitionOf(agent as Agent)) ?? [],
    );
    expect(takers.map(({ name }) => name)).toEqual(expect.arrayContaining(['orders', 'clerk']));
    expect(takers.filter(({ inputSchema }) => inputSchema === undefined)).toEqual([]);
  });

  it('are all listed, and all whole', () => {
    const root = resolve(__dirname, '..', '..', '..');
    const folders = readdirSync(join(root, 'examples'), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    );
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    const page = readFileSync(join(root, 'examples', 'README.md'), 'utf8');
    for (const folder of folders) {
      expect(readme).toContain(`(examples/${folder})`);
      expect(page).toContain(`\`${folder}/\``);
      const own = folder === 'pages' ? [] : ['agents.ts', 'tools.ts'];
      for (const file of [...own, 'holdfast.config.ts']) expect(existsSync(join(root, 'examples', folder, file))).toBe(true);
    }
  });
});
