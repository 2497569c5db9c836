import { isTeam } from './agent-names';
import type { Said, Script, ScriptedCall } from './script';

export function simpler(script: Script): readonly Script[] {
  const { said, parts = {}, decisions } = script;
  const dropped = (['gaveUp', 'retried', 'killsAt', 'bordersAt', 'away', 'twice'] as const).flatMap((key) => {
    const { [key]: given, ...rest } = script;
    return given === undefined ? [] : [rest];
  });
  const changes: readonly Partial<Script>[] = [
    ...simplerSpeech(said).map((one) => ({ said: one })),
    ...Object.entries(parts).flatMap(([name, speech]) => simplerSpeech(speech).map((one) => ({ parts: { ...parts, [name]: one } }))),
    ...(script.borders ? [{ borders: false }] : []),
    ...(script.bordersAt ?? []).map((_, position, all) => ({ bordersAt: without(all, position) })),
    ...(script.stream ? [{ stream: false }] : []),
    ...(script.together ? [] : [{ together: true }]),
    ...(script.agent === 'plain' || isTeam(script.agent) ? [] : [{ agent: 'plain' } as const]),
    ...(script.input === 'Hi.' ? [] : [{ input: 'Hi.' }]),
    ...decisions.map((_, position) => ({ decisions: without(decisions, position) })),
    ...decisions.flatMap((decision, position) =>
      decision === 'yes' ? [] : [{ decisions: decisions.map((other, index) => (index === position ? 'yes' : other)) }],
    ),
  ];
  return [...dropped, ...changes.map((change) => ({ ...script, ...change }))];
}

function without<T>(items: readonly T[], position: number): readonly T[] {
  return items.filter((_, index) => index !== position);
}

function simplerSpeech(said: readonly Said[]): readonly (readonly Said[])[] {
  return [
    ...said.map((_, position) => without(said, position)),
    ...said.flatMap((one, position) =>
      simplerSaid(one).map((simplified) => said.map((other, index) => (index === position ? simplified : other))),
    ),
  ];
}

function simplerSaid(one: Said): readonly Said[] {
  if ('fails' in one) return one.saying === undefined ? [] : [{ fails: one.fails, error: one.error }];
  if (!('calls' in one)) return one.says === 'Fine.' ? [] : [{ says: 'Fine.' }];
  const { calls } = one;
  return [
    ...(one.says === undefined ? [] : [{ calls }]),
    ...(calls.length === 1 ? [] : calls.map((_, position) => ({ ...one, calls: calls.filter((__, index) => index !== position) }))),
    ...calls.flatMap((call, position) =>
      simplerCalls(call).map((simplified) => ({ ...one, calls: calls.map((other, index) => (index === position ? simplified : other)) })),
    ),
  ];
}

function simplerCalls(call: ScriptedCall): readonly ScriptedCall[] {
  const plain = { ...call, name: 'act', input: { say: 'fine' } };
  const { turns, ...input } = (typeof call.input === 'object' && call.input !== null ? call.input : {}) as { turns?: unknown };
  return [...(JSON.stringify(call) === JSON.stringify(plain) ? [] : [plain]), ...(turns === undefined ? [] : [{ ...call, input }])];
}

export async function shrunk(script: Script, goesWrong: (script: Script) => Promise<boolean>, until: number): Promise<Script> {
  let current = script;
  for (let rest = simpler(current); rest.length > 0 && Date.now() < until;) {
    const tried = rest.slice(0, 8);
    const wrong = await Promise.all(tried.map(goesWrong));
    const found = tried[wrong.indexOf(true)];
    if (found !== undefined) current = found;
    rest = found === undefined ? rest.slice(8) : simpler(current);
  }
  return current;
}
