import type { Tool } from '../../activities/tools/define-tool';
import type { Forms } from '../../contract/check';
import { checkOptions, flag, having, isRecord, refusing, required } from '../../contract/check';
import type { FileToolName, FileToolSettings } from './file-tool-names';
import { defined } from '../../contract/defined';
import { fileToolSettings, namesOfFileTools } from './file-tool-names';
import type { FileBackend } from './worker/backend';
import { backendForm } from './worker/backend';
import { editFileTool, writeFileTool } from './worker/change-files';
import { executeTool, streamingExecuteTool } from './worker/execute';
import type { GlobInput, GrepInput, ListInput } from './worker/find-files';
import { globTool, grepTool, listTool } from './worker/find-files';
import type { ReadFileInput } from './worker/read-file';
import { readFileTool, readPartsTool } from './worker/read-file';
import type { Shell, StreamingShell } from './worker/shell';

export interface FileToolsOptions<Settings extends FileToolSettings> {
  readonly backend: FileBackend;
  /** Adds the tool `execute`. */
  readonly shell?: Shell;
  /** Streams output. Give only one of both shells. */
  readonly streamingShell?: StreamingShell;
  /** Lets `read_file` return images and documents. The backend needs `readParts`. */
  readonly multimodalRead?: boolean;
  readonly tools?: Settings;
}

interface FileToolTypes {
  readonly ls: Tool<ListInput, string>;
  readonly read_file: Tool<ReadFileInput, string>;
  readonly write_file: ReturnType<typeof writeFileTool>;
  readonly edit_file: ReturnType<typeof editFileTool>;
  readonly glob: Tool<GlobInput, string>;
  readonly grep: Tool<GrepInput, string>;
  readonly execute: ReturnType<typeof executeTool>;
}

export type FileTool = FileToolTypes[FileToolName];

export type FileTools<Settings extends FileToolSettings> = {
  readonly [
    Name in FileToolName as Settings[Name] extends { readonly disable: true }
      ? never
      : Settings[Name] extends { readonly name: infer Other extends string }
        ? Other
        : Name
  ]: Settings[Name] extends { readonly custom: infer Custom extends object } ? Custom : FileToolTypes[Name];
};

/**
 * The tools of `filesystem`, over a backend.
 * @example
 * export const files = fileTools({
 *   backend: directoryBackend('workspace'),
 *   tools: { glob: { disable: true }, grep: { name: 'search' } },
 * });
 * export default defineConfig({ agents: 'agents.ts', tools: { ...tools, ...files } });
 */
export function fileTools<const Settings extends FileToolSettings = Record<never, never>>(
  options: FileToolsOptions<Settings>,
): FileTools<Settings> {
  check(options);
  const { shell, streamingShell } = options;
  const settings: FileToolSettings = options.tools ?? {};
  const tools: Record<string, object> = {};
  for (const [tool, name] of namesOfFileTools(settings, (shell ?? streamingShell) !== undefined)) {
    const { custom, description } = settings[tool] ?? {};
    tools[name] = custom ?? { ...makers[tool](options), ...defined({ description }) };
  }
  return tools as FileTools<Settings>;
}

const makers: Readonly<Record<FileToolName, (options: FileToolsOptions<FileToolSettings>) => object>> = {
  ls: ({ backend }) => listTool(backend),
  read_file: ({ backend, multimodalRead }) =>
    multimodalRead === true && backend.readParts !== undefined
      ? readPartsTool((path, pages) => backend.readParts?.(path, pages) ?? Promise.resolve(''))
      : readFileTool(backend),
  write_file: ({ backend }) => writeFileTool(backend),
  edit_file: ({ backend }) => editFileTool(backend),
  glob: ({ backend }) => globTool(backend),
  grep: ({ backend }) => grepTool(backend),
  execute: ({ shell, streamingShell }) =>
    shell !== undefined ? executeTool(shell) : streamingExecuteTool(streamingShell as StreamingShell),
};

const forms: Forms<FileToolsOptions<FileToolSettings>> = {
  backend: required(backendForm),
  shell: having(['execute'], 'a shell, such as directoryShell("./files")'),
  streamingShell: having(['stream'], 'a shell with stream'),
  multimodalRead: flag,
  tools: fileToolSettings,
};

function check(given: unknown): void {
  const refuse = refusing('fileTools', 'config-invalid');
  const {
    backend,
    shell,
    streamingShell,
    multimodalRead,
    tools = {},
  } = checkOptions<FileToolsOptions<FileToolSettings>>('fileTools', given, forms, 'config-invalid');
  if (shell !== undefined && streamingShell !== undefined) refuse('there are a shell and a streamingShell; give one of them.');
  if (multimodalRead === true && !has(backend, 'readParts'))
    refuse('multimodalRead needs a backend with readParts; directoryBackend has it.');
  for (const [tool, { description, custom }] of Object.entries(tools)) {
    if (custom !== undefined && !isTool(custom)) refuse(`tools.${tool}.custom is no tool; make it with defineTool.`);
    if (custom !== undefined && description !== undefined)
      refuse(`tools.${tool} has custom, a tool with a description of its own; leave the other description out.`);
  }
}

function isTool(value: unknown): boolean {
  return isRecord(value) && (has(value, 'execute') || has(value, 'stream') || value['external'] === true);
}

function has(value: unknown, method: string): boolean {
  return typeof (value as Record<string, unknown> | null)?.[method] === 'function';
}
