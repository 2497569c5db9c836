export interface PackageManager {
  readonly name: 'npm' | 'pnpm' | 'yarn';
  readonly exec: string;
  /** Yarn 2 and newer keep packages where Node and the bundler of Temporal's SDK find none. */
  readonly needsNodeModules: boolean;
}

export function packageManagerOf(userAgent = ''): PackageManager {
  const [, name, major] = /^(pnpm|yarn)\/(\d+)/.exec(userAgent) ?? [];
  if (name === 'pnpm') return { name, exec: 'pnpm exec holdfast', needsNodeModules: false };
  if (name === 'yarn') return { name, exec: 'yarn holdfast', needsNodeModules: Number(major) >= 2 };
  return { name: 'npm', exec: 'npx holdfast', needsNodeModules: false };
}
