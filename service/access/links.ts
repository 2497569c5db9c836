import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { Principal } from '../../contract/access';
import { HoldfastError } from '../../contract/errors';
import type { Interrupt } from '../../contract/interrupts';
import { canonicalJson } from '../../contract/messages/messages';
import type { ServiceStore } from '../store/store';
import { storedSecret } from '../store/stored-secret';
import type { AccessOptions } from './parts';
import { isSame } from './secrets';

export interface Link {
  readonly id: string;
  readonly tenant: string;
  readonly run: string;
  readonly interrupt: string;
  /** Of what the person decides about: `shownHash`. */
  readonly hash: string;
  readonly user: string;
  readonly roles: readonly string[];
  /** In milliseconds since 1970. */
  readonly expires: number;
}

/** Mail programs cut longer addresses. */
const longest = 2_000;
/** How long a use keeps others out before the run has taken the answer. */
const usingMs = 60_000;
/** Hosts of one store may differ in their clocks by this much. */
const skewMs = 60_000;

type Payload = readonly [
  id: string,
  tenant: string,
  run: string,
  interrupt: string,
  hash: string,
  user: string,
  roles: readonly string[],
  expires: number,
];

/** The store has the secret and the used links, not the links. */
export class Links {
  constructor(
    private readonly store: ServiceStore,
    private readonly options: NonNullable<AccessOptions['links']> = {},
  ) {}

  get expires(): string {
    return this.options.expires ?? '3d';
  }

  async make(
    { tenant, run, interrupt, hash, user, roles, expires }: Omit<Link, 'id'>,
    id: string = randomBytes(12).toString('base64url'),
  ): Promise<string> {
    const content: Payload = [id, tenant, run, interrupt, hash, user, roles, expires];
    const payload = Buffer.from(JSON.stringify(content)).toString('base64url');
    const token = `${payload}.${await this.signature(payload)}`;
    if (token.length > longest)
      throw new HoldfastError('request-invalid', `The link has ${token.length} characters; at most ${longest} fit.`);
    return token;
  }

  /** Throws 'link-invalid', or 'link-ended' for a link that has expired or was used. */
  async read(token: string): Promise<Link> {
    const [payload = '', signature = '', ...more] = token.length > longest ? [] : token.split('.');
    if (more.length > 0 || !isSame(signature, await this.signature(payload)))
      throw new HoldfastError('link-invalid', 'The link is unknown, changed or incomplete.');
    const [id, tenant, run, interrupt, hash, user, roles, expires] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Payload;
    if (expires <= Date.now()) throw ended('has expired');
    if ((await this.store.get(keyOf({ id }))) !== undefined) throw ended('was used');
    return { id, tenant, run, interrupt, hash, user, roles, expires };
  }

  /**
   * Lets one of several simultaneous uses decide. If `decide` rejects, the link stays, because a run takes one answer to an interrupt.
   */
  async use(link: Link, decide: () => Promise<void>): Promise<void> {
    if (!(await this.store.set(keyOf(link), 'using', { ifAbsent: true, ttlMs: usingMs }))) throw ended('was used');
    try {
      await decide();
    } catch (error) {
      await this.store.delete(keyOf(link)).catch(() => undefined);
      throw error;
    }
    // The decision counts already, whatever the store answers.
    await this.store.set(keyOf(link), 'used', { ttlMs: Math.max(0, link.expires - Date.now()) + skewMs }).catch(() => undefined);
  }

  needsLogin(interrupt: Interrupt): boolean {
    const { login = [] } = this.options;
    const policy = interrupt.kind === 'approval' ? interrupt.policy?.name : undefined;
    return login === true || (policy !== undefined && login.includes(policy));
  }

  private async signature(payload: string): Promise<string> {
    return createHmac('sha256', await storedSecret(this.store, 'links/secret'))
      .update(payload)
      .digest('base64url');
  }
}

export function principalOf({ id, tenant, user, roles }: Link): Principal {
  return { tenant, user, roles, proof: `link:${id}` };
}

export function shownHash(interrupt: Interrupt): string {
  const shown =
    interrupt.kind === 'approval'
      ? [
          interrupt.tool,
          interrupt.inputHash,
          interrupt.options ?? null,
          interrupt.policy?.version ?? null,
          interrupt.policy?.stage.number ?? null,
        ]
      : [interrupt.kind, interrupt.info, interrupt.answerSchema ?? null];
  return createHash('sha256').update(canonicalJson(shown)).digest('base64url');
}

export function ended(why: string): HoldfastError {
  return new HoldfastError('link-ended', `The link ${why}.`);
}

function keyOf({ id }: Pick<Link, 'id'>): string {
  return `link/${id}`;
}
