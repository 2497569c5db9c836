/** The commands of a package manager, as a person types them. */
export interface PackageManager {
  readonly name: 'npm' | 'pnpm' | 'yarn';
  readonly install: string;
  readonly test: string;
  readonly start: string;
  /** What stands before the arguments of `holdfast`. */
  readonly exec: string;
  /** Yarn 2 and newer keep packages where neither Node nor the bundler of Temporal's SDK finds them, unless told otherwise. */
  readonly needsNodeModules: boolean;
}

/** The one that runs this process, by the variable `npm_config_user_agent` that all of them set. Without it: npm. */
export function packageManagerOf(userAgent = ''): PackageManager {
  const [, name, major] = /^(pnpm|yarn)\/(\d+)/.exec(userAgent) ?? [];
  if (name === 'pnpm') return commandsOf('pnpm', 'pnpm exec holdfast');
  if (name === 'yarn') return { ...commandsOf('yarn', 'yarn holdfast'), needsNodeModules: Number(major) >= 2 };
  return commandsOf('npm', 'npx holdfast');
}

function commandsOf(name: PackageManager['name'], exec: string): PackageManager {
  return { name, install: `${name} install`, test: `${name} test`, start: `${name} start`, exec, needsNodeModules: false };
}
