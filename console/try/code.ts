import { shellWord } from '../../contract/shell-words';
import type { MessageRequest, StartRequest } from '../../client/http/index';

export type CodeRequest =
  | { readonly kind: 'run'; readonly body: StartRequest }
  | { readonly kind: 'message'; readonly conversation: string; readonly body: MessageRequest };

export function curlOf(url: string, request: CodeRequest): string {
  const lines = [
    `curl -sS ${quoted(`${url}${pathOf(request)}`)}`,
    `  -H 'content-type: application/json'`,
    `  -d ${quoted(JSON.stringify(request.body))}`,
  ];
  return lines.join(' \\\n');
}

export function typescriptOf(url: string, request: CodeRequest): string {
  const body = literalOf(request.body);
  const call =
    request.kind === 'run'
      ? `const { id } = await holdfast.start(${body});\nfor await (const event of holdfast.events(id)) console.log(event);`
      : `const receipt = await holdfast.send(${JSON.stringify(request.conversation)}, ${body});\nconsole.log(receipt);`;
  return `import { ServiceClient } from 'holdfast/http';\n\nconst holdfast = new ServiceClient(${JSON.stringify(url)});\n${call}`;
}

interface CommandText {
  readonly text: string;
  /** Fields without an option of the command. */
  readonly missing: readonly string[];
}

export function commandOf(url: string, request: CodeRequest): CommandText {
  return request.kind === 'run' ? runCommand(url, request.body) : sendCommand(url, request.conversation, request.body);
}

function runCommand(url: string, body: StartRequest): CommandText {
  const { agent, input = '', id, model, options, values, settings, tags = [], deadline, by, ...others } = body;
  const json = (value: object | undefined): string | undefined => (value === undefined ? undefined : JSON.stringify(value));
  const flags = flagsOf({
    '--id': id,
    '--model': model,
    '--options': json(options),
    '--values': json(values),
    '--settings': json(settings),
    '--deadline': deadline,
    '--by': by,
    '--url': url,
  });
  const isText = typeof input === 'string';
  const words = [
    'run',
    agent,
    ...tags.flatMap((tag) => flagOf('--tag', tag)),
    ...flags,
    ...(isText ? [] : ['--json-input']),
    '--',
    isText ? input : JSON.stringify(input),
  ];
  return { text: lineOf(words), missing: Object.keys(others) };
}

function sendCommand(url: string, conversation: string, body: MessageRequest): CommandText {
  const { message, agent, id, mode, by, ...others } = body;
  const flags = flagsOf({ '--agent': agent, '--id': id, '--mode': mode, '--by': by, '--url': url });
  const text = typeof message === 'string' ? message : JSON.stringify(message);
  return { text: lineOf(['send', conversation, ...flags, '--', text]), missing: Object.keys(others) };
}

function flagsOf(flags: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : flagOf(flag, value)));
}

function flagOf(flag: string, value: string): readonly string[] {
  return value.startsWith('-') ? [`${flag}=${value}`] : [flag, value];
}

function lineOf(words: readonly string[]): string {
  return ['npx', 'holdfast', ...words.map(shellWord)].join(' ');
}

function pathOf(request: CodeRequest): string {
  return request.kind === 'run' ? '/runs' : `/conversations/${encodeURIComponent(request.conversation)}/messages`;
}

/** Inside single quotes, a shell changes no character. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** JSON is TypeScript, except for the key that an object literal takes for the prototype. */
function literalOf(body: object): string {
  const json = JSON.stringify(body, null, 2);
  return json.includes('"__proto__"') ? `JSON.parse(${JSON.stringify(JSON.stringify(body))})` : json;
}
