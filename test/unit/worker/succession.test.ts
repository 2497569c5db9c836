import type { DeploymentStanding } from '../../../host/deployment';
import type { Routing } from '../../../worker/builds/succession';
import { Succession } from '../../../worker/builds/succession';

const patience = 90_000;
const stays = (): boolean => true;

class Deployment implements Routing {
  now = 0;
  current: string | undefined;
  replaced: string | undefined;
  manager: string | undefined;
  polled = new Map<string, number>();
  private changes = 0;

  constructor(private readonly names: readonly string[]) {
    this.current = names.at(-1);
  }

  async standing(): Promise<DeploymentStanding> {
    return {
      current: this.current,
      replaced: this.replaced,
      manager: this.manager,
      builds: [...this.names].reverse(),
      drained: new Set(),
      token: Uint8Array.of(this.changes),
    };
  }

  async polls(): Promise<ReadonlyMap<string, number>> {
    return this.polled;
  }

  async makeCurrent(buildId: string): Promise<undefined> {
    this.change(buildId, undefined);
  }

  async replaceCurrent(buildId: string, { current, token }: DeploymentStanding): Promise<void> {
    if (token?.[0] !== this.changes) throw new Error('conflict');
    this.change(buildId, current);
  }

  succession(own: string): Succession {
    return new Succession(this, own, patience, () => this.now);
  }

  async pass(milliseconds: number, living: readonly string[], lookers: readonly Succession[]): Promise<readonly unknown[]> {
    const problems: unknown[] = [];
    for (const until = this.now + milliseconds; this.now < until; this.now += 15_000) {
      for (const build of living) if (this.now % 60_000 === 0) this.polled.set(build, this.now + 1);
      for (const looker of lookers) problems.push(...[await looker.look(stays)].filter((problem) => problem !== undefined));
    }
    return problems;
  }

  private change(buildId: string, replaced: string | undefined): void {
    this.changes += 1;
    this.current = buildId;
    this.replaced = replaced;
  }
}

describe('the build that new runs go to', () => {
  it.each<[string, Partial<Deployment>, readonly string[]]>([
    ['stays the current one as long as somebody polls for it', {}, ['old', 'new']],
    ['stays what somebody else alone decides, whoever polls for it', { manager: 'controller' }, ['old']],
    ['is left alone when somebody decided that there is none', { current: undefined }, ['old']],
  ])('%s', async (_, given, living) => {
    const deployment = Object.assign(new Deployment(['old', 'new']), given);
    const before = deployment.current;
    const lookers = living.map((build) => deployment.succession(build));
    expect(await deployment.pass(3_600_000, living, lookers)).toEqual([]);
    expect(deployment.current).toBe(before);
  });

  it('becomes the one that lives when nobody has polled for the current one for long, and says so once', async () => {
    const deployment = new Deployment(['old', 'new']);
    const old = deployment.succession('old');
    await deployment.pass(600_000, ['old', 'new'], [old]);
    expect(await deployment.pass(30_000, ['old'], [old])).toEqual([]);
    expect(deployment.current).toBe('new');
    const problems = await deployment.pass(600_000, ['old'], [old]);
    expect(problems).toEqual([expect.objectContaining({ code: 'build-unserved', message: expect.stringMatching(/build new.*build old/) })]);
    expect(deployment.current).toBe('old');
  });

  it('becomes the newest of those that live', async () => {
    const deployment = new Deployment(['older', 'old', 'new']);
    const lookers = [deployment.succession('older'), deployment.succession('old')];
    expect(await deployment.pass(600_000, ['older', 'old'], lookers)).toHaveLength(1);
    expect(deployment.current).toBe('old');
    await deployment.pass(600_000, ['older'], lookers.slice(0, 1));
    expect(deployment.current).toBe('older');
  });

  it('is the new one again when that only could not be reached', async () => {
    const deployment = new Deployment(['old', 'new']);
    await deployment.pass(600_000, ['old'], [deployment.succession('old')]);
    expect(deployment.current).toBe('old');
    await deployment.pass(60_000, ['old', 'new'], [deployment.succession('old'), deployment.succession('new')]);
    expect(deployment.current).toBe('new');
  });

  it('is left alone when the server was away for long', async () => {
    const deployment = new Deployment(['old', 'new']);
    const old = deployment.succession('old');
    await deployment.pass(60_000, ['old', 'new'], [old]);
    deployment.now += 3_600_000;
    deployment.polled.clear();
    expect(await deployment.pass(75_000, [], [old])).toEqual([]);
    expect(deployment.current).toBe('new');
  });

  it('is not taken by a worker that stops', async () => {
    const deployment = new Deployment(['old', 'new']);
    const old = deployment.succession('old');
    await deployment.pass(75_000, [], [old]);
    deployment.now += 15_000;
    expect(await old.look(() => false)).toBeUndefined();
    expect(deployment.current).toBe('new');
  });
});
