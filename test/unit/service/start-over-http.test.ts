import type { AgentSummary } from '../../../service/project/load-project';
import { answerOf, appOn } from '../../support/service-app';

const agent: AgentSummary = { name: 'support', description: 'Helps.', takesJob: false, tools: ['search', 'note'] };

async function started(
  options: object,
  agents: readonly AgentSummary[] = [agent],
  input: unknown = 'Hi',
): Promise<{ status: number; begun: number; body: unknown }> {
  const start = jest.fn(() => Promise.resolve({ id: 'r', isNew: true, ignored: [] }));
  const answer = await answerOf(appOn({ start }, { agents }), 'POST', '/runs', { agent: 'support', input, options });
  return { ...answer, begun: start.mock.calls.length };
}

describe('a start over HTTP', () => {
  it.each([
    ['tools', { tools: ['nope'] }],
    ['toolAliases', { toolAliases: { nope: { names: ['x'] } } }],
    ['toolOptions of an agent', { agents: { support: { toolOptions: { nope: {} } } } }],
  ])('whose %s name a tool that the project does not have is refused before a run begins', async (_, options) => {
    expect(await started(options)).toMatchObject({
      status: 400,
      begun: 0,
      body: {
        error: {
          code: 'options-invalid',
          message: 'The options of the start: they name the tool "nope". The project has: search, note.',
        },
      },
    });
  });

  it('with tools of the project begins, and so does any where only workers know the tools', async () => {
    expect(await started({ tools: ['note'] })).toMatchObject({ status: 201, begun: 1 });
    const { tools: _, ...unknowing } = agent;
    expect(await started({ tools: ['nope'] }, [unknowing])).toMatchObject({ status: 201, begun: 1 });
  });

  it('whose job does not fit the inputSchema of the agent is refused by its place before a run begins', async () => {
    const inputSchema = { type: 'object', properties: { orderId: { type: 'string' } }, required: ['orderId'] };
    const taking = { ...agent, takesJob: true, inputSchema };
    const message = 'The input of agent "support" does not fit its inputSchema: orderId is missing. It is {"id":"42"}.';
    expect(await started({}, [taking], { id: '42' })).toMatchObject({
      status: 400,
      begun: 0,
      body: { error: { code: 'input-invalid', message } },
    });
    expect(await started({}, [taking], { orderId: '42' })).toMatchObject({ status: 201, begun: 1 });
  });
});

it('GET /agents tells what jobs have to fit, and no tools', async () => {
  const inputSchema = { type: 'object', properties: { orderId: { type: 'string' } } };
  const { body } = await answerOf(appOn({}, { agents: [{ ...agent, takesJob: true, inputSchema }] }), 'GET', '/agents');
  expect(body).toEqual({ agents: [{ name: 'support', description: 'Helps.', takesJob: true, inputSchema }] });
});
