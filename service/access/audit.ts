import type { ApiKey, AuditEntry, AuditPage, Principal } from '../../contract/access';
import { isRecord } from '../../contract/check';
import { defined } from '../../contract/defined';
import { messageOf } from '../../contract/errors';
import type { Logger } from '../../host/logger';
import type { ServiceStore } from '../store/store';

export interface AuditQuery {
  /** Absent: all tenants, and callers without an identity. */
  readonly tenant?: string;
  /** In milliseconds since 1970. */
  readonly since?: number;
}

const minuteMs = 60_000;
const mostUnidentified = 60;
/** Longer texts of a request are cut, so that a line is written as a whole. */
const mostCharacters = 300;

export class Audit {
  private refusals = 0;

  constructor(
    private readonly store: ServiceStore,
    private readonly logger: Pick<Logger, 'error'>,
  ) {}

  /** A failed write is logged and does not fail the request: the act has taken effect, and a caller who saw an error would repeat the act. */
  async write(entry: Omit<AuditEntry, 'at'>): Promise<void> {
    if (entry.what === 'refusal' && entry.user === undefined && !this.counts()) return;
    try {
      await this.store.append(JSON.stringify({ at: new Date().toISOString(), ...entry }, shortened));
    } catch (error) {
      this.logger.error(`The audit log lacks a line: ${messageOf(error)}`, { what: entry.what });
    }
  }

  /** The oldest entry first. */
  async *read({ tenant, since = 0 }: AuditQuery = {}): AsyncGenerator<AuditEntry> {
    for await (const line of this.store.lines()) {
      const entry = entryIn(line);
      if (entry === undefined || (tenant !== undefined && entry.tenant !== tenant)) continue;
      if (Date.parse(entry.at) >= since) yield entry;
    }
  }

  /** Anybody can be refused, so refusals must not fill the disk. */
  private counts(): boolean {
    if (this.refusals === 0) setTimeout(() => this.endMinute(), minuteMs).unref();
    this.refusals += 1;
    return this.refusals <= mostUnidentified;
  }

  private endMinute(): void {
    const count = this.refusals - mostUnidentified;
    this.refusals = 0;
    if (count > 0) void this.write({ what: 'refusals-left-out', count });
  }
}

/** Returns undefined for a line that was cut by a full disk. */
function entryIn(line: string): AuditEntry | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    return isRecord(entry) && typeof entry['at'] === 'string' ? (entry as unknown as AuditEntry) : undefined;
  } catch {
    return undefined;
  }
}

function shortened(_: string, value: unknown): unknown {
  return typeof value === 'string' && value.length > mostCharacters ? `${value.slice(0, mostCharacters)}…` : value;
}

export function whoOf({ tenant, user, proof }: Partial<Principal> = {}): Pick<AuditEntry, 'tenant' | 'user' | 'proof'> {
  return defined({ tenant, user, proof });
}

export function aboutKey({ id, name, roles }: ApiKey): Pick<AuditEntry, 'key' | 'for' | 'roles'> {
  return { key: id, for: name, roles };
}

export async function lastEntries(entries: AsyncIterable<AuditEntry>, limit: number): Promise<AuditPage> {
  const last: AuditEntry[] = [];
  let more = false;
  for await (const entry of entries) {
    last.push(entry);
    if (last.length <= limit) continue;
    last.shift();
    more = true;
  }
  return { entries: last, more };
}
