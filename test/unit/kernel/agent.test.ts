import { defineAgent } from 'holdfast/workflow';
import { agentWith } from '../../support/memory-bed';

const invalid = (message: unknown): Error => expect.objectContaining({ code: 'agent-invalid', message }) as Error;

class Misspelt {
  readonly name = 'own';
  wrapToolcalls(): void {}
}

const own = (hooks: object): Record<string, unknown> => ({ middleware: [{ name: 'own', ...hooks }] });
const circle: Record<string, unknown> = {};
circle['self'] = circle;

describe('the definition of an agent', () => {
  it.each<[string, Record<string, unknown>]>([
    ['Agent "constructor": name must be a name', { name: 'constructor' }],
    ['An agent without a name: name must be a name. It is missing.', { name: undefined }],
    ['Agent "agent": description must be a string. It is missing.', { description: undefined }],
    ['Agent "agent": model must be the name of a model. It is 5.', { model: 5 }],
    ['Agent "agent": tools must be an array of tool names, possibly empty. It is missing.', { tools: undefined }],
    ['Agent "agent": tools must be an array of tool names, possibly empty. It is ', { tools: 'echo' }],
    ['Agent "agent": tools must be an array of tool names, possibly empty. It is ', { tools: [{}] }],
    ['Agent "agent": the tool "toString" has no name that a tool can have', { tools: ['toString'] }],
    ['Agent "agent": middleware must be an array. It is {"name":"own"}.', { middleware: { name: 'own' } }],
    ['Agent "agent": middleware[0] must be a middleware, not null.', { middleware: [null] }],
    ['Agent "agent": middleware[1] must be a middleware, not a function.', { middleware: [{ name: 'a' }, () => 1] }],
    ['a name is 1 to 64 letters', { name: 'a b' }],
    ['model must be the name of a model. It is "".', { model: '' }],
    ['instructions must be a string. It is missing.', { instructions: undefined }],
    ['"a" stands in the list twice', { middleware: [{ name: 'a' }, { name: 'a' }] }],
    ['a tool is named twice', { tools: ['echo', 'echo'] }],
    ['the tool "mcp:files" has no name that a tool can have', { tools: ['mcp:files'] }],
    ['Agent "agent": middleware[0] has no name; every middleware needs one.', { middleware: [{}] }],
    ['Agent "agent": middleware[0] has no name; every middleware needs one.', { middleware: [{ name: '' }] }],
    ['the middleware "own" has a "wrapModle", which is never called. Did you mean "wrapModel"?', own({ wrapModle: () => 1 })],
    ['Did you mean "onlyTools"?', own({ onlyTool: ['a'] })],
    ['has a "beforeModel", which is never called. Its hooks may be: beforeAgent, ', own({ beforeModel: () => 1 })],
    ['Did you mean "wrapToolCall"?', { middleware: [new Misspelt()] }],
    ['wrapModel of the middleware "own" must be a function. It is true.', own({ wrapModel: true })],
    ['onlyTools of the middleware "own" must be an array of tool names. It is "echo".', own({ onlyTools: 'echo' })],
    ['the middleware "own" names the tool "eco"', own({ onlyTools: ['eco'] })],
    ['Agent "agent": there is no option "middlewares"; did you mean middleware?', { middlewares: [] }],
    ['Agent "agent": there is no option "zzzzz"; there are name, description, ', { zzzzz: 1 }],
    [`there is no option "${'z'.repeat(100)}…"; there are name`, { ['z'.repeat(3_000_000)]: 1 }],
    [`Agent "${'z'.repeat(100)}…": name must be a name. It is "zz`, { name: 'z'.repeat(3_000_000) }],
    ['the tools of a middleware are workflow tools', own({ tools: ['echo'] })],
    ['Agent "agent": there is no option "settings.temprature"; did you mean temperature?', { settings: { temprature: 0.1 } }],
    ['settings.temperature must be a number. It is ', { settings: { temperature: NaN } }],
    ['settings.topP must be a number. It is Infinity.', { settings: { topP: Infinity } }],
    ['settings.temperature must be a number. It is ', { settings: { temperature: 'hot' } }],
    ['settings.maxOutputTokens must be a whole number of at least 1. It is -5.', { settings: { maxOutputTokens: -5 } }],
    ['settings.seed must be a whole number. It is 10n.', { settings: { seed: 10n } }],
    ['settings must be JSON: toolChoice is a function.', { settings: { toolChoice: () => 1 } }],
    ['settings must be JSON: providerOptions.at is a Date.', { settings: { providerOptions: { at: new Date(0) } } }],
    [
      'settings must be JSON: providerOptions.self.self.self.self.self.self.self.self.self… contains itself or is mor',
      { settings: { providerOptions: circle } },
    ],
    ['Agent "agent": settings must be an object such as { temperature: 0 }.', { settings: new Date(0) }],
    ['Agent "agent": settings must be an object such as { temperature: 0 }.', { settings: new Map() }],
    ['Agent "agent": settings must be an object such as { temperature: 0 }.', { settings: Promise.resolve({}) }],
    ['Agent "agent": settings must be an object such as { temperature: 0 }.', { settings: 'hot' }],
    ['Agent "agent": prompt must be a function. It is "Hello".', { prompt: 'Hello' }],
    ['Agent "agent": returnDirectly must be an array of tool names. It is "echo".', { returnDirectly: 'echo' }],
    ['Agent "agent": toolErrors must be "return" or "fail". It is "ignore".', { toolErrors: 'ignore' }],
    ['Agent "agent": exitTool must be true or false. It is "yes".', { exitTool: 'yes' }],
    ['Agent "agent": toolAliases.echo must be an object with names, arguments. It is null.', { toolAliases: { echo: null } }],
    ['toolAliases.echo.names must be an array of strings. It is "say".', { toolAliases: { echo: { names: 'say' } } }],
    ['toolAliases.echo.arguments.text must be an array of strings. It is "t".', { toolAliases: { echo: { arguments: { text: 't' } } } }],
  ])('is refused, naming agent and field: %s', (message, options) => {
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
