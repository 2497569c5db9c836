import type { Configuration, Environment } from '../../host/configuration';
import { Keys } from '../../service/access/keys';
import { openStore } from '../../service/store/open-store';
import type { ServiceStore } from '../../service/store/store';
import { listensAt, type ProcessFlags } from '../processes/process-settings';
import { ownFolder, ownManifest } from '../setup/own-package';
import type { Terminal } from '../terminal';
import { showFinding, type Finding } from './finding';
import { checkAccess, checkReach } from './access';
import { checkDirectory, checkNode, checkPackages } from './machine';
import { checkMcp } from './mcp';
import { checkBuild, checkConfiguration, checkEnvironment, checkModels, checkPatterns } from './project';
import { checkRedis, checkServicePort } from './reach';
import { checkServer } from './server';

export interface DoctorFlags extends ProcessFlags {
  readonly json?: boolean;
}

export async function doctor(terminal: Terminal, flags: DoctorFlags, environment: Environment = process.env): Promise<number> {
  const findings: Finding[] = [];
  for await (const finding of examine(flags, environment)) {
    findings.push(finding);
    if (flags.json !== true) showFinding(terminal, finding);
  }
  const problems = findings.filter(({ status }) => status === 'problem').length;
  const warnings = findings.filter(({ status }) => status === 'warning').length;
  if (flags.json === true) terminal.writeText(JSON.stringify(findings, null, 2));
  else terminal.writeText(`\n${counted(problems, 'problem')}, ${counted(warnings, 'warning')}.`);
  return problems === 0 ? 0 : 1;
}

async function* examine(flags: ProcessFlags, environment: Environment): AsyncGenerator<Finding> {
  yield checkNode(process.versions.node, ownManifest().engines.node);
  yield checkPackages(ownFolder(), process.cwd());
  const { findings, value: configuration } = checkEnvironment(environment);
  yield* findings;
  const { findings: ofProject, value: project } = await checkConfiguration(flags.config, process.cwd());
  yield* ofProject;
  if (project !== undefined) {
    yield await checkBuild(project.agentsFile);
    yield* checkModels(project, environment);
    yield* checkPatterns(project);
    yield* await checkMcp(project);
  }
  if (configuration === undefined) return;
  yield checkDirectory(configuration.directory);
  const listens = listensAt(flags, configuration, project?.config.http, environment);
  yield await checkServicePort(configuration.directory, listens);
  if (project !== undefined) yield* await checkAccess(project.config.access, listens, () => hasKey(project.config.store, configuration));
  yield* await checkRedis(configuration);
  if (configuration.server !== undefined) yield await checkReach(configuration.server);
  yield* await checkServer(configuration, environment);
}

async function hasKey(given: ServiceStore | undefined, configuration: Configuration): Promise<boolean> {
  const { store, close } = openStore(given, configuration);
  try {
    return (await new Keys(store).list()).length > 0;
  } catch {
    // Other checks tell what is wrong with the directory or with Redis.
    return true;
  } finally {
    close();
  }
}

function counted(count: number, what: string): string {
  return `${count === 0 ? 'no' : count} ${what}${count === 1 ? '' : 's'}`;
}
