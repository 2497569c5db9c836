import { checkOptions, having, required, text, worded } from '../../../contract/check';
import { defined } from '../../../contract/defined';
import { posix } from 'node:path';
import { HoldfastError, messageOf } from '../../../contract/errors';
import type { FileBackend } from '../../filesystem/worker/backend';
import { configuredPath, ifThere } from '../../filesystem/worker/backend';
import type { Skill, SkillHead } from '../skills';
import { frontmatterOf } from './frontmatter';

export interface SkillBackend {
  list(): Promise<readonly SkillHead[]>;
  get(name: string): Promise<Skill>;
}

/**
 * Finds skills: `SKILL.md` in each folder of `baseDir`. A broken skill file makes all skills fail.
 * @example
 * const backend = skillFiles(directoryBackend('.'), '/skills');
 * console.log(await backend.list());
 * export const skillTools = { skill_files: skillFilesTool({ backend }) };
 */
export function skillFiles(backend: Pick<FileBackend, 'list' | 'read'>, baseDir: string): SkillBackend {
  checkOptions('skillFiles', { backend, baseDir }, forms, 'config-invalid');
  const folder = configuredPath('skillFiles', baseDir);
  const all = async (): Promise<readonly Skill[]> => {
    const skills: Skill[] = [];
    for (const { path, kind } of await backend.list(folder)) {
      const text = kind === 'folder' ? await ifThere(() => backend.read(fileIn(path))) : undefined;
      if (text !== undefined) skills.push(skillIn(path, text));
    }
    checkNames(skills);
    return skills;
  };
  return {
    list: async () => (await all()).map(({ content: _, baseDirectory: __, ...head }) => head),
    async get(name) {
      const skills = await all();
      const found = skills.find((skill) => skill.name === name);
      if (found !== undefined) return found;
      throw new Error(`There is no skill "${name}". There are: ${skills.map((skill) => skill.name).join(', ') || 'none'}.`);
    },
  };
}

const forms = {
  backend: required(having(['list', 'read'], 'a backend, such as directoryBackend(".")')),
  baseDir: required(worded(text, 'the path of a folder, such as "/skills"')),
};

function checkNames(skills: readonly Skill[]): void {
  const seen = new Map<string, string>();
  for (const { name, baseDirectory } of skills) {
    const other = seen.get(name);
    if (other !== undefined)
      throw new HoldfastError('config-invalid', `${fileIn(baseDirectory)} holds no skill: ${fileIn(other)} has the name "${name}", too.`);
    seen.set(name, baseDirectory);
  }
}

function fileIn(baseDirectory: string): string {
  return posix.join(baseDirectory, 'SKILL.md');
}

/** A name is part of the instructions, and the model repeats the name in its call. */
const namePattern = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._:-]{0,63}$/u;

function skillIn(baseDirectory: string, text: string): Skill {
  try {
    const { head, content } = frontmatterOf(text);
    const { name = '', description = '', context, agent, model } = head;
    if (name === '') throw new Error('it has no name.');
    if (!namePattern.test(name))
      throw new Error(`its name ${JSON.stringify(name.slice(0, 80))} is none: 1 to 64 letters, digits, blanks and . _ : - are one.`);
    if (description === '') throw new Error('it has no description, by which a model would know when to use it.');
    return { name, description, ...defined({ context, agent, model }), baseDirectory, content };
  } catch (error) {
    throw new HoldfastError('config-invalid', `${fileIn(baseDirectory)} holds no skill: ${messageOf(error)}`);
  }
}
