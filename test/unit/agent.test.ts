import { defineAgent } from 'holdfast/workflow';
import { agentWith } from '../support/memory-bed';

const invalid = (message: unknown): Error => expect.objectContaining({ code: 'agent-invalid', message }) as Error;

class Misspelt {
  readonly name = 'own';
  wrapToolcalls(): void {}
}

const circle: Record<string, unknown> = {};
circle['self'] = circle;

describe('the definition of an agent', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['a name that every object has', { name: 'constructor' }, 'Agent "constructor": name must be a name'],
    ['no name', { name: undefined }, 'An agent without a name: name must be a name. It is missing.'],
    ['no description', { description: undefined }, 'Agent "agent": description must be a string. It is missing.'],
    ['a model that is no text', { model: 5 }, 'Agent "agent": model must be the name of a model. It is 5.'],
    ['no tools', { tools: undefined }, 'Agent "agent": tools must be an array of tool names, possibly empty. It is missing.'],
    ['one tool instead of a list', { tools: 'echo' }, 'Agent "agent": tools must be an array of tool names, possibly empty. It is '],
    ['a tool instead of its name', { tools: [{}] }, 'Agent "agent": tools must be an array of tool names, possibly empty. It is '],
    ['a tool whose name every object has', { tools: ['toString'] }, 'Agent "agent": the tool "toString" has no name that a tool can have'],
    [
      'a middleware that stands alone',
      { middleware: { name: 'own' } },
      'Agent "agent": middleware must be an array. It is {"name":"own"}.',
    ],
    ['null for a middleware', { middleware: [null] }, 'Agent "agent": middleware[0] must be a middleware, not null.'],
    [
      'a function that makes a middleware',
      { middleware: [{ name: 'a' }, () => 1] },
      'Agent "agent": middleware[1] must be a middleware, not a function.',
    ],
    ['a name with a gap', { name: 'a b' }, 'a name is 1 to 64 letters'],
    ['an empty model', { model: '' }, 'model must be the name of a model. It is "".'],
    ['no instructions', { instructions: undefined }, 'instructions must be a string. It is missing.'],
    [
      'no iterations',
      { maxIterations: 0 },
      'maxIterations must be a whole number of at least 1, or { limit, finalize } with such a number, and true or what the model is told',
    ],
    ['two middlewares of one name', { middleware: [{ name: 'a' }, { name: 'a' }] }, '"a" stands in the list twice'],
    ['a tool twice', { tools: ['echo', 'echo'] }, 'a tool is named twice'],
    ['a tool of an MCP server', { tools: ['mcp:files'] }, 'not available in this version'],
    ...[{}, { name: '' }].map((own): [string, Record<string, unknown>, string] => [
      `a middleware without a name (${JSON.stringify(own)})`,
      { middleware: [own] },
      'Agent "agent": middleware[0] has no name; every middleware needs one.',
    ]),
    [
      'a misspelt hook',
      { middleware: [{ name: 'own', wrapModle: () => 1 }] },
      'the middleware "own" has a "wrapModle", which is never called. Did you mean "wrapModel"?',
    ],
    ['a misspelt list', { middleware: [{ name: 'own', onlyTool: ['a'] }] }, 'Did you mean "onlyTools"?'],
    [
      'a hook that there is not',
      { middleware: [{ name: 'own', beforeModel: () => 1 }] },
      'has a "beforeModel", which is never called. Its hooks may be: beforeAgent, ',
    ],
    ['a misspelt method of a class', { middleware: [new Misspelt()] }, 'Did you mean "wrapToolCall"?'],
    [
      'a hook that is no function',
      { middleware: [{ name: 'own', wrapModel: true }] },
      'wrapModel of the middleware "own" must be a function. It is true.',
    ],
    [
      'onlyTools that is no list',
      { middleware: [{ name: 'own', onlyTools: 'echo' }] },
      'onlyTools of the middleware "own" must be an array of tool names. It is "echo".',
    ],
    ['onlyTools that the agent lacks', { middleware: [{ name: 'own', onlyTools: ['eco'] }] }, 'the middleware "own" names the tool "eco"'],
    ['a misspelt option', { middlewares: [] }, 'Agent "agent": there is no option "middlewares"; did you mean middleware?'],
    ['an option like no other', { zzzzz: 1 }, 'Agent "agent": there is no option "zzzzz"; there are name, description, '],
    ['an option of many letters', { ['z'.repeat(3_000_000)]: 1 }, `there is no option "${'z'.repeat(100)}…"; there are name`],
    ['a name of many letters', { name: 'z'.repeat(3_000_000) }, `Agent "${'z'.repeat(100)}…": name must be a name. It is "zz`],
    [
      'a tool of a middleware that is a text',
      { middleware: [{ name: 'own', tools: ['echo'] }] },
      'the tools of a middleware are workflow tools',
    ],
    [
      'a misspelt setting',
      { settings: { temprature: 0.1 } },
      'Agent "agent": there is no option "settings.temprature"; did you mean temperature?',
    ],
    ['a setting that is no number', { settings: { temperature: NaN } }, 'settings.temperature must be a number. It is '],
    ['a setting without an end', { settings: { topP: Infinity } }, 'settings.topP must be a number. It is Infinity.'],
    ['a setting that is a text', { settings: { temperature: 'hot' } }, 'settings.temperature must be a number. It is '],
    [
      'fewer tokens than none',
      { settings: { maxOutputTokens: -5 } },
      'settings.maxOutputTokens must be a whole number of at least 1. It is -5.',
    ],
    ['a setting that is a big number', { settings: { seed: 10n } }, 'settings.seed must be a whole number. It is 10n.'],
    ['a choice that is a function', { settings: { toolChoice: () => 1 } }, 'settings must be JSON: toolChoice is a function.'],
    [
      'options that are no JSON',
      { settings: { providerOptions: { at: new Date(0) } } },
      'settings must be JSON: providerOptions.at is a Date.',
    ],
    [
      'options that contain themselves',
      { settings: { providerOptions: circle } },
      'settings must be JSON: providerOptions.self.self.self.self.self.self.self.self.self… contains itself or is mor',
    ],
    ['settings that are a date', { settings: new Date(0) }, 'Agent "agent": settings must be an object such as { temperature: 0 }.'],
    ['settings that are a map', { settings: new Map() }, 'Agent "agent": settings must be an object such as { temperature: 0 }.'],
    [
      'settings that are promised',
      { settings: Promise.resolve({}) },
      'Agent "agent": settings must be an object such as { temperature: 0 }.',
    ],
    ['settings that are a text', { settings: 'hot' }, 'Agent "agent": settings must be an object such as { temperature: 0 }.'],
    ['a prompt that is a text', { prompt: 'Hello' }, 'Agent "agent": prompt must be a function. It is "Hello".'],
    [
      'one tool to return directly',
      { returnDirectly: 'echo' },
      'Agent "agent": returnDirectly must be an array of tool names. It is "echo".',
    ],
    ['an unknown way with errors', { toolErrors: 'ignore' }, 'Agent "agent": toolErrors must be "return" or "fail". It is "ignore".'],
    ['a switch that is a text', { exitTool: 'yes' }, 'Agent "agent": exitTool must be true or false. It is "yes".'],
    [
      'aliases that are null',
      { toolAliases: { echo: null } },
      'Agent "agent": toolAliases.echo must be an object with names, arguments. It is null.',
    ],
    [
      'an alias instead of a list',
      { toolAliases: { echo: { names: 'say' } } },
      'toolAliases.echo.names must be an array of strings. It is "say".',
    ],
    [
      'an argument alias instead of a list',
      { toolAliases: { echo: { arguments: { text: 't' } } } },
      'toolAliases.echo.arguments.text must be an array of strings. It is "t".',
    ],
  ])('with %s is refused, naming agent and field', (_, options, message) => {
    expect(() => agentWith(options)).toThrow(invalid(expect.stringContaining(message)));
  });

  it.each([undefined, null, 'support', []])('that is %j is refused', (options) => {
    expect(() => defineAgent(options as never)).toThrow(
      invalid(expect.stringContaining('defineAgent: the options must be an object with name, description, instructions, model and tools')),
    );
  });

  it('takes all settings, what a provider alone knows, and fields that are undefined', () => {
    const settings = {
      temperature: 0.3,
      maxOutputTokens: 100,
      topP: undefined,
      seed: 7,
      stopSequences: ['END'],
      toolChoice: { type: 'tool', toolName: 'echo' },
      providerOptions: { openai: { reasoningEffort: 'low', extra: [1, null] } },
    };
    expect(agentWith(Object.freeze({ settings: Object.freeze(settings), middlewares: undefined })).name).toBe('agent');
  });

  it('takes what another agent has, spread', () => {
    expect(agentWith({ ...agentWith({}), instructions: 'Be brief.' }).name).toBe('agent');
  });

  it('takes a middleware for a tool that a hook of another one may offer', () => {
    const middleware = [
      { name: 'own', onlyTools: ['refund'] },
      { name: 'offering', beforeModelRewriteState: () => undefined },
    ];
    expect(agentWith({ middleware }).name).toBe('agent');
  });
});
