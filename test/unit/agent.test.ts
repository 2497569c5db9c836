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
    ['a name that every object has', { name: 'constructor' }, 'Agent "constructor": every object of JavaScript has a "constructor"'],
    ['no name', { name: undefined }, 'An agent without a name: a name is 1 to 64'],
    ['no description', { description: undefined }, 'Agent "agent": description is required; it is a text.'],
    ['a model that is no text', { model: 5 }, 'Agent "agent": model is required'],
    ['no tools', { tools: undefined }, 'Agent "agent": tools are required; they are a list of names of tools, possibly empty.'],
    ['one tool instead of a list', { tools: 'echo' }, 'Agent "agent": tools are required; they are a list of names'],
    ['a tool instead of its name', { tools: [{}] }, 'Agent "agent": tools are required; they are a list of names'],
    ['a tool whose name every object has', { tools: ['toString'] }, 'Agent "agent": the tool "toString" has no name that a tool can have'],
    ['a middleware that stands alone', { middleware: { name: 'own' } }, 'Agent "agent": middleware is a list.'],
    ['null for a middleware', { middleware: [null] }, 'Agent "agent": entry 1 of middleware is null, not a middleware.'],
    ['a function that makes a middleware', { middleware: [{ name: 'a' }, () => 1] }, 'Agent "agent": entry 2 of middleware is a function'],
    ['a middleware without a name', { middleware: [{}] }, 'Agent "agent": entry 1 of middleware has no name'],
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
    ['a hook that is no function', { middleware: [{ name: 'own', wrapModel: true }] }, 'wrapModel of the middleware "own" is no function.'],
    ['onlyTools that is no list', { middleware: [{ name: 'own', onlyTools: 'echo' }] }, 'onlyTools of the middleware "own" is a list'],
    ['onlyTools that the agent lacks', { middleware: [{ name: 'own', onlyTools: ['eco'] }] }, 'the middleware "own" names the tool "eco"'],
    ['a misspelt option', { middlewares: [] }, 'Agent "agent": there is no option "middlewares"; did you mean middleware?'],
    ['an option like no other', { zzzzz: 1 }, 'Agent "agent": there is no option "zzzzz"; there are name, description, '],
    ['an option of many letters', { ['z'.repeat(3_000_000)]: 1 }, `there is no option "${'z'.repeat(100)}…"; there are name`],
    ['a name of many letters', { name: 'z'.repeat(3_000_000) }, `Agent "${'z'.repeat(100)}…": a name is`],
    [
      'a tool of a middleware that is a text',
      { middleware: [{ name: 'own', tools: ['echo'] }] },
      'the tools of a middleware are workflow tools',
    ],
    ['a misspelt setting', { settings: { temprature: 0.1 } }, 'Agent "agent": settings: there is no temprature; there are temperature, '],
    ['a setting that is no number', { settings: { temperature: NaN } }, 'settings: temperature is a number.'],
    ['a setting without an end', { settings: { topP: Infinity } }, 'settings: topP is a number.'],
    ['a setting that is a text', { settings: { temperature: 'hot' } }, 'settings: temperature is a number.'],
    ['fewer tokens than none', { settings: { maxOutputTokens: -5 } }, 'settings: maxOutputTokens is a whole number from 1.'],
    ['a setting that is a big number', { settings: { seed: 10n } }, 'settings: seed is a whole number.'],
    ['a choice that is a function', { settings: { toolChoice: () => 1 } }, 'settings: toolChoice is not JSON: toolChoice is a function.'],
    [
      'options that are no JSON',
      { settings: { providerOptions: { at: new Date(0) } } },
      'providerOptions is not JSON: providerOptions.at is a Date.',
    ],
    [
      'options that contain themselves',
      { settings: { providerOptions: circle } },
      'settings: providerOptions is not JSON: providerOptions.self',
    ],
    ['settings that are a date', { settings: new Date(0) }, 'Agent "agent": settings are an object.'],
    ['settings that are a map', { settings: new Map() }, 'Agent "agent": settings are an object.'],
    ['settings that are promised', { settings: Promise.resolve({}) }, 'Agent "agent": settings are an object.'],
    ['settings that are a text', { settings: 'hot' }, 'Agent "agent": settings are an object.'],
    ['a prompt that is a text', { prompt: 'Hello' }, 'Agent "agent": prompt is a function.'],
    ['one tool to return directly', { returnDirectly: 'echo' }, 'Agent "agent": returnDirectly is a list'],
    ['an unknown way with errors', { toolErrors: 'ignore' }, 'Agent "agent": toolErrors is "return" or "fail".'],
    ['a switch that is a text', { exitTool: 'yes' }, 'Agent "agent": exitTool is true or false.'],
    ['aliases that are null', { toolAliases: { echo: null } }, 'Agent "agent": toolAliases of "echo" is an object'],
    ['an alias instead of a list', { toolAliases: { echo: { names: 'say' } } }, 'the names in toolAliases of "echo" are no list of texts.'],
    ['an argument alias instead of a list', { toolAliases: { echo: { arguments: { text: 't' } } } }, 'the aliases of the argument "text"'],
  ])('with %s is refused, naming agent and field', (_, options, message) => {
    expect(() => agentWith(options)).toThrow(invalid(expect.stringContaining(message)));
  });

  it.each([undefined, null, 'support', []])('that is %j is refused', (options) => {
    expect(() => defineAgent(options as never)).toThrow(invalid(expect.stringContaining('defineAgent takes an object')));
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
