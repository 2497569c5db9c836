import { configurationNames } from '../../service/project/load-project';
import type { Project } from '../../service/project/load-project';
import { loadProject } from '../../service/project/load-project';
import type { ModuleLoader } from '../../service/project/load-project';
import { FreshModules } from '../../service/project/fresh-modules';
import { join, resolve } from 'node:path';

/** Loads a project anew, and knows what it was loaded from. */
export class FreshProject {
  private readonly ofConfiguration = new FreshModules();
  private readonly ofAgents = new FreshModules();
  private loads = 0;

  /** The configuration comes first, and the agents module that it names after it. */
  readonly loadModule: ModuleLoader = (path) => (this.loads++ === 0 ? this.ofConfiguration : this.ofAgents).load(path);

  load(config: string | undefined): Promise<Project> {
    return loadProject(config, process.cwd(), this.loadModule);
  }

  /** The files of the agents module: the bundle is made of them. */
  get agentFiles(): ReadonlySet<string> {
    return this.ofAgents.files;
  }

  /** Every file that was read, or was to be. */
  get files(): ReadonlySet<string> {
    return new Set([...this.ofConfiguration.files, ...this.ofAgents.files]);
  }
}

/** Where a project may have its configuration. */
export function configurationFiles(config: string | undefined): readonly string[] {
  return config === undefined ? configurationNames.map((name) => join(process.cwd(), name)) : [resolve(config)];
}
