import type { Form } from '../../contract/check';
import { flag, identifier, record, shape, text } from '../../contract/check';

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

const settingForm = shape({ name: identifier, description: text, custom: record, disable: flag });
const settingsForm = shape(
  Object.fromEntries(fileToolNames.map((tool) => [tool, settingForm])),
  'an object such as { ls: { name: "list_files" } }',
);

/** Both halves take the same settings, so that they can stand in one place. */
export const fileToolSettings: Form = {
  ...settingsForm,
  problem(settings, option) {
    const problem = settingsForm.problem(settings, option);
    if (problem !== undefined) return problem;
    const names = [...namesOfFileTools(settings as FileToolSettings, true).values()];
    const twice = names.find((name, position) => names.indexOf(name) !== position);
    return twice === undefined ? undefined : `two of the ${option} are named "${twice}"; give one of them another name`;
  },
};
