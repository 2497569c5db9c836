import type { Said, Script, ScriptedCall } from './script';

/** Scripts that are a little simpler, the largest steps first. */
export function simpler(script: Script): readonly Script[] {
  const { said, decisions, gaveUp: _, ...rest } = script;
  const without = <T>(items: readonly T[], position: number): readonly T[] => items.filter((__, index) => index !== position);
  const saying = (position: number, one: Said): readonly Said[] => said.map((other, index) => (index === position ? one : other));
  const simple: Partial<Script>[] = [
    ...(script.gaveUp === undefined ? [] : [{ gaveUp: undefined } as unknown as Partial<Script>]),
    ...said.map((__, position) => ({ said: without(said, position) })),
    ...(script.borders ? [{ borders: false }] : []),
    ...(script.stream ? [{ stream: false }] : []),
    ...(script.together ? [] : [{ together: true }]),
    ...(rest.agent === 'plain' ? [] : [{ agent: 'plain' } as const]),
    ...(rest.input === 'Hi.' ? [] : [{ input: 'Hi.' }]),
    ...said.flatMap((one, position) => simplerSaid(one).map((simplified) => ({ said: saying(position, simplified) }))),
    ...decisions.map((__, position) => ({ decisions: without(decisions, position) })),
    ...decisions.flatMap((decision, position) =>
      decision === 'yes' ? [] : [{ decisions: decisions.map((other, index) => (index === position ? 'yes' : other)) }],
    ),
  ];
  return simple.map((change) => {
    const { gaveUp, ...changed } = { ...script, ...change };
    return gaveUp === undefined ? changed : { ...changed, gaveUp };
  });
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

/** The simplest script that is found within the time and still goes wrong. Several are tried at once. */
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
