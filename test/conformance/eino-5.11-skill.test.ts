import { scriptedModel, testRun } from '../../testing/index';
import type { SkillBackend } from '../../middleware/skill/worker/skill-files';
import { memoryBackend } from '../../middleware/filesystem/worker/memory-backend';
import { skillFilesTool } from '../../middleware/skill/worker';
import { skillFiles } from '../../middleware/skill/worker/skill-files';
import type { SkillOptions } from '../../middleware/index';
import { defineAgent, textOf } from '../../workflows/index';
import { skill } from '../../middleware/index';
import { failureSaying } from '../support/failures';
import { agentWith, echo, lineOf, tools as others } from '../support/memory-bed';

const head = (name: string, more = ''): string => `---\nname: ${name}\ndescription: About ${name}.\n${more}---\n\nDo ${name}.\n`;
const files = {
  '/skills/pdf/SKILL.md': head('pdf', 'license: none\nallowed-tools:\n  - read_file\n'),
  '/skills/deep/SKILL.md': head('deep', 'model: strong\n'),
  '/skills/notes.md': 'no skill',
  '/skills/empty/readme.md': 'no skill',
};
const use = (name: unknown) => ({ toolCalls: [{ name: 'skill', input: { skill: name } as never }] });

async function play(
  given: SkillOptions,
  steps: Parameters<typeof scriptedModel>[0],
  backend: SkillBackend = skillFiles(memoryBackend(files), '/skills'),
) {
  const model = scriptedModel(steps);
  const run = await testRun(agentWith({ tools: ['echo'], middleware: [skill(given)] }), {
    input: 'Hi',
    model,
    tools: { ...others, skill_files: skillFilesTool({ backend }) },
  });
  const outcome = await run.outcome();
  const results = (await run.transcript()).flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-result'));
  return { model, outcome, results };
}

describe('skills in files', () => {
  it('[eino 217] are those of the folders of one folder, with their heads', async () => {
    const nested = { ...files, '/skills/pdf/inner/SKILL.md': head('inner') };
    const backend = skillFiles(memoryBackend(nested), '/skills');
    expect(await backend.list()).toEqual([
      { name: 'deep', description: 'About deep.', model: 'strong' },
      { name: 'pdf', description: 'About pdf.' },
    ]);
    expect(await backend.get('pdf')).toEqual({
      name: 'pdf',
      description: 'About pdf.',
      baseDirectory: '/skills/pdf',
      content: 'Do pdf.',
    });
    await expect(backend.get('inner')).rejects.toThrow('There is no skill "inner". There are: deep, pdf.');
  });

  it.each([
    ['without a head', 'Do it.', 'it does not begin with a line "---"'],
    ['whose head has no end', '---\nname: x\n', 'its head has no end'],
    ['without a name', '---\ndescription: x\n---\n', 'it has no name'],
    ['whose head is none', '---\nname: x\nwhat\n---\n', 'its head has a line that is none: "what"'],
  ])('[eino 217] %s break the list', async (_, text, problem) => {
    const backend = skillFiles(memoryBackend({ ...files, '/skills/z/SKILL.md': text }), '/skills');
    await expect(backend.list()).rejects.toThrow(`/skills/z/SKILL.md holds no skill: ${problem}`);
  });

  it('[eino 217] may have texts of all forms in their heads', async () => {
    const text = '---\nname: "a"\ndescription: >\n  one\n  two\ncontext: \'fork\' \nagent: plain # note\n---\nx';
    expect(await skillFiles(memoryBackend({ '/s/a/SKILL.md': text }), '/s').list()).toEqual([
      { name: 'a', description: 'one two', context: 'fork', agent: 'plain' },
    ]);
  });
});

it('[eino 321] wrong options are refused, by the worker and by the agent', () => {
  expect(() => skillFilesTool({} as never)).toThrow(
    expect.objectContaining({
      code: 'config-invalid',
      message: expect.stringMatching(
        /backend must be skillFiles\(directoryBackend\("\."\), "\/skills"\), or an object with list and get\. It is missing\./,
      ),
    }),
  );
  expect(() => skillFilesTool(undefined as never)).toThrow(expect.objectContaining({ code: 'config-invalid' }));
  expect(() => skill(null as never)).toThrow(expect.objectContaining({ code: 'agent-invalid' }));
  expect(() => skill({ toolParameters: { type: 'object' } })).toThrow(
    'skill: toolParameters must be a JSON Schema of an object with the property "skill", a string. It is {"type":"object"}.',
  );
});

it('[eino 322] a function may make what the model gets', async () => {
  const toolParameters = { type: 'object', properties: { skill: { type: 'string' }, page: { type: 'number' } } };
  const { results } = await play(
    { toolParameters, buildContent: ({ name, content }, input) => `${name} ${(input as { page: number }).page}: ${content}` },
    [{ toolCalls: [{ name: 'skill', input: { skill: 'pdf', page: 3 } }] }, { text: 'Done.' }],
  );
  expect(results).toMatchObject([{ output: 'pdf 3: Do pdf.' }]);
});

