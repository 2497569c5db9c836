export interface PackageManager {
  readonly name: 'npm' | 'pnpm' | 'yarn';
  readonly install: string;
  readonly test: string;
  readonly start: string;
  readonly exec: string;
  /** By default Yarn 2 and newer keep packages where Node and the bundler of Temporal's SDK find none. */
  readonly needsNodeModules: boolean;
}

/** Every package manager sets `npm_config_user_agent`. */
export function packageManagerOf(userAgent = ''): PackageManager {
  const [, name, major] = /^(pnpm|yarn)\/(\d+)/.exec(userAgent) ?? [];
  if (name === 'pnpm') return commandsOf('pnpm', 'pnpm exec holdfast');
  if (name === 'yarn') return { ...commandsOf('yarn', 'yarn holdfast'), needsNodeModules: Number(major) >= 2 };
  return commandsOf('npm', 'npx holdfast');
}

function commandsOf(name: PackageManager['name'], exec: string): PackageManager {
  return { name, install: `${name} install`, test: `${name} test`, start: `${name} start`, exec, needsNodeModules: false };
}
