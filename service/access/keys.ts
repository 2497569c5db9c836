import { randomBytes, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ApiKey, MadeKey, Principal } from '../../contract/access';
import { isRole, roleForm } from '../../contract/access';
import { defined } from '../../contract/defined';
import { millisecondsOf } from '../../contract/duration';
import { HoldfastError } from '../../contract/errors';
import { isTenant, tenantForm } from '../../contract/names';
import { isPersonName, people } from '../../contract/people';
import { shown } from '../../contract/shown';
import type { ServiceStore } from '../store/store';
import { hashOf, isSame, newSecret } from './secrets';

export interface NewKey {
  readonly name: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  /** A duration such as `90d`. Default: the key does not expire. */
  readonly expires?: string;
}

export interface Rotation {
  /** How long the earlier key lasts. Default: 24h. */
  readonly keep?: string;
  /** Keys of other tenants count as unknown. Absent: all tenants. */
  readonly tenant?: string;
}

interface KeyRecord extends Omit<ApiKey, 'lastUsed'> {
  readonly hash: string;
  /** Of a key that expires. A rotated key has the same. */
  readonly lifetimeMs?: number;
}

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 32 bytes need 43 digits, a checksum of 32 bits needs 6. */
const pattern = /^(hf_([0-9A-Za-z]{8})_([0-9A-Za-z]{43}))_([0-9A-Za-z]{6})$/;
const mostLive = 2;
const mostRoles = 50;
const minuteMs = 60_000;
const dayMs = 86_400_000;
/** An expired key stays in lists for this time. */
const keptMs = 30 * dayMs;
/** For unknown keys, which take as long as known ones. */
const nobody = hashOf(newSecret());

/** API keys: `hf_ID_SECRET_CHECKSUM`. A program that looks for leaked secrets knows a key by its form. */
export class Keys {
  private readonly usedAt = new Map<string, number>();

  constructor(
    private readonly store: ServiceStore,
    private readonly now: () => number = Date.now,
  ) {}

  /** Throws 'key-refused'. */
  async create(asked: NewKey): Promise<MadeKey> {
    checkNewKey(asked);
    return this.make(asked, asked.expires === undefined ? undefined : millisecondsOf(asked.expires, 'key-refused'));
  }

  async list(tenant?: string): Promise<readonly ApiKey[]> {
    const records = (await this.records()).filter((one) => tenant === undefined || one.tenant === tenant);
    const keys = records.map(async (record) => ({
      ...factsOf(record),
      ...defined({ lastUsed: await this.store.get(usedKey(record.id)) }),
    }));
    return (await Promise.all(keys)).sort((one, other) => Date.parse(one.created) - Date.parse(other.created));
  }

  /** Throws 'key-unknown'. */
  async find(id: string, tenant?: string): Promise<ApiKey> {
    return factsOf(await this.recordOf(id, tenant));
  }

  /** Makes a second key with the same name, tenant, roles and lifetime. Throws 'key-unknown' or 'key-refused'. */
  async rotate(id: string, { keep = '24h', tenant }: Rotation = {}): Promise<MadeKey> {
    const keepMs = millisecondsOf(keep, 'key-refused');
    const old = await this.recordOf(id, tenant);
    if (this.isExpired(old)) throw new HoldfastError('key-refused', `The key ${id} has expired. Make a new key.`);
    const made = await this.make(old, old.lifetimeMs);
    // A record of its own: a change of the record of the key could bring a key back that is revoked at the same time.
    await this.store.set(endKey(id), earlier(this.timeIn(keepMs), old.expires));
    return made;
  }

  /** Takes effect at once, because nobody else writes the deleted record again. Throws 'key-unknown'. */
  async revoke(id: string, tenant?: string): Promise<ApiKey> {
    const record = await this.recordOf(id, tenant);
    if (!(await this.store.delete(recordKey(id)))) throw unknownKey(id);
    await Promise.all([this.store.delete(endKey(id)), this.store.delete(usedKey(id))]);
    return factsOf(record);
  }

  isKey(token: string): boolean {
    return token.startsWith('hf_');
  }

  /** Throws 'identity-invalid'. Only somebody with the right secret learns that a key has expired. */
  async identify(token: string): Promise<Principal> {
    const [, body = '', id = '', secret = '', checksum] = pattern.exec(token) ?? [];
    if (checksum !== checksumOf(body)) throw invalid('The key is mistyped or incomplete: its checksum is wrong.');
    const record = await this.read(id);
    return this.principalIn(isSame(hashOf(secret), record?.hash ?? nobody) ? record : undefined);
  }

  /** The owner of a key, without its secret, for a login that began with the key. Throws 'identity-invalid'. */
  async principalOf(id: string): Promise<Principal> {
    return this.principalIn(await this.read(id));
  }

  private principalIn(record: KeyRecord | undefined): Principal {
    if (record === undefined) throw invalid('The key is unknown or revoked.');
    const { id, tenant, name, roles } = record;
    if (this.isExpired(record)) throw invalid(`The key ${id} expired at ${record.expires}.`);
    this.noteUse(id);
    return { tenant, user: name, roles, proof: `key:${id}` };
  }

