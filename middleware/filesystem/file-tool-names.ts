import { isRecord, refuseFor } from '../checked-options';
import { nameProblem } from '../../contract/names';

/** The tools for files, and `execute` where there is a shell. */
export const fileToolNames = ['ls', 'read_file', 'write_file', 'edit_file', 'glob', 'grep', 'execute'] as const;
export type FileToolName = (typeof fileToolNames)[number];

/** How one of the tools differs. Name and disable are what agent and worker have to agree on; the rest is the worker's. */
export interface FileToolSetting {
  /** Another name for it. */
  readonly name?: string;
  /** What the model is told of it. */
  readonly description?: string;
  /** A tool of one's own in its place, with the description that it has. */
  readonly custom?: object;
  /** Leaves it out. */
  readonly disable?: boolean;
}

export type FileToolSettings = { readonly [Tool in FileToolName]?: FileToolSetting };

/** The name of each tool that there is, by its usual one. */
export function namesOfFileTools(settings: FileToolSettings, hasShell: boolean): ReadonlyMap<FileToolName, string> {
  const names = new Map<FileToolName, string>();
  for (const tool of fileToolNames) {
    const { name = tool, disable = false } = settings[tool] ?? {};
    if (!disable && (tool !== 'execute' || hasShell)) names.set(tool, name);
  }
  return names;
}

const fields = ['name', 'description', 'custom', 'disable'];

/** Both halves take the same settings, so that they can stand in one place. */
export function checkFileToolSettings(settings: unknown, code: 'agent-invalid' | 'config-invalid', owner: string): void {
  const refuse = refuseFor(owner, code);
  if (settings === undefined) return;
  if (!isRecord(settings)) return refuse('tools is an object such as { ls: { name: "list_files" } }.');
  for (const [tool, setting] of Object.entries(settings)) {
    if (!(fileToolNames as readonly string[]).includes(tool)) refuse(`tools has no "${tool}"; it has ${fileToolNames.join(', ')}.`);
    if (setting === undefined) continue;
    if (!isRecord(setting)) return refuse(`tools.${tool} is an object with name, description, custom or disable.`);
    const unknown = Object.keys(setting).find((field) => !fields.includes(field));
    if (unknown !== undefined) refuse(`tools.${tool} has no "${unknown}"; it has ${fields.join(', ')}.`);
    const { name, disable } = setting;
    const problem = name === undefined ? undefined : nameProblem(name);
    if (problem !== undefined) refuse(`tools.${tool}.name: ${problem}.`);
    if (disable !== undefined && typeof disable !== 'boolean') refuse(`tools.${tool}.disable is true or false.`);
  }
  const names = [...namesOfFileTools(settings, true).values()];
  const twice = names.find((name, position) => names.indexOf(name) !== position);
  if (twice !== undefined) refuse(`two of the tools are named "${twice}"; give one of them another name.`);
}
