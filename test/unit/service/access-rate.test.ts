import type { Principal } from '../../../contract/access';
import { RequestRate } from '../../../service/access/rate';
import { errorOf } from '../../support/failures';

const anna: Principal = { tenant: 'acme', user: 'anna', roles: [], proof: 'token:https://id.example' };

describe('requests per minute', () => {
  const bed = (perMinute: number) => {
    const clock = { now: 0 };
    const rate = new RequestRate(perMinute, () => clock.now);
    const taken = (caller: Principal, times: number): number => {
      let count = 0;
      for (let at = 0; at < times; at++) {
        try {
          rate.take(caller);
          count += 1;
        } catch {
          // Limited.
        }
      }
      return count;
    };
    return { clock, rate, taken };
  };

  it('are never more than allowed, and refused with the seconds to wait', () => {
    const { clock, rate, taken } = bed(60);
    expect(taken(anna, 100)).toBe(5);
    expect(() => rate.take(anna)).toThrow(
      errorOf('requests-limited', 'This caller may send 60 requests a minute, a twelfth of them at once. Try again in 2 s.'),
    );
    expect(() => rate.take(anna)).toThrow(expect.objectContaining({ details: { retryAfter: 2 } }) as Error);
    clock.now += 2_000;
    expect(taken(anna, 100)).toBe(1);
    let within = 6;
    for (; clock.now < 60_000; clock.now += 100) within += taken(anna, 1);
    expect(within).toBeGreaterThan(55);
    expect(within).toBeLessThanOrEqual(60);
  });

  it('count for each key, and for each person of a tenant with all logins and tokens together', () => {
    const { taken } = bed(12);
    expect(taken(anna, 2)).toBe(1);
    expect(taken({ ...anna, proof: 'login:https://id.example' }, 2)).toBe(0);
    expect(taken({ ...anna, tenant: 'other' }, 2)).toBe(1);
    expect(taken({ ...anna, proof: 'key:a' }, 2)).toBe(1);
    expect(taken({ ...anna, proof: 'key:b' }, 2)).toBe(1);
  });

  it('are remembered of the last 10,000 callers', () => {
    const { taken } = bed(12);
    const key = (at: number): Principal => ({ ...anna, proof: `key:${at}` });
    expect(taken(key(0), 1)).toBe(1);
    expect(taken(key(1), 1)).toBe(1);
    for (let at = 2; at < 10_000; at++) taken(key(at), 1);
    expect(taken(key(0), 1)).toBe(0);
    expect(taken(key(10_000), 1)).toBe(1);
    expect([taken(key(0), 1), taken(key(1), 1)]).toEqual([0, 1]);
  });
});