  /**
   * Of three keys of a name, whoever is written last sees the two others and is taken back.
   */
  private async make({ name, tenant, roles }: NewKey, lifetimeMs: number | undefined): Promise<MadeKey> {
    const [id, secret] = [newId(), base62(randomBytes(32))];
    const expires = lifetimeMs === undefined ? undefined : this.timeIn(lifetimeMs);
    const facts = { id, name, tenant, roles, created: this.timeIn(0), ...defined({ expires }) };
    const record: KeyRecord = { ...facts, hash: hashOf(secret), ...defined({ lifetimeMs }) };
    if (!(await this.store.set(recordKey(id), JSON.stringify(record), { ifAbsent: true })))
      throw new HoldfastError('key-refused', 'The random id of the key is taken. Try again.');
    const live = (await this.records()).filter((one) => one.tenant === tenant && people.isSame(one.name, name) && !this.isExpired(one));
    if (live.length > mostLive) {
      await this.store.delete(recordKey(id));
      const others = live.flatMap((one) => (one.id === id ? [] : [one.id])).slice(0, mostLive);
      throw new HoldfastError('key-refused', `${shown(name)} has two live keys: ${others.join(' and ')}. Revoke one of them first.`);
    }
    const body = `hf_${id}_${secret}`;
    return { ...factsOf(record), key: `${body}_${checksumOf(body)}` };
  }

  /** Removes keys that expired long ago. */
  private async records(): Promise<readonly KeyRecord[]> {
    const ids = (await this.store.list(recordKey(''))).map((key) => key.slice(recordKey('').length));
    const found = (await Promise.all(ids.map((id) => this.read(id)))).flatMap((record) => record ?? []);
    const isKept = ({ expires }: KeyRecord): boolean => expires === undefined || Date.parse(expires) + keptMs > this.now();
    await Promise.all(found.filter((one) => !isKept(one)).map(({ id }) => this.revoke(id).catch(() => undefined)));
    return found.filter(isKept);
  }

  private async recordOf(id: string, tenant: string | undefined): Promise<KeyRecord> {
    const record = /^[0-9A-Za-z]{8}$/.test(id) ? await this.read(id) : undefined;
    if (record === undefined || (tenant !== undefined && record.tenant !== tenant)) throw unknownKey(id);
    return record;
  }

  private async read(id: string): Promise<KeyRecord | undefined> {
    const [text, end] = await Promise.all([this.store.get(recordKey(id)), this.store.get(endKey(id))]);
    if (text === undefined) return undefined;
    const record = JSON.parse(text) as KeyRecord;
    return end === undefined ? record : { ...record, expires: earlier(end, record.expires) };
  }

  private noteUse(id: string): void {
    const now = this.now();
    if (now - (this.usedAt.get(id) ?? -Infinity) < minuteMs) return;
    this.usedAt.set(id, now);
    void this.store.set(usedKey(id), this.timeIn(0), { ttlMs: 400 * dayMs }).catch(() => undefined);
  }

  private isExpired({ expires }: KeyRecord): boolean {
    return expires !== undefined && Date.parse(expires) <= this.now();
  }

  private timeIn(ms: number): string {
    return new Date(this.now() + ms).toISOString();
  }
}

const recordKey = (id: string): string => `key/${id}`;
const endKey = (id: string): string => `key-end/${id}`;
const usedKey = (id: string): string => `key-used/${id}`;

function checkNewKey({ name, tenant, roles }: NewKey): void {
  const refuse = (problem: string): never => {
    throw new HoldfastError('key-refused', problem);
  };
  if (!isPersonName(name)) refuse(`The name of a key must be a name of 1 to 200 characters. It is ${shown(name)}.`);
  if (!isTenant(tenant)) refuse(`The tenant of a key must be ${tenantForm}. It is ${shown(tenant)}.`);
  if (roles.length === 0 || roles.length > mostRoles) refuse(`A key has 1 to ${mostRoles} roles, not ${roles.length}.`);
  const wrong = roles.find((role) => !isRole(role));
  if (wrong !== undefined) refuse(`A role must be ${roleForm}. One is ${shown(wrong)}.`);
}

function factsOf({ hash: _hash, lifetimeMs: _lifetimeMs, ...facts }: KeyRecord): ApiKey {
  return facts;
}

function earlier(one: string, other = one): string {
  return Date.parse(one) < Date.parse(other) ? one : other;
}

function newId(): string {
  return Array.from({ length: 8 }, () => digits[randomInt(digits.length)]).join('');
}

function checksumOf(text: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(text));
  return base62(bytes);
}

function base62(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (; rest > 0n; rest /= 62n) text = `${digits[Number(rest % 62n)]}${text}`;
  return text.padStart(Math.ceil((bytes.length * 8) / Math.log2(62)), '0');
}

function invalid(message: string): HoldfastError {
  return new HoldfastError('identity-invalid', message);
}

function unknownKey(id: string): HoldfastError {
  const which = id.startsWith('hf_') ? 'of a whole key: the id is the eight letters after hf_' : shown(id);
  return new HoldfastError('key-unknown', `There is no key with the id ${which}.`);
}
