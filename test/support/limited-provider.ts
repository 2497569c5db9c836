import type { FakeProvider, FakeRequest, FakeStep } from './fake-provider/fake-provider';
import { startFakeProvider } from './fake-provider/fake-provider';

export interface LimitedProvider extends FakeProvider {
  readonly refused: number;
  readonly refusedTexts: ReadonlySet<string>;
  readonly mostAtOnce: number;
  readonly environment: Readonly<Record<string, string>>;
}

const done = (): FakeStep => ({ blocks: [{ type: 'text', text: 'Done.' }] });
const environmentOf = ({ url }: FakeProvider) => ({
  OPENAI_COMPATIBLE_API_KEY: 'sk-test-0123456789',
  OPENAI_COMPATIBLE_BASE_URL: `${url}/v1`,
});

export async function startLimitedProvider(atOnce: number, answer: (request: FakeRequest) => FakeStep = done): Promise<LimitedProvider> {
  const provider = await startFakeProvider();
  const refusedTexts = new Set<string>();
  const counts = { refused: 0, mostAtOnce: 0, now: 0 };
  provider.answer((request) => {
    if (counts.now >= atOnce) {
      counts.refused += 1;
      refusedTexts.add(JSON.stringify(request.body));
      return { error: { status: 429, message: 'Too many requests.', code: 'rate_limit_exceeded' } };
    }
    counts.now += 1;
    counts.mostAtOnce = Math.max(counts.mostAtOnce, counts.now);
    void request.over.then(() => (counts.now -= 1));
    return answer(request);
  });
  return {
    ...provider,
    refusedTexts,
    get refused() {
      return counts.refused;
    },
    get mostAtOnce() {
      return counts.mostAtOnce;
    },
    environment: environmentOf(provider),
  };
}

export interface RatedProvider extends FakeProvider {
  readonly refused: number;
  readonly soonestAgainMs: number;
  readonly tookMs: number;
  readonly environment: Readonly<Record<string, string>>;
}

export async function startRatedProvider(perSecond: number, answer: (request: FakeRequest) => FakeStep = done): Promise<RatedProvider> {
  const provider = await startFakeProvider();
  const times: number[] = [];
  const refusedAt = new Map<string, number>();
  const counts = { refused: 0, first: 0, soonest: Infinity };
  provider.answer((request) => {
    const now = performance.now();
    counts.first ||= now;
    const asked = JSON.stringify(request.body);
    counts.soonest = Math.min(counts.soonest, now - (refusedAt.get(asked) ?? -Infinity));
    if (now - (times.at(-perSecond) ?? -Infinity) < 1000) {
      counts.refused += 1;
      refusedAt.set(asked, now);
      return { error: { status: 429, message: 'Too many requests.', code: 'rate_limit_exceeded' }, headers: { 'retry-after': '1' } };
    }
    times.push(now);
    return answer(request);
  });
  return {
    ...provider,
    get refused() {
      return counts.refused;
    },
    get soonestAgainMs() {
      return counts.soonest;
    },
    get tookMs() {
      return (times.at(-1) ?? 0) - counts.first;
    },
    environment: environmentOf(provider),
  };
}