it('[eino 322] wrong arguments and unknown skills are errors', async () => {
  const { results } = await play({}, [use(7), use('absent'), { text: 'Done.' }]);
  expect(results).toMatchObject([
    { isError: true, output: "The arguments of 'skill' do not fit: skill is no string." },
    { isError: true, output: expect.stringContaining('There is no skill "absent". There are: deep, pdf.') },
  ]);
});

describe('the model of a skill', () => {
  const steps = [use('deep'), { toolCalls: [echo('x')] }, { text: 'Done.' }];
  const modelsOf = ({ model }: Awaited<ReturnType<typeof play>>) => model.requests.map((request) => request.model);

  it('[eino 324] answers from the next call on', async () => {
    expect(modelsOf(await play({ models: { strong: 'test/strong' } }, steps))).toEqual(['test/model', 'test/strong', 'test/strong']);
    expect(modelsOf(await play({ models: (name) => `test/${name}-one` }, steps))).toEqual([
      'test/model',
      'test/strong-one',
      'test/strong-one',
    ]);
  });

  it('[eino 324] stays what it was without models', async () => {
    expect(modelsOf(await play({}, steps))).toEqual(['test/model', 'test/model', 'test/model']);
  });

  it('[eino 324] that is not there ends the run', async () => {
    const { outcome, model } = await play({ models: { weak: 'test/weak' } }, steps);
    expect(outcome).toMatchObject(failureSaying('hook-failed', 'a skill names the model "strong", which `models` does not have'));
    expect(model.requests).toHaveLength(1);
  });
});

describe('a skill with an agent of its own', () => {
  const helper = (name: string, model = 'test/helper') =>
    defineAgent({ name, description: 'Helps.', instructions: `Be ${name}.`, model, tools: ['echo'] });
  const forks = skillFiles(
    memoryBackend({
      '/skills/alone/SKILL.md': head('alone', 'context: fork\n'),
      '/skills/knowing/SKILL.md': head('knowing', 'context: fork_with_context\nagent: expert\n'),
      '/skills/strong/SKILL.md': head('strong', 'context: fork\nmodel: strong\n'),
      '/skills/lost/SKILL.md': head('lost', 'context: fork\nagent: nobody\n'),
    }),
    '/skills',
  );
  const agents = { default: helper('helper'), expert: helper('expert') };
  const done = { text: 'Done.' };

  it('[eino 216] gets what was said before and the skill as the result of its call, where it asks for that', async () => {
    const both = { toolCalls: [...use('knowing').toolCalls, echo('beside')] };
    const { model, results } = await play({ agents }, [both, { text: 'Helped.' }, done], forks);
    expect(results).toMatchObject([
      { output: 'Skill "knowing" completed (sub-agent execution).\n\nResult:\nHelped.' },
      { output: 'beside' },
    ]);
    const [, asked] = model.requests;
    expect(asked?.instructions).toBe('Be expert.');
    expect(asked?.messages.map(lineOf)).toEqual(['user: Hi', 'assistant: skill({"skill":"knowing"})', 'tool: Do knowing.']);
  });

  it('[eino 216] is answered by the model of the skill, and leaves that of the other agent alone', async () => {
    const given = { agents, models: { strong: 'test/strong' } };
    const { model } = await play(given, [use('strong'), { text: 'Helped.' }, done], forks);
    expect(model.requests.map((request) => request.model)).toEqual(['test/model', 'test/strong', 'test/model']);
  });

  it('[eino 216] may begin with other messages and answer in another form', async () => {
    const { model, results } = await play(
      {
        agents,
        buildContent: ({ name, content }) => `${name}: ${content}`,
        buildForkMessages: ({ content }) => [{ role: 'user', parts: [{ type: 'text', text: `Please. ${content}` }] }],
        formatForkResult: ({ skill: { name } }, answer) => `${name} said ${answer}`,
      },
      [use('alone'), { text: 'Helped.' }, done],
      forks,
    );
    expect(model.requests[1]?.messages.map(textOf)).toEqual(['Please. alone: Do alone.']);
    expect(results).toMatchObject([{ output: 'alone said Helped.' }]);
  });

  it.each<[string, SkillOptions, string, string]>([
    ['any agents', {}, 'alone', 'there are no agents for skills'],
    ['a default agent', { agents: { expert: agents.expert } }, 'alone', 'names no agent, and there is no default one. There are: expert.'],
    ['the named agent', { agents }, 'lost', 'needs the agent "nobody", which is not there. There are: default, expert.'],
    ['any models', { agents }, 'strong', 'needs the model "strong", and there are no models for skills.'],
    ['the named model', { agents, models: { weak: 'test/weak' } }, 'strong', 'names the model "strong", which `models` does not have'],
  ])('[eino 323] says that it lacks %s', async (_, given, name, problem) => {
    const { results, outcome } = await play(given, [use(name), done], forks);
    expect(outcome).toMatchObject({ status: 'completed' });
    expect(results).toMatchObject([{ isError: true, output: expect.stringContaining(problem) }]);
  });

  it('[eino 323] has to be an agent', () => {
    expect(() => skill({ agents: { default: {} as never } })).toThrow('skill: agents.default is no agent; make it with defineAgent.');
  });
});
