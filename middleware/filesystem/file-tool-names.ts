import type { Form } from '../../contract/check';
import { flag, identifier, record, shape, text } from '../../contract/check';

export const fileToolNames = ['ls', 'read_file', 'write_file', 'edit_file', 'glob', 'grep', 'execute'] as const;
export type FileToolName = (typeof fileToolNames)[number];

/** Agent and worker have to agree on `name` and `disable`. */
export interface FileToolSetting {
  readonly name?: string;
  readonly description?: string;
  /** Replaces the tool, with its own description. */
  readonly custom?: object;
  readonly disable?: boolean;
}

export type FileToolSettings = { readonly [Tool in FileToolName]?: FileToolSetting };

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
