import { ByteMap } from '../../../activities/transcripts/byte-map';

describe('a cache bounded in bytes', () => {
  it('loses what was not used for the longest time', () => {
    const cache = new ByteMap<number>(3000);
    for (const [at, key] of ['a', 'b', 'c'].entries()) cache.put(key, at, 600);
    expect(cache.get('a')).toBe(0);
    cache.put('d', 3, 600);
    expect(['a', 'b', 'c', 'd'].map((key) => cache.get(key))).toEqual([0, undefined, 2, 3]);
    cache.put('a', 4, 1300);
    expect(['a', 'c', 'd'].map((key) => cache.get(key))).toEqual([4, undefined, 3]);
  });

  it('keeps what came last, however large', () => {
    const cache = new ByteMap<number>(1);
    cache.put('a', 1, 100);
    cache.put('b', 2, 100);
    expect(['a', 'b'].map((key) => cache.get(key))).toEqual([undefined, 2]);
  });
});
