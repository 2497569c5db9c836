import { HoldfastError } from '../../../../contract/errors';
import type { Json, JsonObject, Message, Part, ProviderPart } from '../../../../contract/messages/messages';
import { isPart, textOf, isProviderPart } from '../../../../contract/messages/messages';
import type { AiSdkOptions, SpecificationVersion } from './specification';
import { isRecord } from '../../../../contract/check';

type Content = Record<string, unknown>;
type SaidPart = Exclude<Part, ProviderPart>;
type FilePart = Part & { type: 'file' };
type ToolResultPart = Part & { type: 'tool-result' };

interface PromptMessage {
  readonly role: Message['role'];
  readonly content: string | Content[];
  readonly providerOptions?: JsonObject;
}

export function promptOf(
  { instructions, messages }: { readonly instructions: string; readonly messages: readonly Message[] },
  version: SpecificationVersion,
  { filesOnlyFromUser = false, deferOption }: Pick<AiSdkOptions, 'filesOnlyFromUser' | 'deferOption'> = {},
): readonly PromptMessage[] {
  const prompt: PromptMessage[] = instructions === '' ? [] : [{ role: 'system', content: instructions }];
  let lifted: Content[] = [];
  const giveLifted = (): void => {
    if (lifted.length > 0) prompt.push({ role: 'user', content: lifted });
    lifted = [];
  };
  for (const message of messages) {
    if (message.role !== 'tool') giveLifted();
    const own = providerOptionsOf(message.extra);
    if (message.role === 'system') {
      prompt.push({ role: 'system', content: textOf(message), ...own });
      continue;
    }
    const content = namedParts(message)
      .filter(isSaid)
      .map((part) => {
        const found = deferOption === undefined ? undefined : foundTools(part, deferOption);
        if (found !== undefined) return found;
        if (part.type === 'tool-result' && filesOnlyFromUser) return toolResult(part, version, lifted);
        return promptPart(part, version);
      });
    if (content.length === 0) continue;
    const last = prompt.at(-1);
    // Google requires the results of parallel calls in one message.
    if (message.role === 'tool' && last?.role === 'tool' && Array.isArray(last.content)) last.content.push(...content);
    else prompt.push({ role: message.role, content, ...own });
  }
  giveLifted();
  return prompt;
}

/** Several people may write to one conversation, and no field for names works with all providers. */
function namedParts({ role, parts, extra }: Message): readonly Part[] {
  const by = extra?.['by'];
  if (role !== 'user' || typeof by !== 'string') return parts;
  const said = `${by.replace(/\s+/gu, ' ')}: `;
  const first = parts.findIndex(({ type }) => type === 'text');
  if (first === -1) return [{ type: 'text', text: said }, ...parts];
  return parts.map((part, position) => (position === first && part.type === 'text' ? { ...part, text: `${said}${part.text}` } : part));
}

/** Anthropic refuses empty texts. */
function isSaid(part: Part): part is SaidPart {
  if (isProviderPart(part)) return false;
  return part.type !== 'text' || part.text !== '' || part.extra !== undefined;
}

function promptPart(part: SaidPart, version: SpecificationVersion): Content {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, text: part.text, ...providerOptionsOf(part.extra) };
    case 'file':
      return { type: 'file', mediaType: part.mediaType, data: fileData(part, version), ...providerOptionsOf(part.extra) };
    case 'tool-call':
      return {
        type: 'tool-call',
        toolCallId: part.id,
        toolName: part.name,
        // Anthropic and Google refuse arguments that are a text.
        input: isRecord(part.input) ? part.input : { malformedArguments: part.input },
        ...providerOptionsOf(part.extra),
      };
    case 'tool-result':
      return toolResult(part, version);
  }
}

function foundTools(part: SaidPart, deferOption: string): Content | undefined {
  if (part.type !== 'tool-result' || part.search !== true || !Array.isArray(part.output)) return undefined;
  const names = (part.output as readonly Json[]).flatMap((tool) =>
    isRecord(tool) && typeof tool['name'] === 'string' ? [tool['name']] : [],
  );
  const value: Content[] =
    names.length === 0
      ? [{ type: 'text', text: 'No tools were found.' }]
      : names.map((toolName) => ({ type: 'custom', providerOptions: { [deferOption]: { type: 'tool-reference', toolName } } }));
  return { type: 'tool-result', toolCallId: part.callId, toolName: part.name, output: { type: 'content', value } };
}

function toolResult(part: ToolResultPart, version: SpecificationVersion, lifted?: Content[]): Content {
  return { type: 'tool-result', toolCallId: part.callId, toolName: part.name, output: resultOutput(part, version, lifted) };
}

function resultOutput(result: ToolResultPart, version: SpecificationVersion, lifted: Content[] | undefined): Content {
  const { output, isError } = result;
  if (result.multipart === true && Array.isArray(output)) {
    const parts = (output as readonly Json[]).map((item): Part => (isPart(item) ? item : { type: 'text', text: JSON.stringify(item) }));
    if (lifted !== undefined) return { type: isError === true ? 'error-text' : 'text', value: textWithout(parts, result, version, lifted) };
    return { type: 'content', value: parts.flatMap((part) => contentItem(part, version)) };
  }
  if (typeof output === 'string') return { type: isError === true ? 'error-text' : 'text', value: output };
  return { type: isError === true ? 'error-json' : 'json', value: output };
}

function textWithout(parts: readonly Part[], { name }: ToolResultPart, version: SpecificationVersion, lifted: Content[]): string {
  const lines = parts.map((part) => {
    if (part.type !== 'file') return part.type === 'text' ? part.text : JSON.stringify(part);
    const number = lifted.length / 2 + 1;
    lifted.push({ type: 'text', text: `File ${number}, from the tool "${name}":` }, promptPart(part, version));
    return `(File ${number}, ${part.mediaType}: see the next message.)`;
  });
  return lines.join('\n');
}

function contentItem(part: Part, version: SpecificationVersion): readonly Content[] {
  if (part.type === 'text') return [{ type: 'text', text: part.text, ...providerOptionsOf(part.extra) }];
  if (part.type !== 'file') return [{ type: 'text', text: JSON.stringify(part) }];
  const { mediaType } = part;
  const own = providerOptionsOf(part.extra);
  const found = located(part);
  if (version === 'v4') return [{ type: 'file', mediaType, data: fileData(part, version), ...own }];
  const kind = mediaType.startsWith('image/') ? 'image' : 'file';
  if (typeof found === 'string') return [{ type: `${kind}-data`, mediaType, data: found, ...own }];
  return [{ type: `${kind}-url`, mediaType, url: found.href, ...own }];
}

function fileData(part: FilePart, version: SpecificationVersion): unknown {
  const found = located(part);
  if (version !== 'v4') return found;
  return typeof found === 'string' ? { type: 'data', data: found } : { type: 'url', url: found };
}

/** Some providers cannot read `data:` URLs, which become base64. */
function located({ data }: FilePart): string | URL {
  if (typeof data === 'string') return data;
  const inline = /^data:[^,]*;base64,(.*)$/s.exec(data.url)?.[1];
  if (inline !== undefined) return inline;
  if (!URL.canParse(data.url))
    throw new HoldfastError('message-invalid', `A file is said to be at "${data.url.slice(0, 200)}", which is no URL.`);
  return new URL(data.url);
}

function providerOptionsOf(extra: JsonObject | undefined): { readonly providerOptions?: JsonObject } {
  if (extra === undefined) return {};
  const entries = Object.entries(extra).filter(([, value]) => isRecord(value));
  return entries.length === 0 ? {} : { providerOptions: Object.fromEntries(entries) };
}
