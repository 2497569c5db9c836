import { configurationNames } from '../../service/project/load-project';
import type { Project } from '../../service/project/load-project';
import { loadProject } from '../../service/project/load-project';
import type { ModuleLoader } from '../../service/project/load-project';
import { FreshModules } from '../../service/project/load-module';
import { join, resolve } from 'node:path';

export class FreshProject {
  private readonly ofConfiguration = new FreshModules();
  private readonly ofAgents = new FreshModules();
  private loads = 0;

  /** The configuration loads first. */
  readonly loadModule: ModuleLoader = (path) => (this.loads++ === 0 ? this.ofConfiguration : this.ofAgents).load(path);

  load(config: string | undefined): Promise<Project> {
    return loadProject(config, process.cwd(), this.loadModule);
  }

  get agentFiles(): ReadonlySet<string> {
    return this.ofAgents.files;
  }

  /** Includes files that failed to load. */
  get files(): ReadonlySet<string> {
    return new Set([...this.ofConfiguration.files, ...this.ofAgents.files]);
  }
}

export function configurationFiles(config: string | undefined): readonly string[] {
  return config === undefined ? configurationNames.map((name) => join(process.cwd(), name)) : [resolve(config)];
}
